/** Writes down what became of a purchase order. */
import { isDeepStrictEqual } from 'node:util'
import { isCommitUnknown, isUnavailable } from '../../../db/faults.js'
import { LeadLost } from '../../../db/lead.js'
import type { Change, Moved, StoredPo } from '../../stored.js'
import { standsElsewhere } from '../../matching/order-numbers.js'
import { move, standingOf } from '../transitions.js'
import { together } from '../../../db/together.js'
import type { SenderCtx } from './ctx.js'
import { fence } from './fence.js'
import { givenBack } from '../rules/after-send.js'

/** Milliseconds between attempts to write down what is known and must not be forgotten. */
const RETRY = 250

/**
 * Writes a change down; null when somebody else has moved the order. What a distributor answered is
 * known here only, so a full disk or a busy database is waited for; an app that closes meanwhile
 * leaves the order in `sending`, and its next start finds out. `also` is written with it. Throws
 * `LeadLost` where another node leads by now: only what this life sent itself is told all the same,
 * and whoever took that over has moved it.
 */
export async function record(
  ctx: SenderCtx,
  order: StoredPo,
  change: Change,
  also: (tx: SenderCtx) => Promise<void> = async () => {},
): Promise<Moved | null> {
  const isOwnAnswer =
    order.state === 'sending' && order.owner === ctx.owner && change.to !== 'sending'
  /** As an attempt has left it whose commit may or may not have come to be. */
  let doubted: Moved | null = null
  for (let attempts = 0; ; attempts++) {
    let written: Moved | null = null
    try {
      written = await ctx.engine.atomic(
        ctx,
        async (tx) => {
          written = null
          const [exact, from] = await together([
            asItIs(tx, order, change),
            standingOf(tx, order),
            // Of an attempt that may have been committed it was written then.
            !doubted && also(tx),
          ])
          const [, moved] = await together([
            !isOwnAnswer && fence(tx),
            move(tx, order, exact, from),
            // That it is about to be sent is nothing that anybody waits for.
            exact.to !== 'sending' && ctx.engine.lead?.tell(tx.db, 'moved', order.placement_id),
          ])
          written = moved
          if (written && doubted) await also(tx)
          return written
        },
        { inTurn: true },
      )
      return written ?? (doubted && (await isAsWritten(ctx, doubted.order)) ? doubted : null)
    } catch (error) {
      // Whether it was written shows when it is written again: it waits for what is under way, and
      // then finds the order moved, or not.
      if (error instanceof LeadLost && doubted && order.state !== 'sending')
        await giveClaimBack(ctx, doubted.order)
      if (isCommitUnknown(error)) doubted = written ?? doubted
      else if (!isUnavailable(error)) throw error
      if (ctx.abandonCalls.aborted) throw error
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
 * A claim that may have been committed, and whose epoch is over: nothing has left, and whoever leads
 * next may go on at once.
 */
async function giveClaimBack(ctx: SenderCtx, claimed: StoredPo): Promise<void> {
  if (claimed.state !== 'sending') return
  await record(ctx, claimed, givenBack(claimed, 'another node leads by now', ctx.now()))
}

/** Another order may have that number by now. */
async function asItIs(tx: SenderCtx, order: StoredPo, change: Change): Promise<Change> {
  const { distributor_order_id: number } = change
  const isTaken = change.to === 'placed' && number && (await standsElsewhere(tx.db, order, number))
  return isTaken ? numberTaken(order, number, tx.now()) : change
}

/** Whether an order is as an attempt left it of which nobody knows whether it was committed. */
async function isAsWritten({ read }: SenderCtx, written: StoredPo): Promise<boolean> {
  const row = await read
    .selectFrom('purchase_order')
    .selectAll()
    .where('id', '=', written.id)
    .executeTakeFirst()
  return isDeepStrictEqual({ ...row }, { ...written })
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
