/** What refuses an order that is right in itself, when it is placed and before. */
import type { OrdersCall, OrdersCtx } from '../ctx.js'
import { ApiError } from '../../core/errors.js'
import { ROOM_FOR_ORDERS } from '../../core/storage/disk-space.js'
import { recordsOfPlacement } from '../history/records.js'
import type { PlaceBody } from '../shapes.js'
import { holderOf, requestDigest } from './holder.js'

/**
 * Throws 409 `duplicate_order` with the existing records where the order_id is held.
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

/** Throws 503 where there might be no room for what must be written down. */
export function refuseFullDisk({ space }: Pick<OrdersCall, 'space'>): void {
  if (space.free() < ROOM_FOR_ORDERS)
    throw new ApiError('service_unavailable', {
      message: 'The disk is nearly full. Nothing was sent.',
      headers: { 'retry-after': '60' },
    })
}

/** Throws 503 while the operator has orders paused. */
export async function refusePaused({ read }: Pick<OrdersCtx, 'read'>): Promise<void> {
  const paused = await read
    .selectFrom('order_engine')
    .select('value')
    .where('name', '=', 'paused')
    .executeTakeFirst()
  if (paused)
    throw new ApiError('service_unavailable', {
      message:
        'Orders are paused by the operator until what happened meanwhile is reconciled. ' +
        'Nothing was sent.',
      headers: { 'retry-after': '300' },
    })
}
