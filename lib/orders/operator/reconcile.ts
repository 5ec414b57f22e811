/**
 * Finds out what became of everything that is open, and which orders the installation has
 * forgotten.
 */
import { pause } from '../../core/async/wait.js'
import type { OrdersCtx, SendingCtx } from '../ctx.js'
import { DAY, SECOND } from '../../core/clock.js'
import { invalid } from '../../core/errors.js'
import type { Mode } from '../../db/tables/column-types.js'
import { connectorOf } from '../../distributors/modes.js'
import type { Account } from '../tracking/apply-update.js'
import { orphansSince } from '../tracking/orphans.js'
import type { Orphan } from '../tracking/orphans.js'
import { adoptOrder, readGeneratedPo } from './adopt.js'
import { isOpenPurchase } from '../queries.js'
import { readPause, resumeOrders } from '../engine/pause.js'
import type { Pause } from '../engine/pause.js'
import type { PoState } from '../../db/tables/orders.js'

export interface LookBackInput {
  /**
   * Milliseconds since 1970: distributors are asked for orders since then, and of the day before
   * it, that are not known here.
   */
  since?: number | undefined
  /** Lets orders go on afterwards, if nothing is left in doubt. */
  resume?: boolean | undefined
  /** The operator has looked at what is in doubt. */
  acknowledged?: boolean | undefined
  /**
   * Asks for forgotten orders and tells; reconciles nothing, takes nothing in, and leaves a pause
   * as it is.
   */
  dryRun?: boolean | undefined
}

export interface ForeignOrder {
  /** Id. */
  subscriber: string
  distid: string
  mode: Mode
  po_number: string
  distributor_order_id: string | null
  /** When the distributor's oldest news of it happened. */
  at: string
}

export interface LookBack {
  /** From when on distributors were asked for forgotten orders; null where they were not. */
  since: string | null
  /** Whoever sends: this process, or a server beside it; this one where nothing was reconciled. */
  reconciled_by: 'this process' | 'another process'
  /** The other process was still at work after a minute. */
  timed_out: boolean
  /**
   * Purchase orders whose outcome was not known before and after, and those that now wait for a
   * person.
   */
  open_before: number
  open: number
  review: number
  /** Forgotten orders that were taken in: their order_id is held again. */
  adopted: (ForeignOrder & { order_id: string })[]
  /** Orders of the account that were not, with the reason. */
  others: (ForeignOrder & { reason: string })[]
  /** Accounts that could not be asked, or do not tell of every order. */
  in_doubt: { subscriber: string; distid: string; mode: Mode; reason: string }[]
  resumed: boolean
  /** Why orders are still paused; null where they are not. */
  paused: Pause | null
}

/** Waiting for the server that runs, in milliseconds. */
const PATIENCE = 60 * SECOND
const POLL = 250
/** A distributor's clock, or its day, may be another than ours. */
const CLOCKS_DIFFER = DAY
/** Orders that one pass of the sender takes up. */
const AT_ONCE = 500

/**
 * Reconciles everything that is open, and with `since` (or while a pause asks for it) looks for
 * orders that distributors have and the installation has not. Throws 400 where orders shall go on
 * and `since` does not reach as far back as the pause asks.
 */
export async function lookBack(
  ctx: SendingCtx,
  { since, resume = false, acknowledged = false, dryRun = false }: LookBackInput = {},
): Promise<LookBack> {
  const asked = (await readPause(ctx))?.lookBackTo
  const from = since ?? asked
  if (resume && asked !== undefined && from !== undefined && from > asked)
    throw invalid(
      'since',
      `orders since ${new Date(asked).toISOString()} may have been forgotten: look back as ` +
        'far as that before orders go on',
    )
  const before = await countStates(ctx)
  const own = dryRun || (await reconcileHere(ctx, before.open))
  const timedOut = !own && !(await reconcileThere(ctx))
  const forgotten =
    from === undefined
      ? { adopted: [], others: [], in_doubt: [] }
      : await lookForForgotten(ctx, from, dryRun)
  const isClear = !timedOut && forgotten.others.length === 0 && forgotten.in_doubt.length === 0
  const resumed =
    resume && !dryRun && (isClear || acknowledged) && (await resumeOrders(ctx)) !== null
  const after = await countStates(ctx)
  return {
    since: from === undefined ? null : new Date(from).toISOString(),
    reconciled_by: own ? 'this process' : 'another process',
    timed_out: timedOut,
    open_before: before.open,
    ...after,
    ...forgotten,
    resumed,
    paused: await readPause(ctx),
  }
}

async function countStates({
  read,
}: Pick<OrdersCtx, 'read'>): Promise<{ open: number; review: number }> {
  const rows = await read
    .selectFrom('purchase_order')
    .select((query) => ['state', query.fn.countAll<number>().as('orders')])
    .where(isOpenPurchase)
    .groupBy('state')
    .execute()
  const count = (isCounted: (state: string) => boolean) =>
    rows.reduce((sum, { state, orders }) => sum + (isCounted(state) ? orders : 0), 0)
  return {
    open: count((state) => state !== 'review'),
    review: count((state) => state === 'review'),
  }
}

/** False where another process is the sender. */
async function reconcileHere(
  { orders }: Pick<SendingCtx, 'orders'>,
  open: number,
): Promise<boolean> {
  for (let left = Math.max(1, open); left > 0; left -= AT_ONCE) {
    if (!(await orders.pass({ force: true }))) return false
  }
  return true
}

/**
 * Makes all of it due for the server that runs, and waits until it has looked at it; false where it
 * has not within a minute.
 */
async function reconcileThere(ctx: OrdersCtx): Promise<boolean> {
  const due = ctx.now()
  // What was never sent waits while orders are paused.
  const states: PoState[] = (await readPause(ctx)) ? ['unknown'] : ['planned', 'unknown']
  await ctx.engine.atomic(ctx, (tx) =>
    tx.db
      .updateTable('purchase_order')
      .set({ next_at: due })
      .where(isOpenPurchase)
      .where('state', 'in', states)
      .where('next_at', '>', due)
      .execute(),
  )
  const isDone = async () =>
    (await ctx.read
      .selectFrom('purchase_order')
      .select('id')
      .where(isOpenPurchase)
      .where((query) =>
        query.or([
          query('state', '=', 'sending'),
          query.and([query('state', 'in', states), query('next_at', '<=', due)]),
        ]),
      )
      .executeTakeFirst()) === undefined
  for (let waited = 0; waited < PATIENCE; waited += POLL) {
    if (await isDone()) return true
    await pause(POLL)
  }
  return isDone()
}

const NOT_OURS =
  "its PO was not made here: it is a caller's own, was shortened, or was placed elsewhere"

async function lookForForgotten(
  ctx: OrdersCtx,
  since: number,
  dryRun: boolean,
): Promise<Pick<LookBack, 'adopted' | 'others' | 'in_doubt'>> {
  const { orphans, notAsked } = await orphansSince(ctx, since - CLOCKS_DIFFER)
  const found: Pick<LookBack, 'adopted' | 'others' | 'in_doubt'> = {
    adopted: [],
    others: [],
    in_doubt: [],
  }
  for (const orphan of orphans.toSorted((a, b) => a.at - b.at)) {
    const generated = readGeneratedPo(orphan.po)
    if (!generated) {
      found.others.push({ ...foreignOrder(orphan), reason: NOT_OURS })
      continue
    }
    const reason = await adoptOrder(ctx, orphan, generated, { dryRun })
    if (reason !== null) {
      found.others.push({ ...foreignOrder(orphan), reason })
      continue
    }
    found.adopted.push({ ...foreignOrder(orphan), order_id: generated.orderId })
    if (await mayBeSpeltOtherwise(ctx, orphan.subscriberId, generated.orderId))
      found.in_doubt.push({
        subscriber: orphan.subscriberId,
        distid: orphan.distid,
        mode: orphan.mode,
        reason:
          `it shows ${orphan.po} in capitals, and your order ids have small letters: look ` +
          'which order it is',
      })
  }
  for (const { subscriberId, reason, ...account } of [...notAsked, ...(await silentAccounts(ctx))])
    found.in_doubt.push({
      subscriber: subscriberId,
      distid: account.distid,
      mode: account.mode,
      reason,
    })
  return found
}

/**
 * A distributor may show every PO in capitals; a shop that writes its order ids so has nothing to
 * fear from it.
 */
async function mayBeSpeltOtherwise(
  { read }: Pick<OrdersCtx, 'read'>,
  subscriberId: string,
  orderId: string,
): Promise<boolean> {
  if (!/[A-Z]/.test(orderId) || /[a-z]/.test(orderId)) return false
  return (
    (await read
      .selectFrom('placement')
      .select('id')
      .where('subscriber_id', '=', subscriberId)
      .where(({ eb, fn }) => eb('order_id', '<>', fn<string>('upper', ['order_id'])))
      .executeTakeFirst()) !== undefined
  )
}

function foreignOrder({ subscriberId, distid, mode, po, number, at }: Orphan): ForeignOrder {
  return {
    subscriber: subscriberId,
    distid,
    mode,
    po_number: po,
    distributor_order_id: number,
    at: new Date(at).toISOString(),
  }
}

/** Accounts that orders may have been placed with and that no look could prove empty. */
async function silentAccounts(ctx: OrdersCtx): Promise<(Account & { reason: string })[]> {
  const subscribers = await ctx.read
    .selectFrom('subscriber')
    .select(['id', 'name', 'email'])
    .orderBy('id')
    .execute()
  const silent: (Account & { reason: string })[] = []
  for (const subscriber of subscribers) {
    const { document } = await ctx.configurations.of(subscriber)
    silent.push(
      ...Object.values(document.distributors).flatMap(({ distid, active, fulfillment }) => {
        const mode = ctx.modes.of(distid)
        const connector = connectorOf(ctx, distid, mode)
        if (!active || !fulfillment || !connector) return []
        const reason = !connector.updates
          ? 'it has no list of orders that could be asked for: look at its own site'
          : connector.asksByOrder
            ? 'it tells of an order only whom it is asked for: look at its own site'
            : connector.recovery === 'one_shot'
              ? 'it lists an order only once it is shipped: look at its own site'
              : null
        return reason === null ? [] : [{ subscriberId: subscriber.id, distid, mode, reason }]
      }),
    )
  }
  return silent
}
