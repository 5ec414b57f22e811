/**
 * The connector for any delimited feed: turns a preset and a header into the function that reads
 * one row.
 */
import { UNCATEGORIZED } from '../feed-offer.js'
import type { FeedOffer } from '../feed-offer.js'
import { CLASS_CODES } from '../product-classes.js'
import { parseUpc } from '../../core/gtin.js'
import { parseMoney } from '../../core/money.js'
import { MAX_INT, fold, readEndOfDay, readQty, readText } from './casts.js'
import { compileRules, meets, gunNamed } from './classify.js'
import type {
  CatalogPreset,
  Field,
  Flag,
  Images,
  Money,
  Preset,
  Price,
  Quantity,
  QuantityPreset,
} from './preset.js'
import { RowReader } from './row-reader.js'

export type * from './preset.js'

/** Why a row was not taken, in plain English. */
export interface Rejection {
  reason: string
}

/** One row of a catalog feed. */
export interface CatalogRow extends FeedOffer {
  /**
   * The catalog says that none can be ordered (`zeroWhen`): the quantity is 0, and a quantity feed
   * must not raise it.
   */
  held: boolean
  /** A rule of `classify` knew the item. Where none did, the row says nothing of what it is. */
  classified: boolean
  /**
   * Which fields the row fills, as bits of `MARKS`, and its class above them: what a feed as a
   * whole is judged by.
   */
  mark: number
}

/**
 * What a row may fill, in the order of a mark's bits. `map` is what the cell holds, `keptMap`
 * whether it counts.
 */
export const MARKS = [
  'upc',
  'name',
  'mfgName',
  'mpn',
  'itemCat',
  'productUrl',
  'shortDescription',
  'description',
  'price',
  'map',
  'keptMap',
  'msrp',
  'shipping',
  'images',
  'attributes',
  'dropShip',
  'noDropShip',
  'ffl',
  'held',
] as const
/** Where a mark's class begins: its place in `CLASS_CODES`. */
export const MARK_CLASS = 24

/** One row of a quantity feed. */
export interface StockRow {
  stockid: string
  qty: number
}

export type Compiled =
  | { kind: 'catalog'; read(cells: readonly string[]): CatalogRow | Rejection }
  | { kind: 'quantity'; read(cells: readonly string[]): StockRow | Rejection }

/**
 * Goes up whenever the code here reads a row differently, so that every line of the next feeds is
 * read again.
 */
export const MAPPING_VERSION = 2

/** An item number that is longer is a shifted column. */
const LONGEST_KEY = 100

export function isRejection(row: CatalogRow | StockRow | Rejection): row is Rejection {
  return 'reason' in row
}

/** Whether the offers of one file depend on the day. */
export function isDated(preset: Preset): boolean {
  return preset.kind === 'catalog' && preset.map.price.sale !== undefined
}

/** The columns of the preset that this header lacks; of alternatives, joined by " or ". */
export function missingColumns(preset: Preset, header: readonly string[]): string[] {
  const has = new Set(header.map(fold))
  return preset.required
    .map((column) => (typeof column === 'string' ? [column] : column))
    .filter((names) => !names.some((name) => has.has(fold(name))))
    .map((names) => names.join(' or '))
}

/**
 * The columns that decide what the preset reads and that this header has, alternatives as one,
 * joined by " or ".
 */
export function mappedColumns(preset: Preset, header: readonly string[]): string[] {
  const has = new Set(header.map(fold))
  const mapped = new Map<string, boolean>()
  for (const names of columnsOf(preset))
    mapped.set(
      names.join(' or '),
      names.some((name) => has.has(fold(name))),
    )
  return [...mapped.keys()].filter((label) => mapped.get(label))
}

/** Each set of columns of which the first that is there counts. */
function columnsOf(preset: Preset): (readonly string[])[] {
  const alone = (names: readonly string[]) => names.map((name) => [name])
  const quantityOf = (qty: Quantity) => ('sum' in qty ? alone(qty.sum) : [qty.from])
  if (preset.kind === 'quantity') return [preset.key, ...quantityOf(preset.qty)]
  const { qty, price, ...fields } = preset.map
  const conditions = [
    ...(preset.zeroWhen ?? []),
    ...preset.classify.flatMap((rule): readonly { column: string }[] =>
      'names' in rule ? [rule] : rule.when,
    ),
  ]
  return [
    preset.key,
    ...quantityOf(qty),
    price.from,
    ...(price.sale ? [price.sale.from, [price.sale.ends]] : []),
    ...Object.values(fields).flatMap((field) => {
      if ('template' in field)
        return alone([...field.template.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name!))
      return 'from' in field ? [field.from] : []
    }),
    ...alone([
      ...conditions.map(({ column }) => column),
      ...(preset.gunWordsIn ?? []),
      ...(preset.attributes ?? []).map(({ column }) => column),
    ]),
  ]
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
  const key = keyOf(preset, row, columns)
  if (preset.kind === 'quantity') return compileQuantity(preset, row, columns, shape, key)
  const offer = compileOffer(preset, row, columns, at)
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
  columns: readonly string[],
  shape: (cells: readonly string[]) => string | null,
  key: () => string,
): Compiled {
  const qty = quantity(preset.qty, row, columns)
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
      return `the row has ${cells.length} columns, the header has ${columns}: a text may hold the separator without quotes`
    }
    return null
  }
}

function keyOf(preset: Preset, row: RowReader, columns: readonly string[]): () => string {
  const place = row.places(preset.key)[0]!
  const isUpc =
    preset.kind === 'catalog' &&
    (preset.map.upc?.from ?? []).some((name) => fold(name) === fold(columns[place]!))
  return () => {
    const cell = row.cell(place)
    const key = isUpc ? (parseUpc(cell) ?? '') : readText(cell)
    if (key === '')
      row.fail(
        columns[place],
        cell,
        isUpc ? 'no UPC; it is the key of this feed' : 'no item number; it is the key of this feed',
      )
    else if (key.length > LONGEST_KEY)
      row.fail(columns[place], cell, `too long for an item number (${key.length} characters)`)
    return key
  }
}

function compileOffer(
  preset: CatalogPreset,
  row: RowReader,
  columns: readonly string[],
  at: number,
): (stockid: string) => CatalogRow {
  const { map } = preset
  const field = (spec: Field | undefined) => text(spec, row)
  const [distsku, upcOf, name, mfgName, mpn] = [
    field(map.distsku),
    upc(map.upc, row),
    field(map.name),
    field(map.mfgName),
    field(map.mpn),
  ]
  const [itemCat, productUrl, shortDescription, description] = [
    field(map.itemCat),
    field(map.productUrl),
    field(map.shortDescription),
    field(map.description),
  ]
  const [price, regular] = [
    priceOf(map.price, row, columns, at),
    money({ from: map.price.regular ?? map.price.from }, row, columns),
  ]
  const [lowest, retail, shipping] = [
    money(map.map, row, columns),
    money(map.msrp, row, columns),
    money(map.shipping, row, columns),
  ]
  const qty = quantity(map.qty, row, columns)
  const zero = (preset.zeroWhen ?? []).map((condition) => meets(condition, row))
  const dropShip = flag(map.dropShip, row)
  const images = imagesOf(map.images, row)
  const attributes = attributesOf(preset, row)
  const classify = compileRules(preset.classify, row)
  const namesGun = gunNamed(preset.gunWordsIn ?? [], row)
  return (stockid) => {
    const kind = classify()
    const told = { name: name(), map: lowest(), dropShip: dropShip() }
    const item = { upc: upcOf(), mpn: mpn() || null }
    const held = zero.some((holds) => holds())
    const count = qty()
    const usual = regular()
    const offer = {
      stockid,
      distsku: distsku() || stockid,
      upc: item.upc,
      name: told.name || item.mpn || item.upc || stockid,
      mfgName: mfgName() || null,
      mpn: item.mpn,
      productClass: kind?.productClass ?? 'OT',
      itemCat: itemCat() || null,
      categoryId: kind?.categoryId ?? null,
      categoryName: kind?.categoryName ?? UNCATEGORIZED,
      price: price(),
      // Some feeds fill the column with the dealer's own price, which must not be what a shop
      // publishes.
      map: told.map !== null && usual !== null && told.map <= usual ? null : told.map,
      msrp: retail(),
      shipping: shipping(),
      qty: held ? 0 : count,
      held,
      classified: kind !== null,
      fflReq: kind?.fflReq ?? false,
      dropShip:
        kind !== null &&
        kind.mayDropShip &&
        told.dropShip &&
        (kind.fflReq || kind.named || !namesGun()),
      images: images(),
      productUrl: productUrl() || null,
      shortDescription: shortDescription() || null,
      description: description() || null,
      attributes: attributes(),
      mark: 0,
    } satisfies CatalogRow
    offer.mark = markOf(offer, told)
    return offer
  }
}

function markOf(
  row: CatalogRow,
  told: { name: string; map: number | null; dropShip: boolean },
): number {
  let bits = 0
  let bit = 1
  const next = (filled: boolean) => {
    if (filled) bits |= bit
    bit <<= 1
  }
  next(row.upc !== null)
  next(told.name !== '')
  next(row.mfgName !== null)
  next(row.mpn !== null)
  next(row.itemCat !== null)
  next(row.productUrl !== null)
  next(row.shortDescription !== null)
  next(row.description !== null)
  next(row.price !== null)
  next(told.map !== null)
  next(row.map !== null)
  next(row.msrp !== null)
  next(row.shipping !== null)
  next(row.images.length > 0)
  next(hasAny(row.attributes))
  next(told.dropShip)
  next(!told.dropShip)
  next(row.fflReq)
  next(row.held)
  return bits | (CLASS_CODES.indexOf(row.productClass) << MARK_CLASS)
}

function hasAny(record: Record<string, string>): boolean {
  for (const _ in record) return true
  return false
}

function text(spec: Field | undefined, row: RowReader): () => string {
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

function upc(spec: { from: readonly string[] } | undefined, row: RowReader): () => string | null {
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
function money(
  spec: Money | undefined,
  row: RowReader,
  columns: readonly string[],
): () => number | null {
  const places = row.places(spec?.from ?? [])
  return () => {
    for (const place of places) {
      const cents = parseMoney(row.cell(place))
      if (cents === undefined) row.fail(columns[place], row.cell(place), 'no amount of dollars')
      else if (cents) return cents
    }
    return null
  }
}

function priceOf(
  spec: Price,
  row: RowReader,
  columns: readonly string[],
  at: number,
): () => number | null {
  const regular = money(spec, row, columns)
  if (!spec.sale) return regular
  const sale = money(spec.sale, row, columns)
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

function quantity(spec: Quantity, row: RowReader, columns: readonly string[]): () => number {
  const one = (place: number): number => {
    const count = readQty(row.cell(place))
    if (count === undefined)
      row.fail(
        columns[place],
        row.cell(place),
        'no stock count (a whole number that is not negative)',
      )
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

function flag(spec: Flag | undefined, row: RowReader): () => boolean {
  if (!spec) return () => true
  const place = row.places(spec.from)[0]
  const listed = new Set(('yes' in spec ? spec.yes : spec.no).map(fold))
  const whenListed = 'yes' in spec
  return () => (place !== undefined && listed.has(fold(row.cell(place)))) === whenListed
}

function imagesOf(spec: Images | undefined, row: RowReader): () => string[] {
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

function attributesOf(preset: CatalogPreset, row: RowReader): () => Record<string, string> {
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
