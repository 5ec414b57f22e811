/** Which documents of the database a node has not read as they are now. */

/** What a node knows of a document. */
export interface KnownDocument {
  readonly distid: string
  /** SHA-256 of its text, in hex. */
  readonly sha256: string
  /** Why the node does without it; null where it uses it. */
  readonly fault: string | null
}

export interface DocumentLack {
  readonly distid: string
  /** What has become of it since the node started; `unusable` is one that its release cannot use. */
  readonly why: 'added' | 'replaced' | 'removed' | 'unusable'
  readonly fault: string | null
}

/** `stored` are the documents as the database has them. */
export function lacksOf(
  known: readonly KnownDocument[],
  stored: readonly Pick<KnownDocument, 'distid' | 'sha256'>[],
): DocumentLack[] {
  const read = new Map(known.map((one) => [one.distid, one]))
  const there = new Set(stored.map(({ distid }) => distid))
  const lack = (distid: string, why: DocumentLack['why'], fault: string | null = null) => [
    { distid, why, fault },
  ]
  return [
    ...stored.flatMap(({ distid, sha256 }) => {
      const one = read.get(distid)
      if (!one) return lack(distid, 'added')
      if (one.sha256 !== sha256) return lack(distid, 'replaced')
      return one.fault === null ? [] : lack(distid, 'unusable', one.fault)
    }),
    ...known.flatMap(({ distid }) => (there.has(distid) ? [] : lack(distid, 'removed'))),
  ]
}

/** What a node has noted of itself; one of a release that reads no documents has noted nothing. */
export const knownBy = (note: string | null): KnownDocument[] =>
  note === null ? [] : (JSON.parse(note) as KnownDocument[])

/** Such as `ACME (added), BETA (cannot be used: feeds.0.id: is required)`. */
export function lackText(lacks: readonly DocumentLack[]): string {
  return lacks
    .map(({ distid, why, fault }) =>
      why === 'unusable' ? `${distid} (cannot be used: ${fault})` : `${distid} (${why})`,
    )
    .join(', ')
}
