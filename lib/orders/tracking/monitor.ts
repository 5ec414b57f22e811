/**
 * Monitors: they ask distributors what became of open orders (contract "Shipping fields"). The
 * schedule stands in the database, so it goes on where it was; it changes nothing in what is asked
 * but the time.
 */
import { levelOf } from '../../db/faults.js'
import { setMaxListeners } from 'node:events'
import { SingleFlight } from '../../core/async/single-flight.js'
import { nextTurn } from '../../core/async/wait.js'
import { DAY, HOUR, MINUTE, SECOND } from '../../core/clock.js'
import { asLeader } from '../../db/as-leader.js'
import { LeadLost, leads } from '../../db/lead.js'
import { all } from '../../db/reading.js'
import type { OrdersCtx } from '../ctx.js'
import { connectorOf } from '../../distributors/modes.js'
import type { OrderUpdate } from '../../distributors/fulfillment.js'
import type { PoState } from '../../db/tables/orders.js'
import { applyUpdate } from './apply-update.js'
import type { Account, Applied } from './apply-update.js'
import { GIVE_UP, NotAsked, PATIENCE, askForUpdates, limitPerDistributor } from './asking.js'
import { accountsWatched } from './queries.js'
import { isDead } from '../history/statuses.js'

export interface Monitors {
  /** Looks for what is due every second from now on. */
  start(): void
  /**
   * Does everything that is due and waits for it. What fails is noted in the schedule, and logged.
   */
  pass(): Promise<void>
  /** Ends what runs and waits for it. */
  stop(): Promise<void>
}

/**
 * Milliseconds from one look to the next, where a connector has no time of its own, and after
 * failures at most.
 */
const EVERY = 15 * MINUTE
const LONGEST_WAIT = 2 * HOUR
/** News are asked for again that far back: a distributor may list them late. */
const OVERLAP = 3 * DAY
const TICK = SECOND
/** The list of accounts is made anew at least that often: orders grow old without a write. */
const STALE = MINUTE
/** A purchase order that may still turn out to be placed; its news must not be passed over. */
const UNSETTLED: readonly PoState[] = ['planned', 'sending', 'unknown', 'review']

interface Watched extends Account {
  /** Order date of its oldest open order. */
  oldest: number
  /** From here on news are wanted; null before the first look. */
  since: number | null
  nextAt: number
  failures: number
}

export interface MonitorOptions {
  /** Milliseconds that all answers of an account may take together, two minutes by default. */
  patience?: number
}

/** Opens the monitors; nothing runs before `start` or `pass`. */
export function openMonitors(
  ctx: OrdersCtx,
  { patience = PATIENCE }: MonitorOptions = {},
): Monitors {
  return new AccountMonitors(ctx, patience)
}

class AccountMonitors implements Monitors {
  readonly #ctx: OrdersCtx
  readonly #patience: number
  readonly #closing = new AbortController()
  /** Rounds that run, by account. */
  readonly #rounds = new SingleFlight<string, void>()
  /** Until when an account is left alone whose schedule could not be written. */
  readonly #heldBack = new Map<string, number>()
  readonly #inTurn = limitPerDistributor()
  #timer: NodeJS.Timeout | undefined
  #ticking: Promise<void> | undefined
  /** Rounds that have ended. */
  #ended = 0
  /** As of a version of the database, and of so many rounds that had ended. */
  #known: { version: number; ended: number; at: number; accounts: Watched[] } | undefined

  constructor(ctx: OrdersCtx, patience: number) {
    this.#ctx = ctx
    this.#patience = patience
    // One for every account that is being asked.
    setMaxListeners(0, this.#closing.signal)
  }

  start(): void {
    if (!this.#closing.signal.aborted)
      this.#timer ??= setInterval(() => {
        this.#ticking ??= this.#tick()
          .catch((error: unknown) =>
            this.#ctx.log[levelOf(error)]({ err: error }, 'open orders cannot be looked for'),
          )
          .finally(() => {
            this.#ticking = undefined
          })
      }, TICK).unref()
  }

  async pass(): Promise<void> {
    await Promise.all(this.#startDue(await watchedAccounts(this.#ctx)))
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    await this.#ticking
    await this.#rounds.ended()
  }

  async #tick(): Promise<void> {
    const { engine, now } = this.#ctx
    // Of several nodes the one that leads.
    if (!leads(engine)) return
    const [version, ended] = [engine.version(), this.#ended]
    let known = this.#known
    const isCurrent = known?.version === version && known.ended === ended
    if (!known || !isCurrent || Math.abs(now() - known.at) > STALE) {
      const accounts = await watchedAccounts(this.#ctx)
      // When a round ended meanwhile, its account may still stand here as due: the next tick knows.
      if (ended !== this.#ended) return
      this.#known = known = { version, ended, at: now(), accounts }
    }
    // What ends a round badly, the round itself has logged.
    for (const round of this.#startDue(known.accounts)) round.catch(() => {})
  }

  /** Starts a round of each account that is due and has none. */
  #startDue(accounts: readonly Watched[]): Promise<void>[] {
    return accounts.flatMap((account) => {
      const key = `${account.distid} ${account.mode} ${account.subscriberId}`
      const isDue =
        !this.#closing.signal.aborted &&
        Math.max(account.nextAt, this.#heldBack.get(key) ?? 0) <= this.#ctx.now()
      return isDue || this.#rounds.has(key)
        ? this.#rounds.run(key, () => this.#runRound(key, account))
        : []
    })
  }

  async #runRound(key: string, account: Watched): Promise<void> {
    const ctx = asLeader(this.#ctx)
    const asking = { signal: this.#closing.signal, patience: this.#patience }
    try {
      await this.#inTurn(account.distid, () => lookAt(ctx, account, asking))
      this.#heldBack.delete(key)
    } catch (error) {
      // A schedule that cannot be written must not have a distributor asked every second.
      this.#heldBack.set(key, ctx.now() + everyOf(ctx, account))
      if (!asking.signal.aborted && !(error instanceof LeadLost))
        ctx.log.error({ err: error }, 'a look for news of orders could not be noted')
      throw error
    } finally {
      this.#ended++
    }
  }
}

/** Accounts with orders of which more may be heard, as far as their distributor can be asked. */
async function watchedAccounts({ engine, now, distributors }: OrdersCtx): Promise<Watched[]> {
  const accounts = await engine.look(() => all(accountsWatched, { placedAfter: now() - GIVE_UP }))
  return (
    accounts
      .filter(({ distid, mode }) => connectorOf({ distributors }, distid, mode)?.updates)
      // A time further ahead than the longest wait comes from a clock that was wrong.
      .map((account) =>
        account.nextAt > now() + Math.max(LONGEST_WAIT, everyOf({ distributors }, account))
          ? { ...account, nextAt: 0 }
          : account,
      )
  )
}

/** Milliseconds between two looks; a connector may declare a fraction. */
const everyOf = (ctx: Pick<OrdersCtx, 'distributors'>, { distid, mode }: Account) =>
  Math.ceil(connectorOf(ctx, distid, mode)?.limits.updatesEvery ?? EVERY)

/**
 * One round of one account, with its line in the schedule. Rejects only where that cannot be
 * written.
 */
async function lookAt(
  ctx: OrdersCtx,
  account: Watched,
  { signal, patience }: { signal: AbortSignal; patience: number },
): Promise<void> {
  if (signal.aborted) return
  const { subscriberId, distid, mode, failures } = account
  const started = ctx.now()
  const since = Math.max(account.since ?? 0, account.oldest - OVERLAP)
  // News of an order that is not settled are wanted again once it is.
  let settledUntil = started
  try {
    await askForUpdates(ctx, account, { since, signal, patience }, async (update, login) => {
      const applied = await applyUpdate(ctx, { ...account, login }, update)
      if (applied.outcome === 'not_placed' && UNSETTLED.includes(applied.state))
        settledUntil = Math.min(settledUntil, Math.floor(update.at))
      else if (applied.outcome === 'not_placed' && !isDead(update.status))
        logExecutedAnyway(ctx, account, update, applied)
      await nextTurn()
    })
    await note(ctx, account, {
      since: Math.max(since, settledUntil - OVERLAP),
      next_at: started + everyOf(ctx, account),
      failures: 0,
    })
    if (failures > 0)
      ctx.log.info(
        { distid, mode, subscriber: subscriberId },
        'news of orders can be fetched again',
      )
  } catch (error) {
    if (signal.aborted) return
    logFailure(ctx, account, error)
    await note(ctx, account, {
      since,
      next_at: started + waitAfter(everyOf(ctx, account), failures + 1),
      failures: failures + 1,
    })
  }
}

function logExecutedAnyway(
  { log }: OrdersCtx,
  { subscriberId, distid, mode }: Watched,
  { number, po }: OrderUpdate,
  { purchaseOrderId, state }: Extract<Applied, { outcome: 'not_placed' }>,
): void {
  log.error(
    { distid, mode, subscriber: subscriberId, purchaseOrder: purchaseOrderId, state, number, po },
    'a distributor executes an order that counts as refused: its order_id may have been placed ' +
      'again; `orders reconcile --since` lists it',
  )
}

/** That nobody can be asked is logged once; that what came cannot be written, every time. */
function logFailure({ log }: OrdersCtx, account: Watched, error: unknown): void {
  const { subscriberId: subscriber, distid, mode, failures } = account
  if (!(error instanceof NotAsked))
    log.error({ err: error, distid, mode, subscriber }, 'news of orders could not be written')
  else if (failures === 0)
    log.warn(
      { distid, mode, subscriber, cause: error.message },
      'news of orders cannot be fetched at the moment; it is tried again',
    )
}

/** Milliseconds from the start of a look that failed to the next one. */
function waitAfter(every: number, failures: number): number {
  return Math.max(every, Math.min(every * 2 ** Math.min(failures, 10), LONGEST_WAIT))
}

async function note(
  { db }: OrdersCtx,
  { subscriberId, distid, mode }: Account,
  values: { since: number; next_at: number; failures: number },
): Promise<void> {
  await db
    .replaceInto('monitor')
    .values({ subscriber_id: subscriberId, distid, mode, ...values })
    .execute()
}
