/** Records to cells. */
import { parse } from 'csv-parse/sync'
import type { LineFormat } from './lines.js'

/** The cells of each record, or the reason why it has none. */
export function parseCells(records: readonly string[], format: LineFormat): (string[] | string)[] {
  const { delimiter, quote } = format
  if (quote === null) return records.map((record) => record.split(delimiter))
  const cells: (string[] | string)[] = []
  const quoted: number[] = []
  records.forEach((record, i) => {
    // Where no field begins with a quote there is nothing to parse: the others are inch marks.
    if (record.includes(quote) && beginsField(record, quote, delimiter)) quoted.push(i)
    else cells[i] = record.split(delimiter)
  })
  const parsed = parseQuoted(
    quoted.map((i) => records[i]!),
    delimiter,
    quote,
  )
  quoted.forEach((i, k) => {
    cells[i] = parsed[k]!
  })
  return cells
}

function beginsField(record: string, quote: string, delimiter: string): boolean {
  for (let i = record.indexOf(quote); i !== -1; i = record.indexOf(quote, i + 1)) {
    let before = i - 1
    while (isPadding(record[before], delimiter)) before--
    if (before < 0 || record[before] === delimiter) return true
  }
  return false
}

function isPadding(character: string | undefined, delimiter: string): boolean {
  return character === ' ' || (character === '\t' && delimiter !== '\t')
}

/**
 * All in one call; where they do not come out one by one, each is parsed alone, so that a broken
 * one costs only itself.
 */
function parseQuoted(
  records: readonly string[],
  delimiter: string,
  quote: string,
): (string[] | string)[] {
  const options = {
    delimiter,
    quote,
    escape: quote,
    record_delimiter: '\n',
    relax_quotes: true,
    relax_column_count: true,
    trim: delimiter !== '\t',
  }
  if (records.length === 0) return []
  try {
    const all = parse(records.join('\n'), options)
    // No record can be split in two, since a newline stands only inside its quotes; so none was
    // joined to the next either.
    if (all.length === records.length) return all
  } catch {
    // One of them is broken.
  }
  return records.map((record) => {
    try {
      const rows = parse(record, options)
      return rows.length === 1 ? rows[0]! : `the line reads as ${rows.length} rows`
    } catch (error) {
      return `the line cannot be parsed: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`
    }
  })
}
