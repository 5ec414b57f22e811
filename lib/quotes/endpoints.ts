import { endpoint } from '../core/endpoint.js'
import { quoteLines } from './quote.js'
import { Quote, QuoteBody } from './shapes.js'

const option = {
  distid: 'RSR', distributor: 'RSR Group', distsku: 'RL-15-556', qty_on_hand: 14, unit_price: 812.5, shipping_cost: 18,
  map_price: 949.99, msrp: 1_049, drop_ship_flg: 1 as const, line_total: 1_643,
}

export const quote = endpoint('orders.quote', {
  summary: 'Cheapest fulfillment source of each item, and a plan by distributor',
  description: 'Considers every active distributor with enough stock, your cost adjustments, shipping model and product restrictions. Nothing is reserved.',
  body: QuoteBody,
  result: Quote,
  errors: ['no_active_distributors', 'no_validated_distributors', 'feed_unavailable'],
  example: {
    request: { items: [{ upc: '860001234503', qty: 2 }] },
    result: {
      fulfillable: true,
      plan: {
        orders: [{
          distid: 'RSR', distributor: 'RSR Group', items: [{ upc: '860001234503', distsku: 'RL-15-556', qty: 2, unit_price: 812.5, line_total: 1_625 }],
          product_subtotal: 1_625, shipping_estimate: 18,
        }],
        total_estimate: 1_643,
        note: 'Shipping is estimated line by line and summed per distributor; what ships together may cost less.',
      },
      items: [{ upc: '860001234503', qty: 2, best: option, alternatives: [] }],
      unfulfillable: [],
    },
  },
  async run(ctx, { body }) {
    const view = await ctx.catalog.view(ctx.subscriber, false)
    const { document } = ctx.configurations.of(ctx.subscriber)
    return quoteLines(view, document, body.items.map(({ upc, qty }) => ({ upc, qty })))
  },
})
