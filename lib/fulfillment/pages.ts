/**
 * Pages of a subscriber's history with exact counts, by walks over indexes that hold all that is asked for. The records
 * themselves are read for the page alone.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Bits } from '../catalog/bits.js'
import { DAY } from '../core/clock.js'
import type { RawHandle } from '../db/engine.js'
import type { StoredOrder } from './records.js'
import type { Direction, Sort } from './shapes.js'

/** What narrows a history without a look at single orders. Days are counted from 1970, UTC, both inclusive. */
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
const KEYS: Record<Sort, string> = { order_date: 'order_date', order_id: 'order_id', ship_date: "coalesce(ship_date, '')", order_status: 'order_status', order_source: 'order_source' }
const EQUALS = ['distid', 'order_source', 'order_status', 'ship_status'] as const

/** Ids that one statement looks at: some five milliseconds. */
export const FEW = 5_000
/** Entries of an index that one step of a walk passes. */
const STRIDE = 20_000

/** Conditions of a scope on the counts, or on records. */
function conditions(scope: Scope, of: 'counts' | 'records'): { sql: string; values: (string | number)[] } {
  const given = EQUALS.filter((name) => scope[name] !== undefined)
  const terms = given.map((name) => ` AND ${name} = ?`)
  const values: (string | number)[] = given.map((name) => scope[name]!)
  if (scope.fromDay !== undefined) {
    terms.push(of === 'counts' ? ' AND day >= ?' : ' AND order_date >= ?')
    values.push(of === 'counts' ? scope.fromDay : scope.fromDay * DAY)
  }
  if (scope.toDay !== undefined) {
    terms.push(of === 'counts' ? ' AND day <= ?' : ' AND order_date < ?')
    values.push(of === 'counts' ? scope.toDay : (scope.toDay + 1) * DAY)
  }
  return { sql: terms.join(''), values }
}

const ordering = ({ sort, direction }: Order) => `ORDER BY ${KEYS[sort]} ${direction}, id ${direction}`

/** Runs synchronous reads over one state of the database. */
export function inSnapshot<T>({ raw }: RawHandle, read: () => T): T {
  return raw.transaction(read).deferred()
}

/** A page by order date: days are skipped by their counts, so a deep page costs as much as the first. */
export function pageByDate({ prepare }: RawHandle, subscriberId: string, scope: Scope, direction: Direction, { limit, offset }: Slice): Page {
  const counts = conditions(scope, 'counts')
  const days = prepare(`SELECT day, sum(orders) FROM fulfillment_count WHERE subscriber_id = ?${counts.sql} GROUP BY day ORDER BY day ${direction}`).raw()
    .all(subscriberId, ...counts.values) as [day: number, orders: number][]
  const ofDay = (day: number, take: number, skip: number) => {
    const records = conditions({ ...scope, fromDay: day, toDay: day }, 'records')
    return prepare(`SELECT id FROM fulfillment_order WHERE subscriber_id = ? AND visible = 1${records.sql} ${ordering({ sort: 'order_date', direction })} LIMIT ? OFFSET ?`).pluck()
      .all(subscriberId, ...records.values, take, skip) as number[]
  }
  const ids: number[] = []
  let count = 0
  let skip = offset
  for (const [day, orders] of days) {
    count += orders
    if (skip >= orders) skip -= orders
    else if (ids.length < limit) {
      ids.push(...ofDay(day, limit - ids.length, skip))
      skip = 0
    }
  }
  return { count, ids }
}

/** A page of all records in some order, walked to from the nearer end. */
export function pageBySort(reader: RawHandle, subscriberId: string, order: Order, slice: Slice): Page {
  if (order.sort === 'order_date') return pageByDate(reader, subscriberId, {}, order.direction, slice)
  const count = (reader.prepare('SELECT sum(orders) FROM fulfillment_count WHERE subscriber_id = ?').pluck().get(subscriberId) as number | null) ?? 0
  const take = Math.min(slice.limit, count - slice.offset)
  return { count, ids: take > 0 ? walkTo(reader, subscriberId, order, { count, take, skip: slice.offset }) : [] }
}

function walkTo({ prepare }: RawHandle, subscriberId: string, { sort, direction }: Order, { count, take, skip }: { count: number; take: number; skip: number }): number[] {
  const behind = count - skip - take
  const walk = (towards: Direction, offset: number) => prepare(`SELECT id FROM fulfillment_order WHERE subscriber_id = ? AND visible = 1 ${ordering({ sort, direction: towards })} LIMIT ? OFFSET ?`).pluck()
    .all(subscriberId, take, offset) as number[]
  return skip <= behind ? walk(direction, skip) : walk(direction === 'asc' ? 'desc' : 'asc', behind).reverse()
}

/** A page of the given records, as far as they are visible, the subscriber's, and within the scope. Many are worked off in steps. */
export async function pageOfIds(reader: RawHandle, subscriberId: string, ids: readonly number[], scope: Scope, order: Order, { limit, offset }: Slice): Promise<Page> {
  const { sql, values } = conditions(scope, 'records')
  const statement = (tail: string) => reader.prepare(`
    SELECT o.id FROM json_each(?) AS given CROSS JOIN fulfillment_order AS o ON o.id = given.value WHERE subscriber_id = ? AND visible = 1${sql} ${tail}`).pluck()
  const check = (some: readonly number[], tail = '') => statement(tail).all(JSON.stringify(some), subscriberId, ...values) as number[]
  if (ids.length <= FEW) {
    const found = check(ids, ordering(order).replace(', id', ', o.id'))
    return { count: found.length, ids: found.slice(offset, offset + limit) }
  }
  const kept = new Bits(ids.reduce((most, id) => Math.max(most, id), 0) + 1)
  let count = 0
  for (let at = 0; at < ids.length; at += FEW) {
    const found = check(ids.slice(at, at + FEW))
    kept.addAll(found)
    count += found.length
    await nextTurn()
  }
  return { count, ids: await pick(reader, subscriberId, kept, order, { count, limit, offset }) }
}

/** The kept ones of a page, met by a walk over all of the subscriber's records from the nearer end. */
async function pick(reader: RawHandle, subscriberId: string, kept: Bits, { sort, direction }: Order, { count, limit, offset }: Slice & { count: number }): Promise<number[]> {
  const take = Math.min(limit, count - offset)
  const behind = count - offset - take
  if (take <= 0) return []
  const isNear = offset <= behind
  const towards = isNear ? direction : direction === 'asc' ? 'desc' : 'asc'
  const walk = reader.prepare(`SELECT id FROM fulfillment_order WHERE subscriber_id = ? AND visible = 1 ${ordering({ sort, direction: towards })} LIMIT ? OFFSET ?`).pluck()
  const found: number[] = []
  let skip = isNear ? offset : behind
  for (let at = 0; ; at += STRIDE) {
    const step = walk.all(subscriberId, STRIDE, at) as number[]
    for (const id of step) {
      if (id >= kept.size || !kept.has(id)) continue
      // A record that moved on meanwhile comes by twice.
      kept.delete(id)
      if (skip > 0) skip--
      else if (found.push(id) === take) return isNear ? found : found.reverse()
    }
    if (step.length < STRIDE) return isNear ? found : found.reverse()
    await nextTurn()
  }
}

/** The records of a page, in its order. */
export function recordsOf({ prepare }: RawHandle, ids: readonly number[]): StoredOrder[] {
  const rows = prepare('SELECT * FROM fulfillment_order WHERE id IN (SELECT value FROM json_each(?))').all(JSON.stringify(ids)) as StoredOrder[]
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
