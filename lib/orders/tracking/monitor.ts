/**
 * Monitors: they ask distributors what became of open orders (contract "Shipping fields"). The
 * schedule stands in the database, so it goes on where it was; it changes nothing in what is asked
 * but the time.
 */
import { setMaxListeners } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DAY, HOUR, MINUTE, SECOND } from '../../core/clock.js'
import type { OrdersCtx } from '../ctx.js'
import { connectorOf } from '../../distributors/modes.js'
import type { PoState } from '../../db/tables/orders.js'
import { applyUpdate } from './apply-update.js'
import type { Account } from './apply-update.js'
import { NotAsked, PATIENCE, askForUpdates, makeLanes } from './asking.js'
import { IS_OPEN, isDead } from './statuses.js'

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
/** An order of which nothing was heard for so long is no longer asked for. */
const GIVE_UP = 60 * DAY
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
  const closing = new AbortController()
  // One for every account that is being asked.
  setMaxListeners(0, closing.signal)
  const rounds = new Map<string, Promise<void>>()
  const heldBack = new Map<string, number>()
  const lanes = makeLanes()
  let timer: NodeJS.Timeout | undefined
  let known: { version: number; at: number; accounts: Watched[] } | undefined

  /** Starts a round of each account that is due and has none. */
  function startDue(accounts: readonly Watched[]): Promise<void>[] {
    return accounts.flatMap((account) => {
      const key = `${account.distid} ${account.mode} ${account.subscriberId}`
      let round = rounds.get(key)
      if (
        !round &&
        !closing.signal.aborted &&
        Math.max(account.nextAt, heldBack.get(key) ?? 0) <= ctx.now()
      )
        rounds.set(key, (round = runRound(key, account)))
      return round ?? []
    })
  }

  async function runRound(key: string, account: Watched): Promise<void> {
    try {
      await lanes(account.distid, () => lookAt(ctx, account, closing.signal, patience))
      heldBack.delete(key)
    } catch (error) {
      // A schedule that cannot be written must not have a distributor asked every second.
      heldBack.set(key, ctx.now() + everyOf(ctx, account))
      if (!closing.signal.aborted)
        ctx.log.error({ err: error }, 'a look for news of orders could not be noted')
      throw error
    } finally {
      rounds.delete(key)
    }
  }

  function tick(): void {
    const version = ctx.engine.version()
    if (known?.version !== version || Math.abs(ctx.now() - known.at) > STALE)
      known = { version, at: ctx.now(), accounts: watchedAccounts(ctx) }
    // What ends a round badly, the round itself has logged.
    for (const round of startDue(known.accounts)) round.catch(() => {})
  }

  return {
    start() {
      if (!closing.signal.aborted)
        timer ??= setInterval(() => {
          try {
            tick()
          } catch (error) {
            ctx.log.error({ err: error }, 'open orders cannot be looked for')
          }
        }, TICK).unref()
    },
    async pass() {
      await Promise.all(startDue(watchedAccounts(ctx)))
    },
    async stop() {
      clearInterval(timer)
      closing.abort()
      await Promise.allSettled(rounds.values())
    },
  }
}

/** Accounts with orders of which more may be heard, as far as their distributor can be asked. */
function watchedAccounts({ engine, now, distributors }: OrdersCtx): Watched[] {
  const rows = engine.reader
    .prepare(`
    SELECT o.subscriber_id AS subscriberId, o.distid, o.mode, o.oldest, m.since, coalesce(m.next_at, 0) AS nextAt, coalesce(m.failures, 0) AS failures
    FROM (SELECT subscriber_id, distid, mode, min(order_date) AS oldest FROM fulfillment_order INDEXED BY fulfillment_order_open WHERE ${IS_OPEN} AND order_date > ? GROUP BY subscriber_id, distid, mode) AS o
    LEFT JOIN monitor AS m USING (subscriber_id, distid, mode)`)
    .all(now() - GIVE_UP) as Watched[]
  return (
    rows
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
  signal: AbortSignal,
  patience: number,
): Promise<void> {
  if (signal.aborted) return
  const { subscriberId, distid, mode, failures } = account
  const started = ctx.now()
  const every = everyOf(ctx, account)
  const since = Math.max(account.since ?? 0, account.oldest - OVERLAP)
  // News of an order that is not settled are wanted again once it is.
  let settledUntil = started
  try {
    await askForUpdates(ctx, account, { since, signal, patience }, async (update, login) => {
      const applied = await applyUpdate(ctx, { ...account, login }, update)
      if (applied.outcome === 'not_placed' && UNSETTLED.includes(applied.state))
        settledUntil = Math.min(settledUntil, Math.floor(update.at))
      else if (applied.outcome === 'not_placed' && !isDead(update.status)) {
        ctx.log.error(
          {
            distid,
            mode,
            subscriber: subscriberId,
            purchaseOrder: applied.purchaseOrderId,
            state: applied.state,
            number: update.number,
            po: update.po,
          },
          'a distributor executes an order that counts as refused: its order_id may have been placed again; `orders reconcile --since` lists it',
        )
      }
      await nextTurn()
    })
    await note(ctx, account, {
      since: Math.max(since, settledUntil - OVERLAP),
      next_at: started + every,
      failures: 0,
    })
    if (failures > 0)
      ctx.log.info({ distid, mode, subscriber: subscriberId }, 'news of orders are to be had again')
  } catch (error) {
    if (signal.aborted) return
    const cause = error instanceof NotAsked ? error.message : 'what came could not be written'
    if (!(error instanceof NotAsked))
      ctx.log.error(
        { err: error, distid, mode, subscriber: subscriberId },
        'news of orders could not be written',
      )
    else if (failures === 0)
      ctx.log.warn(
        { distid, mode, subscriber: subscriberId, cause },
        'news of orders are not to be had at the moment; it is tried again',
      )
    await note(ctx, account, {
      since,
      next_at:
        started + Math.max(every, Math.min(every * 2 ** Math.min(failures + 1, 10), LONGEST_WAIT)),
      failures: failures + 1,
    })
  }
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
