/** One send of one purchase order, and what is written down of it (reliability 3.3). */
import type { Subscriber } from '../accounts/subscribers.js'
import { SECOND } from '../core/clock.js'
import type { OperatorCtx } from '../core/ctx.js'
import { cleaned } from '../core/text.js'
import { isUnavailable } from '../db/sqlite.js'
import type { Fulfillment, OrderSession, PurchaseOrder, Submission } from '../distributors/fulfillment.js'
import { connectorOf } from '../distributors/modes.js'
import { accountSettings } from '../fulfillment/account.js'
import { contentOf } from './intent.js'
import { SEND_TIMEOUT, afterSend, notSent } from './outcome.js'
import { move } from './transitions.js'
import type { Change, StoredPo } from './transitions.js'

/** What a life of the sender works with. */
export interface SenderTools {
  readonly ctx: OperatorCtx
  /** Aborted when the app closes and will not wait any longer. */
  readonly signal: AbortSignal
  /** Waits until the journal's file has every line that is committed now. */
  flush(): Promise<void>
  /** Named places at which a test may end this life; nothing in production. */
  step(name: string): Promise<void> | undefined
}

/** What is needed to talk to a distributor about an order; a text says why that cannot be. */
export interface Line {
  connector: Fulfillment
  content: PurchaseOrder
  settings: Readonly<Record<string, unknown>>
}

/** Connector, account and content of a purchase order. */
export function openLine(ctx: OperatorCtx, order: StoredPo): Line | string {
  const connector = connectorOf(ctx, order.distid, order.mode)
  if (!connector) return `there is no connector for ${order.distid} in mode ${order.mode}`
  const settings = accountSettings(ctx, { id: order.subscriber_id } as Subscriber, order.distid)
  if (!settings) return `${order.distid} is no longer configured`
  return { connector, settings, content: contentOf(ctx, order) }
}

/**
 * Sends an order whose state is `sending` on the disk, and writes down what came back. Returns the order as it is then; null
 * when somebody else has moved it meanwhile.
 */
export async function sendOne(tools: SenderTools, order: StoredPo): Promise<StoredPo | null> {
  const { ctx } = tools
  let current = order
  const line = openLineSafely(ctx, order)
  if (typeof line === 'string') return record(tools, current, notSent(order, { reason: line }, ctx.now()))
  const session: Omit<OrderSession, 'signal'> = {
    settings: line.settings, now: ctx.now, stage: order.stage,
    async keepStage(stage) {
      const kept = await record(tools, current, { to: 'sending', stage })
      if (!kept) throw new Error('the order was moved on by somebody else')
      current = kept
      await tools.flush()
      await tools.step('stage kept')
    },
  }
  await tools.step('before the send')
  const sent = await ask(tools, line.connector.limits.sendTimeout ?? SEND_TIMEOUT, (signal) => line.connector.submit({ ...session, signal }, line.content))
  await tools.step('after the send')
  return record(tools, current, afterSend(current, sent, line.connector, ctx.now()))
}

function openLineSafely(ctx: OperatorCtx, order: StoredPo): Line | string {
  try {
    return openLine(ctx, order)
  } catch (error) {
    ctx.log.error({ err: error, ref: order.client_ref }, 'an order cannot be opened')
    return 'its content or the credentials cannot be opened'
  }
}

/** A connector that throws, answers nonsense or takes too long has not said what became of the order. */
async function ask(tools: SenderTools, timeout: number, submit: (signal: AbortSignal) => Promise<Submission>): Promise<Submission> {
  const answer = await inTime(tools, timeout, submit)
  if ('failed' in answer) return { outcome: 'unknown', reason: answer.failed }
  return submissionOf(answer.value)
}

/** What a connector answered, as far as it is an answer; a distributor's own words are cut and cleaned. */
function submissionOf(value: Submission): Submission {
  const { outcome, number, reason, retryAfter } = (value ?? {}) as Partial<Record<'outcome' | 'number' | 'reason' | 'retryAfter', unknown>>
  const said = typeof reason === 'string' && reason.trim() !== '' ? cleaned(reason, MAX_REASON) : 'no reason was given'
  const isNumber = number === null || (typeof number === 'string' && number.trim() !== '' && cleaned(number, MAX_NUMBER) === number)
  if ((outcome === 'accepted' || outcome === 'duplicate') && isNumber) return { outcome, number }
  if (outcome === 'rejected' || outcome === 'unknown') return { outcome, reason: said }
  if (outcome === 'not_sent') return { outcome, reason: said, ...typeof retryAfter === 'number' && retryAfter > 0 && { retryAfter } }
  return { outcome: 'unknown', reason: 'the connector gave no outcome' }
}

/** Characters of what a distributor says that are kept. */
const MAX_REASON = 300
const MAX_NUMBER = 100

/** Runs one call of a connector with a time limit, by a timer of our own: a connector need not look at its signal. */
export async function inTime<T>({ ctx, signal: closing }: Pick<SenderTools, 'ctx' | 'signal'>, timeout: number, call: (signal: AbortSignal) => Promise<T>): Promise<{ value: T } | { failed: string }> {
  const ending = new AbortController()
  const ended = new Promise<{ failed: string }>((resolve) => {
    ending.signal.addEventListener('abort', () => resolve({ failed: closing.aborted ? 'the server was stopped while it waited' : `no answer within ${Math.round(timeout / SECOND)} s` }), { once: true })
  })
  const end = () => ending.abort()
  const timer = setTimeout(end, timeout)
  timer.unref()
  if (closing.aborted) end()
  else closing.addEventListener('abort', end, { once: true })
  try {
    return await Promise.race([call(ending.signal).then((value) => ({ value })), ended])
  } catch (error) {
    // Not the error's own words: they may repeat what was sent.
    ctx.log.warn({ cause: kindOf(error) }, 'a distributor could not be talked to')
    return { failed: `the connection failed (${kindOf(error)})` }
  } finally {
    clearTimeout(timer)
    closing.removeEventListener('abort', end)
  }
}

/** `ECONNRESET`, `TypeError`. */
function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const { code } = (error.cause ?? error) as { code?: unknown }
  return typeof code === 'string' ? code : error.name
}

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
        if (change.to === 'placed' && number && await stands(tx, order, number)) return move(tx, order, numberTaken(order, number, tx.now()))
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

/** A number belongs to one order. */
export async function stands({ db }: OperatorCtx, { id, distid, mode, subscriber_id: owner }: StoredPo, number: string): Promise<boolean> {
  return await db.selectFrom('purchase_order').select('id').where('subscriber_id', '=', owner).where('distributor_order_id', '=', number)
    .where('distid', '=', distid).where('mode', '=', mode).where('id', '<>', id).executeTakeFirst() !== undefined
}
