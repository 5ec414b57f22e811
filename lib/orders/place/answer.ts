/** What the caller is told of an order that was taken in. */
import type { OrdersCall } from '../ctx.js'
import { inTime } from '../../core/async/wait.js'
import { SECOND } from '../../core/clock.js'
import { ApiError, isApiError } from '../../core/errors.js'
import { DISK_FULL } from '../engine/rules/after-send.js'
import { together } from '../../db/together.js'
import { move } from '../engine/transitions.js'
import { recordsOfPlacement } from '../history/records.js'
import type { RecordsOfPlacement } from '../history/records.js'
import type { PlacedOrder } from '../shapes.js'
import { FAILED, isPending } from '../stored.js'
import type { StoredPo } from '../stored.js'
import type { CheckedOrder } from './check-order.js'
import type { Delivered } from './deliver.js'
import type { Intent } from './intent.js'
import { forgetOrder } from '../quota.js'
import { purchaseOrdersOf } from '../rows.js'

/** Refusals that say: nothing came of it, the order_id is free. */
const NOTHING_CAME = new Set<string>([
  'order_rejected',
  'distributor_unavailable',
  'service_unavailable',
])
/** How long an answer waits for distributors, in milliseconds. */
const PATIENCE = 25 * SECOND

/**
 * Waits for the sends, and answers. From here on no error of ours reaches the caller: what is not
 * known is said to be pending. Throws the refusals of `placedOrder`.
 */
export async function answerOf(
  ctx: OrdersCall,
  order: CheckedOrder,
  { placementId }: Intent,
  sending: Promise<Delivered | null>,
): Promise<PlacedOrder> {
  try {
    const seen = await inTime(() => sending, { ms: PATIENCE, late: () => null })
    await ctx.orders.step('before the answer')
    let [parts, records] = await together([
      seen?.parts ?? purchaseOrdersOf(ctx, placementId),
      seen?.records ?? recordsOfPlacement(ctx, placementId),
    ])
    if (parts.every(isUnreachable)) {
      // Who cannot write that down leaves it to be tried again, and says so.
      await giveUp(ctx, placementId, parts).catch((error: unknown) =>
        ctx.log.warn(
          { err: error, orderId: order.orderId },
          'an order whose distributors cannot be reached is tried again',
        ),
      )
      ;[parts, records] = await together([
        purchaseOrdersOf(ctx, placementId),
        recordsOfPlacement(ctx, placementId),
      ])
    }
    return placedOrder(order, parts, records)
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

/** Tried, and not a byte of it left. */
function isUnreachable({ state, first_sent_at: sent, failures }: StoredPo): boolean {
  return state === 'planned' && sent === null && failures > 0
}

/** Nobody could be reached: the whole order ends here, and the caller may place it anew. */
async function giveUp(
  ctx: OrdersCall,
  placementId: number,
  orders: readonly StoredPo[],
): Promise<void> {
  await ctx.engine.atomic(
    ctx,
    async (tx) => {
      for (const order of orders)
        if (
          !(await move(tx, order, {
            to: 'expired',
            reason: order.reason ?? 'it could not be reached',
            next_at: null,
          }))
        )
          throw new Error('it is being sent at this moment')
    },
    { inTurn: true },
  )
  forgetOrder(ctx.orders.counts, placementId)
}

/**
 * Throws 409 `order_rejected`, 503 `distributor_unavailable` and 503 `service_unavailable` where
 * nothing came of it.
 */
function placedOrder(
  { orderId, mode }: CheckedOrder,
  sent: readonly StoredPo[],
  { orders, errors }: RecordsOfPlacement,
): PlacedOrder {
  if (sent.every(({ state }) => FAILED.includes(state))) {
    if (sent.some(({ reason }) => reason === DISK_FULL))
      throw new ApiError('service_unavailable', {
        message: 'The disk is full. Nothing was sent.',
        details: errors,
        headers: { 'retry-after': '60' },
      })
    if (sent.every(({ state }) => state === 'expired'))
      throw new ApiError('distributor_unavailable', {
        details: errors,
        headers: { 'retry-after': '60' },
      })
    throw new ApiError('order_rejected', { details: errors })
  }
  return {
    order_id: orderId,
    status: isPending(sent) ? 'pending' : errors.length > 0 ? 'partial' : 'placed',
    mode,
    fulfillment_orders: orders,
    errors,
  }
}
