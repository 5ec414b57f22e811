/** Shapes of an order (contract "Place order"). */
import * as z from 'zod'
import { isEmail } from '../accounts/subscribers.js'
import { FailedPlacement, FulfillmentOrder, LONGEST_TEXT } from './history/shapes.js'

/** Blanks alone are nothing: the document says so by a pattern, since its lengths count them. */
const text = (most: number) => z.string().trim().min(1).max(most).meta({ pattern: '\\S' })
const optional = (most: number) =>
  z
    .string()
    .trim()
    .max(most)
    .nullish()
    .transform((value) => value || null)

/** Members of an Option or an offer beside those that a request needs. */
const OPTION_MEMBERS = [
  'distid',
  'distributor',
  'distsku',
  'stockid',
  'name',
  'mfg_name',
  'mpn',
  'product_class',
  'product_class_description',
  'item_cat',
  'item_gb_cat',
  'item_gb_cat_name',
  'ffl_req',
  'unit_price',
  'shipping_cost',
  'total_cost',
  'map_price',
  'msrp',
  'qty_on_hand',
  'drop_ship_flg',
  'images',
  'product_url',
  'short_description',
  'description',
  'retail_price',
  'line_total',
  'order_blockers',
] as const

/**
 * Members of an Option or an offer that are ignored, so that one can be sent back as it came;
 * `read` are those that the request does not ignore.
 */
export function ignoredMembers(
  read: readonly (typeof OPTION_MEMBERS)[number][] = [],
): Record<string, z.ZodOptional<z.ZodUnknown>> {
  const ignored = OPTION_MEMBERS.filter((name) => !read.includes(name))
  return Object.fromEntries(
    ignored.map((name) => [
      name,
      z
        .unknown()
        .optional()
        .describe('Ignored, so that an offer or an Option can be sent back as it came'),
    ]),
  )
}

export const PlaceBody = z
  .strictObject({
    order_id: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,50}$/, 'must be 1 to 50 letters, digits, dashes and underscores')
      .describe('Unique per account, for ever; the idempotency key'),
    customer: z
      .strictObject({
        name: text(100).describe('Who buys'),
        email: z
          .string()
          .trim()
          .refine(isEmail, 'must be an e-mail address')
          .meta({ description: 'E-mail address', format: 'email' }),
        phone: optional(30).describe('Some distributors require it'),
        address1: text(100).describe('Street and number; drop-ship orders go there'),
        address2: optional(100).describe('Unit'),
        city: text(60).describe('City'),
        state: z
          .string()
          .trim()
          .regex(/^[A-Za-z]{2}$/, 'must be the two letters of a state')
          .transform((value) => value.toUpperCase())
          .describe('State, two letters'),
        zip: z
          .string()
          .trim()
          .regex(/^\d{5}(-?\d{4})?$/, 'must be 5 digits, or 5 and 4')
          .describe('ZIP code, 5 digits, or 5 and 4'),
      })
      .describe('Who buys, and where drop-ship orders go'),
    items: z
      .array(
        z.strictObject({
          ...ignoredMembers(['distid', 'distsku', 'ffl_req']),
          distid: z.string().min(1).max(20).describe('The distributor'),
          distsku: z.string().min(1).max(100).describe('Its item number'),
          upc: z.string().max(40).describe('The UPC of that item'),
          qty: z.int().min(1).describe('Units'),
          ffl_req: z
            .boolean()
            .nullish()
            .transform((value) => value ?? false)
            .describe('true: the item goes to the dealer of ffl.licenseNumber'),
        }),
      )
      .min(1)
      .max(100)
      .describe("Lines, normally from a quote's best; those with one distsku are merged"),
    ffl: z
      .strictObject({
        licenseNumber: z
          .string()
          .max(100)
          .nullish()
          .describe('The full number, as the directory has it'),
      })
      .nullish()
      .transform((value) => value ?? null)
      .describe('Needed when any item has ffl_req true and ship_to_store is false'),
    ship_to_store: z
      .boolean()
      .nullish()
      .transform((value) => value ?? false)
      .describe('true: the whole order goes to the configured store; false by default'),
    po_number: z
      .string()
      .trim()
      .min(1)
      .max(LONGEST_TEXT)
      .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')
      .meta({ pattern: '^ *[\\x21-\\x7e][\\x20-\\x7e]*$' })
      .nullish()
      .transform((value) => value ?? null)
      .describe(
        'For every distributor order of a split; made for each of them where it is not given, ' +
          'and shortened for a distributor that takes no such long one',
      ),
  })
  .meta({ component: 'PlaceOrder', about: 'An order, paid by the customer beforehand' })
export type PlaceBody = z.output<typeof PlaceBody>

export const PLACED_STATUSES = ['placed', 'partial', 'pending'] as const

export const PlacedOrder = z
  .object({
    order_id: z.string().describe('Yours'),
    status: z
      .enum(PLACED_STATUSES)
      .describe(
        "pending: a distributor's answer is not known yet. Do not order again: it is being " +
          'reconciled; poll GET /v1/orders/{order_id}',
      ),
    mode: z.enum(['simulator', 'live']).describe('live: real purchase orders'),
    fulfillment_orders: z
      .array(FulfillmentOrder)
      .describe(
        'One for each distributor and need of a dealer; with ship_to_store one for each ' +
          'distributor',
      ),
    errors: z
      .array(FailedPlacement)
      .describe('Parts of the order that produced no distributor order'),
  })
  .meta({ component: 'PlacedOrder', about: 'What became of an order' })
export type PlacedOrder = z.output<typeof PlacedOrder>
