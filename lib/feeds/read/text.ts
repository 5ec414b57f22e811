/** Bytes of one record to text. */
import { isUtf8 } from 'node:buffer'

// With { stream: true } only: Node 20 decodes 0x80-0x9F as Latin-1 without it.
const windows1252 = new TextDecoder('windows-1252')

/**
 * UTF-8 where the bytes are valid UTF-8, else windows-1252. Decided for each record: exports mix
 * both.
 */
export function recordText(buffer: Buffer, start: number, end: number): string {
  const bytes = buffer.subarray(start, end)
  return isUtf8(bytes)
    ? buffer.toString('utf8', start, end)
    : windows1252.decode(bytes, { stream: true })
}
