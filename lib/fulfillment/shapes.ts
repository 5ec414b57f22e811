/** Shapes of the order history (contract "Fulfillment order record", "Order history and tracking", decisions 8.7-8, 8.12). */
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

/** Longest text that can be looked up: the longest that is kept of a distributor's own. */
export const LONGEST_TEXT = 200
const lookup = z.string().min(1).max(LONGEST_TEXT)
const limit = z.int().min(1).max(100).default(25)
const offset = z.int().min(0).default(0)

export const SORTS = ['order_date', 'order_id', 'ship_date', 'order_status', 'order_source'] as const
export type Sort = (typeof SORTS)[number]
export const DIRECTIONS = ['asc', 'desc'] as const
export type Direction = (typeof DIRECTIONS)[number]

export const ListQuery = z.object({
  limit, offset,
  sort: z.enum(SORTS).default('order_date').describe('Texts sort by code point; what is not shipped sorts before every ship_date. Equal ones follow the order in which they were placed'),
  direction: z.enum(DIRECTIONS).default('desc').describe('asc is the exact reverse of desc'),
  search: z.string().max(LONGEST_TEXT).optional().describe('Part of the order id, the PO number (as sent or as given), a distributor order id, a tracking number or the customer\'s name; case and spaces around it do not matter'),
})
export type ListQuery = z.output<typeof ListQuery>
export const ListResult = z.object({ count: z.int().describe('All that match'), orders: z.array(FulfillmentOrder).max(100) })

/** Any text: an order_id that cannot be is one that is not there. */
export const OrderParams = z.object({ order_id: z.string() })
export const OrderResult = z.object({ order_id: z.string(), fulfillment_orders: z.array(FulfillmentOrder) })

const day = z.iso.date({ error: ({ input }) => input === undefined ? undefined : 'must be a date, YYYY-MM-DD' })

export const HistoryQuery = z.object({
  reference: lookup.optional().describe('An order id, a PO number (as sent or before it was shortened), a distributor order id or a tracking number'),
  order_id: lookup.optional(),
  po_number: lookup.optional().describe('As sent, or before it was shortened'),
  distributor_order_id: lookup.optional().describe('Any one of several, or all of them as the record shows them'),
  tracking_number: lookup.optional().describe('Of any parcel'),
  distid: lookup.optional(),
  order_source: lookup.optional(),
  order_status: z.enum(ORDER_STATUSES).optional(),
  ship_status: z.enum(SHIP_STATUSES).optional(),
  from: day.optional().describe('First order date, YYYY-MM-DD, UTC'),
  to: day.optional().describe('Last order date, inclusive'),
  limit, offset,
  include_errors: z.boolean().default(true).describe('false leaves errors empty'),
}).refine(({ from, to }) => from === undefined || to === undefined || from <= to, { path: ['from'], message: 'must not be after to' })
export type HistoryQuery = z.output<typeof HistoryQuery>
export const HistoryResult = z.object({
  count: z.int().describe('All orders that match; errors are not counted'),
  orders: z.array(FulfillmentOrder).max(100).describe('The newest first'),
  errors: z.array(FailedPlacement).max(100).describe('The newest failed placements, at most limit, whatever the offset; of the filters reference, order_id, po_number, distid, order_source, from and to (by failure date) hold for them'),
})
