/**
 * Order volume: 60 an hour and 500 a day of each key, true rolling windows (contract "Limits").
 */
import type { OrderCounts, OrdersCtx } from './ctx.js'
import { DAY, HOUR, MINUTE } from '../core/clock.js'
import { quotaExceeded, waitFor } from '../core/quota.js'

export const ORDER_QUOTAS = [
  { limit: 60, window: HOUR, name: 'hour' },
  { limit: 500, window: DAY, name: 'day' },
] as const

export function openOrderCounts(): OrderCounts {
  return { times: new Map() }
}

/**
 * Throws 429 `order_volume_limit` where one more order of the key would be too many. In the
 * transaction that counts it.
 */
export async function checkQuota(tx: OrdersCtx, counts: OrderCounts, keyId: string): Promise<void> {
  const now = await tx.engine.time(tx)
  // Rows from the future come from a clock that was wrong: taken as now, they count no longer than
  // the window.
  await tx.db
    .updateTable('order_count')
    .set({ at: now })
    .where('key_id', '=', keyId)
    .where('at', '>', now + MINUTE)
    .execute()
  await refuseOver(tx, counts, keyId, now)
}

/** The same without putting a wrong clock right: nothing is written. */
export async function refuseOverQuota(
  ctx: Pick<OrdersCtx, 'engine' | 'db' | 'read' | 'now' | 'monotonic'>,
  counts: OrderCounts,
  keyId: string,
): Promise<void> {
  await refuseOver(ctx, counts, keyId, await ctx.engine.time(ctx))
}

async function refuseOver(
  { read, monotonic }: Pick<OrdersCtx, 'read' | 'monotonic'>,
  counts: OrderCounts,
  keyId: string,
  now: number,
): Promise<void> {
  const rows = await read
    .selectFrom('order_count')
    .select('at')
    .where('key_id', '=', keyId)
    .where('at', '>', now - DAY)
    .orderBy('at')
    .execute()
  const steady = monotonic()
  const here = [...(counts.times.get(keyId)?.values() ?? [])].sort((a, b) => a - b)
  const waits = ORDER_QUOTAS.map((quota) => ({
    ...quota,
    ms: Math.max(
      waitFor(
        rows.map(({ at }) => Math.min(at, now)),
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
  await tx.db
    .insertInto('order_count')
    .values({ key_id: keyId, placement_id: placementId, at })
    .execute()
  await tx.db
    .deleteFrom('order_count')
    .where('key_id', '=', keyId)
    .where('at', '<=', at - DAY)
    .execute()
}

/** Nobody was asked for any part of it: it does not count. In the transaction that ends it. */
export async function uncountOrder(tx: OrdersCtx, placementId: number): Promise<void> {
  await tx.db.deleteFrom('order_count').where('placement_id', '=', placementId).execute()
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
  const now = await ctx.engine.time(ctx)
  const rows = await ctx.read
    .selectFrom('order_count')
    .select('at')
    .where('key_id', '=', keyId)
    .execute()
  const [hour, day] = ORDER_QUOTAS.map(({ limit, window }) =>
    Math.max(0, limit - rows.filter(({ at }) => at > now - window).length),
  ) as [number, number]
  return { hour, day }
}
