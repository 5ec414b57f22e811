/** Shapes of the order history (contract "Fulfillment order record", decisions 8.7-8). */
import * as z from 'zod'
import { ORDER_STATUSES, SHIP_STATUSES } from '../distributors/fulfillment.js'

const flag = z.union([z.literal(0), z.literal(1)])
const text = z.string().nullable()

export const FulfillmentOrder = z.object({
  order_date: z.string().describe('YYYY-MM-DD HH:MM:SS, UTC'),
  order_id: z.string(),
  distid: z.string(),
  distributor_order_id: text.describe('Null until it is known. Where a distributor made several orders of one, all of them, joined by ", "; a lookup finds each'),
  ffl: text.describe('Licence number of the dealer that it ships to'),
  customer_name: z.string(),
  order_status: z.enum(ORDER_STATUSES).describe('Pending: whether the distributor has it is not known yet; it is being found out'),
  order_source: z.string().describe('cockpit_cart for orders placed through the API'),
  po_number: z.string().describe('As sent'),
  ship_date: text.describe('YYYY-MM-DD'),
  ship_company: text,
  ship_method: text,
  ship_status: z.enum(SHIP_STATUSES).nullable(),
  ship_tracking_number: text.describe('Of several parcels the first; a lookup finds each'),
  ship_tracking_url: text,
  ship_to_store: flag,
  ffl_required: flag,
  dist_order_items: z.string().describe('JSON of [{distsku, upc, qty}]'),
})
export type FulfillmentOrder = z.infer<typeof FulfillmentOrder>

export const FailedPlacement = z.object({
  failure_timestamp: z.string().describe('YYYY-MM-DD HH:MM:SS, UTC'),
  order_source: z.string(),
  order_id: z.string(),
  po_number: z.string(),
  distid: z.string(),
  failure_reason: z.string(),
})
export type FailedPlacement = z.infer<typeof FailedPlacement>
