/** A request as a line that can be pasted into a shell. */
import type { Plan } from './plan.js'

export function curlOf(
  { method, target, headers, body, chunked }: Plan,
  key: string | null,
): string {
  const all: [string, string][] = [
    ...(key === null ? [] : [['x-api-key', key] as [string, string]]),
    ...Object.entries(headers),
    ...(chunked ? [['transfer-encoding', 'chunked'] as [string, string]] : []),
  ]
  const text =
    body === null
      ? ''
      : ` --data-binary ${quoted(typeof body === 'string' ? body : body.toString('latin1'))}`
  return (
    'curl -sS --path-as-is -X ' +
    `${method}${all.map(([name, value]) => ` -H ${quoted(`${name}: ${value}`)}`).join('')}${text} ` +
    `${quoted(`http://127.0.0.1:8080${target}`)}`
  )
}

const LONGEST = 4_000

/** In single quotes; what a terminal cannot show, as an escape. Long ones are cut, and say so. */
function quoted(text: string): string {
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}...(${text.length} in all)` : text
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  if (!/[\u0000-\u001f\u007f-\uffff]/.test(cut)) return `'${cut.replaceAll("'", "'\\''")}'`
  const escaped = [...Buffer.from(cut)]
    .map((byte) =>
      byte === 0x27
        ? "\\'"
        : byte === 0x5c
          ? '\\\\'
          : byte < 0x20 || byte > 0x7e
            ? `\\x${byte.toString(16).padStart(2, '0')}`
            : String.fromCharCode(byte),
    )
    .join('')
  return `$'${escaped}'`
}
