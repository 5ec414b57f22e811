/**
 * Order volume: 60 an hour and 500 a day of each key, true rolling windows (contract "Limits").
 */
import type { OrderCounts, OrdersCtx } from './ctx.js'
import { DAY, HOUR, MINUTE } from '../core/clock.js'
import { quotaExceeded, waitFor } from '../core/quota.js'
import { pipelined, together } from '../db/together.js'

export const ORDER_QUOTAS = [
  { limit: 60, window: HOUR, name: 'hour' },
  { limit: 500, window: DAY, name: 'day' },
] as const

export function openOrderCounts(): OrderCounts {
  return { times: new Map() }
}

/**
 * Throws 429 `order_volume_limit` where one more order of the key would be too many. In the
 * transaction that counts it; resolves with the time that it is to be counted with.
 */
export async function checkQuota(
  tx: OrdersCtx,
  counts: OrderCounts,
  keyId: string,
): Promise<number> {
  const [now, times] = await together([tx.engine.time(tx), timesOf(tx, keyId)])
  refuseOver(tx, { counts, keyId, times, now })
  await mendCounts(tx, { keyId, times, now })
  return now
}

/** What is there of a key's orders but counts no longer, or was counted by a clock that was wrong. */
async function mendCounts({ db }: OrdersCtx, { keyId, times, now }: KeyTimes): Promise<void> {
  // Rows from the future, taken as now, count no longer than the window.
  if (times.some((at) => at > now + MINUTE))
    await pipelined(db, [
      db
        .updateTable('order_count')
        .set({ at: now })
        .where('key_id', '=', keyId)
        .where('at', '>', now + MINUTE),
    ])
  if (times.some((at) => at <= now - DAY))
    await pipelined(db, [
      db
        .deleteFrom('order_count')
        .where('key_id', '=', keyId)
        .where('at', '<=', now - DAY),
    ])
}

/** The same without putting a wrong clock right: nothing is written. */
export async function refuseOverQuota(
  ctx: Pick<OrdersCtx, 'engine' | 'db' | 'read' | 'now' | 'monotonic'>,
  counts: OrderCounts,
  keyId: string,
): Promise<void> {
  const [now, times] = await together([ctx.engine.time(ctx), timesOf(ctx, keyId)])
  refuseOver(ctx, { counts, keyId, times, now })
}

interface KeyTimes {
  keyId: string
  /** When its orders were counted, oldest first: those of the last day, and maybe older ones. */
  times: readonly number[]
  now: number
}

async function timesOf({ read }: Pick<OrdersCtx, 'read'>, keyId: string): Promise<number[]> {
  const rows = await read
    .selectFrom('order_count')
    .select('at')
    .where('key_id', '=', keyId)
    .orderBy('at')
    .execute()
  return rows.map(({ at }) => at)
}

function refuseOver(
  { monotonic }: Pick<OrdersCtx, 'monotonic'>,
  { counts, keyId, times, now }: KeyTimes & { counts: OrderCounts },
): void {
  const steady = monotonic()
  const here = [...(counts.times.get(keyId)?.values() ?? [])].sort((a, b) => a - b)
  const waits = ORDER_QUOTAS.map((quota) => ({
    ...quota,
    ms: Math.max(
      waitFor(
        times.map((at) => Math.min(at, now)),
        now,
        quota,
      ),
      waitFor(here, steady, quota),
    ),
  }))
  // Of two windows that are full, the one that opens last is told.
  const full = waits.reduce((longest, each) => (each.ms > longest.ms ? each : longest))
  if (full.ms > 0)
    throw quotaExceeded(
      'order_volume_limit',
      full,
      full.ms,
      `This key may place ${full.limit} orders in any ${full.name}.`,
    )
}

/** Counts an order in the transaction that takes it in. */
export async function countOrder(
  tx: OrdersCtx,
  keyId: string,
  placementId: number,
  at: number,
): Promise<void> {
  await pipelined(tx.db, [
    tx.db.insertInto('order_count').values({ key_id: keyId, placement_id: placementId, at }),
  ])
}

/** Nobody was asked for any part of it: it does not count. In the transaction that ends it. */
export async function uncountOrder(tx: OrdersCtx, placementId: number): Promise<void> {
  await pipelined(tx.db, [tx.db.deleteFrom('order_count').where('placement_id', '=', placementId)])
}

/**
 * Told once the order is committed; it counts from when it was written down on, as in the database.
 */
export function rememberOrder(
  { times }: OrderCounts,
  keyId: string,
  { placementId, countedAt }: { placementId: number; countedAt: number },
): void {
  const recent = [...(times.get(keyId) ?? [])].filter(([, at]) => at > countedAt - DAY)
  times.set(keyId, new Map([...recent, [placementId, countedAt]]))
}

/** Told of an order of which nobody was asked: it does not count. */
export function forgetOrder({ times }: OrderCounts, placementId: number): void {
  for (const placements of times.values()) placements.delete(placementId)
}

/** What a key has left, for the pre-flight. */
export async function quotaLeft(
  ctx: Pick<OrdersCtx, 'engine' | 'db' | 'read' | 'now'>,
  keyId: string,
): Promise<{ hour: number; day: number }> {
  const [now, times] = await together([ctx.engine.time(ctx), timesOf(ctx, keyId)])
  const [hour, day] = ORDER_QUOTAS.map(({ limit, window }) =>
    Math.max(0, limit - times.filter((at) => at > now - window).length),
  ) as [number, number]
  return { hour, day }
}
