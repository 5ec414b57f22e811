/**
 * Sends purchase orders and finds out what became of them. Whoever holds the
 * lease of a folder sends, reconciles and writes the journal's file: a server as long as it runs,
 * a process without a server for the orders that it places itself.
 */
import { levelOf } from '../../db/faults.js'
import { setMaxListeners } from 'node:events'
import { MINUTE, SECOND } from '../../core/clock.js'
import { ApiError } from '../../core/errors.js'
import { LeadLost } from '../../db/lead.js'
import { value } from '../../db/reading.js'
import type { Fulfillment } from '../../distributors/fulfillment.js'
import type { HeldLease, OrderSender, OrdersCtx } from '../ctx.js'
import type { JournalCopy } from '../journal/copy.js'
import { openProver } from '../journal/prove.js'
import type { Prover } from '../journal/prove.js'
import { openSeenJournal } from '../journal/seen.js'
import type { SeenJournal } from '../journal/seen.js'
import { forgetOrder, openOrderCounts } from '../quota.js'
import { purchaseOrdersOf } from '../rows.js'
import { isUntried } from '../stored.js'
import type { Change, Moved, Outcome, StoredPo } from '../stored.js'
import { CONCURRENCY, openAccountSlots } from './account-limits.js'
import { dueOrders, shopAt, untold } from './due.js'
import { openLease } from './lease.js'
import type { SenderLease } from './lease.js'
import { openOutcomes } from './outcomes.js'
import type { Outcomes } from './outcomes.js'
import { takeOver } from './recover.js'
import { isTooOld } from './rules/timing.js'
import type { SenderCtx } from './sender/ctx.js'
import { countOf } from './queries.js'
import { whyTooLate } from './sender/fence.js'
import { record } from './sender/record.js'
import { openSender } from './sender/sender.js'
import type { Sender } from './sender/sender.js'

/** How often what is due is looked for, in milliseconds. */
const TICK = 200
/** How long an engine that stops waits for sends, in milliseconds. */
const PATIENCE = 30 * SECOND
/** Orders that one pass takes up. */
const MOST_IN_A_PASS = 500
/** Orders that are worked on at a time. */
const MOST_UNDER_WAY = 5_000

export interface EngineOptions {
  /** Where lines of the journal go besides, outside of the machine. */
  copy?: JournalCopy | undefined
  step?: (name: string) => Promise<void> | undefined
}

export class OrderEngine implements OrderSender {
  readonly owner: string
  readonly counts = openOrderCounts()
  readonly placing = new Map<string, Promise<unknown>>()
  readonly stopping: AbortSignal
  readonly step: SenderCtx['step']
  readonly #ctx: SenderCtx
  readonly #noNewWork = new AbortController()
  readonly #abandonCalls = new AbortController()
  readonly #slots = openAccountSlots()
  readonly #lease: SenderLease
  /** What sends in the epoch of now. */
  #sender: { epoch: number | null; sender: Sender }
  readonly #prover: Prover
  readonly #copy: JournalCopy | undefined
  readonly #seen: SeenJournal | null
  readonly #outcomes: Outcomes
  /** Orders that are being worked on, by id. */
  readonly #underWay = new Map<number, Promise<Moved | null>>()
  /** How many of them were taken up again, of each shop at each distributor. */
  readonly #takenUp = new Map<string, number>()
  /** What was logged last of why orders cannot be worked on, and when. */
  #trouble = { since: -Infinity, message: '' }
  /** As of which commit what is due was looked for last. */
  #lookedAsOf = NaN
  readonly #isTimeUntold = untold()
  /** Another node has told of an order, or not all that was due was taken up. */
  #isMore = false
  /** When stranded orders were looked for, by the steady clock. */
  #strandedAt = -Infinity
  /** By the steady clock. */
  #startedAt: number | null = null
  #timer: NodeJS.Timeout | undefined
  #ticking: Promise<void> | undefined
  /** The lease of an engine that was started. */
  #held: HeldLease | null = null

  constructor(given: OrdersCtx, { copy, step = () => undefined }: EngineOptions = {}) {
    const noNewWork = this.#noNewWork.signal
    const abandonCalls = this.#abandonCalls.signal
    // One listener for every call that is under way.
    setMaxListeners(0, noNewWork, abandonCalls)
    this.owner = given.random(9).toString('base64url')
    this.stopping = noNewWork
    this.step = step
    this.#copy = copy
    this.#seen = given.engine.lead && openSeenJournal(given.engine.dir)
    this.#ctx = {
      ...given,
      actor: 'orders',
      owner: this.owner,
      epoch: null,
      noNewWork,
      abandonCalls,
      flushJournal: () => this.flush(),
      refuseFailed: () => this.refuseFailed(),
      step,
    }
    this.#lease = openLease(this.#ctx, {
      copy,
      seen: this.#seen,
      slots: this.#slots,
      isUnderWay: (id) => this.#underWay.has(id),
    })
    this.#outcomes = openOutcomes(this.#ctx, noNewWork)
    this.#sender = { epoch: null, sender: this.#openSender(null) }
    this.#prover = openProver(this.#ctx, noNewWork)
  }

  /** Takes the lease, keeps it, and does what is due, until it is stopped. */
  start(): void {
    if (this.#noNewWork.signal.aborted) return
    this.#startedAt ??= this.#ctx.monotonic()
    if (this.#timer) return
    const look = () => {
      this.#ticking ??= this.#tick().finally(() => {
        this.#ticking = undefined
      })
    }
    this.#timer = setInterval(look, TICK).unref()
    const told = (placement: number | null) => {
      // What is not taken up at once is looked for with the next tick.
      this.#isMore = true
      if (placement === null) look()
      else void this.#takeUpTold(placement)
    }
    this.#ctx.engine.lead?.onTold('waits', told, this.#noNewWork.signal)
  }

  get isSender(): boolean {
    return this.#held?.isHeld ?? false
  }

  get waitingSince(): number | null {
    return this.isSender ? null : this.#startedAt
  }

  async #tick(): Promise<void> {
    try {
      // Also by those that do not lead: a node that is new remembers nothing.
      await this.#seen?.look(this.#ctx)
      const held = await this.#hold()
      if (!held) return
      await this.flush()
      await this.#takeBackStranded(held)
      // Where nothing may leave any more, it would only be given back.
      const { engine } = this.#ctx
      if (whyTooLate({ engine, epoch: held.epoch }) === null && this.#mayBeDue()) {
        this.#isMore = false
        if (await this.#takeUpDue(new Set(), { force: false, epoch: held.epoch }))
          this.#isMore = true
      }
      const journal = this.#lease.journal()
      this.#prover.look(journal)
      this.#copy?.look(this.#ctx)
      await journal.noteNowAndThen()
      this.#ctx.space.keepReserve()
    } catch (error) {
      if (!this.#noNewWork.signal.aborted)
        this.#logTrouble(levelOf(error), 'orders cannot be worked on at the moment', error)
    }
  }

  /**
   * A file is asked at each tick. A server is asked after a commit of this node, and where another one
   * tells; since that may be lost, and time makes orders due, also once a second.
   */
  #mayBeDue(): boolean {
    const { engine } = this.#ctx
    const version = engine.version()
    // Each tick counts.
    const isTime = this.#isTimeUntold()
    const isNews = this.#isMore || version !== this.#lookedAsOf
    if (engine.lead !== null && !isNews && !isTime) return false
    this.#lookedAsOf = version
    return true
  }

  /** The lease of now; null where another process has it, which is no trouble among several nodes. */
  async #hold(): Promise<HeldLease | null> {
    if (this.#held && !this.#held.isHeld) {
      this.#held.release()
      this.#held = null
    }
    this.#held ??= await this.lease()
    if (this.#held) return this.#held
    // Of several nodes one leads, and the others wait for nothing.
    if (this.#ctx.engine.lead) this.#startedAt = this.#ctx.monotonic()
    else
      this.#logTrouble(
        'warn',
        'another process has the right to send orders; this one waits for it',
      )
    return null
  }

  /**
   * What this life was to send, and nobody here is at work on: of several nodes, a commit of it that
   * was in doubt may have come to be after all.
   */
  async #takeBackStranded({ epoch }: HeldLease): Promise<void> {
    const { monotonic, now } = this.#ctx
    if (epoch === null || monotonic() - this.#strandedAt < MINUTE) return
    this.#strandedAt = monotonic()
    const since = now() - 2 * MINUTE
    await takeOver(
      { ...this.#ctx, epoch },
      { isLeft: ({ id, updated_at: at }) => at <= since && !this.#underWay.has(id) },
    )
  }

  async pass({ force = false } = {}): Promise<boolean> {
    const held = await this.lease()
    if (!held) return false
    try {
      await this.flush()
      const seen = new Set<number>()
      for (let isMore = true; isMore;) {
        isMore =
          (await this.#takeUpDue(seen, { force, epoch: held.epoch })) && seen.size < MOST_IN_A_PASS
        await Promise.all(this.#underWay.values())
      }
      await this.flush()
    } finally {
      held.release()
    }
    return true
  }

  async stop(): Promise<void> {
    this.#noNewWork.abort()
    clearInterval(this.#timer)
    const patience = setTimeout(() => this.#abandonCalls.abort(), PATIENCE)
    await this.#ticking
    await this.#prover.ended()
    await this.#copy?.ended()
    // The lease is kept until the last send is written down: nobody else may send meanwhile, and
    // the journal is still needed.
    await Promise.allSettled(this.#underWay.values())
    // What cannot be written now, the next sender's first look writes.
    if (this.isSender) await this.flush().catch(() => {})
    this.#held?.release()
    this.#held = null
    // Whoever is placing an order at the moment holds the lease until its answer is written down.
    await this.#lease.ended()
    clearTimeout(patience)
    this.#abandonCalls.abort()
  }

  async lease(): Promise<HeldLease | null> {
    this.refuseFailed()
    if (this.#noNewWork.signal.aborted)
      throw new ApiError('service_unavailable', {
        message: 'The server is stopping. Nothing was sent; try again in a moment.',
        headers: { 'retry-after': '5' },
      })
    return this.#lease.take()
  }

  async flush(): Promise<void> {
    this.refuseFailed()
    await this.#lease.journal().flush()
  }

  refuseFailed(): void {
    if (this.#ctx.engine.hasFailed())
      throw new ApiError('service_unavailable', {
        message:
          'The disk failed under the orders: what was committed is not known. Try the same ' +
          'order_id again later.',
      })
  }

  outcomeOf(placementId: number): Promise<Outcome | null> {
    return this.#outcomes.next(placementId)
  }

  tryTake(account: string, { limits }: Fulfillment): boolean {
    return this.#slots.tryTake(account, limits.concurrency ?? CONCURRENCY)
  }

  free(account: string): void {
    this.#slots.free(account)
  }

  deliver(order: StoredPo, epoch: number | null): Promise<Moved | null> {
    const sender = this.#senderOf(epoch)
    // Whoever is at work on it has its own slot.
    if (order.state === 'sending' && this.#underWay.has(order.id)) this.free(order.account ?? '')
    return this.#workOnce(order, () =>
      order.state === 'sending'
        ? sender.sendClaimed(order, order.account ?? '')
        : sender.sendInTurn(order),
    )
  }

  record(order: StoredPo, change: Change): Promise<Moved | null> {
    return record(this.#ctx, order, change)
  }

  /**
   * Takes up the next few that are due but those of `except`, and adds them to it; whether there
   * are more.
   */
  async #takeUpDue(
    except: Set<number>,
    { force, epoch }: { force: boolean; epoch: number | null },
  ): Promise<boolean> {
    const ctx = this.#ctx
    this.refuseFailed()
    if (ctx.noNewWork.aborted || this.#underWay.size >= MOST_UNDER_WAY) return false
    const { orders, isMore, isPaused } = await ctx.engine.look(() =>
      dueOrders({
        now: ctx.now(),
        except: [...this.#underWay.keys(), ...except],
        force,
        takenUp: this.#takenUp,
      }),
    )
    // Whatever became of one since it was read, its claim looks at its state again.
    for (const order of orders) {
      except.add(order.id)
      void this.#workOnce(order, () => this.#takeUp(order, { isPaused, epoch }))
    }
    return isMore
  }

  /**
   * Takes up what another node has just taken in, without looking for what else is due. What it
   * leaves, the next look takes up.
   */
  async #takeUpTold(placement: number): Promise<void> {
    const [ctx, held] = [this.#ctx, this.#held]
    if (!held?.isHeld || ctx.noNewWork.aborted || this.#underWay.size >= MOST_UNDER_WAY) return
    if (whyTooLate({ engine: ctx.engine, epoch: held.epoch }) !== null) return
    try {
      const orders = await purchaseOrdersOf(ctx, placement)
      for (const order of orders.filter(isUntried)) {
        const isOver = (this.#takenUp.get(shopAt(order)) ?? 0) >= CONCURRENCY - 1
        if (isOver || isTooOld(order, ctx.now()) || ctx.noNewWork.aborted) continue
        // Its claim looks whether orders are paused.
        const given = { isPaused: false, epoch: held.epoch }
        void this.#workOnce(order, () => this.#takeUp(order, given))
      }
    } catch (error) {
      if (!ctx.noNewWork.aborted)
        this.#logTrouble(levelOf(error), 'orders cannot be worked on at the moment', error)
    }
  }

  async #takeUp(
    order: StoredPo,
    { isPaused, epoch }: { isPaused: boolean; epoch: number | null },
  ): Promise<null> {
    const shop = shopAt(order)
    const count = (change: number) => {
      const now = (this.#takenUp.get(shop) ?? 0) + change
      if (now === 0) this.#takenUp.delete(shop)
      else this.#takenUp.set(shop, now)
    }
    count(+1)
    try {
      await this.#senderOf(epoch).workOn(order, isPaused)
      return null
    } finally {
      count(-1)
    }
  }

  /** One order is worked on by one at a time; who comes second waits for the first. */
  #workOnce(order: StoredPo, begin: () => Promise<Moved | null>): Promise<Moved | null> {
    let work = this.#underWay.get(order.id)
    if (!work) {
      work = begin()
        .catch((error: unknown) => {
          // Another node takes it up.
          if (!(error instanceof LeadLost) && !this.#abandonCalls.signal.aborted)
            this.#ctx.log.error(
              { err: error, ref: order.client_ref },
              'an order could not be worked on; it is taken up again',
            )
          return null
        })
        .finally(() => this.#underWay.delete(order.id))
      this.#underWay.set(order.id, work)
    }
    return work
  }

  /** What is sent in an epoch writes nothing in another one. */
  #senderOf(epoch: number | null): Sender {
    if (this.#sender.epoch !== epoch) this.#sender = { epoch, sender: this.#openSender(epoch) }
    return this.#sender.sender
  }

  #openSender(epoch: number | null): Sender {
    return openSender(
      { ...this.#ctx, epoch },
      { slots: this.#slots, uncount: (order) => this.#uncount(order) },
    )
  }

  /** What the database counts no more; of a split another part may have been sent. */
  async #uncount({ placement_id: placement }: StoredPo): Promise<void> {
    const isCounted = await this.#ctx.engine.look(() => value(countOf, { placement }))
    if (isCounted === undefined) forgetOrder(this.counts, placement)
  }

  /** The same trouble is logged once a minute. */
  #logTrouble(level: 'warn' | 'error', message: string, error?: unknown): void {
    const { log, monotonic } = this.#ctx
    if (this.#trouble.message === message && monotonic() - this.#trouble.since < MINUTE) return
    this.#trouble = { since: monotonic(), message }
    log[level]({ err: error }, message)
  }
}
