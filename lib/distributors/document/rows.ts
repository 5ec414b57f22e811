/** The rows of a file, whatever form it has: the value of each column by its name. */
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { parse } from 'csv-parse'
import { FeedFault } from '../account-feed.js'
import { decoded } from '../session/csv-file.js'
import { JsonFault, JsonRows } from '../session/json-rows.js'
import { XmlFault } from '../session/xml.js'
import type { XmlElement } from '../session/xml.js'
import { XmlItems } from '../session/xml-items.js'
import type { Reading } from './schema.js'

/** A row: undefined for a column that it does not have. */
export type Row = (column: string) => unknown

/** Characters of a record: a quotation mark that nobody closes ends there. */
const LONGEST_RECORD = 1_048_576

/** Reads a file row by row. Throws a FeedFault for one that is of another form. */
export async function* rowsIn(file: string, read: Reading): AsyncGenerator<Row> {
  try {
    if (read.as === 'delimited') yield* delimitedRows(file, read)
    else if (read.as === 'fixed') yield* fixedRows(file, read)
    else if (read.as === 'json') yield* jsonRows(file, read.rows)
    else yield* xmlRows(file)
  } catch (error) {
    if (error instanceof FeedFault) throw error
    const why = error instanceof JsonFault || error instanceof XmlFault ? `: ${error.message}` : ''
    throw new FeedFault(`the file cannot be read as ${read.as}${why}`, { cause: error })
  }
}

const fold = (name: string) => name.trim().toLowerCase()

async function* delimitedRows(
  file: string,
  { format }: Extract<Reading, { as: 'delimited' }>,
): AsyncGenerator<Row> {
  const cells = parse({
    encoding: 'latin1',
    delimiter: format.delimiter,
    quote: format.quote ?? false,
    record_delimiter: ['\r\n', '\n'],
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: LONGEST_RECORD,
  })
  // What fails is heard of where the rows are taken.
  pipeline(createReadStream(file), cells, () => {})
  let names = format.header ? null : new Map(format.columns!.map((name, at) => [fold(name), at]))
  for await (const row of cells as AsyncIterable<string[]>) {
    if (names) {
      const known = names
      yield (column) => {
        const at = known.get(fold(column))
        return at === undefined || row[at] === undefined ? undefined : decoded(row[at]).trim()
      }
    } else
      names = new Map(
        row.map((name, at) => [
          fold(decoded(at === 0 ? name.replace(/^\u00EF\u00BB\u00BF/, '') : name)),
          at,
        ]),
      )
  }
}

async function* fixedRows(
  file: string,
  { columns, skipLines = 0 }: Extract<Reading, { as: 'fixed' }>,
): AsyncGenerator<Row> {
  const places = new Map(columns.map(({ name, start, length }) => [fold(name), { start, length }]))
  const lines = parse({
    encoding: 'latin1',
    delimiter: '\u0000',
    quote: false,
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    skip_empty_lines: true,
    from_line: skipLines + 1,
    max_record_size: LONGEST_RECORD,
  })
  pipeline(createReadStream(file), lines, () => {})
  for await (const [line = ''] of lines as AsyncIterable<string[]>)
    yield (column) => {
      const place = places.get(fold(column))
      return place && decoded(line.slice(place.start - 1, place.start - 1 + place.length)).trim()
    }
}

async function* jsonRows(file: string, path: string): AsyncGenerator<Row> {
  const found: unknown[] = []
  const reader = new JsonRows(path === '' ? [] : path.split('.'), (row) => found.push(row))
  for await (const piece of createReadStream(file) as AsyncIterable<Buffer>) {
    reader.push(piece)
    for (const row of found.splice(0)) yield (column) => valueAt(row, column)
  }
  if (!reader.end().hasRows) throw new FeedFault(`the file has no list at "${path}"`)
}

/** By a name, or names with dots between them; of a list its texts, with a bar between them. */
function valueAt(row: unknown, column: string): unknown {
  const value = column
    .split('.')
    .reduce<unknown>(
      (at, name) =>
        typeof at === 'object' && at !== null && Object.hasOwn(at, name)
          ? (at as Record<string, unknown>)[name]
          : undefined,
      row,
    )
  return Array.isArray(value) ? (value as unknown[]).map(String).join('|') : value
}

async function* xmlRows(file: string): AsyncGenerator<Row> {
  const found: XmlElement[] = []
  const items = new XmlItems((item) => found.push(item))
  for await (const piece of createReadStream(file) as AsyncIterable<Buffer>) {
    items.push(piece)
    for (const item of found.splice(0)) yield (column) => textAt(item, column.split('.'))
  }
  items.end()
}

function textAt(element: XmlElement, [name, ...rest]: readonly string[]): string | undefined {
  const texts = element.children
    .filter((child) => child.name === name)
    .flatMap((child) => (rest.length === 0 ? child.text.trim() : (textAt(child, rest) ?? [])))
  return texts.length === 0 ? undefined : texts.join('|')
}
