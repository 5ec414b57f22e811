/** The readers of a row's fields: each is made once for a file and called for every row. */
import { parseUpc } from '../../core/gtin.js'
import { parseMoney } from '../../core/money.js'
import { NO_STATES, stateSet } from '../../places/state-set.js'
import type { StateSet } from '../../places/state-set.js'
import { MAX_INT, fold, readEndOfDay, readQty, readText } from './casts.js'
import type {
  CatalogPreset,
  Field,
  Flag,
  Images,
  Money,
  Price,
  Quantity,
  StateFlags,
} from './preset.js'
import type { RowReader } from './row-reader.js'

export function text(spec: Field | undefined, row: RowReader): () => string {
  if (!spec) return () => ''
  if ('constant' in spec) return () => spec.constant
  const none = new Set((spec.none ?? []).map(fold))
  const some = (value: string) => (none.size > 0 && none.has(fold(value)) ? '' : value)
  if ('template' in spec) return template(spec.template, row, some)
  const places = row.places(spec.from)
  return () => {
    for (const place of places) {
      const value = some(readText(row.cell(place)))
      if (value !== '') return value
    }
    return ''
  }
}

function template(source: string, row: RowReader, some: (value: string) => string): () => string {
  // Every second part is a column's name.
  const parts = source
    .split(/\{([^}]*)\}/)
    .map((part, i) => (i % 2 === 0 ? part : (row.places([part])[0] ?? -1)))
  return () => {
    let out = ''
    for (const part of parts) {
      const value =
        typeof part === 'string'
          ? part
          : encodeURIComponent(part < 0 ? '' : some(readText(row.cell(part))))
      if (typeof part !== 'string' && value === '') return ''
      out += value
    }
    return out
  }
}

export function upc(
  spec: { from: readonly string[] } | undefined,
  row: RowReader,
): () => string | null {
  const places = row.places(spec?.from ?? [])
  return () => {
    for (const place of places) {
      const value = parseUpc(row.cell(place))
      if (value !== null) return value
    }
    return null
  }
}

/** Cents, null where no column holds an amount: a feed says "none" as blank, `N/A` or 0. */
export function money(spec: Money | undefined, row: RowReader): () => number | null {
  const places = row.places(spec?.from ?? [])
  return () => {
    for (const place of places) {
      const cents = parseMoney(row.cell(place))
      if (cents === undefined) row.fail(place, row.cell(place), 'not an amount of dollars')
      else if (cents) return cents
    }
    return null
  }
}

export function priceOf(spec: Price, row: RowReader, at: number): () => number | null {
  const regular = money(spec, row)
  if (!spec.sale) return regular
  const sale = money(spec.sale, row)
  const ends = row.places([spec.sale.ends])[0]
  return () => {
    const usual = regular()
    const special = sale()
    if (special === null) return usual
    // An end that cannot be read is taken as past: the dearer price is the safe one to quote from.
    const end = ends === undefined ? null : readEndOfDay(row.cell(ends))
    return end === null || (end !== undefined && at <= end) ? special : usual
  }
}

export function quantity(spec: Quantity, row: RowReader): () => number {
  const one = (place: number): number => {
    const count = readQty(row.cell(place))
    if (count === undefined)
      row.fail(place, row.cell(place), 'not a stock count (a whole number that is not negative)')
    return count ?? 0
  }
  if ('sum' in spec) {
    const places = row.places(spec.sum)
    return () =>
      Math.min(
        places.reduce((sum, place) => sum + one(place), 0),
        MAX_INT,
      )
  }
  const place = row.places(spec.from)[0]
  return () => (place === undefined ? 0 : one(place))
}

export function flag(spec: Flag | undefined, row: RowReader): () => boolean {
  if (!spec) return () => true
  const place = row.places(spec.from)[0]
  const listed = new Set(('yes' in spec ? spec.yes : spec.no).map(fold))
  const whenListed = 'yes' in spec
  return () => (place !== undefined && listed.has(fold(row.cell(place)))) === whenListed
}

/**
 * The states that a row is not shipped to; null where the preset, or the file, has no flags.
 * Throws for a state that cannot be flagged.
 */
export function stateFlags(spec: StateFlags | undefined, row: RowReader): () => StateSet | null {
  const flags = Object.entries(spec?.columns ?? {}).flatMap(([state, column]) => {
    const bit = stateSet([state])
    return row.places([column]).map((place) => ({ place, bit }))
  })
  if (!spec || flags.length === 0) return () => null
  const restricts = new Set(spec.restricts.map(fold))
  const permits = spec.permits && new Set(spec.permits.map(fold))
  const listed = [...restricts, ...(permits ?? [])].map((text) => text || 'blank').join(', ')
  return () => {
    let states = NO_STATES
    for (const { place, bit } of flags) {
      const cell = row.cell(place)
      // Most cells are blank.
      const value = cell === '' ? '' : fold(cell)
      if (restricts.has(value)) states += bit
      else if (permits && !permits.has(value)) row.fail(place, cell, `not a flag (${listed})`)
    }
    return states
  }
}

export function imagesOf(spec: Images | undefined, row: RowReader): () => string[] {
  const source = text(spec, row)
  return () => {
    const value = source()
    if (value === '') return []
    const urls = spec?.separator ? value.split(spec.separator) : [value]
    return urls
      .map((url) => (spec?.dropQuery ? url.split('?')[0]! : url).trim())
      .filter((url) => /^https?:\/\//i.test(url))
  }
}

export function attributesOf(preset: CatalogPreset, row: RowReader): () => Record<string, string> {
  const columns = (preset.attributes ?? []).flatMap(({ column, name, only }) =>
    row
      .places([column])
      .map((place) => ({ place, name: name ?? column, only: only && new Set(only.map(fold)) })),
  )
  return () => {
    const attributes: Record<string, string> = {}
    for (const { place, name, only } of columns) {
      const cell = row.cell(place)
      if (cell === '') continue
      const value = readText(cell)
      if (value !== '' && (!only || only.has(fold(value)))) attributes[name] = value
    }
    return attributes
  }
}
