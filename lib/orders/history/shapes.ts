/**
 * Shapes of the order history (contract "Fulfillment order record", "Order history and tracking").
 */
import * as z from 'zod'
import { ORDER_STATUSES, SHIP_STATUSES } from '../../db/tables/column-types.js'

const flag = z.union([z.literal(0), z.literal(1)])
const text = z.string().nullable()

export const FulfillmentOrder = z
  .object({
    order_date: z.string().describe('YYYY-MM-DD HH:MM:SS, UTC'),
    order_id: z.string().describe('Yours'),
    distid: z.string().describe('The distributor'),
    distributor_order_id: text.describe(
      'Null until it is known. Where a distributor made several orders of one, all of them, ' +
        'joined by ", "; a lookup finds each',
    ),
    ffl: text.describe('License number of the dealer that it ships to'),
    customer_name: z.string().describe('As ordered'),
    order_status: z
      .enum(ORDER_STATUSES)
      .describe('Pending: whether the distributor has it is not known yet; it is being found out'),
    order_source: z.string().describe('cockpit_cart for orders placed through the API'),
    po_number: z.string().describe('As sent'),
    ship_date: text.meta({ description: 'YYYY-MM-DD; null before it ships', format: 'date' }),
    ship_company: text.describe('Carrier'),
    ship_method: text.describe('Service of the carrier, as the distributor names it'),
    ship_status: z
      .enum(SHIP_STATUSES)
      .nullable()
      .describe('Where the parcel is; null before it ships'),
    ship_tracking_number: text.describe('Of several parcels the first; a lookup finds each'),
    ship_tracking_url: text.describe("The carrier's page of the parcel"),
    ship_to_store: flag.describe('1 = goes to the store'),
    ffl_required: flag.describe('1 = goes to a licensed dealer'),
    dist_order_items: z.string().describe('JSON text of [{distsku, upc, qty}]'),
  })
  .meta({
    component: 'FulfillmentOrder',
    about: 'A record of the history: what one distributor ships of one order',
  })
export type FulfillmentOrder = z.infer<typeof FulfillmentOrder>

export const FailedPlacement = z
  .object({
    failure_timestamp: z.string().describe('YYYY-MM-DD HH:MM:SS, UTC'),
    order_source: z.string().describe('cockpit_cart for orders placed through the API'),
    order_id: z.string().describe('Yours'),
    po_number: z.string().describe('As sent'),
    distid: z.string().describe('The distributor'),
    failure_reason: z.string().describe('In words'),
  })
  .meta({ component: 'FailedPlacement', about: 'An attempt that produced no distributor order' })
export type FailedPlacement = z.infer<typeof FailedPlacement>

/** Longest text that can be looked up: the longest that is kept of a distributor's own. */
export const LONGEST_TEXT = 200
const lookup = (description: string, example: string) =>
  z.string().min(1).max(LONGEST_TEXT).optional().meta({ description, example })
const limit = z
  .int()
  .min(1)
  .max(100)
  .default(25)
  .meta({ description: 'Records on a page', example: 10 })
const offset = z
  .int()
  .min(0)
  .default(0)
  .meta({ description: 'Records to leave out first', example: 0 })

export const SORTS = [
  'order_date',
  'order_id',
  'ship_date',
  'order_status',
  'order_source',
] as const
export type Sort = (typeof SORTS)[number]
export const DIRECTIONS = ['asc', 'desc'] as const
export type Direction = (typeof DIRECTIONS)[number]

export const ListQuery = z.object({
  limit,
  offset,
  sort: z
    .enum(SORTS)
    .default('order_date')
    .meta({
      description:
        'Texts sort by code point; what is not shipped sorts before every ship_date. Equal ones ' +
        'follow the order in which they were placed',
      example: 'order_date',
    }),
  direction: z
    .enum(DIRECTIONS)
    .default('desc')
    .meta({ description: 'asc is the exact reverse of desc', example: 'desc' }),
  search: z
    .string()
    .max(LONGEST_TEXT)
    .optional()
    .meta({
      description:
        'Part of the order id, the PO number (as sent or as given), a distributor order id, a ' +
        "tracking number or the customer's name; case and spaces around it do not matter",
      example: 'W-1001',
    }),
})
export type ListQuery = z.output<typeof ListQuery>
export const ListResult = z
  .object({
    count: z.int().describe('All that match'),
    orders: z.array(FulfillmentOrder).max(100).describe('The page'),
  })
  .meta({ component: 'OrderPage', about: 'A page of the order history' })

/** Any text: an order_id that cannot be is one that is not there. */
export const OrderParams = z.object({
  order_id: z.string().meta({
    description:
      'The order_id that was placed, 1 to 50 letters, digits, dashes and underscores; any ' +
      'other text is that of no order',
    example: 'W-1001',
  }),
})
export const OrderResult = z
  .object({
    order_id: z.string().describe('As asked for'),
    fulfillment_orders: z
      .array(FulfillmentOrder)
      .describe('One for each distributor and need of a dealer'),
  })
  .meta({ component: 'OrderRecords', about: 'The fulfillment orders of one order' })

const day = (description: string) =>
  z.iso
    .date({
      error: ({ input }) => (input === undefined ? undefined : 'must be a date, YYYY-MM-DD'),
    })
    .optional()
    .meta({ description, example: '2026-11-21' })

export const HistoryQuery = z.object({
  reference: lookup(
    'An order id, a PO number (as sent or before it was shortened), a distributor order id or ' +
      'a tracking number',
    'W-1001',
  ),
  order_id: lookup('Exact', 'W-1001'),
  po_number: lookup('Exact: as sent, or before it was shortened', 'W-1001-AB9Z-110'),
  distributor_order_id: lookup(
    'Exact: any one of several, or all of them as the record shows them',
    'SIM-RSR-195262401',
  ),
  tracking_number: lookup('Exact; of any parcel', '1ZSIM01952624011'),
  distid: lookup('Exact', 'RSR'),
  order_source: lookup('Exact; cockpit_cart for orders placed through the API', 'cockpit_cart'),
  order_status: z
    .enum(ORDER_STATUSES)
    .optional()
    .meta({ description: 'What has become of the order', example: 'Fulfilled' }),
  ship_status: z
    .enum(SHIP_STATUSES)
    .optional()
    .meta({ description: 'Where the parcel is', example: 'in_transit' }),
  from: day('First order date, inclusive, YYYY-MM-DD, UTC; after to: nothing'),
  to: day('Last order date, inclusive, YYYY-MM-DD, UTC'),
  limit,
  offset,
  include_errors: z
    .boolean()
    .default(true)
    .meta({ description: 'false leaves errors empty', example: true }),
})
export type HistoryQuery = z.output<typeof HistoryQuery>
export const HistoryResult = z
  .object({
    count: z.int().describe('All orders that match; errors are not counted'),
    orders: z.array(FulfillmentOrder).max(100).describe('The newest first'),
    errors: z
      .array(FailedPlacement)
      .max(100)
      .describe(
        'The newest failed placements, at most limit, whatever the offset; of the filters ' +
          'reference, order_id, po_number, distid, order_source, from and to (by failure date) ' +
          'hold for them',
      ),
  })
  .meta({ component: 'FulfillmentHistory', about: 'Records and failed placements' })
