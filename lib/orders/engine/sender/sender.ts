/**
 * What is done about one open purchase order: it is claimed, sent, and what came
 * back is recorded; where that is not known, it is reconciled before anything is sent again.
 */
import { connectorOf } from '../../../distributors/modes.js'
import { isUnavailable } from '../../../db/faults.js'
import { LeadLost } from '../../../db/lead.js'
import { FAILED } from '../../stored.js'
import type { Change, Moved, StoredPo } from '../../stored.js'
import { CONCURRENCY } from '../account-limits.js'
import type { AccountSlots } from '../account-limits.js'
import { DISK_FULL, afterFault, notSent } from '../rules/after-send.js'
import { backoff, isTooOld, settleTime, whatIsDue } from '../rules/timing.js'
import { readPause } from '../pause.js'
import { contentOf } from '../../sealed-content.js'
import { accountNow } from '../../account.js'
import type { SenderCtx } from './ctx.js'
import { dealerFault } from './dealer-fault.js'
import { NEEDS_REVIEW, reconcile } from './reconcile.js'
import { record } from './record.js'
import { sendOrder } from './send.js'

export interface Sender {
  /**
   * Sends one whose state is `sending` and whose slot at `account` is taken; frees the slot. Resolves
   * with how it was written down then; null where somebody else has moved it.
   */
  sendClaimed(order: StoredPo, account: string): Promise<Moved | null>
  /**
   * Waits for a slot, before all that is taken up again, makes sure that it is still to be sent,
   * and sends. Resolves likewise; with null also where it was not sent.
   */
  sendInTurn(order: StoredPo): Promise<Moved | null>
  /** Whatever is due about it. While orders are paused nothing is sent and nothing given up. */
  workOn(order: StoredPo, isPaused: boolean): Promise<void>
}

export interface SenderOptions {
  slots: AccountSlots
  /**
   * Told of an order of which nobody was asked: where none of its placement was, it counts against
   * no quota.
   */
  uncount: (order: StoredPo) => Promise<void>
}

export function openSender(ctx: SenderCtx, options: SenderOptions): Sender {
  return new OrderSteps(ctx, options)
}

class OrderSteps implements Sender {
  readonly #ctx: SenderCtx
  readonly #slots: AccountSlots
  readonly #uncount: SenderOptions['uncount']
  /**
   * When this epoch of this life learned by its steady clock that a send's outcome is not known:
   * another one may have sent it anew since.
   */
  readonly #unknownSince = new Map<number, number>()

  constructor(ctx: SenderCtx, { slots, uncount }: SenderOptions) {
    this.#ctx = ctx
    this.#slots = slots
    this.#uncount = uncount
  }

  async workOn(order: StoredPo, isPaused: boolean): Promise<void> {
    const ctx = this.#ctx
    try {
      const due = whatIsDue(order, ctx.now())
      if (due === 'look up') return await this.#lookUp(order, isPaused)
      if (isPaused) return
      if (due === 'give up') await this.#note(await record(ctx, order, expired(order)))
      else await this.#claimAndSend(order, { stage: order.stage, isNew: false })
    } catch (error) {
      // A fault of ours must not come back five times a second; somebody else's change of the order
      // stands.
      if (!ctx.engine.hasFailed() && !ctx.abandonCalls.aborted && !(error instanceof LeadLost))
        await record(ctx, order, {
          to: order.state,
          failures: order.failures + 1,
          next_at: ctx.now() + backoff(order.failures),
        })
      throw error
    }
  }

  sendInTurn(order: StoredPo): Promise<Moved | null> {
    return this.#claimAndSend(order, { stage: order.stage, isNew: true })
  }

  async #claimAndSend(
    order: StoredPo,
    { stage, isNew }: { stage: string | null; isNew: boolean },
  ): Promise<Moved | null> {
    const ctx = this.#ctx
    const account = (await accountNow(ctx, order)) ?? ''
    const limit = connectorOf(ctx, order.distid, order.mode)?.limits.concurrency ?? CONCURRENCY
    if (!(await this.#slots.take(account, limit, { signal: ctx.noNewWork, isNew }))) return null
    let claimed: StoredPo | null = null
    try {
      claimed = (await this.#claim(order, account, stage))?.order ?? null
      await ctx.step('claimed')
      if (claimed) await ctx.flushJournal()
    } catch (error) {
      this.#slots.free(account)
      // The journal must have it before a distributor does: it has not left.
      if (claimed && isUnavailable(error))
        await record(ctx, claimed, notSent(claimed, { reason: DISK_FULL }, ctx.now()))
      throw error
    }
    if (claimed) return this.sendClaimed(claimed, account)
    this.#slots.free(account)
    return null
  }

  /** Writes down that it is being sent; null where it is not to be sent any more. */
  async #claim(order: StoredPo, account: string, stage: string | null): Promise<Moved | null> {
    const ctx = this.#ctx
    ctx.refuseFailed()
    const refusal = await whyNotSent(ctx, order)
    if (refusal) {
      await this.#note(await record(ctx, order, refusal))
      return null
    }
    try {
      return await record(
        ctx,
        order,
        {
          to: 'sending',
          sends: order.sends + 1,
          owner: ctx.owner,
          account: order.ever_unknown === 1 ? (order.account ?? account) : account,
          stage,
          first_sent_at: order.first_sent_at ?? ctx.now(),
          next_at: null,
        },
        refuseWhilePaused,
      )
    } catch (error) {
      if (error instanceof PausedMeanwhile) return null
      throw error
    }
  }

  async sendClaimed(order: StoredPo, account: string): Promise<Moved | null> {
    const ctx = this.#ctx
    const connector = connectorOf(ctx, order.distid, order.mode)
    let callEnded: Promise<void> | undefined
    try {
      const sent = await sendOrder(ctx, order)
      callEnded = sent.ended
      await this.#note(sent.moved)
      return sent.moved
    } catch (error) {
      // A fault of ours after the send began: what became of the order is not known.
      if (!ctx.engine.hasFailed() && !ctx.abandonCalls.aborted)
        await this.#note(await record(ctx, order, afterFault(order, ctx.now())))
      throw error
    } finally {
      // Where an account has one cart, a call that was given up may still be filling it; one that
      // never ends must not hold up all others for good.
      if (connector?.limits.concurrency === 1 && callEnded)
        void settled(callEnded, settleTime(connector), ctx.noNewWork).then(() =>
          this.#slots.free(account),
        )
      else this.#slots.free(account)
    }
  }

  /** Asks a distributor for an order of unknown outcome; sends it again where that is right. */
  async #lookUp(order: StoredPo, isPaused: boolean): Promise<void> {
    const ctx = this.#ctx
    const unknownFor = this.#unknownFor(order)
    const slot = `search ${await accountNow(ctx, order)}`
    const waiting = { signal: ctx.noNewWork, isNew: false }
    if (!(await this.#slots.take(slot, CONCURRENCY, waiting))) return
    const resend = await reconcile(ctx, order, { unknownFor, isPaused }).finally(() =>
      this.#slots.free(slot),
    )
    if (resend)
      await this.#claimAndSend(order, {
        stage: resend === 'afresh' ? null : order.stage,
        isNew: false,
      })
  }

  /** Milliseconds, by the clock that says less. */
  #unknownFor(order: StoredPo): number {
    const { now, monotonic } = this.#ctx
    // What another life noted was noted by a wall clock that may have been set since: this life
    // waits anew.
    const since = this.#unknownSince.get(order.id) ?? monotonic()
    this.#unknownSince.set(order.id, since)
    const byWallClock = now() - (order.unknown_since ?? order.updated_at)
    return Math.max(0, Math.min(byWallClock, monotonic() - since))
  }

  /** Logs what a person should know of an order that was written down. */
  async #note(moved: Moved | null): Promise<void> {
    if (!moved) return
    const { order } = moved
    const { log, monotonic } = this.#ctx
    const fields = { ref: order.client_ref, distid: order.distid, reason: order.reason }
    if (order.state === 'unknown') this.#unknownSince.set(order.id, monotonic())
    else this.#unknownSince.delete(order.id)
    if (order.state === 'unknown')
      log.warn(fields, 'what became of an order is not known; it is being found out')
    if (order.state === 'review') log.error(fields, NEEDS_REVIEW)
    if (FAILED.includes(order.state) && order.first_sent_at === null) await this.#uncount(order)
  }
}

/** What ends an order instead of its send; null where it is to be sent. */
async function whyNotSent(ctx: SenderCtx, order: StoredPo): Promise<Change | null> {
  // It may have waited long for its turn.
  if (isTooOld(order, ctx.now())) return expired(order)
  const fault = await dealerFault(ctx, contentOf(ctx, order))
  if (fault === null) return null
  return order.ever_unknown === 0
    ? { to: 'rejected', reason: `${fault}; nothing was sent`, next_at: null }
    : { to: 'review', reason: fault, next_at: null }
}

/** Thrown inside the transaction of a claim: the order waits until orders go on. */
class PausedMeanwhile extends Error {}

/** Orders may have been paused while this one waited for its turn. */
async function refuseWhilePaused(tx: SenderCtx): Promise<void> {
  if ((await readPause(tx)) !== null) throw new PausedMeanwhile()
}

function expired({ reason }: StoredPo): Change {
  return {
    to: 'expired',
    reason: `${reason ?? 'it could not be sent'}; given up after 15 minutes, nothing was sent`,
    next_at: null,
  }
}

/**
 * Waits until a call has ended, but no longer than so many milliseconds, and not once `signal` is
 * aborted.
 */
async function settled(call: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const over = new AbortController()
  await Promise.race([
    call,
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms).unref()
      over.signal.addEventListener('abort', () => clearTimeout(timer))
      signal.addEventListener('abort', () => resolve(), { signal: over.signal })
    }),
  ])
  over.abort()
}
