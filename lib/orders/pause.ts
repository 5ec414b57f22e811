/** Orders are paused when the installation may have forgotten some, until the operator says that it has not (reliability 3.8). */
import { audit } from '../accounts/audit.js'
import type { OperatorCtx } from '../core/ctx.js'

export interface Pause {
  /** Milliseconds since 1970. */
  since: number
  reason: string
  /** Order ids that are known to be concerned. */
  orders: string[]
  /** Orders since then may have been forgotten: distributors must be asked for them before it ends. */
  lookBackTo?: number
}

export async function readPause({ read }: Pick<OperatorCtx, 'read'>): Promise<Pause | null> {
  const row = await read.selectFrom('order_engine').select('value').where('name', '=', 'paused').executeTakeFirst()
  return row ? JSON.parse(row.value) as Pause : null
}

/** Pauses orders; a pause that holds already keeps its reason, and gains this one. */
export async function pauseOrders(ctx: OperatorCtx, { reason, orders = [], lookBackTo }: { reason: string; orders?: string[]; lookBackTo?: number }): Promise<void> {
  ctx.log.error({ reason, orders }, 'orders are paused; `orders reconcile` looks for what was forgotten, `orders reconcile --resume` goes on')
  await ctx.engine.atomic(ctx, async (tx) => {
    const before = await readPause(tx)
    const farthest = Math.min(lookBackTo ?? Infinity, before?.lookBackTo ?? Infinity)
    const pause: Pause = { since: before?.since ?? tx.now(), reason: before && before.reason !== reason ? `${before.reason}; ${reason}` : reason, orders: [...new Set([...before?.orders ?? [], ...orders])], ...farthest < Infinity && { lookBackTo: farthest } }
    await tx.db.replaceInto('order_engine').values({ name: 'paused', value: JSON.stringify(pause) }).execute()
    await audit(tx, 'orders.pause', pause)
  })
}

/** Lets orders go on. Returns the pause that was. */
export async function resumeOrders(ctx: OperatorCtx): Promise<Pause | null> {
  return ctx.engine.atomic(ctx, async (tx) => {
    const pause = await readPause(tx)
    if (!pause) return null
    await tx.db.deleteFrom('order_engine').where('name', '=', 'paused').execute()
    await audit(tx, 'orders.resume', pause)
    return pause
  })
}
