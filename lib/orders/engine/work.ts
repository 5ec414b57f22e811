/**
 * What is done about one open purchase order: it is sent, sent again, looked up, or given up
 * (reliability 3.3).
 */
import type { OrdersCtx } from '../ctx.js'
import { isUnavailable } from '../../db/sqlite.js'
import { connectorOf } from '../../distributors/modes.js'
import { contentOf } from './content.js'
import { accountNow, dealerFault } from './line.js'
import { afterFault, backoff, isTooOld, notSent, settleTime, whatIsDue } from './outcome.js'
import { NEEDS_REVIEW, reconcileOne } from './reconcile.js'
import { record, sendOne } from './send.js'
import type { SenderTools } from './send.js'
import type { Slots } from './slots.js'
import { FAILED } from '../stored.js'
import type { Change, StoredPo } from '../stored.js'

/** Sends, and searches, of one account at a time, where the connector says nothing else. */
export const CONCURRENCY = 4

export interface Work {
  /** Sends one whose state is `sending` and whose place at `account` is taken; frees the place. */
  sendNow(order: StoredPo, account: string): Promise<void>
  /**
   * Waits for a place, before all that is taken up again, makes sure that it is still to be sent,
   * and sends.
   */
  sendLater(order: StoredPo): Promise<void>
  /** Whatever is due about it. While orders are paused nothing is sent and nothing given up. */
  workOn(order: StoredPo, isPaused: boolean): Promise<void>
}

interface SendOptions {
  stage?: string | null
  /** Its caller waits for it. */
  isNew?: boolean
}

export interface WorkOptions {
  owner: string
  slots: Slots
  tools: () => SenderTools
  /** Aborted once the sender is told to stop: nothing new is begun. */
  stopping: AbortSignal
  /**
   * Told of an order of which nobody was asked: where none of its placement was, it counts against
   * no quota.
   */
  uncount: (order: StoredPo) => void
}

export function makeWork({ owner, slots, tools, stopping, uncount }: WorkOptions): Work {
  /** When this life learned by its steady clock that a send's outcome is not known. */
  const unknownSince = new Map<number, number>()
  const write = (order: StoredPo, change: Change) => record(tools(), order, change)

  function note(order: StoredPo | null): void {
    if (!order) return
    const { log, monotonic } = tools().ctx
    const told = { ref: order.client_ref, distid: order.distid, reason: order.reason }
    if (order.state === 'unknown') unknownSince.set(order.id, monotonic())
    else unknownSince.delete(order.id)
    if (order.state === 'unknown')
      log.warn(told, 'what became of an order is not known; it is being found out')
    if (order.state === 'review') log.error(told, NEEDS_REVIEW)
    if (FAILED.includes(order.state) && order.first_sent_at === null) uncount(order)
  }

  async function sendNow(order: StoredPo, account: string): Promise<void> {
    const connector = connectorOf(tools().ctx, order.distid, order.mode)
    const isAlone = connector?.limits.concurrency === 1
    let ended: Promise<void> | undefined
    try {
      const sent = await sendOne(tools(), order)
      note(sent.order)
      ended = sent.ended
    } catch (error) {
      // A fault of ours after the send began: what became of the order is not known.
      if (!tools().ctx.engine.hasFailed() && !tools().signal.aborted)
        note(await write(order, afterFault(order, tools().ctx.now())))
      throw error
    } finally {
      // Where an account has one cart, a call that was given up may still be filling it; one that
      // never ends must not hold up all others for good.
      if (isAlone && ended)
        void firstOf(ended, settleTime(connector), stopping).then(() => slots.free(account))
      else slots.free(account)
    }
  }

  async function sendLater(
    order: StoredPo,
    { stage = order.stage, isNew = true }: SendOptions = {},
  ): Promise<void> {
    const { ctx } = tools()
    const account = accountNow(ctx, order) ?? ''
    if (
      !(await slots.take(
        account,
        connectorOf(ctx, order.distid, order.mode)?.limits.concurrency ?? CONCURRENCY,
        { signal: stopping, isNew },
      ))
    )
      return
    let claimed: StoredPo | null = null
    try {
      claimed = await claim(order, account, stage)
      await tools().step('claimed')
      if (claimed) await tools().flush()
    } catch (error) {
      slots.free(account)
      // The journal must have it before a distributor does: it has not left.
      if (claimed && isUnavailable(error))
        await write(claimed, notSent(claimed, { reason: DISK_FULL }, ctx.now()))
      throw error
    }
    if (claimed) await sendNow(claimed, account)
    else slots.free(account)
  }

  /** Null where it is not to be sent any more. */
  async function claim(
    order: StoredPo,
    account: string,
    stage: string | null,
  ): Promise<StoredPo | null> {
    const { ctx } = tools()
    tools().refuseFailed()
    // It may have waited long for its turn.
    if (isTooOld(order, ctx.now())) return expire(order)
    const fault = await dealerFault(ctx, contentOf(ctx, order))
    if (fault !== null) {
      note(
        await write(
          order,
          order.ever_unknown === 0
            ? { to: 'rejected', reason: `${fault}; nothing was sent`, next_at: null }
            : { to: 'review', reason: fault, next_at: null },
        ),
      )
      return null
    }
    return write(order, {
      to: 'sending',
      sends: order.sends + 1,
      owner,
      account: order.ever_unknown === 1 ? (order.account ?? account) : account,
      stage,
      first_sent_at: order.first_sent_at ?? ctx.now(),
      next_at: null,
    })
  }

  async function expire(order: StoredPo): Promise<null> {
    note(
      await write(order, {
        to: 'expired',
        reason: `${order.reason ?? 'it could not be sent'}; given up after 15 minutes, nothing was sent`,
        next_at: null,
      }),
    )
    return null
  }

  async function lookUp(order: StoredPo, isPaused: boolean): Promise<void> {
    const { ctx } = tools()
    // What another life noted was noted by a wall clock that may have been set since: this life
    // waits anew.
    if (!unknownSince.has(order.id)) unknownSince.set(order.id, ctx.monotonic())
    const unknownFor = Math.max(
      0,
      Math.min(
        ctx.now() - (order.unknown_since ?? order.updated_at),
        ctx.monotonic() - unknownSince.get(order.id)!,
      ),
    )
    const place = `search ${accountNow(ctx, order)}`
    if (!(await slots.take(place, CONCURRENCY, { signal: stopping, isNew: false }))) return
    const send = await reconcileOne(tools(), order, { unknownFor, isPaused }).finally(() =>
      slots.free(place),
    )
    if (send)
      await sendLater(order, { stage: send === 'afresh' ? null : order.stage, isNew: false })
  }

  async function workOn(order: StoredPo, isPaused: boolean): Promise<void> {
    const { ctx } = tools()
    try {
      const due = whatIsDue(order, ctx.now())
      if (due === 'look up') return await lookUp(order, isPaused)
      if (isPaused) return
      if (due === 'give up') await expire(order)
      else await sendLater(order, { isNew: false })
    } catch (error) {
      // A fault of ours must not come back five times a second; somebody else's change of the order
      // stands.
      if (!ctx.engine.hasFailed() && !tools().signal.aborted)
        await write(order, {
          to: order.state,
          failures: order.failures + 1,
          next_at: ctx.now() + backoff(order.failures),
        })
      throw error
    }
  }

  return { sendNow, sendLater, workOn }
}

/**
 * Waits for work, but no longer than so many milliseconds, and not beyond the end of what `signal`
 * tells.
 */
async function firstOf(work: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const over = new AbortController()
  await Promise.race([
    work,
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms).unref()
      over.signal.addEventListener('abort', () => clearTimeout(timer))
      signal.addEventListener('abort', () => resolve(), { signal: over.signal })
    }),
  ])
  over.abort()
}

/** Why nothing was sent, where the disk has no room for the journal. */
export const DISK_FULL = 'the disk is full'

/**
 * Orders that one look takes up: what was placed meanwhile waits for the database behind no more
 * than these.
 */
export const BATCH = 10

type Due = Pick<StoredPo, 'id' | 'state' | 'subscriber_id' | 'distid' | 'mode'>

/** One distributor of one shop: what its orders wait for, no other's do. */
export const shopAt = ({
  subscriber_id: shop,
  distid,
  mode,
}: Pick<StoredPo, 'subscriber_id' | 'distid' | 'mode'>): string => `${distid} ${mode} ${shop}`

export interface DueOptions {
  now: number
  /** Are not looked at: they are being worked on, or were in this pass. */
  except: readonly number[]
  /** Also what is due later. */
  force: boolean
  isPaused: boolean
  /** Orders of each shop at each distributor that are being worked on. */
  atWork: ReadonlyMap<string, number>
}

/**
 * The next open orders whose time has come, the longest due first; `isMore` where others are due
 * too. No shop has more than its places taken up, so that those that wait for a slow distributor
 * stand in nobody's way.
 */
export function dueOrders(
  { engine }: Pick<OrdersCtx, 'engine'>,
  { now, except, force, isPaused, atWork }: DueOptions,
): { orders: StoredPo[]; isMore: boolean } {
  // While orders are paused, those that were never sent wait for the operator.
  const states = isPaused ? "state = 'unknown'" : "state IN ('planned', 'unknown')"
  // The index is for open states, word for word; what is due further ahead than any pause comes
  // from a clock that was wrong.
  const due = engine.reader
    .prepare(`
    SELECT id, state, subscriber_id, distid, mode FROM purchase_order WHERE ${OPEN_STATES} AND ${states} AND (next_at <= ? OR next_at > ? OR ?)
      AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY next_at LIMIT ${MOST_DUE}`)
    .all(now, now + FARTHEST, force ? 1 : 0, JSON.stringify(except)) as Due[]
  const taken = new Map(atWork)
  const ids: number[] = []
  for (const order of due) {
    const before = taken.get(shopAt(order)) ?? 0
    if (ids.length === BATCH) break
    if (before >= CONCURRENCY - 1) continue
    taken.set(shopAt(order), before + 1)
    ids.push(order.id)
  }
  const orders = engine.reader
    .prepare(
      'SELECT * FROM purchase_order WHERE id IN (SELECT value FROM json_each(?)) ORDER BY next_at',
    )
    .all(JSON.stringify(ids)) as StoredPo[]
  return { orders, isMore: ids.length < due.length }
}

const MOST_DUE = 5_000
const FARTHEST = 2 * 3_600_000
/** As in the index `purchase_order_open`. */
export const OPEN_STATES = "state IN ('planned', 'sending', 'unknown', 'review')"
