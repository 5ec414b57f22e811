/**
 * An answer that is already JSON, as text or as its UTF-8. A page of offers is put together from
 * stored fragments; parsing it only to stringify it again would be most of its cost. The server
 * sends it as it is, the library parses it for its caller.
 */
export interface Serialized<T> {
  readonly json: string | Buffer
  /** The same JSON in its envelope. */
  readonly inEnvelope?: Buffer
  /** Headers of the answer over HTTP. */
  readonly headers?: Readonly<Record<string, string>>
  /** Never set: it carries the type of what the text parses to. */
  readonly type?: T
}

const brand = Symbol.for('quartermaster.serialized')

export function serialized<T>(
  json: string | Buffer,
  headers?: Record<string, string>,
): Serialized<T> {
  return { json, ...(headers && { headers }), [brand]: true } as Serialized<T>
}

/** What stands around the payload of an answer (contract "Response envelopes"). */
export const ENVELOPE = { before: '{"success":true,"data":', after: '}' } as const

/**
 * A payload that was written in its envelope. A page that is sent again and again is then sent as
 * it lies there: copies of 30 KB, each in new memory, were a third of such an answer's work.
 */
export function fromEnvelope<T>(whole: Buffer): Serialized<T> {
  const json = whole.subarray(ENVELOPE.before.length, whole.length - ENVELOPE.after.length)
  return { json, inEnvelope: whole, [brand]: true } as Serialized<T>
}

export function isSerialized(value: unknown): value is Serialized<unknown> {
  return typeof value === 'object' && value !== null && brand in value
}
