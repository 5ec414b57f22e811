/**
 * Who holds an order_id: while a placement may still come to something, nobody else places it.
 */
import type { Selectable } from 'kysely'
import type { OrdersCall } from '../ctx.js'
import type { PlacementTable } from '../../db/tables/orders.js'
import { digestOf } from '../sealed-content.js'
import type { PlaceBody } from '../shapes.js'

/** The placement that holds an order_id of the calling subscriber. */
export async function holderOf(
  { read, subscriber }: Pick<OrdersCall, 'read' | 'subscriber'>,
  orderId: string,
): Promise<Pick<Selectable<PlacementTable>, 'id' | 'request_digest'> | undefined> {
  return read
    .selectFrom('placement')
    .select(['id', 'request_digest'])
    .where('subscriber_id', '=', subscriber.id)
    .where('order_id', '=', orderId)
    .where('holds_id', '=', 1)
    .executeTakeFirst()
}

/** Whether somebody holds an order_id, and which attempt a placement of it would be. */
export async function earlierPlacements(
  { read, subscriber }: Pick<OrdersCall, 'read' | 'subscriber'>,
  orderId: string,
): Promise<{ isHeld: boolean; attempt: number }> {
  const earlier = await read
    .selectFrom('placement')
    .select(['holds_id', 'was_refused'])
    .where('subscriber_id', '=', subscriber.id)
    .where('order_id', '=', orderId)
    .execute()
  return {
    isHeld: earlier.some(({ holds_id: holds }) => holds === 1),
    attempt: 1 + earlier.filter(({ was_refused: refused }) => refused === 1).length,
  }
}

/** Thrown inside the transaction: somebody holds the order_id. */
export class OrderIdHeld extends Error {
  override readonly name = 'OrderIdHeld'
}

/**
 * Kept with the placement, to tell a retry from another order under the same order_id; what is
 * ignored does not count.
 */
export function requestDigest({
  order_id,
  customer,
  items,
  ffl,
  ship_to_store,
  po_number,
}: PlaceBody): string {
  return digestOf(
    JSON.stringify([
      order_id,
      customer,
      items.map(({ distid, distsku, upc, qty, ffl_req }) => [distid, distsku, upc, qty, ffl_req]),
      ffl,
      ship_to_store,
      po_number,
    ]),
  )
}
