/** What a new sender does before it sends anything: it takes over what a dead one left. */
import { all } from '../../db/reading.js'
import type { OrdersCtx } from '../ctx.js'
import { sentByOthers } from './queries.js'
import { afterDeath } from './rules/after-send.js'
import { move } from './transitions.js'

/**
 * Orders of a dead sender that are taken over in one transaction: whoever places one meanwhile
 * waits for all of them.
 */
const AT_ONCE = 50

/**
 * Takes over what a dead sender was sending: what became of it is found out. The sender's lock must
 * be held.
 */
export async function takeOver(ctx: OrdersCtx, owner: string): Promise<void> {
  const left = await ctx.engine.look(() => all(sentByOthers, { owner }))
  for (let i = 0; i < left.length; i += AT_ONCE) {
    const orders = left.slice(i, i + AT_ONCE)
    await ctx.engine.atomic(ctx, async (tx) => {
      for (const order of orders) await move(tx, order, afterDeath(order, tx.now()))
    })
    for (const { client_ref: ref, distid } of orders)
      ctx.log.warn(
        { ref, distid },
        'the server ended while an order was being sent; what became of it is being found out',
      )
  }
}
