/**
 * Pages of a subscriber's history with exact counts, by walks over indexes that hold all that is
 * asked for. The records themselves are read for the page alone.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Bits } from '../../catalog/snapshot/bits.js'
import { DAY } from '../../core/clock.js'
import { byCodePoint } from '../../core/text.js'
import type { RawHandle } from '../../db/engine.js'
import type { StoredOrder } from './records.js'
import type { Direction, Sort } from './shapes.js'

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

/** The ids of a page, and how many records there are on all pages. */
export interface Page {
  count: number
  ids: number[]
}

export interface Order {
  sort: Sort
  direction: Direction
}

/** What each sort goes by, as its index has it. */
const KEYS: Record<Sort, string> = {
  order_date: 'order_date',
  order_id: 'order_id',
  ship_date: "coalesce(ship_date, '')",
  order_status: 'order_status',
  order_source: 'order_source',
}
const EQUALS = ['distid', 'order_source', 'order_status', 'ship_status'] as const

/** Ids that one statement looks up: some ten milliseconds where the records lie far apart. */
const FEW = 2_000
/** More than that are not looked up one by one: a walk over all entries of an index is quicker. */
const MANY = 20_000
/** Entries of an index that one step of a walk passes. */
const STRIDE = 10_000

interface Conditions {
  sql: string
  values: (string | number)[]
}

/** The conditions of a scope but for its days: the same on records and on counts. */
function kindsOf(scope: Scope): Conditions {
  const given = EQUALS.filter((name) => scope[name] !== undefined)
  return {
    sql: given.map((name) => ` AND ${name} = ?`).join(''),
    values: given.map((name) => scope[name]!),
  }
}

function conditionsOf({ fromDay, toDay, ...kinds }: Scope): Conditions {
  const { sql, values } = kindsOf(kinds)
  const from = fromDay === undefined ? [] : [fromDay * DAY]
  const to = toDay === undefined ? [] : [(toDay + 1) * DAY]
  return {
    sql: `${sql}${from.length > 0 ? ' AND order_date >= ?' : ''}${to.length > 0 ? ' AND order_date < ?' : ''}`,
    values: [...values, ...from, ...to],
  }
}

const ordering = ({ sort, direction }: Order) =>
  `ORDER BY ${KEYS[sort]} ${direction}, id ${direction}`

/** Runs synchronous reads over one state of the database. */
export function inSnapshot<T>({ raw }: RawHandle, read: () => T): T {
  return raw.transaction(read).deferred()
}

/** Days of a long span; the database counts by these and by single days. */
const LONG = 32

/**
 * A page by order date. Long spans are skipped by their counts, in the one where the page begins
 * the days, and only that day's entries one by one: a deep page costs as much as the first.
 */
export function pageByDate(
  { prepare }: RawHandle,
  subscriberId: string,
  scope: Scope,
  direction: Direction,
  { limit, offset }: Slice,
): Page {
  const [first, last] = [scope.fromDay ?? 0, scope.toDay ?? LAST_DAY]
  const kinds = kindsOf(scope)
  const counts = (days: number, from: number, to: number) =>
    prepare(`
    SELECT span, sum(orders) FROM fulfillment_count WHERE subscriber_id = ? AND days = ? AND span BETWEEN ? AND ?${kinds.sql} GROUP BY span ORDER BY span ${direction}`)
      .raw()
      .all(subscriberId, days, from, to, ...kinds.values) as Span[]
  const ofDay = (day: number, take: number, skip: number) => {
    const { sql, values } = conditionsOf({ ...scope, fromDay: day, toDay: day })
    return prepare(
      `SELECT id FROM fulfillment_order WHERE subscriber_id = ? AND visible = 1${sql} ${ordering({ sort: 'order_date', direction })} LIMIT ? OFFSET ?`,
    )
      .pluck()
      .all(subscriberId, ...values, take, skip) as number[]
  }
  const ids: number[] = []
  let count = 0
  let skip = offset
  for (const [span, all] of counts(LONG, Math.floor(first / LONG), Math.floor(last / LONG))) {
    const [from, to] = [span * LONG, span * LONG + LONG - 1]
    const daysInside = () => counts(1, Math.max(first, from), Math.min(last, to))
    let days: Span[] | undefined
    // The first and the last span may reach beyond what is asked for.
    if (from < first || to > last) days = daysInside()
    const orders = days ? days.reduce((sum, [, some]) => sum + some, 0) : all
    count += orders
    if (skip >= orders) skip -= orders
    else
      for (const [day, some] of ids.length < limit ? (days ?? daysInside()) : []) {
        if (skip >= some) skip -= some
        else if (ids.length < limit) {
          ids.push(...ofDay(day, limit - ids.length, skip))
          skip = 0
        }
      }
  }
  return { count, ids }
}

type Span = [span: number, orders: number]
/** Later than any order. */
const LAST_DAY = 10_000_000

/** A page of all records in some order, walked to from the nearer end. */
export function pageBySort(
  reader: RawHandle,
  subscriberId: string,
  order: Order,
  slice: Slice,
): Page {
  if (order.sort === 'order_date')
    return pageByDate(reader, subscriberId, {}, order.direction, slice)
  const count =
    (reader
      .prepare('SELECT sum(orders) FROM fulfillment_count WHERE subscriber_id = ? AND days = ?')
      .pluck()
      .get(subscriberId, LONG) as number | null) ?? 0
  const take = Math.min(slice.limit, count - slice.offset)
  return {
    count,
    ids: take > 0 ? walkTo(reader, subscriberId, order, { count, take, skip: slice.offset }) : [],
  }
}

function walkTo(
  { prepare }: RawHandle,
  subscriberId: string,
  { sort, direction }: Order,
  { count, take, skip }: { count: number; take: number; skip: number },
): number[] {
  const behind = count - skip - take
  const walk = (towards: Direction, offset: number) =>
    prepare(
      `SELECT id FROM fulfillment_order WHERE subscriber_id = ? AND visible = 1 ${ordering({ sort, direction: towards })} LIMIT ? OFFSET ?`,
    )
      .pluck()
      .all(subscriberId, take, offset) as number[]
  return skip <= behind
    ? walk(direction, skip)
    : walk(direction === 'asc' ? 'desc' : 'asc', behind).reverse()
}

/**
 * A page of the given records, as far as they are visible, the subscriber's, and within the scope.
 * It works in steps, and lets others in between.
 */
export async function pageOfIds(
  reader: RawHandle,
  subscriberId: string,
  ids: readonly number[],
  scope: Scope,
  order: Order,
  slice: Slice,
): Promise<Page> {
  return ids.length > MANY
    ? walkOver(reader, subscriberId, ids, scope, order, slice)
    : lookUpEach(reader, subscriberId, ids, scope, order, slice)
}

type Entry = [key: number | string, id: number]

async function lookUpEach(
  { prepare }: RawHandle,
  subscriberId: string,
  ids: readonly number[],
  scope: Scope,
  { sort, direction }: Order,
  { limit, offset }: Slice,
): Promise<Page> {
  const { sql, values } = conditionsOf(scope)
  const statement = prepare(`
    SELECT ${KEYS[sort]}, o.id FROM json_each(?) AS given CROSS JOIN fulfillment_order AS o ON o.id = given.value WHERE subscriber_id = ? AND visible = 1${sql}`).raw()
  const found: Entry[] = []
  for (let at = 0; at < ids.length; at += FEW) {
    if (at > 0) await nextTurn()
    for (const entry of statement.all(
      JSON.stringify(ids.slice(at, at + FEW)),
      subscriberId,
      ...values,
    ) as Entry[])
      found.push(entry)
  }
  const compare = ([a, x]: Entry, [b, y]: Entry) =>
    (typeof a === 'number' ? a - Number(b) : byCodePoint(a, String(b))) || x - y
  found.sort(direction === 'asc' ? compare : (a, b) => compare(b, a))
  return { count: found.length, ids: found.slice(offset, offset + limit).map(([, id]) => id) }
}

async function walkOver(
  { prepare }: RawHandle,
  subscriberId: string,
  wanted: readonly number[],
  scope: Scope,
  { sort, direction }: Order,
  { limit, offset }: Slice,
): Promise<Page> {
  const left = new Bits(wanted.reduce((most, id) => Math.max(most, id), 0) + 1).addAll(wanted)
  const { sql, values } = conditionsOf(scope)
  const from = `FROM fulfillment_order WHERE subscriber_id = ? AND visible = 1${sql}`
  const tail = `${ordering({ sort, direction })} LIMIT ${STRIDE} OFFSET ?`
  const [start, goOn] = [
    prepare(`SELECT id ${from} ${tail}`).pluck(),
    prepare(
      `SELECT id ${from} AND ${KEYS[sort]} ${direction === 'asc' ? '>=' : '<='} ? ${tail}`,
    ).pluck(),
  ]
  const keyOf = prepare(`SELECT ${KEYS[sort]} FROM fulfillment_order WHERE id = ?`).pluck()
  const ids: number[] = []
  let count = 0
  let key: number | string | undefined
  for (let skip = 0; ;) {
    const step = (
      key === undefined
        ? start.all(subscriberId, ...values, skip)
        : goOn.all(subscriberId, ...values, key, skip)
    ) as number[]
    for (const id of step) {
      if (id >= left.size || !left.has(id)) continue
      // The next step begins among the entries with the last key of this one, so some come by
      // twice.
      left.delete(id)
      if (count++ >= offset && ids.length < limit) ids.push(id)
    }
    if (step.length < STRIDE) return { count, ids }
    const last = keyOf.get(step.at(-1)) as number | string
    skip = last === key ? skip + step.length : 0
    key = last
    await nextTurn()
  }
}

/** The records of a page, in its order. */
export function recordsOf({ prepare }: RawHandle, ids: readonly number[]): StoredOrder[] {
  const rows = prepare(
    'SELECT * FROM fulfillment_order WHERE id IN (SELECT value FROM json_each(?))',
  ).all(JSON.stringify(ids)) as StoredOrder[]
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
