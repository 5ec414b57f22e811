/**
 * Query parameters that an endpoint does not know: they change nothing, and the answer names them.
 */

const MOST_NAMES = 10
const MOST_BYTES = 200

/**
 * `X-Ignored-Parameters` of an answer, none where every parameter is known: names in the order of
 * the query, each once and percent-encoded, parted by commas. Names that no longer fit are left
 * out; one that alone is too long is cut.
 */
export function ignoredHeader(
  search: URLSearchParams,
  known: (name: string) => boolean,
): Record<string, string> {
  if (search.size === 0) return {}
  const unknown = [...new Set(search.keys())].filter((name) => name !== '' && !known(name))
  const [first] = unknown
  if (first === undefined) return {}
  let text = ''
  let names = 0
  for (const name of unknown) {
    const longer = text === '' ? encodeURIComponent(name) : `${text}, ${encodeURIComponent(name)}`
    if (longer.length > MOST_BYTES) continue
    text = longer
    if (++names === MOST_NAMES) break
  }
  return { 'x-ignored-parameters': text || cut(encodeURIComponent(first)) }
}

/** Never within a percent-encoded byte. */
function cut(encoded: string): string {
  return encoded.slice(0, MOST_BYTES).replace(/%[0-9A-F]?$/, '')
}
