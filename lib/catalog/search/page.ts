/**
 * One page out of the rows that a search found, in the asked order. Ties are in ascending (distid,
 * stockid) order.
 */
import { popcount } from '../snapshot/bits.js'
import type { Bits } from '../snapshot/bits.js'
import { firstPlace } from '../../core/binary-search.js'
import { edgesOf, stepBefore, stepsOf } from './order-steps.js'
import type { PriceRange } from './price-range.js'
import { isList, listOf } from '../snapshot/row-set.js'
import type { RowSet } from '../snapshot/row-set.js'
import type { View } from '../view/view.js'
import type { SearchQuery } from '../shapes.js'
import type { Snapshot } from '../snapshot/snapshot.js'

/** The part of a view that a search looks at. */
export type SearchedView = Pick<View, 'snapshot' | 'visible' | 'total' | 'prices'>

/**
 * Rows that fit the query, and how many: an ascending list, or a bitset that may be scratch memory.
 */
export interface Hits {
  readonly rows: RowSet
  readonly total: number
  /** The slice of the order by price that holds them; null where no price was asked for. */
  readonly price: PriceRange | null
}

/** An order of all rows. */
interface Order {
  /** Rows in ascending order of (key, tie); null for the order of the rows themselves. */
  readonly order: Uint32Array | null
  /** By row. */
  readonly key: Int32Array | Uint32Array
  readonly descending: boolean
  /** No hit stands before or behind these places. */
  readonly from: number
  readonly to: number
}

/** What sorting one row costs, in places of an order that are looked at instead. */
const SORT_COST = 50
/** A hit that is not within so many times the places where it should be is among hits that cluster. */
const NEAR = 3
/** Counting costs as much as walking this share of an order. */
const COUNTING = 16
/** So few places are always walked. */
const FEW = 1024

/** The rows of the page; `scratch` gives memory that is nobody's, for hits that are a list. */
export function pageOf(
  view: SearchedView,
  hits: Hits,
  query: SearchQuery,
  scratch: () => Bits,
): Uint32Array {
  const { page, page_size: size } = query
  const skip = (page - 1) * size
  const take = Math.min(size, hits.total - skip)
  if (take <= 0) return new Uint32Array(0)
  const order = orderOf(view, query, hits.price)
  const rowOrder = order.order === null
  if (rowOrder && !order.descending && isList(hits.rows)) return hits.rows.slice(skip, skip + take)

  const apart = (order.to - order.from) / hits.total
  const toFirst = rowOrder ? 0 : Math.min(skip, hits.total - skip - take) * apart
  const walked = Math.min(toFirst, view.snapshot.rows / COUNTING) + take * apart
  if (hits.total * SORT_COST < walked + (isList(hits.rows) ? hits.total * 2 : 0)) {
    return sortedPage(view.snapshot, hits, order, skip, take)
  }
  const set = isList(hits.rows) ? gather(hits.rows, scratch()) : hits.rows
  return rowOrder
    ? pageByRow(set, order, hits.total, skip, take)
    : pageByWalk(set, order, hits.total, skip, take)
}

function orderOf(
  view: SearchedView,
  { sort, in_stock: inStock }: SearchQuery,
  price: PriceRange | null,
): Order {
  const { snapshot } = view
  const descending = sort.startsWith('-')
  if (sort.endsWith('name'))
    return { order: null, key: snapshot.nameRank, descending, from: 0, to: snapshot.rows }
  if (sort.endsWith('qty')) {
    const { byQty: order, qty: key } = snapshot
    const { from, to } = edgesOf(order, view.visible)
    if (!inStock) return { order, key, descending, from, to }
    const stocked = firstPlace(order.length, (place) => key[order[place]!]! > 0)
    return { order, key, descending, from: Math.max(from, stocked), to }
  }
  const { order, column: key } = view.prices()
  const { from, to } = edgesOf(order, view.visible)
  return {
    order,
    key,
    descending,
    from: Math.max(from, price?.from ?? 0),
    to: Math.min(to, price?.to ?? to),
  }
}

function gather(rows: Uint32Array, spare: Bits): Bits {
  spare.words.fill(0)
  for (let i = 0; i < rows.length; i++) spare.add(rows[i]!)
  return spare
}

/** For few rows: sorts (key, tie) as one number. Both fit into 53 bits up to four million rows. */
function sortedPage(
  { rows: count, tieRank, byTie }: Snapshot,
  hits: Hits,
  { key, descending }: Order,
  skip: number,
  take: number,
): Uint32Array {
  const rows = isList(hits.rows) ? hits.rows : listOf(hits.rows, new Uint32Array(hits.total))
  if (count > 2 ** 22)
    return sortedByComparing(rows, tieRank, key, descending).slice(skip, skip + take)
  const sign = descending ? -1 : 1
  const keys = new Float64Array(rows.length)
  for (let i = 0; i < rows.length; i++) keys[i] = sign * key[rows[i]!]! * count + tieRank[rows[i]!]!
  keys.sort()
  const page = new Uint32Array(take)
  for (let i = 0; i < take; i++) {
    const tie = keys[skip + i]! % count
    page[i] = byTie[tie < 0 ? tie + count : tie]!
  }
  return page
}

function sortedByComparing(
  rows: Uint32Array,
  tieRank: Uint32Array,
  key: Order['key'],
  descending: boolean,
): Uint32Array {
  const sign = descending ? -1 : 1
  return rows.slice().sort((a, b) => sign * (key[a]! - key[b]!) || tieRank[a]! - tieRank[b]!)
}

/** By name: the first hit of the page is found by counting bits, whatever its depth. */
function pageByRow(
  set: Bits,
  order: Order,
  total: number,
  skip: number,
  take: number,
): Uint32Array {
  const place = selectBit(set, order.descending ? total - 1 - skip : skip, total)
  return fill(set, order, place, order.descending ? -1 : 1, take)
}

/**
 * By price or quantity: looks at places of the order from the nearer end until the page is full.
 */
function pageByWalk(
  set: Bits,
  order: Order,
  total: number,
  skip: number,
  take: number,
): Uint32Array {
  const behind = total - skip - take
  const forward = skip <= behind
  const step = forward !== order.descending ? 1 : -1
  const page = fill(set, order, seek(set, order, total, step, forward ? skip : behind), step, take)
  return forward ? page : page.reverse()
}

/**
 * The place of the hit number `skip`, from 0, from the end of the order where `step` begins. It is
 * walked to where it should be near; where it is not, as firearms are not in an order by price, it
 * is found by counting.
 */
function seek(
  set: Bits,
  { order, from, to }: Order,
  total: number,
  step: 1 | -1,
  skip: number,
): number {
  const start = step === 1 ? from : to - 1
  const expected = ((skip + 1) / total) * (to - from)
  const near = Math.min(Math.max(FEW, Math.ceil(expected * NEAR)), to - from)
  if (near <= Math.max(FEW, set.size / COUNTING) || near === to - from) {
    const found = seekFrom(set, order!, start, start + near * step, skip)
    if (found !== null || near === to - from) return found ?? start
  }
  const { place, passed } = stepBefore(stepsOf(order!), set, step, skip)
  const [first, end] =
    step === 1 ? [Math.max(place, from), to] : [Math.min(place, to) - 1, from - 1]
  return seekFrom(set, order!, first, end, skip - passed) ?? start
}

function seekFrom(
  { words }: Bits,
  order: Uint32Array,
  from: number,
  end: number,
  skip: number,
): number | null {
  const step = from < end ? 1 : -1
  for (let place = from, left = skip; place !== end; place += step) {
    const row = order[place]!
    if (((words[row >>> 5]! >>> (row & 31)) & 1) === 1 && left-- === 0) return place
  }
  return null
}

/**
 * As many hits as the page takes, from the one at `place` on. In a descending order hits of one key
 * come in the direction opposite to the walk, so it begins where their group begins, and leaves out
 * what is not behind the first hit.
 */
function fill(set: Bits, plan: Order, place: number, step: 1 | -1, take: number): Uint32Array {
  const { order, descending: flip } = plan
  const page = new Uint32Array(take)
  const end = step === 1 ? plan.to : plan.from - 1
  const rowAt = (at: number) => (order === null ? at : order[at]!)
  let found = 0
  let skip = 0
  let at = place
  if (flip) {
    at = groupEnd(plan, place, -step as 1 | -1)
    for (let before = at; before !== place; before += step) if (set.has(rowAt(before))) skip++
  }
  for (; at !== end && found < take; at += step) {
    // By name the hits of a brand stand together, and others of its letters far from them.
    if (order === null) at = set.next(at, step)
    else if (!set.has(order[at]!)) continue
    if (at < 0) break
    if (!flip) {
      page[found++] = rowAt(at)
      continue
    }
    const last = groupEnd(plan, at, step)
    for (let back = last; back !== at - step && found < take; back -= step) {
      if (set.has(rowAt(back)) && skip-- <= 0) page[found++] = rowAt(back)
    }
    at = last
  }
  return page
}

/**
 * The last place, in the direction of `step`, that has the same key as this one: by leaps, since a
 * group may be long.
 */
function groupEnd({ order, key, from, to }: Order, place: number, step: 1 | -1): number {
  const keyAt = (at: number) => key[order === null ? at : order[at]!]!
  const value = keyAt(place)
  const most = step === 1 ? to - 1 - place : place - from
  let same = 0
  let leap = 1
  while (same + leap <= most && keyAt(place + (same + leap) * step) === value) {
    same += leap
    leap *= 2
  }
  for (; leap >= 1; leap = leap >>> 1) {
    if (same + leap <= most && keyAt(place + (same + leap) * step) === value) same += leap
  }
  return place + same * step
}

/** The row of the hit number `place`, from 0; counted from the nearer end. */
function selectBit({ words }: Bits, place: number, total: number): number {
  let i = 0
  let left = place
  if (place < total / 2) {
    for (let count; left >= (count = popcount(words[i]!)); i++) left -= count
  } else {
    left = total - place
    for (i = words.length - 1; left > popcount(words[i]!); i--) left -= popcount(words[i]!)
    left = popcount(words[i]!) - left
  }
  let word = words[i]!
  for (; left > 0; left--) word &= word - 1
  return i * 32 + 31 - Math.clz32(word & -word)
}
