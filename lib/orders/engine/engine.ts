/**
 * The one sender of a folder (reliability 3.7): whoever holds `engine.lock` sends, reconciles and
 * writes the journal's file. A server holds it as long as it runs; a process without a server takes
 * it for the orders that it places itself.
 */
import type { OrdersCtx, OrderSender } from '../ctx.js'
import { setMaxListeners } from 'node:events'
import { MINUTE, SECOND } from '../../core/clock.js'
import { ApiError } from '../../core/errors.js'
import type { JournalCopy } from '../journal/copy.js'
import { readPause } from './pause.js'
import { openProver } from '../journal/prove.js'
import { forgetOrder, openOrderCounts } from '../place/quota.js'
import { openSeat } from './lock.js'
import type { Seat } from './lock.js'
import { record } from './send.js'
import type { SenderTools } from './send.js'
import { makeSlots } from './slots.js'
import type { StoredPo } from '../stored.js'
import { CONCURRENCY, dueOrders, makeWork, shopAt } from './work.js'

/**
 * How often what is due is looked for, and how long a closing app waits for sends, in milliseconds.
 */
const TICK = 200
const PATIENCE = 30 * SECOND
/** Orders that one pass takes up, and that are worked on at a time. */
const AT_ONCE = 500
const AT_WORK = 5_000

export interface SenderOptions {
  /** Where lines of the journal go besides, outside of the machine. */
  copy?: JournalCopy | undefined
  step?: (name: string) => Promise<void> | undefined
}

export function openSender(
  makeCtx: () => OrdersCtx,
  random: (bytes: number) => Buffer,
  { copy, step = () => undefined }: SenderOptions = {},
): OrderSender {
  const owner = random(9).toString('base64url')
  const counts = openOrderCounts()
  const slots = makeSlots()
  const ending = new AbortController()
  // One for every call that is under way.
  setMaxListeners(0, ending.signal)
  const busy = new Map<number, Promise<void>>()
  /** Orders of each shop at each distributor that were taken up again. */
  const atWork = new Map<string, number>()
  let seat: Seat | null = null
  let left: Promise<void> = Promise.resolve()
  let keeping: (() => void) | null = null
  let timer: NodeJS.Timeout | undefined
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  const prover = openProver(stopping.signal)

  const ctx = () => ({ ...makeCtx(), actor: 'orders' })
  const tools = (): SenderTools => ({
    ctx: ctx(),
    signal: ending.signal,
    flush,
    step,
    refuseFailed,
  })
  const work = makeWork({ owner, slots, tools, stopping: stopping.signal, uncount })

  /** What the database counts no more; of a split another part may have been sent. */
  function uncount({ placement_id: placementId }: StoredPo): void {
    if (
      !makeCtx()
        .engine.reader.prepare('SELECT 1 FROM order_count WHERE placement_id = ?')
        .get(placementId)
    )
      forgetOrder(counts, placementId)
  }

  function refuseFailed(): void {
    if (makeCtx().engine.hasFailed())
      throw new ApiError('service_unavailable', {
        message:
          'The disk failed under the orders: what was committed is not known. Try the same order_id again later.',
      })
  }

  async function lease(): Promise<(() => void) | null> {
    refuseFailed()
    if (stopping.signal.aborted)
      throw new ApiError('service_unavailable', {
        message: 'The server is stopping. Nothing was sent; try again in a moment.',
        headers: { 'retry-after': '5' },
      })
    const mine = (seat ??= openSeat(ctx(), { owner, before: left, copy }))
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

  async function flush(): Promise<void> {
    refuseFailed()
    await seat!.flush(ctx())
  }

  /** One order is worked on by one at a time. */
  function once(order: StoredPo, begin: () => Promise<void>): Promise<void> {
    let run = busy.get(order.id)
    if (!run) {
      run = begin()
        .catch((error: unknown) => {
          if (!ending.signal.aborted)
            makeCtx().log.error(
              { err: error, ref: order.client_ref },
              'an order could not be worked on; it is taken up again',
            )
        })
        .finally(() => busy.delete(order.id))
      busy.set(order.id, run)
    }
    return run
  }

  /**
   * Takes up the next few that are due but those of `except`, and adds them to it; whether there
   * are more.
   */
  async function takeUp(except: Set<number>, { force }: { force: boolean }): Promise<boolean> {
    refuseFailed()
    if (stopping.signal.aborted || busy.size >= AT_WORK) return false
    const known = ctx()
    const isPaused = (await readPause(known)) !== null
    const { orders, isMore } = dueOrders(known, {
      now: known.now(),
      except: [...busy.keys(), ...except],
      force,
      isPaused,
      atWork,
    })
    for (const order of orders) {
      except.add(order.id)
      void once(order, () => takenUp(order, isPaused))
    }
    return isMore
  }

  async function takenUp(order: StoredPo, isPaused: boolean): Promise<void> {
    const shop = shopAt(order)
    atWork.set(shop, (atWork.get(shop) ?? 0) + 1)
    try {
      await work.workOn(order, isPaused)
    } finally {
      const left = atWork.get(shop)! - 1
      if (left === 0) atWork.delete(shop)
      else atWork.set(shop, left)
    }
  }

  const trouble = { since: -Infinity, message: '' }
  /** The same trouble is told once a minute. */
  function tell(level: 'warn' | 'error', message: string, error?: unknown): void {
    const { log, monotonic } = makeCtx()
    if (trouble.message === message && monotonic() - trouble.since < MINUTE) return
    Object.assign(trouble, { since: monotonic(), message })
    log[level]({ err: error }, message)
  }

  async function tick(): Promise<void> {
    try {
      keeping ??= await lease()
      if (!keeping)
        return tell('warn', 'another process has the right to send orders; this one waits for it')
      await flush()
      await takeUp(new Set(), { force: false })
      if (seat) prover.look(ctx(), seat)
      copy?.look(ctx())
      await seat?.note(ctx())
      makeCtx().space.keepReserve()
    } catch (error) {
      if (!stopping.signal.aborted) tell('error', 'orders cannot be worked on at the moment', error)
    }
  }

  let ticking: Promise<void> | undefined
  return {
    owner,
    counts,
    step,
    lease,
    flush,
    refuseFailed,
    stopping: stopping.signal,
    placing: new Map(),
    tryTake: (account, { limits }) => slots.tryTake(account, limits.concurrency ?? CONCURRENCY),
    free: slots.free,
    record: (order, change) => record(tools(), order, change),
    deliver: (order) =>
      once(order, () =>
        order.state === 'sending' ? work.sendNow(order, order.account!) : work.sendLater(order),
      ),
    start() {
      if (!stopping.signal.aborted)
        timer ??= setInterval(() => {
          ticking ??= tick().finally(() => {
            ticking = undefined
          })
        }, TICK).unref()
    },
    async pass({ force = false } = {}) {
      const release = await lease()
      if (!release) return false
      try {
        await flush()
        const seen = new Set<number>()
        for (let isMore = true; isMore;) {
          isMore = (await takeUp(seen, { force })) && seen.size < AT_ONCE
          await Promise.all(busy.values())
        }
        await flush()
      } finally {
        release()
      }
      return true
    },
    async stop() {
      stopping.abort()
      clearInterval(timer)
      const patience = setTimeout(() => ending.abort(), PATIENCE)
      await ticking
      await prover.ended()
      await copy?.ended()
      // The place is kept until the last send is written down: nobody else may send meanwhile, and
      // the journal is still needed.
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
