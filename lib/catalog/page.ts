/** One page out of the rows that a search found, in the asked order. Ties are in ascending (distid, stockid) order. */
import { popcount } from './bits.js'
import type { Bits } from './bits.js'
import type { PriceRange } from './price-range.js'
import { isList, listOf } from './row-set.js'
import type { Hits, SearchedView } from './search.js'
import type { SearchQuery } from './shapes.js'
import type { Snapshot } from './snapshot.js'

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

/** The rows of the page; `spare` is scratch memory, which may be what the hits lie in. */
export function pageOf(view: SearchedView, hits: Hits, { sort, page, page_size: size }: SearchQuery, price: PriceRange | null, spare: Bits): Uint32Array {
  const skip = (page - 1) * size
  const take = Math.min(size, hits.total - skip)
  if (take <= 0) return new Uint32Array(0)
  const order = orderOf(view, sort, price)
  const rowOrder = order.order === null
  if (rowOrder && !order.descending && isList(hits.rows)) return hits.rows.slice(skip, skip + take)

  const depth = rowOrder ? take : Math.min(skip + take, hits.total - skip)
  const walked = depth / hits.total * (order.to - order.from)
  if (hits.total * SORT_COST < walked + (isList(hits.rows) ? hits.total * 2 : 0)) {
    return sortedPage(view.snapshot, hits, order, skip, take)
  }
  const set = isList(hits.rows) ? gather(hits.rows, spare) : hits.rows
  return rowOrder ? pageByRow(set, order, hits.total, skip, take) : pageByWalk(set, order, hits.total, skip, take)
}

function orderOf(view: SearchedView, sort: SearchQuery['sort'], price: PriceRange | null): Order {
  const { snapshot } = view
  const descending = sort.startsWith('-')
  const all = { descending, from: 0, to: snapshot.rows }
  if (sort.endsWith('name')) return { ...all, order: null, key: snapshot.nameRank }
  if (sort.endsWith('qty')) return { ...all, order: snapshot.byQty, key: snapshot.qty }
  const { order, column } = view.prices()
  return { descending, order, key: column, from: price?.from ?? 0, to: price?.to ?? order.length }
}

function gather(rows: Uint32Array, spare: Bits): Bits {
  spare.words.fill(0)
  for (let i = 0; i < rows.length; i++) spare.add(rows[i]!)
  return spare
}

/** For few rows: sorts (key, tie) as one number. Both fit into 53 bits up to four million rows. */
function sortedPage({ rows: count, tieRank, byTie }: Snapshot, hits: Hits, { key, descending }: Order, skip: number, take: number): Uint32Array {
  const rows = isList(hits.rows) ? hits.rows : listOf(hits.rows, new Uint32Array(hits.total))
  if (count > 2 ** 22) return sortedByComparing(rows, tieRank, key, descending).slice(skip, skip + take)
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

function sortedByComparing(rows: Uint32Array, tieRank: Uint32Array, key: Order['key'], descending: boolean): Uint32Array {
  const sign = descending ? -1 : 1
  return rows.slice().sort((a, b) => sign * (key[a]! - key[b]!) || tieRank[a]! - tieRank[b]!)
}

/** By name: the place of the first row of the page is found by counting bits, whatever its depth. */
function pageByRow(set: Bits, order: Order, total: number, skip: number, take: number): Uint32Array {
  const page = new Uint32Array(take)
  if (!order.descending) {
    collect(set, order, { from: selectBit(set, skip), step: 1, skip: 0, flip: false }, page)
    return page
  }
  const place = total - 1 - skip
  const row = selectBit(set, place)
  // Names that sort the same stand together, ascending also in a descending order: begin behind the last of them.
  const last = groupEnd(order, row, 1)
  let behind = skip
  for (let r = row + 1; r <= last; r++) if (set.has(r)) behind--
  collect(set, order, { from: last, step: -1, skip: skip - behind, flip: true }, page)
  return page
}

/** By price or quantity: looks at places of the order from the nearer end until the page is full. */
function pageByWalk(set: Bits, order: Order, total: number, skip: number, take: number): Uint32Array {
  const page = new Uint32Array(take)
  const behind = total - skip - take
  const forward = skip <= behind
  const fromStart = forward !== order.descending
  collect(set, order, { from: fromStart ? order.from : order.to - 1, step: fromStart ? 1 : -1, skip: forward ? skip : behind, flip: order.descending }, page)
  return forward ? page : page.reverse()
}

interface Walk {
  /** The first place to look at. */
  from: number
  step: 1 | -1
  /** Hits to pass over. */
  skip: number
  /** Hits of one key come in the direction opposite to the walk. */
  flip: boolean
}

/** Fills the page with hits. */
function collect(set: Bits, plan: Order, { from, step, skip, flip }: Walk, page: Uint32Array): void {
  const { order } = plan
  const end = step === 1 ? plan.to : plan.from - 1
  let found = 0
  const visit = (row: number) => {
    if (skip > 0) skip--
    else page[found++] = row
  }
  for (let place = from; place !== end && found < page.length; place += step) {
    const row = order === null ? place : order[place]!
    if (!set.has(row)) continue
    if (!flip) {
      visit(row)
      continue
    }
    const last = groupEnd(plan, place, step)
    for (let back = last; back !== place - step && found < page.length; back -= step) {
      const other = order === null ? back : order[back]!
      if (set.has(other)) visit(other)
    }
    place = last
  }
}

/** The last place, in the direction of `step`, that has the same key as this one: by leaps, since a group may be long. */
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

/** The row of the hit number `place`, from 0. */
function selectBit({ words }: Bits, place: number): number {
  let left = place
  let i = 0
  for (; ; i++) {
    const count = popcount(words[i]!)
    if (left < count) break
    left -= count
  }
  let word = words[i]!
  for (; left > 0; left--) word &= word - 1
  return i * 32 + 31 - Math.clz32(word & -word)
}
