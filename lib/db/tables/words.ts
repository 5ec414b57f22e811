/** Words that stand in columns of orders, and that connectors speak. */

/** `order_status` of a record, in the words that clients test (decisions 8.7). */
export const ORDER_STATUSES = [
  'Pending',
  'Submitted',
  'FFL Hold',
  'Backordered',
  'Partially Fulfilled',
  'Not Fulfilled',
  'Fulfilled',
  'Cancelled',
] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

export const SHIP_STATUSES = [
  'pre_transit',
  'in_transit',
  'out_for_delivery',
  'delivered',
  'return_to_sender',
  'failure',
] as const
export type ShipStatus = (typeof SHIP_STATUSES)[number]

/** `simulator` on a fresh installation; `live` sends real purchase orders. */
export type Mode = 'simulator' | 'live'
