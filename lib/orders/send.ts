/** One send of one purchase order, and what is written down of it (reliability 3.3). */
import type { OperatorCtx } from '../core/ctx.js'
import { cleaned } from '../core/text.js'
import { isUnavailable } from '../db/sqlite.js'
import type { OrderSession, Submission } from '../distributors/fulfillment.js'
import { inTime, openLine, withoutSecrets } from './line.js'
import type { Line } from './line.js'
import { standsElsewhere } from '../fulfillment/numbers.js'
import { OTHER_ACCOUNT, SEND_TIMEOUT, afterSend, notSent } from './outcome.js'
import { move } from './transitions.js'
import type { Change, StoredPo } from './transitions.js'

/** What a life of the sender works with. */
export interface SenderTools {
  readonly ctx: OperatorCtx
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
  // Who logs in as somebody else finds, and dedups against, nothing of what was sent before: it would be bought twice.
  const reason = typeof line === 'string' ? line : order.account !== null && order.account !== line.account ? OTHER_ACCOUNT : null
  if (reason !== null || typeof line === 'string') return { order: await record(tools, current, notSent(order, { reason: reason! }, ctx.now())), ended: Promise.resolve() }
  const session: Omit<OrderSession, 'signal'> = {
    settings: line.settings, now: ctx.now, stage: order.stage,
    async keepStage(stage) {
      // The first may be on its way to becoming the order: whether it is gone is found out by looking, not by a send.
      if (order.ever_unknown === 1 && order.stage !== null && stage !== order.stage) throw new Error(`it was begun as ${order.stage}, and the distributor was made to begin it anew`)
      const kept = await record(tools, current, { to: 'sending', stage })
      if (!kept) throw new Error('the order was moved on by somebody else')
      current = kept
      await tools.flush()
      await tools.step('stage kept')
    },
  }
  await tools.step('before the send')
  tools.refuseFailed()
  // A connector that throws, answers nonsense or takes too long has not said what became of the order.
  const { answer, ended } = await inTime(tools, line.connector.limits.sendTimeout ?? SEND_TIMEOUT, (signal) => line.connector.submit({ ...session, signal }, line.content))
  const sent = 'failed' in answer ? { outcome: 'unknown' as const, reason: answer.failed } : submissionOf(answer.value, line)
  await tools.step('after the send')
  const recorded = await record(tools, current, afterSend(current, sent, line.connector, ctx.now()))
  if (!recorded) ctx.log.error({ ref: order.client_ref, distid: order.distid, sent }, 'a distributor answered about an order that somebody has moved on meanwhile')
  return { order: recorded, ended }
}

/** What a connector answered, as far as it is an answer; a distributor's own words are redacted, cleaned and cut. */
function submissionOf(value: Submission, line: Line): Submission {
  const { outcome, number, reason, retryAfter } = (value ?? {}) as Partial<Record<'outcome' | 'number' | 'reason' | 'retryAfter', unknown>>
  const said = typeof reason === 'string' && reason.trim() !== '' ? cleaned(withoutSecrets(reason, line), MAX_REASON) : 'no reason was given'
  const isNumber = number === null || (typeof number === 'string' && number.trim() !== '' && cleaned(number, MAX_NUMBER) === number)
  if ((outcome === 'accepted' || outcome === 'duplicate') && isNumber) return { outcome, number }
  if (outcome === 'rejected' || outcome === 'unknown') return { outcome, reason: said }
  if (outcome === 'not_sent') return { outcome, reason: said, ...typeof retryAfter === 'number' && retryAfter > 0 && { retryAfter } }
  return { outcome: 'unknown', reason: 'the connector gave no outcome' }
}

/** Characters of what a distributor says that are kept. */
export const MAX_REASON = 300
export const MAX_NUMBER = 100

/** Milliseconds between tries to write down what is known and must not be forgotten. */
const RETRY = 250

/**
 * Writes a change down. What a distributor answered is known here only, so a full disk or a busy database is waited for; an
 * app that closes meanwhile leaves the order in `sending`, and its next start finds out.
 */
export async function record(tools: SenderTools, order: StoredPo, change: Change): Promise<StoredPo | null> {
  for (let tries = 0; ; tries++) {
    try {
      return await tools.ctx.engine.atomic(tools.ctx, async (tx) => {
        const { distributor_order_id: number } = change
        if (change.to === 'placed' && number && await standsElsewhere(tx.db, order, number)) return move(tx, order, numberTaken(order, number, tx.now()))
        return move(tx, order, change)
      })
    } catch (error) {
      if (!isUnavailable(error) || tools.signal.aborted) throw error
      if (tries % 40 === 0) tools.ctx.log.error({ err: error, ref: order.client_ref }, 'what a distributor answered cannot be written down yet')
      tools.ctx.space.giveUpReserve()
      await new Promise((resolve) => setTimeout(resolve, RETRY))
    }
  }
}

/** Of two orders alike that were found at the same moment, one was first; a fresh number that is not fresh is for a person. */
function numberTaken({ state }: StoredPo, number: string, now: number): Change {
  if (state === 'unknown') return { to: 'unknown', next_at: now }
  return { to: 'review', next_at: null, owner: null, reason: `the distributor gave it the number ${number}, which stands on another order` }
}
