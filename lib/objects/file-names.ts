/** How a file's name is told to whoever saves it. */

/**
 * The value of `content-disposition`. Always saved, never shown by the browser: a file is not ours
 * to vouch for.
 */
export function dispositionOf(fileName: string): string {
  if (fileName === '') return 'attachment'
  const plain = fileName.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeStrictly(fileName)}`
}

/**
 * As encodeURIComponent, with the five characters too that RFC 3986 reserves and it leaves alone.
 */
export function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
