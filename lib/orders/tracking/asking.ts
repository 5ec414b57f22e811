/** Asking one account of one distributor for its news. */
import pLimit from 'p-limit'
import type { LimitFunction } from 'p-limit'
import { inTime } from '../../core/async/wait.js'
import type { OrdersCtx } from '../ctx.js'
import { kindOf } from '../../core/errors.js'
import { DAY, MINUTE, SECOND } from '../../core/clock.js'
import type { OrderUpdate } from '../../distributors/fulfillment.js'
import { FeedFault } from '../../distributors/account-feed.js'
import { connectorOf } from '../../distributors/modes.js'
import { loginsOf } from '../../distributors/session/logins.js'
import { openSession } from '../../distributors/session/open-session.js'
import { accountSettings, fingerprintOf } from '../../configuration/account.js'
import type { Account } from './apply-update.js'
import { openOrders } from './queries.js'

/** Milliseconds that all answers of an account may take together. */
export const PATIENCE = 2 * MINUTE
/** An order of which nothing was heard for so long is no longer asked for. */
export const GIVE_UP = 60 * DAY
/** As many more for each open order of a distributor that has to be asked for each. */
const MORE_PER_ORDER = 500
/**
 * Accounts of one distributor that are asked at a time. A slow one never holds up those of another.
 */
const SIDE_BY_SIDE = 4

/**
 * What is said of an account that could not be asked; it never holds what a connector said, which
 * may repeat a password.
 */
export class NotAsked extends Error {
  override readonly name = 'NotAsked'
}

export interface AskOptions {
  since: number
  /** Aborted when nobody waits any longer. */
  signal: AbortSignal
  /** Milliseconds, and half a second more for each order that is asked for; what `take` needs is not counted. */
  patience?: number
}

/**
 * Hands every update of an account since a time to `take`, one after the other, with the login that
 * saw it. Rejects with `NotAsked`, or with what `take` threw. A connector that does not look at its
 * signal is left to itself.
 */
export async function askForUpdates(
  ctx: OrdersCtx,
  { subscriberId, distid, mode }: Account,
  { since, signal: closing, patience = PATIENCE }: AskOptions,
  take: (update: OrderUpdate, login: string) => Promise<void>,
): Promise<void> {
  const connector = connectorOf(ctx, distid, mode)
  const distributor = ctx.distributors.byDistid(distid)
  const tellUpdates = connector?.updates?.bind(connector)
  if (!distributor || !connector || !tellUpdates)
    throw new NotAsked('there is no connector that could be asked')
  const settings = await settingsOf(ctx, subscriberId, distid)
  const open = await openOrders(
    ctx,
    { subscriberId, distid, mode },
    { placedAfter: ctx.now() - GIVE_UP, untilShipped: connector.endsWithShipment === true },
  )
  const login = fingerprintOf(ctx, { distid, mode }, settings)
  const ending = new AbortController()
  const end = () => ending.abort()
  if (closing.aborted) end()
  else closing.addEventListener('abort', end, { once: true })
  let updates: AsyncIterator<OrderUpdate> | undefined
  let isOver = false
  const time = patience + (connector.asksByOrder ? open.length * MORE_PER_ORDER : 0)
  try {
    updates = guarded(() =>
      tellUpdates(
        openSession(distributor, {
          settings,
          signal: ending.signal,
          now: ctx.now,
          login: loginsOf(ctx, { distid, mode }),
          egress: ctx.egress,
        }),
        since,
        open,
      )[Symbol.asyncIterator](),
    )
    await takeAll(ctx, updates, { time, closing }, (update) => take(update, login))
    isOver = true
  } finally {
    closing.removeEventListener('abort', end)
    end()
    // A connector that hangs would hang here too, and one that fails now has nobody to tell.
    if (!isOver)
      void Promise.resolve()
        .then(() => updates?.return?.())
        .catch(() => {})
  }
}

/** Takes one update after the other until there are no more; `time` in milliseconds. */
async function takeAll(
  ctx: Pick<OrdersCtx, 'monotonic'>,
  updates: AsyncIterator<OrderUpdate>,
  { time, closing }: { time: number; closing: AbortSignal },
  take: (update: OrderUpdate) => Promise<void>,
): Promise<void> {
  const why = () =>
    closing.aborted
      ? 'the server was stopped'
      : `no complete answer within ${Math.round(time / SECOND)} s`
  for (let left = time; ;) {
    if (left <= 0 || closing.aborted) throw new NotAsked(why())
    const start = ctx.monotonic()
    const next = await nextOf(updates, { ms: left, closing, why })
    left -= ctx.monotonic() - start
    if (next.done === true) return
    await take(next.value)
  }
}

async function settingsOf(
  ctx: OrdersCtx,
  subscriberId: string,
  distid: string,
): Promise<Record<string, unknown>> {
  const subscriber = await ctx.read
    .selectFrom('subscriber')
    .select(['id', 'name', 'email'])
    .where('id', '=', subscriberId)
    .executeTakeFirst()
  const settings =
    subscriber &&
    (await accountSettings(ctx, subscriber, distid).catch((error: unknown) => {
      throw notAskedFor(error, 'its credentials cannot be opened')
    }))
  if (!settings) throw new NotAsked('the distributor is not configured')
  return settings
}

/** Runs code of a connector; what it throws is told by its kind only. */
function guarded<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw notAskedFor(error, 'the connector failed')
  }
}

const notAskedFor = (error: unknown, what: string) => new NotAsked(`${what} (${kindOf(error)})`)

/** The next of the updates, or a refusal once the time is up or nobody waits any longer. */
async function nextOf(
  updates: AsyncIterator<OrderUpdate>,
  { ms, closing, why }: { ms: number; closing: AbortSignal; why: () => string },
): Promise<IteratorResult<OrderUpdate>> {
  try {
    return await inTime(async () => updates.next(), {
      ms,
      closing,
      late: () => {
        throw new NotAsked(why())
      },
    })
  } catch (error) {
    if (error instanceof NotAsked) throw error
    // What is said of a file is in our words alone.
    if (error instanceof FeedFault) throw new NotAsked(error.message)
    throw new NotAsked(`the connector failed (${kindOf(error)})`)
  }
}

/** Runs work of each distributor a few at a time, and distributors side by side. */
export function limitPerDistributor(
  width: number = SIDE_BY_SIDE,
): <T>(distid: string, work: () => Promise<T>) => Promise<T> {
  const queues = new Map<string, LimitFunction>()
  return (distid, work) => {
    const queue = queues.get(distid) ?? pLimit(width)
    queues.set(distid, queue)
    return queue(work)
  }
}
