/**
 * Product search over one view (contract "Product search"): exact totals, pages
 * that never overlap.
 */
import { firstPlace } from '../../core/binary-search.js'
import type { Hits, SearchedView } from './page.js'
import { byCodePoint } from '../../core/text.js'
import { gtinKey } from '../../core/gtin.js'
import { Bits } from '../snapshot/bits.js'
import { pageOf } from './page.js'
import { intersectRange, priceRange } from './price-range.js'
import type { PriceRange } from './price-range.js'
import { CLASS_CODES } from '../../distributors/product-classes.js'
import { intersect, isList, keepIn, longestList } from '../snapshot/row-set.js'
import type { RowSet } from '../snapshot/row-set.js'
import type { Recent } from './recent.js'
import type { SearchQuery } from '../shapes.js'
import type { Snapshot } from '../snapshot/snapshot.js'

export interface Found {
  /** Rows of the asked page, in the asked order. */
  rows: Uint32Array
  /** How many rows all pages have. */
  total: number
}

/** What a query asks for: rows that are in each of the sets, at a cost within the range. */
interface Filter {
  lists: Uint32Array[]
  sets: Bits[]
  price: PriceRange | null
}

/** One bitset per snapshot that a search without a memory may use until it returns. */
const scratches = new WeakMap<Snapshot, Bits>()

function scratchOf(snapshot: Snapshot): Bits {
  let scratch = scratches.get(snapshot)
  if (!scratch) scratches.set(snapshot, (scratch = new Bits(snapshot.rows)))
  return scratch
}

/**
 * One page of the visible offers that fit, and the number of all that fit. `recent` remembers what
 * fits for the next search; without it nothing is remembered.
 */
export function searchView(view: SearchedView, query: SearchQuery, recent?: Recent): Found {
  const scratch = () => recent?.scratch(view.snapshot.rows) ?? scratchOf(view.snapshot)
  let hits = recent?.hits(view, query)
  if (!hits) {
    const filter = filterOf(view, query)
    if (!filter) return { rows: new Uint32Array(0), total: 0 }
    hits = { ...match(view, filter, scratch), price: filter.price }
    recent?.keep(view, query, hits)
  }
  return { rows: pageOf(view, hits, query, scratch), total: hits.total }
}

/** Null when nothing can fit. */
function filterOf(view: SearchedView, query: SearchQuery): Filter | null {
  const { snapshot } = view
  const filter: Filter = { lists: [], sets: [view.visible], price: null }
  for (const set of wantedSets(snapshot, query)) {
    if (set === null || (isList(set) && set.length === 0)) return null
    if (isList(set)) filter.lists.push(set)
    else filter.sets.push(set)
  }
  if (query.ffl_required === false) filter.sets.push(withoutFfl(snapshot))
  if (query.min_price !== undefined || query.max_price !== undefined) {
    filter.price = priceRange(view.prices(), query.min_price, query.max_price)
    if (filter.price.from >= filter.price.to) return null
  }
  return filter
}

/** The set of each parameter that is given; null for one that nothing fits. */
function* wantedSets(snapshot: Snapshot, query: SearchQuery): Generator<RowSet | null> {
  if (query.upc !== undefined) yield upcSet(snapshot, query.upc)
  if (query.sku !== undefined) yield Uint32Array.from(snapshot.skuRows(query.sku))
  if (query.q !== undefined) {
    const set = textSet(snapshot, query.q)
    if (set) yield set
  }
  if (query.manufacturer !== undefined) {
    const place = placeOf(snapshot.brands, query.manufacturer)
    yield place === null ? null : snapshot.brandSet(place)
  }
  if (query.category !== undefined) yield categorySet(snapshot, query.category)
  if (query.product_class !== undefined) {
    const place = (CLASS_CODES as string[]).indexOf(query.product_class)
    yield place < 0 ? null : snapshot.classRows(place)
  }
  if (query.distributor !== undefined) {
    const place = snapshot.distids.indexOf(query.distributor)
    yield place < 0 ? null : snapshot.distributorRows(place)
  }
  if (query.in_stock) yield snapshot.inStock
  if (query.drop_ship_only) yield snapshot.dropShip
  if (query.ffl_required) yield snapshot.fflReq
}

function upcSet(snapshot: Snapshot, upc: string): RowSet | null {
  const key = gtinKey(upc)
  // Key 0 stands for offers without a UPC.
  return key ? Uint32Array.from(snapshot.upcRows(key)) : null
}

/** Null when the text has no word, which filters nothing. */
function textSet(snapshot: Snapshot, q: string): RowSet | null {
  const digits = q.replace(/[\s-]/g, '')
  if (/^\d{8,}$/.test(digits)) return upcSet(snapshot, digits) ?? new Uint32Array(0)
  return snapshot.textRows(q)
}

/** Categories of one name may have several ids. */
function categorySet(snapshot: Snapshot, name: string): RowSet | null {
  const { categories } = snapshot
  const places = categories.flatMap((category, place) => (category.name === name ? [place] : []))
  if (places.length < 2) return places.length === 0 ? null : snapshot.categorySet(places[0]!)
  const bits = new Bits(snapshot.rows)
  for (const place of places) bits.addAll(snapshot.categoryRows(place))
  return bits
}

function placeOf(sorted: readonly string[], value: string): number | null {
  const place = firstPlace(sorted.length, (at) => byCodePoint(sorted[at]!, value) >= 0)
  return sorted[place] === value ? place : null
}

const complements = new WeakMap<Bits, Bits>()

function withoutFfl({ fflReq, rows }: Snapshot): Bits {
  let bits = complements.get(fflReq)
  if (!bits) complements.set(fflReq, (bits = Bits.full(rows).andNot(fflReq)))
  return bits
}

/**
 * Smallest first: a short list is tested against everything else; bitsets alone are intersected
 * whole.
 */
function match(
  view: SearchedView,
  { lists, sets, price }: Filter,
  scratch: () => Bits,
): Omit<Hits, 'price'> {
  const [first, ...others] = lists.sort((a, b) => a.length - b.length)
  if (first) {
    const rows = keepAll(first.slice(), [...sets, ...others])
    return listed(price ? rows.subarray(0, keepPriced(rows, view.prices().column, price)) : rows)
  }
  if (price && price.to - price.from <= longestList(view.snapshot.rows)) {
    return listed(keepAll(view.prices().order.slice(price.from, price.to), sets).sort())
  }
  if (sets.length === 1 && !price) return { rows: view.visible, total: view.total }
  const rows = scratch()
  const total = price ? intersectRange(view.prices(), price, sets, rows) : intersect(sets, rows)
  return { rows, total }
}

function listed(rows: Uint32Array): Omit<Hits, 'price'> {
  return { rows, total: rows.length }
}

function keepAll(rows: Uint32Array, sets: RowSet[]): Uint32Array {
  return rows.subarray(
    0,
    sets.reduce((length, set) => keepIn(rows, length, set), rows.length),
  )
}

function keepPriced(rows: Uint32Array, column: Int32Array, { low, high }: PriceRange): number {
  let kept = 0
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!
    if (column[row]! >= low && column[row]! <= high) rows[kept++] = row
  }
  return kept
}
