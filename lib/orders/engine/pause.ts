/**
 * Orders are paused when the installation may have forgotten some, until the operator says that it
 * has not.
 */
import { audit } from '../../accounts/audit.js'
import type { OrdersCtx } from '../ctx.js'
import { afterDeath } from './rules/after-send.js'
import { move } from './transitions.js'

export interface Pause {
  /** Milliseconds since 1970. */
  since: number
  reason: string
  /** Order ids that are known to be concerned. */
  orders: string[]
  /**
   * Orders since then may have been forgotten: distributors must be asked for them before it ends.
   */
  lookBackTo?: number
  /**
   * Damage of what cannot be made anew. Once orders were resumed it is known, and does not pause
   * them again.
   */
  damage?: string[]
}

export interface PauseInput {
  reason: string
  orders?: string[]
  lookBackTo?: number
  damage?: string[]
  /** What was sent may not be known any more: then no order counts as never sent. */
  isForgetful: boolean
  /** The operator wants it so: no fault that somebody has to be told of. */
  isWanted?: boolean
}

export async function readPause({ read }: Pick<OrdersCtx, 'read'>): Promise<Pause | null> {
  const row = await read
    .selectFrom('order_engine')
    .select('value')
    .where('name', '=', 'paused')
    .executeTakeFirst()
  return row ? (JSON.parse(row.value) as Pause) : null
}

/**
 * Pauses orders: nothing is placed, sent or given up until they are resumed; a pause that holds
 * already keeps its reason, and gains this one.
 */
export async function pauseOrders(
  ctx: OrdersCtx,
  { reason, orders = [], lookBackTo, damage = [], isForgetful, isWanted = false }: PauseInput,
): Promise<void> {
  ctx.log[isWanted ? 'warn' : 'error'](
    { reason, orders },
    'orders are paused; `orders reconcile` looks for what was forgotten, `orders reconcile ' +
      '--resume` goes on',
  )
  await ctx.engine.atomic(ctx, async (tx) => {
    const before = await readPause(tx)
    const farthest = Math.min(lookBackTo ?? Infinity, before?.lookBackTo ?? Infinity)
    const reasons =
      before && !before.reason.includes(reason)
        ? `${before.reason}; ${reason}`
        : (before?.reason ?? reason)
    const damages = [...new Set([...(before?.damage ?? []), ...damage])]
    const pause: Pause = {
      since: before?.since ?? tx.now(),
      reason: reasons,
      orders: [...new Set([...(before?.orders ?? []), ...orders])],
      ...(farthest < Infinity && { lookBackTo: farthest }),
      ...(damages.length > 0 && { damage: damages }),
    }
    await tx.db
      .replaceInto('order_engine')
      .values({ name: 'paused', value: JSON.stringify(pause) })
      .execute()
    if (isForgetful) {
      const planned = await tx.db
        .selectFrom('purchase_order')
        .selectAll()
        .where('state', '=', 'planned')
        .execute()
      for (const order of planned)
        await move(tx, order, {
          ...afterDeath(order, tx.now()),
          first_sent_at: order.first_sent_at ?? order.planned_at,
          reason: 'it may have been sent in what was lost',
        })
    }
    await audit(tx, 'orders.pause', pause)
  })
}

/** Lets orders go on. Returns the pause that was. */
export async function resumeOrders(ctx: OrdersCtx): Promise<Pause | null> {
  return ctx.engine.atomic(ctx, async (tx) => {
    const pause = await readPause(tx)
    if (!pause) return null
    await tx.db.deleteFrom('order_engine').where('name', '=', 'paused').execute()
    if (pause.damage) {
      const value = JSON.stringify([...new Set([...(await readKnownDamage(tx)), ...pause.damage])])
      await tx.db.replaceInto('order_engine').values({ name: 'known_damage', value }).execute()
    }
    await audit(tx, 'orders.resume', pause)
    return pause
  })
}

/** Damage of the journal with which the operator has let orders go on, as pauses named it. */
export async function readKnownDamage({ read }: Pick<OrdersCtx, 'read'>): Promise<string[]> {
  const row = await read
    .selectFrom('order_engine')
    .select('value')
    .where('name', '=', 'known_damage')
    .executeTakeFirst()
  return row ? (JSON.parse(row.value) as string[]) : []
}
