/** Shapes of an order (contract "Place order", decisions 8.3-5). */
import * as z from 'zod'
import { isEmail } from '../accounts/subscribers.js'
import { FailedPlacement, FulfillmentOrder } from '../fulfillment/shapes.js'

const text = (most: number) => z.string().trim().min(1).max(most)
const optional = (most: number) => z.string().trim().max(most).nullish().transform((value) => value || null)

/** Members of an Option or an offer, so that one can be sent back as it came (decisions 2.9). They are ignored. */
const ignored = Object.fromEntries([
  'distributor', 'stockid', 'name', 'mfg_name', 'mpn', 'product_class', 'product_class_description', 'item_cat', 'item_gb_cat', 'item_gb_cat_name', 'unit_price',
  'shipping_cost', 'total_cost', 'map_price', 'msrp', 'qty_on_hand', 'drop_ship_flg', 'images', 'product_url', 'short_description', 'description', 'retail_price', 'line_total',
].map((name) => [name, z.unknown().optional()])) as Record<string, z.ZodOptional<z.ZodUnknown>>

export const PlaceBody = z.strictObject({
  order_id: z.string().regex(/^[A-Za-z0-9_-]{1,50}$/, 'must be 1 to 50 letters, digits, dashes and underscores').describe('Unique per account, for ever; the idempotency key'),
  customer: z.strictObject({
    name: text(100),
    email: z.string().trim().refine(isEmail, 'must be an e-mail address'),
    phone: optional(30).describe('Some distributors require it'),
    address1: text(100),
    address2: optional(100),
    city: text(60),
    state: z.string().trim().regex(/^[A-Za-z]{2}$/, 'must be the two letters of a state').transform((value) => value.toUpperCase()),
    zip: z.string().trim().regex(/^\d{5}(-?\d{4})?$/, 'must be 5 digits, or 5 and 4'),
  }),
  items: z.array(z.strictObject({
    ...ignored,
    distid: z.string().min(1).max(20),
    distsku: z.string().min(1).max(100),
    upc: z.string().max(40),
    qty: z.int().min(1),
    ffl_req: z.boolean().nullish().transform((value) => value ?? false).describe('true: the item goes to the dealer of ffl.licenseNumber'),
  })).min(1).max(100),
  ffl: z.strictObject({ licenseNumber: z.string().max(100).nullish() }).nullish().transform((value) => value ?? null).describe('Needed when any item has ffl_req true and ship_to_store is false'),
  ship_to_store: z.boolean().nullish().transform((value) => value ?? false),
  po_number: z.string().trim().min(1).max(60).regex(/^[\x20-\x7e]*$/, 'must be printable ASCII').nullish().transform((value) => value ?? null)
    .describe('For every distributor order of a split; made for each of them where it is not given'),
})
export type PlaceBody = z.output<typeof PlaceBody>

export const PLACED_STATUSES = ['placed', 'partial', 'pending'] as const

export const PlacedOrder = z.object({
  order_id: z.string(),
  status: z.enum(PLACED_STATUSES).describe('pending: a distributor\'s answer is not known yet. Do not order again: it is being reconciled; poll GET /v1/orders/{order_id}'),
  mode: z.enum(['simulator', 'live']),
  fulfillment_orders: z.array(FulfillmentOrder),
  errors: z.array(FailedPlacement).describe('Parts of the order that produced no distributor order'),
})
export type PlacedOrder = z.output<typeof PlacedOrder>
