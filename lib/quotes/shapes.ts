/** Shapes of the quote (contract "Quote", decisions 8.1-2). Money in dollars. */
import * as z from 'zod'

/** Members of an Option or an offer, so that one can be sent back as it came (decisions 2.9). They are ignored. */
const ignored = Object.fromEntries([
  'distid', 'distributor', 'distsku', 'stockid', 'name', 'mfg_name', 'mpn', 'product_class', 'product_class_description', 'item_cat', 'item_gb_cat',
  'item_gb_cat_name', 'ffl_req', 'unit_price', 'shipping_cost', 'total_cost', 'map_price', 'msrp', 'qty_on_hand', 'drop_ship_flg', 'images',
  'product_url', 'short_description', 'description', 'retail_price', 'line_total',
].map((name) => [name, z.unknown().optional()])) as Record<string, z.ZodOptional<z.ZodUnknown>>

const qty = z.int().min(1)

export const QuoteBody = z.strictObject({
  items: z.array(z.strictObject({ ...ignored, upc: z.string(), qty })).min(1).max(100),
})

export const Option = z.object({
  distid: z.string(),
  distributor: z.string(),
  distsku: z.string(),
  qty_on_hand: z.int(),
  unit_price: z.number(),
  shipping_cost: z.number().describe('The shipping model for the whole line'),
  map_price: z.number().nullable(),
  msrp: z.number().nullable(),
  drop_ship_flg: z.union([z.literal(0), z.literal(1)]),
  line_total: z.number().describe('unit_price x qty + shipping_cost'),
})
export type Option = z.infer<typeof Option>

export const UNFULFILLABLE = ['upc_not_found', 'insufficient_stock', 'purchase_limit_exceeded'] as const

export const Quote = z.object({
  fulfillable: z.boolean(),
  plan: z.object({
    orders: z.array(z.object({
      distid: z.string(),
      distributor: z.string(),
      items: z.array(z.object({
        upc: z.string(), distsku: z.string(), qty: z.int(), unit_price: z.number(),
        line_total: z.number().describe('unit_price x qty, without shipping'),
      })),
      product_subtotal: z.number(),
      shipping_estimate: z.number(),
    })),
    total_estimate: z.number(),
    note: z.string(),
  }),
  items: z.array(z.object({ upc: z.string(), qty: z.int(), best: Option.nullable(), alternatives: z.array(Option) })),
  unfulfillable: z.array(z.object({ upc: z.string(), qty: z.int(), reason: z.enum(UNFULFILLABLE) })),
})
export type Quote = z.infer<typeof Quote>
