/** What a new sender does before it sends anything: it takes over what a dead one left. */
import { all } from '../../db/reading.js'
import type { StoredPo } from '../stored.js'
import { beingSent } from './queries.js'
import { afterDeath } from './rules/after-send.js'
import type { SenderCtx } from './sender/ctx.js'
import { fence } from './sender/fence.js'
import { move } from './transitions.js'

/**
 * Orders of a dead sender that are taken over in one transaction: whoever places one meanwhile
 * waits for all of them.
 */
const AT_ONCE = 50

export interface TakeOverOptions {
  /** Of those that are being sent, which nobody is at work on any more. */
  isLeft: (order: StoredPo) => boolean
  /** Told of each order before it is changed. */
  hold?: (order: StoredPo) => void
}

/**
 * Takes over what a dead sender was sending: what became of it is found out. The sender's lock must
 * be held; with several nodes, the lead of the context's epoch.
 */
export async function takeOver(
  ctx: SenderCtx,
  { isLeft, hold = () => {} }: TakeOverOptions,
): Promise<void> {
  const sending = await ctx.engine.look(() => all(beingSent))
  const left = sending.filter(isLeft)
  left.forEach(hold)
  for (let i = 0; i < left.length; i += AT_ONCE) {
    const orders = left.slice(i, i + AT_ONCE)
    await ctx.engine.atomic(
      ctx,
      async (tx) => {
        await fence(tx)
        for (const order of orders) await move(tx, order, afterDeath(order, tx.now()))
      },
      { inTurn: true },
    )
    for (const { client_ref: ref, distid } of orders)
      ctx.log.warn(
        { ref, distid },
        'the server ended while an order was being sent; what became of it is being found out',
      )
  }
}
