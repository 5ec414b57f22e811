/**
 * Places an order (contract "Place order", decisions 8.3-6). Up to the commit of the intent
 * anything may refuse it; after it, whatever happens, the caller is told of an order that is
 * placed, refused, or still being found out.
 */
import type { OrdersCall, OrdersCtx } from '../ctx.js'
import { SECOND } from '../../core/clock.js'
import { ApiError, isApiError } from '../../core/errors.js'
import { ROOM_FOR_ORDERS } from '../../core/storage/space.js'
import { isIoError, isUnavailable } from '../../db/sqlite.js'
import { recordsOfPlacement } from '../history/records.js'
import { checkOrder } from './check-order.js'
import type { CheckedOrder } from './check-order.js'
import { OrderIdHeld, holderOf } from './holder.js'
import { requestDigest, writeIntent } from './intent.js'
import type { Intent, PlannedGroup } from './intent.js'
import { lanesOf } from './parts.js'
import { accountNow } from '../engine/line.js'
import { forgetOrder, rememberOrder } from './quota.js'
import type { PlaceBody, PlacedOrder } from '../shapes.js'
import { notSent } from '../engine/outcome.js'
import { FAILED } from '../stored.js'
import { isPending, move } from '../engine/transitions.js'
import type { StoredPo } from '../stored.js'
import { DISK_FULL } from '../engine/work.js'

/** Refusals that say: nothing came of it, the order_id is free. */
const NOTHING_CAME = new Set<string>([
  'order_rejected',
  'distributor_unavailable',
  'service_unavailable',
])
/**
 * How long an answer waits for distributors, and how often another process is asked what became of
 * its part.
 */
const PATIENCE = 25 * SECOND
const POLL = 100

/**
 * Places an order; the same one at the same moment is placed once, and the others are told what
 * became of it.
 */
export async function placeOrder(ctx: OrdersCall, body: PlaceBody): Promise<PlacedOrder> {
  const { placing } = ctx.orders
  const name = `${ctx.subscriber.id} ${body.order_id}`
  for (let other; (other = placing.get(name));) await other
  const run = placeOnce(ctx, body)
  const settled = run
    .then(
      () => {},
      () => {},
    )
    .finally(() => placing.delete(name))
  placing.set(name, settled)
  return run
}

async function placeOnce(ctx: OrdersCall, body: PlaceBody): Promise<PlacedOrder> {
  // First of all: the first lease of a life brings back what the journal alone still knows of, and
  // this may be one of those.
  const release = await ctx.orders.lease()
  let order: CheckedOrder
  let intent: Intent
  try {
    await refuseDuplicate(ctx, body)
    order = await checkOrder(ctx, body)
    refuseFullDisk(ctx)
    ctx.orders.refuseFailed()
    intent = await takeIn(ctx, body, order, release !== null)
  } catch (error) {
    release?.()
    throw error
  }
  // The right to send is kept until all is sent, also when the answer does not wait for it.
  const sending = (release ? send(ctx, intent).finally(release) : waitForSender(ctx, intent)).catch(
    (error: unknown) => {
      ctx.log.error(
        { err: error, orderId: order.orderId },
        'an order was taken in, and not all about it could be written down; it is taken up again',
      )
    },
  )
  return answerWhen(ctx, order, intent, sending)
}

/** Throws 503 where there might be no room for what must be written down. */
export function refuseFullDisk({ space }: Pick<OrdersCall, 'space'>): void {
  if (space.free() < ROOM_FOR_ORDERS)
    throw new ApiError('service_unavailable', {
      message: 'The disk is nearly full. Nothing was sent.',
      headers: { 'retry-after': '60' },
    })
}

/** Waits for work, but no longer than so many milliseconds. */
async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let clock: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => {
    clock = setTimeout(resolve, ms)
  })
  await Promise.race([work, late])
  clearTimeout(clock)
}

/** Writes the intent down. Whatever goes wrong here, nothing was sent. */
async function takeIn(
  ctx: OrdersCall,
  body: PlaceBody,
  order: CheckedOrder,
  isSender: boolean,
): Promise<Intent> {
  const groups = planned(ctx, order, isSender)
  try {
    const intent = await writeIntent(ctx, {
      order,
      groups,
      digest: requestDigest(body),
      owner: ctx.orders.owner,
      counts: ctx.orders.counts,
    })
    if (ctx.key) rememberOrder(ctx.orders.counts, ctx.key.id, intent)
    return intent
  } catch (error) {
    for (const group of groups)
      for (const { isSentNow } of group.lanes) if (isSentNow) ctx.orders.free(group.account)
    if (error instanceof OrderIdHeld || isIndexRefusal(error)) {
      await refuseDuplicate(ctx, body)
      // Whoever held it has just let it go.
      throw new ApiError('service_unavailable', {
        message:
          'The same order was being placed at this moment, and nothing came of it. Try again.',
        headers: { 'retry-after': '1' },
      })
    }
    if (isIoError(error))
      throw new ApiError('service_unavailable', {
        message:
          'The disk failed while the order was written down, so it is not known whether it was. Nothing was sent; try the same order_id again later.',
      })
    throw error
  }
}

/** The unique index had the last word. */
function isIndexRefusal(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && String(error.code) === 'SQLITE_CONSTRAINT_UNIQUE'
  )
}

/** The lanes of each group, and whether each may be sent at once. */
function planned(ctx: OrdersCall, order: CheckedOrder, isSender: boolean): PlannedGroup[] {
  const groups = order.groups.map((group) => ({
    ...group,
    lanes: lanesOf(group),
    account:
      accountNow(ctx, {
        subscriber_id: ctx.subscriber.id,
        distid: group.distid,
        mode: order.mode,
      }) ?? '',
  }))
  return groups.map((group) => ({
    ...group,
    lanes: group.lanes.map((lane) => ({
      ...lane,
      isSentNow: isSender && ctx.orders.tryTake(group.account, group.connector),
    })),
  }))
}

/** From here on no error of ours reaches the caller: what is not known is said to be pending. */
async function answerWhen(
  ctx: OrdersCall,
  order: CheckedOrder,
  { placementId }: Intent,
  sending: Promise<unknown>,
): Promise<PlacedOrder> {
  try {
    await within(sending, PATIENCE)
    await ctx.orders.step('before the answer')
    const states = await statesOf(ctx, placementId)
    // Who cannot write that down leaves it to be tried again, and says so.
    if (states.every(isUnreachable))
      await giveUp(ctx, states).catch((error: unknown) =>
        ctx.log.warn(
          { err: error, orderId: order.orderId },
          'an order whose distributors cannot be reached is tried again',
        ),
      )
    return await answer(ctx, order, placementId)
  } catch (error) {
    if (isApiError(error) && NOTHING_CAME.has(error.code)) throw error
    ctx.log.error(
      { err: error, orderId: order.orderId },
      'an order was taken in, and its answer could not be made',
    )
    return {
      order_id: order.orderId,
      status: 'pending',
      mode: order.mode,
      fulfillment_orders: [],
      errors: [],
    }
  }
}

/**
 * Sends all lanes side by side: at once where their account has room, else when their turn comes.
 */
async function send(ctx: OrdersCall, { purchaseOrders }: Intent): Promise<void> {
  await ctx.orders.step('intent committed')
  try {
    await ctx.orders.flush()
  } catch (error) {
    // The journal must have it before a distributor does: none of it has left.
    for (const order of purchaseOrders)
      if (order.state === 'sending') await giveBack(ctx, order, error)
    throw error
  }
  await ctx.orders.step('intent in the journal')
  await Promise.allSettled(purchaseOrders.map((order) => ctx.orders.deliver(order)))
  await ctx.orders.flush()
}

async function giveBack(ctx: OrdersCall, order: StoredPo, error: unknown): Promise<void> {
  ctx.orders.free(order.account!)
  if (isUnavailable(error))
    await ctx.orders.record(order, notSent(order, { reason: DISK_FULL }, ctx.now()))
}

/**
 * Another process sends: what became of it is looked at now and then, also behind the answer; when
 * that one is gone, it is sent here.
 */
async function waitForSender(ctx: OrdersCall, intent: Intent): Promise<void> {
  for (;;) {
    await new Promise((resolve) => {
      setTimeout(resolve, POLL)
    })
    const states = await statesOf(ctx, intent.placementId)
    if (
      states.every(
        ({ state, failures }) => state !== 'sending' && (state !== 'planned' || failures > 0),
      )
    )
      return
    // The next start of the sender, whoever it is, does the rest.
    if (ctx.orders.stopping.aborted) return
    const release = await ctx.orders.lease()
    if (release) return send(ctx, intent).finally(release)
  }
}

async function statesOf(
  { read }: Pick<OrdersCtx, 'read'>,
  placementId: number,
): Promise<StoredPo[]> {
  return read
    .selectFrom('purchase_order')
    .selectAll()
    .where('placement_id', '=', placementId)
    .orderBy('id')
    .execute()
}

/** Tried, and not a byte of it left. */
function isUnreachable({ state, first_sent_at: sent, failures }: StoredPo): boolean {
  return state === 'planned' && sent === null && failures > 0
}

/** Nobody could be reached: the whole order ends here, and the caller may place it anew. */
async function giveUp(ctx: OrdersCall, orders: readonly StoredPo[]): Promise<void> {
  await ctx.engine.atomic(ctx, async (tx) => {
    for (const order of orders)
      if (
        !(await move(tx, order, {
          to: 'expired',
          reason: order.reason ?? 'it could not be reached',
          next_at: null,
        }))
      )
        throw new Error('it is being sent at this moment')
  })
  forgetOrder(ctx.orders.counts, orders[0]!.placement_id)
}

/**
 * The answer of decisions 8.5. Throws 409 `order_rejected` and 503 `distributor_unavailable` where
 * nothing came of it.
 */
async function answer(
  ctx: OrdersCall,
  { orderId, mode }: CheckedOrder,
  placementId: number,
): Promise<PlacedOrder> {
  const states = await statesOf(ctx, placementId)
  const { orders, errors } = await recordsOfPlacement(ctx, placementId)
  if (states.every(({ state }) => FAILED.includes(state))) {
    if (states.some(({ reason }) => reason === DISK_FULL))
      throw new ApiError('service_unavailable', {
        message: 'The disk is full. Nothing was sent.',
        details: errors,
        headers: { 'retry-after': '60' },
      })
    if (states.every(({ state }) => state === 'expired'))
      throw new ApiError('distributor_unavailable', {
        details: errors,
        headers: { 'retry-after': '60' },
      })
    throw new ApiError('order_rejected', { details: errors })
  }
  return {
    order_id: orderId,
    status: isPending(states) ? 'pending' : errors.length > 0 ? 'partial' : 'placed',
    mode,
    fulfillment_orders: orders,
    errors,
  }
}

/**
 * Throws 409 `duplicate_order` with the existing records where the order_id is held (decisions
 * 8.6).
 */
export async function refuseDuplicate(ctx: OrdersCall, body: PlaceBody): Promise<void> {
  const holder = await holderOf(ctx, body.order_id)
  if (!holder) return
  const { orders, errors } = await recordsOfPlacement(ctx, holder.id)
  throw new ApiError('duplicate_order', {
    details: {
      order_id: body.order_id,
      fulfillment_orders: orders,
      errors,
      same_request: holder.request_digest === requestDigest(body),
    },
  })
}
