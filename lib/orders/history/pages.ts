/**
 * Pages of a subscriber's history with exact counts, by walks over indexes that hold all that is
 * asked for. The records themselves are read for the page alone.
 */
import { nextTurn } from '../../core/async/wait.js'
import { Bits } from '../../catalog/snapshot/bits.js'
import { DAY } from '../../core/clock.js'
import { byCodePoint } from '../../core/text.js'
import type { Reader } from '../../db/query.js'
import {
  countOfAll,
  countsOfSpans,
  entriesOf,
  idsInOrder,
  idsInOrderFrom,
  keyOf,
  recordsOfIds,
} from './queries.js'
import type { Narrowing, Order } from './queries.js'
import type { StoredOrder } from './records.js'
import type { Direction } from './shapes.js'

/**
 * What narrows a history without a look at single orders. Days are counted from 1970, UTC, both
 * inclusive.
 */
export interface Scope {
  distid?: string | undefined
  order_source?: string | undefined
  order_status?: string | undefined
  ship_status?: string | undefined
  fromDay?: number | undefined
  toDay?: number | undefined
}

export interface Slice {
  limit: number
  offset: number
}

/** The page that is asked for. */
export interface Wanted extends Order, Slice {
  /** All records of the subscriber by default. */
  scope?: Scope
}

/** The ids of a page, and how many records there are on all pages. */
export interface Page {
  count: number
  ids: number[]
}

/** Ids that one statement looks up: some ten milliseconds where the records lie far apart. */
const FEW = 2_000
/** More than that are not looked up one by one: a walk over all entries of an index is quicker. */
const MANY = 20_000
/** Entries of an index that one step of a walk passes. */
const STRIDE = 10_000

/** A scope as statements have it. */
function narrowingOf({ fromDay, toDay, ...kinds }: Scope): Narrowing {
  return {
    ...kinds,
    from: fromDay === undefined ? undefined : fromDay * DAY,
    to: toDay === undefined ? undefined : (toDay + 1) * DAY,
  }
}

/** Days of a long span; the database counts by these and by single days. */
const LONG = 32

/**
 * A page by order date. Long spans are skipped by their counts, in the one where the page begins
 * the days, and only that day's entries one by one: a deep page costs as much as the first.
 */
export function pageByDate(
  reader: Reader,
  subscriber: string,
  { scope = {}, direction, limit, offset }: Omit<Wanted, 'sort'>,
): Page {
  const [firstDay, lastDay] = [scope.fromDay ?? 0, scope.toDay ?? LAST_DAY]
  const { fromDay: _from, toDay: _to, ...kinds } = scope
  const counts = (days: number, first: number, last: number) =>
    reader.all(countsOfSpans(kinds, direction), { subscriber, days, first, last, ...kinds })
  const ofDay = (day: number, take: number, skip: number) => {
    const narrowing = narrowingOf({ ...kinds, fromDay: day, toDay: day })
    return reader.column(idsInOrder(narrowing, { sort: 'order_date', direction }), {
      ...narrowing,
      subscriber,
      limit: take,
      offset: skip,
    })
  }
  const ids: number[] = []
  let count = 0
  let skip = offset
  const spans = counts(LONG, Math.floor(firstDay / LONG), Math.floor(lastDay / LONG))
  for (const { span, orders: all } of spans) {
    const [from, to] = [span * LONG, span * LONG + LONG - 1]
    const daysInside = () => counts(1, Math.max(firstDay, from), Math.min(lastDay, to))
    // The first and the last span may reach beyond what is asked for.
    const days = from < firstDay || to > lastDay ? daysInside() : undefined
    const orders = days ? days.reduce((sum, { orders: some }) => sum + some, 0) : all
    count += orders
    if (skip >= orders) skip -= orders
    else
      for (const { span: day, orders: some } of ids.length < limit ? (days ?? daysInside()) : []) {
        if (skip >= some) skip -= some
        else if (ids.length < limit) {
          ids.push(...ofDay(day, limit - ids.length, skip))
          skip = 0
        }
      }
  }
  return { count, ids }
}

/** Later than any order. */
const LAST_DAY = 10_000_000

/** A page of all records in some order, walked to from the nearer end. */
export function pageBySort(reader: Reader, subscriber: string, wanted: Order & Slice): Page {
  if (wanted.sort === 'order_date') return pageByDate(reader, subscriber, wanted)
  const count = reader.value(countOfAll, { subscriber, days: LONG }) ?? 0
  const take = Math.min(wanted.limit, count - wanted.offset)
  return {
    count,
    ids: take > 0 ? walkTo(reader, subscriber, wanted, { count, take, skip: wanted.offset }) : [],
  }
}

function walkTo(
  reader: Reader,
  subscriber: string,
  { sort, direction }: Order,
  { count, take, skip }: { count: number; take: number; skip: number },
): number[] {
  const behind = count - skip - take
  const walk = (towards: Direction, offset: number) =>
    reader.column(idsInOrder({}, { sort, direction: towards }), { subscriber, limit: take, offset })
  return skip <= behind
    ? walk(direction, skip)
    : walk(direction === 'asc' ? 'desc' : 'asc', behind).reverse()
}

/**
 * A page of the given records, as far as they are visible, the subscriber's, and within the scope.
 * It works in steps, and lets others in between.
 */
export async function pageOfIds(
  reader: Reader,
  subscriber: string,
  ids: readonly number[],
  wanted: Wanted,
): Promise<Page> {
  return ids.length > MANY
    ? walkOver(reader, subscriber, ids, wanted)
    : lookUpEach(reader, subscriber, ids, wanted)
}

/** As lists: of thousands of records objects would cost a tenth of the page. */
type Entry = [key: number | string, id: number]

async function lookUpEach(
  reader: Reader,
  subscriber: string,
  ids: readonly number[],
  { scope = {}, sort, direction, limit, offset }: Wanted,
): Promise<Page> {
  const narrowing = narrowingOf(scope)
  const found: Entry[] = []
  for (let at = 0; at < ids.length; at += FEW) {
    if (at > 0) await nextTurn()
    const some = { ...narrowing, subscriber, ids: ids.slice(at, at + FEW) }
    for (const entry of reader.lists(entriesOf(narrowing, sort), some)) found.push(entry as Entry)
  }
  const compare = ([a, x]: Entry, [b, y]: Entry) =>
    (typeof a === 'number' ? a - Number(b) : byCodePoint(a, String(b))) || x - y
  found.sort(direction === 'asc' ? compare : (a, b) => compare(b, a))
  return { count: found.length, ids: found.slice(offset, offset + limit).map(([, id]) => id) }
}

async function walkOver(
  reader: Reader,
  subscriber: string,
  among: readonly number[],
  { scope = {}, limit, offset, ...order }: Wanted,
): Promise<Page> {
  const narrowing = narrowingOf(scope)
  const left = new Bits(among.reduce((most, id) => Math.max(most, id), 0) + 1).addAll(among)
  const ids: number[] = []
  let count = 0
  let key: number | string | undefined
  for (let skip = 0; ;) {
    const stride = { ...narrowing, subscriber, limit: STRIDE, offset: skip }
    const step =
      key === undefined
        ? reader.column(idsInOrder(narrowing, order), stride)
        : reader.column(idsInOrderFrom(narrowing, order), { ...stride, key })
    for (const id of step) {
      if (id >= left.size || !left.has(id)) continue
      // The next step begins among the entries with the last key of this one, so some come by
      // twice.
      left.delete(id)
      if (count++ >= offset && ids.length < limit) ids.push(id)
    }
    const end = step.at(-1)
    if (end === undefined || step.length < STRIDE) return { count, ids }
    const last = reader.value(keyOf(order.sort), { id: end })
    skip = last === key ? skip + step.length : 0
    key = last
    await nextTurn()
  }
}

/** The records of a page, in its order. */
export function recordsOf(reader: Reader, ids: readonly number[]): StoredOrder[] {
  const byId = new Map(reader.all(recordsOfIds, { ids }).map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
