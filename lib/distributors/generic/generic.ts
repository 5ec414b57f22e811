/**
 * The connector for any delimited feed: turns a preset and a header into the function that reads
 * one row.
 */
import { parseUpc } from '../../core/gtin.js'
import { fold, readText } from './casts.js'
import { missingColumns } from './columns.js'
import { quantity } from './fields.js'
import { compileOffer } from './offer.js'
import type { Preset, QuantityPreset } from './preset.js'
import { RowReader } from './row-reader.js'
import type { CatalogRow, Rejection, StockRow } from './rows.js'

export type * from './preset.js'

export type Compiled =
  | { kind: 'catalog'; read(cells: readonly string[]): CatalogRow | Rejection }
  | { kind: 'quantity'; read(cells: readonly string[]): StockRow | Rejection }

/**
 * Goes up whenever the code here reads a row differently, so that every line of the next feeds is
 * read again.
 */
export const MAPPING_VERSION = 3

/** An item number that is longer is a shifted column. */
const LONGEST_KEY = 100

/** Whether the offers of one file depend on the day. */
export function isDated(preset: Preset): boolean {
  return preset.kind === 'catalog' && preset.map.price.sale !== undefined
}

/**
 * The reader of one file's rows. `header` holds the names in the file's first row, null for a
 * preset without a header; `at` (ms) decides whether a sale is still on. Throws when a required
 * column is missing: ask `missingColumns` first.
 */
export function compilePreset(
  preset: Preset,
  header: readonly string[] | null,
  at: number,
): Compiled {
  const columns = header ?? preset.format.columns ?? []
  const missing = missingColumns(preset, columns)
  if (missing.length > 0) throw new Error(`the file has no column ${missing.join(', ')}`)
  const row = new RowReader(columns)
  const shape = shapeCheck(preset, columns.length)
  const key = keyOf(preset, row)
  if (preset.kind === 'quantity') return compileQuantity(preset, row, shape, key)
  const offer = compileOffer(preset, row, at)
  return {
    kind: 'catalog',
    read(cells) {
      row.cells = cells
      row.fault = shape(cells)
      const stockid = row.fault === null ? key() : ''
      const made = row.fault === null ? offer(stockid) : null
      return row.fault === null ? made! : { reason: row.fault }
    },
  }
}

function compileQuantity(
  preset: QuantityPreset,
  row: RowReader,
  shape: (cells: readonly string[]) => string | null,
  key: () => string,
): Compiled {
  const qty = quantity(preset.qty, row)
  return {
    kind: 'quantity',
    read(cells) {
      row.cells = cells
      row.fault = shape(cells)
      const stock = row.fault === null ? { stockid: key(), qty: qty() } : null
      return row.fault === null ? stock! : { reason: row.fault }
    },
  }
}

/** A shifted or cut row is refused as a whole: its cells would land in the wrong columns. */
function shapeCheck(
  { format }: Preset,
  columns: number,
): (cells: readonly string[]) => string | null {
  const least = format.minColumns ?? columns
  return (cells) => {
    if (cells.length < least)
      return `the row has ${cells.length} columns, at least ${least} are needed`
    // Without a header the layout may grow at the end; with one, more cells mean a separator inside
    // a text.
    if (
      format.header &&
      cells.length > columns &&
      cells.slice(columns).some((cell) => cell.trim() !== '')
    ) {
      return (
        `the row has ${cells.length} columns, the header has ${columns}: ` +
        'a text may hold the separator without quotes'
      )
    }
    return null
  }
}

function keyOf(preset: Preset, row: RowReader): () => string {
  const place = row.places(preset.key)[0]!
  const isUpc =
    preset.kind === 'catalog' &&
    (preset.map.upc?.from ?? []).some((name) => fold(name) === fold(row.columns[place]!))
  return () => {
    const cell = row.cell(place)
    const key = isUpc ? (parseUpc(cell) ?? '') : readText(cell)
    if (key === '')
      row.fail(
        place,
        cell,
        isUpc
          ? 'not a UPC; it is the key of this feed'
          : 'not an item number; it is the key of this feed',
      )
    else if (key.length > LONGEST_KEY)
      row.fail(place, cell, `too long for an item number (${key.length} characters)`)
    return key
  }
}
