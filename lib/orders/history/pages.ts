/**
 * Pages of a subscriber's history with exact counts, by walks over indexes that hold all that is
 * asked for. The records themselves are read for the page alone.
 */
import { nextTurn } from '../../core/async/wait.js'
import { Bits } from '../../catalog/snapshot/bits.js'
import { DAY } from '../../core/clock.js'
import { byCodePoint } from '../../core/text.js'
import type { Engine } from '../../db/engine.js'
import type { Reading } from '../../db/query.js'
import { all, column, lists, value } from '../../db/reading.js'
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
export function* pageByDate(
  subscriber: string,
  { scope = {}, direction, limit, offset }: Omit<Wanted, 'sort'>,
): Reading<Page> {
  const [firstDay, lastDay] = [scope.fromDay ?? 0, scope.toDay ?? LAST_DAY]
  const { fromDay: _from, toDay: _to, ...kinds } = scope
  const counts = (days: number, first: number, last: number) =>
    all(countsOfSpans(kinds, direction), { subscriber, days, first, last, ...kinds })
  const ofDay = (day: number, take: number, skip: number) => {
    const narrowing = narrowingOf({ ...kinds, fromDay: day, toDay: day })
    return column(idsInOrder(narrowing, { sort: 'order_date', direction }), {
      ...narrowing,
      subscriber,
      limit: take,
      offset: skip,
    })
  }
  const ids: number[] = []
  let count = 0
  let skip = offset
  const spans = yield* counts(LONG, Math.floor(firstDay / LONG), Math.floor(lastDay / LONG))
  for (const { span, orders: ofSpan } of spans) {
    const [from, to] = [span * LONG, span * LONG + LONG - 1]
    const daysInside = () => counts(1, Math.max(firstDay, from), Math.min(lastDay, to))
    // The first and the last span may reach beyond what is asked for.
    const days = from < firstDay || to > lastDay ? yield* daysInside() : undefined
    const orders = days ? days.reduce((sum, { orders: some }) => sum + some, 0) : ofSpan
    count += orders
    if (skip >= orders) skip -= orders
    else
      for (const { span: day, orders: some } of ids.length < limit
        ? (days ?? (yield* daysInside()))
        : []) {
        if (skip >= some) skip -= some
        else if (ids.length < limit) {
          ids.push(...(yield* ofDay(day, limit - ids.length, skip)))
          skip = 0
        }
      }
  }
  return { count, ids }
}

/** Later than any order. */
const LAST_DAY = 10_000_000

/** A page of all records in some order, walked to from the nearer end. */
export function* pageBySort(subscriber: string, wanted: Order & Slice): Reading<Page> {
  if (wanted.sort === 'order_date') return yield* pageByDate(subscriber, wanted)
  const count = (yield* value(countOfAll, { subscriber, days: LONG })) ?? 0
  const take = Math.min(wanted.limit, count - wanted.offset)
  return {
    count,
    ids: take > 0 ? yield* walkTo(subscriber, wanted, { count, take, skip: wanted.offset }) : [],
  }
}

function* walkTo(
  subscriber: string,
  { sort, direction }: Order,
  { count, take, skip }: { count: number; take: number; skip: number },
): Reading<number[]> {
  const behind = count - skip - take
  const walk = (towards: Direction, offset: number) =>
    column(idsInOrder({}, { sort, direction: towards }), { subscriber, limit: take, offset })
  return skip <= behind
    ? yield* walk(direction, skip)
    : (yield* walk(direction === 'asc' ? 'desc' : 'asc', behind)).reverse()
}

/**
 * A page of the given records, as far as they are visible, the subscriber's, and within the scope.
 * It works in steps, and lets others in between.
 */
export async function pageOfIds(
  engine: Pick<Engine, 'look'>,
  subscriber: string,
  ids: readonly number[],
  wanted: Wanted,
): Promise<Page> {
  return ids.length > MANY
    ? walkOver(engine, subscriber, ids, wanted)
    : lookUpEach(engine, subscriber, ids, wanted)
}

/** As lists: of thousands of records objects would cost a tenth of the page. */
type Entry = [key: number | string, id: number]

async function lookUpEach(
  engine: Pick<Engine, 'look'>,
  subscriber: string,
  ids: readonly number[],
  { scope = {}, sort, direction, limit, offset }: Wanted,
): Promise<Page> {
  const narrowing = narrowingOf(scope)
  const found: Entry[] = []
  for (let at = 0; at < ids.length; at += FEW) {
    if (at > 0) await nextTurn()
    const some = { ...narrowing, subscriber, ids: ids.slice(at, at + FEW) }
    const entries = await engine.look(() => lists(entriesOf(narrowing, sort), some))
    for (const entry of entries) found.push(entry as Entry)
  }
  const compare = ([a, x]: Entry, [b, y]: Entry) =>
    (typeof a === 'number' ? a - Number(b) : byCodePoint(a, String(b))) || x - y
  found.sort(direction === 'asc' ? compare : (a, b) => compare(b, a))
  return { count: found.length, ids: found.slice(offset, offset + limit).map(([, id]) => id) }
}

async function walkOver(
  engine: Pick<Engine, 'look'>,
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
    const from = key
    const { step, last } = await engine.look(() => strideFrom(from, { narrowing, order, stride }))
    for (const id of step) {
      if (id >= left.size || !left.has(id)) continue
      // The next step begins among the entries with the last key of this one, so some come by
      // twice.
      left.delete(id)
      if (count++ >= offset && ids.length < limit) ids.push(id)
    }
    if (step.length < STRIDE) return { count, ids }
    skip = last === key ? skip + step.length : 0
    key = last
    await nextTurn()
  }
}

interface Walk {
  narrowing: Narrowing
  order: Order
  stride: Narrowing & Slice & { subscriber: string }
}

/** The next ids of a walk, from the records with a key on, and the key of the last one. */
function* strideFrom(
  key: number | string | undefined,
  { narrowing, order, stride }: Walk,
): Reading<{ step: number[]; last: number | string | undefined }> {
  const step =
    key === undefined
      ? yield* column(idsInOrder(narrowing, order), stride)
      : yield* column(idsInOrderFrom(narrowing, order), { ...stride, key })
  const end = step.at(-1)
  return { step, last: end === undefined ? end : yield* value(keyOf(order.sort), { id: end }) }
}

/** The records of a page, in its order. */
export function* recordsOf(ids: readonly number[]): Reading<StoredOrder[]> {
  const byId = new Map((yield* all(recordsOfIds, { ids })).map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
