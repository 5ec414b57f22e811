/** A file of comma-separated values that is too long for memory, with a header that may be damaged. */
import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { parse } from 'csv-parse'
import { FeedFault } from '../account-feed.js'

/** Bytes of a header. */
const LONGEST_HEADER = 65_536
/** Characters of a record: a quotation mark that nobody closes ends there. */
const LONGEST_RECORD = 1_048_576
const NOT_ASCII = /[^\p{ASCII}]/u
// With { stream: true } only: Node 20 decodes 0x80-0x9F as Latin-1 without it.
const windows1252 = new TextDecoder('windows-1252')

/**
 * The first line as it is, and the cells of the rows below it, without blanks around them; UTF-8 or
 * windows-1252, cell by cell. Throws a FeedFault for an empty file, and while it is read for one
 * that is not CSV.
 */
export async function openCsv(
  file: string,
): Promise<{ header: string; rows: AsyncGenerator<string[]> }> {
  await using handle = await open(file)
  const head = Buffer.alloc(LONGEST_HEADER)
  const { bytesRead } = await handle.read(head, 0, LONGEST_HEADER, 0)
  const end = head.subarray(0, bytesRead).indexOf('\n')
  const length = end < 0 ? bytesRead : end + 1
  const header = head
    .toString('utf8', 0, length)
    .replace(/^\uFEFF/, '')
    .trim()
  if (header === '') throw new FeedFault('a file of the feed is empty')
  return { header, rows: rowsFrom(file, length) }
}

async function* rowsFrom(file: string, start: number): AsyncGenerator<string[]> {
  const rows = parse({
    encoding: 'latin1',
    record_delimiter: ['\r\n', '\n'],
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    trim: true,
    max_record_size: LONGEST_RECORD,
  })
  // What fails is heard of where the rows are taken.
  pipeline(createReadStream(file, { start }), rows, () => {})
  try {
    for await (const cells of rows as AsyncIterable<string[]>) yield cells.map(decoded)
  } catch (error) {
    throw new FeedFault('a file of the feed cannot be read as CSV', { cause: error })
  }
}

/** Exports mix both encodings. */
export function decoded(cell: string): string {
  if (!NOT_ASCII.test(cell)) return cell
  const bytes = Buffer.from(cell, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : windows1252.decode(bytes, { stream: true })
}
