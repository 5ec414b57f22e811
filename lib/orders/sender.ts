/**
 * The one sender of a folder (reliability 3.7): whoever holds `engine.lock` sends, reconciles and writes the journal's file.
 * A server holds it as long as it runs; a process without a server takes it for the orders that it places itself.
 */
import { setMaxListeners } from 'node:events'
import type { Kysely } from 'kysely'
import { SECOND } from '../core/clock.js'
import type { OperatorCtx } from '../core/ctx.js'
import { ApiError } from '../core/errors.js'
import { isIoError, isUnavailable } from '../db/sqlite.js'
import type { Tables } from '../db/tables.js'
import type { Fulfillment } from '../distributors/fulfillment.js'
import { connectorOf } from '../distributors/modes.js'
import { EXPIRES, afterDeath, notSent } from './outcome.js'
import { openOrderCounts } from './quota.js'
import type { OrderCounts } from './quota.js'
import { NEEDS_REVIEW, reconcileOne } from './reconcile.js'
import { openSeat } from './seat.js'
import type { Seat } from './seat.js'
import { record, sendOne } from './send.js'
import type { SenderTools } from './send.js'
import { makeSlots } from './slots.js'
import type { StoredPo } from './transitions.js'

export interface OrderSender {
  /** This life of this process: what it is sending bears its name. */
  readonly owner: string
  readonly counts: OrderCounts
  /** Orders that are being placed here, by subscriber and order_id. */
  readonly placing: Map<string, Promise<unknown>>
  /** Named places at which a test may end this life. */
  step(name: string): Promise<void> | undefined
  /** Holds the sender's place from now on, and does what is due. */
  start(): void
  /** The right to send, until it is given back; null where another process has it. Refused once the disk has failed. */
  lease(): Promise<(() => void) | null>
  /** A place for one send of an account, if one is free now. */
  tryTake(order: AccountOf, connector: Fulfillment): boolean
  free(order: AccountOf): void
  /** Has the journal's file hold every line that is committed now. To be called under a lease. */
  flush(): Promise<void>
  /** Sends an order that was just written down: at once if it is `sending` (its place is taken, and freed then), else when its turn comes. Under a lease. */
  deliver(order: StoredPo): Promise<void>
  /** Does all that is due and waits for it; `force` also what is due later. False where another process is the sender. */
  pass(options?: { force?: boolean }): Promise<boolean>
  /** Waits for what is being sent, at most 30 seconds, then gives the place back. */
  stop(): Promise<void>
}

export type AccountOf = Pick<StoredPo, 'subscriber_id' | 'distid' | 'mode'>

const accountOf = ({ subscriber_id: owner, distid, mode }: AccountOf) => `${owner} ${distid} ${mode}`
const CONCURRENCY = 4
/** How often what is due is looked for, and how long a closing app waits for sends, in milliseconds. */
const TICK = 200
const PATIENCE = 30 * SECOND
/** Orders that one look takes up, and that are worked on at a time. */
const AT_ONCE = 500
const AT_WORK = 5_000

export interface SenderOptions {
  step?: (name: string) => Promise<void> | undefined
}

export function openSender(makeCtx: () => OperatorCtx, random: (bytes: number) => Buffer, { step = () => undefined }: SenderOptions = {}): OrderSender {
  const owner = random(9).toString('base64url')
  const counts = openOrderCounts()
  const slots = makeSlots()
  const ending = new AbortController()
  // One for every call that is under way.
  setMaxListeners(0, ending.signal)
  const busy = new Map<number, Promise<void>>()
  /** When this process learned by its steady clock that a send's outcome is not known. */
  const unknownSince = new Map<number, number>()
  let seat: Seat | null = null
  let left: Promise<void> = Promise.resolve()
  let failed = false
  let keeping: (() => void) | null = null
  let timer: NodeJS.Timeout | undefined
  let stopping = false

  const ctx = () => ({ ...makeCtx(), actor: 'orders' })
  const tools = (): SenderTools => ({ ctx: ctx(), signal: ending.signal, flush, step })

  async function lease(): Promise<(() => void) | null> {
    if (failed) throw new ApiError('service_unavailable', { message: 'The disk failed under the orders: what was committed is not known. Try the same order_id again later.' })
    if (stopping) throw new Error('closed')
    const mine = seat ??= openSeat(ctx(), owner, left)
    mine.holders++
    const isOurs = await mine.ready.catch((error: unknown) => {
      leave(mine)
      throw error
    })
    if (isOurs) return () => leave(mine)
    leave(mine)
    return null
  }

  function leave(mine: Seat): void {
    if (--mine.holders > 0) return
    if (seat === mine) seat = null
    left = mine.close()
  }

  /** Whatever says that the disk failed ends all sending: what is committed is not known from here on. */
  async function guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (isIoError(error)) failed = true
      throw error
    }
  }

  const flush = () => guarded(() => seat!.flush(ctx()))

  async function sendNow(order: StoredPo): Promise<void> {
    try {
      await guarded(() => sendOne(tools(), order).then((sent) => noteUnknown(sent)))
    } catch (error) {
      // A fault of ours after the send began: what became of the order is not known.
      if (!failed && !ending.signal.aborted) noteUnknown(await record(tools(), order, afterDeath(order, ctx().now())))
      throw error
    } finally {
      slots.free(accountOf(order))
    }
  }

  function noteUnknown(order: StoredPo | null): void {
    if (!order) return
    const { log, monotonic } = ctx()
    const told = { ref: order.client_ref, distid: order.distid, reason: order.reason }
    if (order.state === 'unknown') unknownSince.set(order.id, monotonic())
    else unknownSince.delete(order.id)
    if (order.state === 'unknown') log.warn(told, 'what became of an order is not known; it is being found out')
    if (order.state === 'review') log.error(told, NEEDS_REVIEW)
  }

  /** Waits for a place, makes sure that it is still to be sent, and sends. */
  async function sendLater(order: StoredPo): Promise<void> {
    const connector = connectorOf(ctx(), order.distid, order.mode)
    await slots.take(accountOf(order), connector?.limits.concurrency ?? CONCURRENCY)
    let claimed: StoredPo | null = null
    try {
      claimed = stopping ? null : await record(tools(), order, { to: 'sending', sends: order.sends + 1, owner, first_sent_at: order.first_sent_at ?? ctx().now(), next_at: null })
      await step('claimed')
      if (claimed) await flush()
    } catch (error) {
      slots.free(accountOf(order))
      // The journal must have it before a distributor does: it has not left.
      if (claimed && isUnavailable(error)) await record(tools(), claimed, notSent(claimed, { reason: 'the disk is full' }, ctx().now()))
      throw error
    }
    if (claimed) await sendNow(claimed)
    else slots.free(accountOf(order))
  }

  async function workOn(order: StoredPo): Promise<void> {
    const { now, monotonic } = ctx()
    if (order.state === 'planned') {
      if (order.first_sent_at === null && now() - order.planned_at >= EXPIRES) {
        await record(tools(), order, { to: 'expired', reason: `${order.reason ?? 'it could not be sent'}; given up after 15 minutes, nothing was sent`, next_at: null })
      } else await sendLater(order)
    } else {
      // What another life noted was noted by a wall clock that may have been set since: this life waits anew.
      if (!unknownSince.has(order.id)) unknownSince.set(order.id, monotonic())
      const unknownFor = Math.max(0, Math.min(now() - (order.unknown_since ?? order.updated_at), monotonic() - unknownSince.get(order.id)!))
      if (await reconcileOne(tools(), order, unknownFor)) await sendLater(order)
    }
  }

  /** One order is worked on by one at a time. */
  function once(order: StoredPo, work: () => Promise<void>): Promise<void> {
    let run = busy.get(order.id)
    if (!run) {
      run = work().catch((error: unknown) => {
        if (!ending.signal.aborted) makeCtx().log.error({ err: error, ref: order.client_ref }, 'an order could not be worked on; it is taken up again')
      }).finally(() => busy.delete(order.id))
      busy.set(order.id, run)
    }
    return run
  }

  /** Takes up what is due; all that is being worked on then. */
  async function takeUp(force: boolean): Promise<Promise<void>[]> {
    if (stopping || busy.size >= AT_WORK) return [...busy.values()]
    const { read, now } = ctx()
    const due = await dueOrders(read, force ? Number.MAX_SAFE_INTEGER : now(), [...busy.keys()])
    return [...busy.values(), ...due.map((order) => once(order, () => workOn(order)))]
  }

  async function tick(): Promise<void> {
    try {
      keeping ??= await lease()
      if (!keeping) return
      await flush()
      await takeUp(false)
      await seat?.note(ctx())
      makeCtx().space.keepReserve()
    } catch (error) {
      if (!stopping) makeCtx().log.error({ err: error }, 'orders cannot be worked on at the moment')
    }
  }

  let ticking: Promise<void> | undefined
  return {
    owner, counts, step, lease, flush,
    deliver: (order) => once(order, () => order.state === 'sending' ? sendNow(order) : sendLater(order)),
    placing: new Map(),
    tryTake: (order, { limits }) => slots.tryTake(accountOf(order), limits.concurrency ?? CONCURRENCY),
    free: (order) => slots.free(accountOf(order)),
    start() {
      timer ??= setInterval(() => { ticking ??= tick().finally(() => { ticking = undefined }) }, TICK).unref()
    },
    async pass({ force = false } = {}) {
      const release = await lease()
      if (!release) return false
      try {
        await flush()
        await Promise.all(await takeUp(force))
        await flush()
      } finally {
        release()
      }
      return true
    },
    async stop() {
      stopping = true
      clearInterval(timer)
      const patience = setTimeout(() => ending.abort(), PATIENCE)
      await ticking
      // The place is kept until the last send is written down: nobody else may send meanwhile, and the journal is still needed.
      await Promise.allSettled(busy.values())
      // What cannot be written now, the next sender's first look writes.
      if (keeping && seat) await flush().catch(() => {})
      keeping?.()
      keeping = null
      // Whoever is placing an order at the moment holds the seat until its answer is written down.
      await seat?.closed
      await left
      clearTimeout(patience)
      ending.abort()
    },
  }
}

/** Open orders whose time has come, the longest due first; those that wait for a slow distributor stand in nobody's way. */
async function dueOrders(read: Kysely<Tables>, until: number, busy: readonly number[]): Promise<StoredPo[]> {
  return read.selectFrom('purchase_order').selectAll().where('state', 'in', ['planned', 'unknown']).where('next_at', '<=', until)
    .$if(busy.length > 0, (due) => due.where('id', 'not in', busy)).orderBy('next_at').limit(AT_ONCE).execute()
}
