/** What the leader publishes: a whole database, or what changed in it since another state. */

/** The catalog with everything that is offered, and the history of its prices and stock. */
export type SharedName = 'catalog' | 'history'

/** One object of the store: its name is the digest of its bytes. */
export interface Part {
  /** SHA-256 in hex. */
  digest: string
  bytes: number
}

export interface Publication {
  kind: 'base' | 'change'
  /** The state that a change goes on from; null for a base. */
  before: string | null
  /**
   * The state after it. Numbers do not name one: two leaders can give the same revision to
   * different contents.
   */
  mark: string
  /** Of the database: files of two releases may differ. */
  form: number
  made: string
  revision: number
  /** The highest number that was given to a text. */
  fragments: number
  parts: Part[]
  /** Of a base: files of the folder that go along with the database. */
  files: SharedFile[]
}

export interface SharedFile {
  /** Below the folder. */
  path: string
  parts: Part[]
}

/** Tells the content of a file from every other. */
export const contentOf = (parts: readonly Part[]): string =>
  parts.map(({ digest }) => digest).join()

/** Of the database and of the files. */
export const allParts = ({ parts, files }: Pick<Publication, 'parts' | 'files'>): Part[] => [
  ...parts,
  ...files.flatMap((file) => file.parts),
]

/** As it stands in the system of record. */
export interface Published extends Publication {
  number: number
  bytes: number
  publishedAt: number
  epoch: number
  /** Somebody found an object of it missing or changed. */
  isBroken: boolean
}

export const bytesOf = (parts: readonly Part[]): number =>
  parts.reduce((bytes, part) => bytes + part.bytes, 0)

/** Where the object of a part lies. */
export const keyOf = (name: SharedName, { digest }: Part): string => `${prefixOf(name)}${digest}`
export const prefixOf = (name: SharedName): string => `${name}/`

/** The highest numbers that are published, and the epoch of the newest publication. */
export interface Highest {
  revision: number
  fragments: number
  epoch: number
}

/** Revisions that one leader may give before the numbers of the next one begin. */
const REVISIONS = 2 ** 20
/** The same of texts, whose numbers have 32 bits in a snapshot: enough for 16,000 leaders. */
const FRAGMENTS = 2 ** 18
const MOST_FRAGMENTS = 2 ** 32 - 2 ** 26

/**
 * Where the revisions of an epoch begin. In each epoch since the last publication, whoever led may
 * have given numbers that nobody else knows of, and snapshots that name them may still be in
 * memory: no other leader gives them.
 */
export const firstRevision = (last: Highest, epoch: number): number =>
  (Math.floor(last.revision / REVISIONS) + epochsSince(last, epoch)) * REVISIONS

/** After which number the texts of an epoch begin. */
export const lastFragment = (last: Highest, epoch: number): number =>
  Math.min(last.fragments + epochsSince(last, epoch) * FRAGMENTS, MOST_FRAGMENTS)

const epochsSince = (last: Highest, epoch: number) => Math.max(1, epoch - last.epoch)

/** How a file comes to the newest state: by a base, by changes, or both. */
export type Way = readonly Published[]

/**
 * The way from a state to the newest one; empty where it is that, null where none leads there.
 * Changes alone where the node has a state that they go on from, and they are no larger than the
 * other way.
 */
export function wayTo(published: readonly Published[], mark: string | null): Way | null {
  const at = mark === null ? -1 : published.findLastIndex((one) => one.mark === mark)
  const onward = at < 0 ? null : changesFrom(published, at)
  const base = published.findLastIndex((one) => one.kind === 'base' && !one.isBroken)
  const rest = base < 0 ? null : changesFrom(published, base)
  const anew = rest && [published[base]!, ...rest]
  if (!onward || !anew) return onward ?? anew
  const cost = (way: Way) => way.reduce((bytes, one) => bytes + one.bytes, 0)
  return cost(onward) <= cost(anew) ? onward : anew
}

/** Null where they do not join. */
function changesFrom(published: readonly Published[], at: number): Published[] | null {
  let { mark } = published[at]!
  const way: Published[] = []
  for (const one of published.slice(at + 1)) {
    // A base of the state that is reached already.
    if (one.mark === mark) continue
    if (one.kind === 'base' || one.before !== mark || one.isBroken) return null
    way.push(one)
    mark = one.mark
  }
  return way
}
