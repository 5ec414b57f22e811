/** One send of one purchase order, and what is written down of it (reliability 3.3). */
import type { OrdersCtx } from '../ctx.js'
import { isUnavailable } from '../../db/sqlite.js'
import type { OrderSession } from '../../distributors/fulfillment.js'
import { inTime, openLine } from './line.js'
import { standsElsewhere } from '../tracking/numbers.js'
import { SEND_TIMEOUT, afterSend, notSent, otherAccount } from './outcome.js'
import { submissionOf } from './submission.js'
import { move } from './transitions.js'
import type { Change, StoredPo } from '../stored.js'

/** What a life of the sender works with. */
export interface SenderTools {
  readonly ctx: OrdersCtx
  /** Aborted when the app closes and will not wait any longer. */
  readonly signal: AbortSignal
  /** Waits until the journal's file has every line that is committed now. */
  flush(): Promise<void>
  /** Throws once the disk has failed: from then on nothing may leave. */
  refuseFailed(): void
  /** Named places at which a test may end this life; nothing in production. */
  step(name: string): Promise<void> | undefined
}

export interface Sent {
  /** The order as it is then; null when somebody else has moved it meanwhile. */
  order: StoredPo | null
  /** Resolves when the connector's call has ended, which may be long after it was given up. */
  ended: Promise<void>
}

/** Sends an order whose state is `sending` on the disk, and writes down what came back. */
export async function sendOne(tools: SenderTools, order: StoredPo): Promise<Sent> {
  const { ctx } = tools
  let current = order
  const line = openLine(ctx, order)
  // Who logs in as somebody else finds, and dedups against, nothing of what was sent before: it
  // would be bought twice.
  const reason = typeof line === 'string' ? line : otherAccount(order, line.account)
  if (reason !== null || typeof line === 'string')
    return {
      order: await record(tools, current, notSent(order, { reason: reason! }, ctx.now())),
      ended: Promise.resolve(),
    }
  const session: Omit<OrderSession, 'signal'> = {
    settings: line.settings,
    now: ctx.now,
    stage: order.stage,
    async keepStage(stage) {
      // The first may be on its way to becoming the order: whether it is gone is found out by
      // looking, not by a send.
      if (order.ever_unknown === 1 && order.stage !== null && stage !== order.stage)
        throw new Error(
          `it was begun as ${order.stage}, and the distributor was made to begin it anew`,
        )
      const kept = await record(tools, current, { to: 'sending', stage })
      if (!kept) throw new Error('the order was moved on by somebody else')
      current = kept
      await tools.flush()
      await tools.step('stage kept')
    },
  }
  await tools.step('before the send')
  tools.refuseFailed()
  const { answer, ended } = await inTime(
    tools,
    line.connector.limits.sendTimeout ?? SEND_TIMEOUT,
    (signal) => line.connector.submit({ ...session, signal }, line.content),
  )
  const sent = submissionOf(answer, line)
  await tools.step('after the send')
  const recorded = await record(tools, current, afterSend(current, sent, line.connector, ctx.now()))
  if (!recorded)
    ctx.log.error(
      { ref: order.client_ref, distid: order.distid, sent },
      'a distributor answered about an order that somebody has moved on meanwhile',
    )
  return { order: recorded, ended }
}

/** Milliseconds between tries to write down what is known and must not be forgotten. */
const RETRY = 250

/**
 * Writes a change down. What a distributor answered is known here only, so a full disk or a busy
 * database is waited for; an app that closes meanwhile leaves the order in `sending`, and its next
 * start finds out.
 */
export async function record(
  tools: SenderTools,
  order: StoredPo,
  change: Change,
): Promise<StoredPo | null> {
  for (let tries = 0; ; tries++) {
    try {
      return await tools.ctx.engine.atomic(tools.ctx, async (tx) => {
        const { distributor_order_id: number } = change
        if (change.to === 'placed' && number && (await standsElsewhere(tx.db, order, number)))
          return move(tx, order, numberTaken(order, number, tx.now()))
        return move(tx, order, change)
      })
    } catch (error) {
      if (!isUnavailable(error) || tools.signal.aborted) throw error
      if (tries % 40 === 0)
        tools.ctx.log.error(
          { err: error, ref: order.client_ref },
          'what a distributor answered cannot be written down yet',
        )
      tools.ctx.space.giveUpReserve()
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
