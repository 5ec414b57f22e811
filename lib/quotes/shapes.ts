/** Shapes of the quote (contract "Quote"). Money in dollars. */
import * as z from 'zod'
import { ignoredMembers } from '../orders/shapes.js'

const dollars = (description: string) => z.number().describe(`${description}, dollars`)
const distid = z.string().describe('The distributor')
const distributor = z.string().describe('Its name')
const asked = {
  upc: z.string().describe('As asked for'),
  qty: z.int().describe('Units, as asked for'),
}

export const QuoteBody = z
  .strictObject({
    items: z
      .array(
        z.strictObject({
          ...ignoredMembers(),
          upc: z.string().describe('Any text; one that is not a UPC is not found'),
          qty: z.int().min(1).describe('Units'),
        }),
      )
      .min(1)
      .max(100)
      .describe(
        'Lines; with one UPC twice, the later one is quoted against what the earlier one left',
      ),
  })
  .meta({ component: 'QuoteRequest', about: 'What is to be quoted' })

export const BLOCKERS = [
  'fulfillment_not_configured',
  'distributor_takes_no_orders',
  'different_modes',
  'ffl_required',
  'not_drop_shippable',
  'insufficient_stock',
  'purchase_limit_exceeded',
  'unknown_item',
  'restricted',
] as const

const OrderBlocker = z
  .object({
    code: z.enum(BLOCKERS).describe('Why'),
    message: z.string().describe('The same in words, with what helps'),
  })
  .meta({
    component: 'OrderBlocker',
    about: 'What an order to the customer would be refused for, as far as a quote can know',
  })
export type Blocker = z.infer<typeof OrderBlocker>

const order_blockers = z
  .array(OrderBlocker)
  .describe(
    'What an order of it to the customer would be refused for; empty: nothing that the quote ' +
      'knows of',
  )

export const Option = z
  .object({
    distid,
    distributor,
    distsku: z.string().describe('Its item number; what an order names'),
    qty_on_hand: z.int().describe('Units in stock'),
    unit_price: dollars('Dealer cost with custom pricing applied'),
    shipping_cost: dollars('The shipping model for the whole line'),
    map_price: dollars('Minimum advertised price; null where there is none').nullable(),
    msrp: dollars('Suggested retail price; null where there is none').nullable(),
    drop_ship_flg: z
      .union([z.literal(0), z.literal(1)])
      .describe('1 = can be shipped to the customer'),
    line_total: dollars('unit_price x qty + shipping_cost'),
    order_blockers,
  })
  .meta({ component: 'Option', about: 'What a line costs at one distributor' })
export type Option = z.infer<typeof Option>

export const UNFULFILLABLE = [
  'upc_not_found',
  'insufficient_stock',
  'purchase_limit_exceeded',
] as const

const PlannedOrder = z
  .object({
    distid,
    distributor,
    items: z
      .array(
        z.object({
          ...asked,
          distsku: z.string().describe('Its item number'),
          unit_price: dollars('Dealer cost'),
          line_total: dollars('unit_price x qty, without shipping'),
        }),
      )
      .describe('Lines that it fulfills'),
    product_subtotal: dollars('Sum of the line totals'),
    shipping_estimate: dollars('Sum of the shipping of the lines'),
    order_blockers,
  })
  .meta({ component: 'PlannedOrder', about: 'What the plan orders from one distributor' })

export const Quote = z
  .object({
    fulfillable: z.boolean().describe('Every line has a source'),
    plan: z
      .object({
        orders: z.array(PlannedOrder).describe('One for each distributor'),
        total_estimate: dollars('Goods and shipping of all orders'),
        note: z.string().describe('What the estimate leaves out'),
        orderable: z
          .boolean()
          .describe('There is something to order, and no order of the plan has a blocker'),
      })
      .describe('The best Option of each line, grouped by distributor'),
    items: z
      .array(
        z.object({
          ...asked,
          best: Option.nullable().describe('The cheapest by line_total; null where there is none'),
          alternatives: z.array(Option).max(5).describe('The next cheapest, at most 5'),
        }),
      )
      .describe('In the order of the request'),
    unfulfillable: z
      .array(
        z.object({
          ...asked,
          reason: z.enum(UNFULFILLABLE).describe('Why no distributor can fulfill it'),
        }),
      )
      .describe('Lines without a source'),
  })
  .meta({ component: 'Quote', about: 'The cheapest source of each line, and a plan' })
export type Quote = z.infer<typeof Quote>
