/** Writes down what became of a purchase order. */
import { isUnavailable } from '../../../db/faults.js'
import type { Change, StoredPo } from '../../stored.js'
import { standsElsewhere } from '../../matching/order-numbers.js'
import { move } from '../transitions.js'
import type { SenderCtx } from './ctx.js'

/** Milliseconds between attempts to write down what is known and must not be forgotten. */
const RETRY = 250

/**
 * Writes a change down; null when somebody else has moved the order. What a distributor answered is
 * known here only, so a full disk or a busy database is waited for; an app that closes meanwhile
 * leaves the order in `sending`, and its next start finds out. `also` is written with it.
 */
export async function record(
  ctx: SenderCtx,
  order: StoredPo,
  change: Change,
  also: (tx: SenderCtx) => Promise<void> = async () => {},
): Promise<StoredPo | null> {
  for (let attempts = 0; ; attempts++) {
    try {
      return await ctx.engine.atomic(ctx, async (tx) => {
        await also(tx)
        const { distributor_order_id: number } = change
        if (change.to === 'placed' && number && (await standsElsewhere(tx.db, order, number)))
          return move(tx, order, numberTaken(order, number, tx.now()))
        return move(tx, order, change)
      })
    } catch (error) {
      if (!isUnavailable(error) || ctx.abandonCalls.aborted) throw error
      if (attempts % 40 === 0)
        ctx.log.error(
          { err: error, ref: order.client_ref },
          'what a distributor answered cannot be written down yet',
        )
      ctx.space.giveUpReserve()
      await new Promise((resolve) => setTimeout(resolve, RETRY))
    }
  }
}

/**
 * Of two orders alike that were found at the same moment, one was first; a fresh number that is not
 * fresh is for a person.
 */
function numberTaken({ state }: StoredPo, number: string, now: number): Change {
  if (state === 'unknown') return { to: 'unknown', next_at: now }
  return {
    to: 'review',
    next_at: null,
    owner: null,
    reason: `the distributor gave it the number ${number}, which stands on another order`,
  }
}
