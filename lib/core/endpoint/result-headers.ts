/**
 * Headers of an answer, for callers of the library and of a remote server: the payload itself is
 * the contract's.
 */
const kept = new WeakMap<object, Readonly<Record<string, string>>>()

/** Remembers the headers that came with a payload, as long as the payload lives. */
export function keepHeaders<T>(
  payload: T,
  headers: Readonly<Record<string, string>> | undefined,
): T {
  if (headers && typeof payload === 'object' && payload !== null) kept.set(payload, headers)
  return payload
}

/**
 * The ETag of a document that `config.get` or `config.put` returned, to be sent as `if_match`;
 * undefined for anything else.
 */
export function etagOf(payload: object): string | undefined {
  return kept.get(payload)?.['etag']
}
