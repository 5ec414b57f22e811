/** The columns of a snapshot that change only when offers come, go or are re-worded. */
import { byCodePoint } from '../../core/text.js'
import { gtinKey } from '../../core/gtin.js'
import { textRows } from './queries.js'
import type { TextRow } from './queries.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import type { Column } from './arena.js'
import { GrowingNumbers, GrowingTexts, reorderTexts } from './growing.js'
import {
  compareTexts,
  groupBy,
  identity,
  inverse,
  sortByBytes,
  sortByNumber,
} from './permutation.js'
import { CLASS_CODES } from '../../distributors/product-classes.js'
import { TermBuilder } from './terms.js'

/** Distributors are counted in one byte per row. */
const MAX_DISTRIBUTORS = 256
const OTHER = CLASS_CODES.indexOf('OT')

/**
 * Every offer in order of its id. Not yet sorted: an "offer" here is a place in that order, a "row"
 * one in name order.
 */
interface Offers {
  readonly ids: GrowingNumbers
  readonly fragments: GrowingNumbers
  readonly distributors: Dictionary<string>
  readonly brands: Dictionary<string | null>
  readonly categories: Dictionary<{ id: number | null; name: string }>
  readonly classes: GrowingNumbers
  readonly upcKeys: { low: GrowingNumbers; high: GrowingNumbers }
  readonly names: GrowingTexts
  readonly stockids: GrowingTexts
  readonly skus: GrowingTexts
  readonly loweredSkus: GrowingTexts
  readonly terms: TermBuilder
}

/** Distinct values in the order in which they were seen, and the value of each offer. */
interface Dictionary<T> {
  readonly values: T[]
  readonly places: Map<string | null, number>
  readonly column: GrowingNumbers
}

/** A GTIN-14 value is cut here to sort it by two 32-bit keys. */
const UPC_CUT = 2 ** 24

export interface Text {
  rows: number
  distids: string[]
  brands: string[]
  categories: { id: number | null; name: string }[]
  columns: Record<string, Column>
}

export function buildText(raw: Raw): Text {
  const offers = readOffers(raw)
  const rows = offers.ids.length
  const distributors = sortedDictionary(offers.distributors, byCodePoint)
  const brands = sortedDictionary(offers.brands, (a, b) =>
    a === null ? 1 : b === null ? -1 : byCodePoint(a, b),
  )
  const categories = sortedDictionary(
    offers.categories,
    (a, b) => byCodePoint(a.name, b.name) || (a.id ?? -1) - (b.id ?? -1),
  )
  if (distributors.values.length > MAX_DISTRIBUTORS)
    throw new Error(
      `the catalog has ${distributors.values.length} distributors; ${MAX_DISTRIBUTORS} is the most`,
    )

  const byTie = tieOrder(distributors, offers.stockids)
  const offerOf = byTie.slice()
  sortByBytes(offerOf, offers.names.column())
  const rowOf = inverse(offerOf)
  const noBrand = brands.values.includes(null) ? brands.values.length - 1 : brands.values.length
  const column = (values: ArrayLike<number>) => gather(values, offerOf)
  const brand = column(brands.column)
  const category = column(categories.column)
  return {
    rows,
    distids: distributors.values,
    brands: brands.values.filter((value) => value !== null),
    categories: categories.values,
    columns: {
      offerId: column(offers.ids.values()),
      fragment: column(offers.fragments.values()),
      byOfferId: rowOf,
      distributor: Uint8Array.from(column(distributors.column)),
      productClass: Uint8Array.from(column(offers.classes.values())),
      ...nameColumns(offers.names, offerOf, byTie, rowOf),
      ...upcColumns(offers.upcKeys, offerOf),
      ...skuColumns(offers, offerOf, rowOf),
      ...texts('stockid', offers.stockids, offerOf),
      brand,
      ...postings('brand', brand, noBrand + 1),
      category,
      ...postings('category', category, categories.values.length),
      ...offers.terms.columns(offerOf),
    },
  }
}

function readOffers(raw: Raw): Offers {
  const offers = emptyOffers()
  for (const row of textRows(raw)) addOffer(offers, row)
  return offers
}

function emptyOffers(): Offers {
  const dictionary = <T>(): Dictionary<T> => ({
    values: [],
    places: new Map(),
    column: new GrowingNumbers(),
  })
  return {
    ids: new GrowingNumbers(),
    fragments: new GrowingNumbers(),
    classes: new GrowingNumbers(),
    distributors: dictionary(),
    brands: dictionary(),
    categories: dictionary(),
    upcKeys: { low: new GrowingNumbers(), high: new GrowingNumbers() },
    names: new GrowingTexts(),
    stockids: new GrowingTexts(),
    skus: new GrowingTexts(),
    loweredSkus: new GrowingTexts(),
    terms: new TermBuilder(),
  }
}

function addOffer(offers: Offers, row: TextRow): void {
  const [
    id,
    fragment,
    distid,
    stockid,
    distsku,
    upc,
    name,
    mfgName,
    mpn,
    productClass,
    categoryId,
    categoryName,
  ] = row
  // An empty brand is none.
  const brand = mfgName || null
  offers.ids.push(id)
  offers.fragments.push(fragment)
  define(offers.distributors, distid, () => distid)
  define(offers.brands, brand, () => brand)
  define(offers.categories, `${categoryId} ${categoryName}`, () => ({
    id: categoryId,
    name: categoryName,
  }))
  const place = (CLASS_CODES as string[]).indexOf(productClass)
  offers.classes.push(place < 0 ? OTHER : place)
  const key = upc === null ? 0 : (gtinKey(upc) ?? 0)
  offers.upcKeys.low.push(key % UPC_CUT)
  offers.upcKeys.high.push(Math.floor(key / UPC_CUT))
  offers.names.push(name.toLowerCase())
  offers.stockids.push(stockid)
  offers.skus.push(distsku)
  offers.loweredSkus.push(distsku.toLowerCase())
  offers.terms.addOffer([name, mfgName], [distsku, mpn])
}

function define<T>(dictionary: Dictionary<T>, name: string | null, value: () => T): void {
  let place = dictionary.places.get(name)
  if (place === undefined) {
    place = dictionary.values.push(value()) - 1
    dictionary.places.set(name, place)
  }
  dictionary.column.push(place)
}

function sortedDictionary<T>(
  { values, column }: Dictionary<T>,
  compare: (a: T, b: T) => number,
): { values: T[]; column: Uint32Array } {
  const order = Uint32Array.from(values.keys()).sort((a, b) => compare(values[a]!, values[b]!))
  return {
    values: Array.from(order, (place) => values[place]!),
    column: gather(inverse(order), column.values()),
  }
}

/** Offers in order of (distid, stockid), which breaks every tie. */
function tieOrder(
  distributors: { values: string[]; column: Uint32Array },
  stockids: GrowingTexts,
): Uint32Array {
  const { items, starts } = groupBy(
    identity(stockids.length),
    distributors.column,
    distributors.values.length,
  )
  const column = stockids.column()
  for (let i = 0; i < distributors.values.length; i++)
    sortByBytes(items.subarray(starts[i], starts[i + 1]), column)
  return items
}

function nameColumns(
  names: GrowingTexts,
  offerOf: Uint32Array,
  byTie: Uint32Array,
  rowOf: Uint32Array,
): Record<string, Column> {
  const column = names.column()
  const nameRank = new Uint32Array(offerOf.length)
  for (let row = 1; row < nameRank.length; row++) {
    nameRank[row] =
      nameRank[row - 1]! + (compareTexts(column, offerOf[row - 1]!, offerOf[row]!) === 0 ? 0 : 1)
  }
  const rowsByTie = gather(rowOf, byTie)
  return { nameRank, byTie: rowsByTie, tieRank: inverse(rowsByTie) }
}

function upcColumns(keys: Offers['upcKeys'], offerOf: Uint32Array): Record<string, Column> {
  const low = gather(keys.low.values(), offerOf)
  const high = gather(keys.high.values(), offerOf)
  const upcKey = Float64Array.from(low, (value, row) => high[row]! * UPC_CUT + value)
  const withUpc = identity(offerOf.length).filter((row) => upcKey[row] !== 0)
  return {
    upcKey,
    byUpc: sortByNumber(sortByNumber(withUpc, Int32Array.from(low)), Int32Array.from(high)),
  }
}

function skuColumns(
  offers: Offers,
  offerOf: Uint32Array,
  rowOf: Uint32Array,
): Record<string, Column> {
  const order = offerOf.slice()
  sortByBytes(order, offers.loweredSkus.column())
  return { ...texts('sku', offers.skus, offerOf), bySku: gather(rowOf, order) }
}

function texts(name: string, from: GrowingTexts, offerOf: Uint32Array): Record<string, Column> {
  const { bytes, starts } = reorderTexts(from.column(), offerOf)
  return { [`${name}Bytes`]: bytes, [`${name}Starts`]: starts }
}

/** The rows of each value, ascending. */
function postings(name: string, column: Uint32Array, values: number): Record<string, Column> {
  const { items, starts } = groupBy(identity(column.length), column, values)
  return { [`${name}Rows`]: items, [`${name}RowStarts`]: starts }
}

function gather(values: ArrayLike<number>, order: Uint32Array): Uint32Array {
  const gathered = new Uint32Array(order.length)
  for (let i = 0; i < order.length; i++) gathered[i] = values[order[i]!]!
  return gathered
}
