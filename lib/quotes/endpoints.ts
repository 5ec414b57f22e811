import type { QuotesCall } from './ctx.js'
import { endpointsOf } from '../core/endpoint/endpoint.js'
import { openBlockers } from './blockers.js'
import { quoteLines } from './quote.js'
import { Quote, QuoteBody } from './shapes.js'

const endpoint = endpointsOf<QuotesCall>()

const retail = { map_price: 112.99, msrp: 124.99, drop_ship_flg: 1 as const, order_blockers: [] }

export const quote = endpoint('orders.quote', {
  summary: 'Cheapest fulfillment source of each item, and a plan by distributor',
  description:
    'Considers every active distributor with enough stock, your cost adjustments, shipping ' +
    'model and product restrictions. Nothing is reserved. `order_blockers` and ' +
    '`plan.orderable` tell what an order to the customer would be refused for, as far as that ' +
    'can be known before there is one; `fulfillable` does not look at them.',
  body: QuoteBody,
  result: Quote,
  errors: ['no_active_distributors', 'no_validated_distributors', 'feed_unavailable'],
  example: {
    request: { items: [{ upc: '493162079197', qty: 2 }] },
    result: {
      fulfillable: true,
      plan: {
        orders: [
          {
            distid: 'CSSI',
            distributor: 'Chattanooga Shooting Supplies',
            items: [
              {
                upc: '493162079197',
                distsku: 'SLW-07919',
                qty: 2,
                unit_price: 82.95,
                line_total: 165.9,
              },
            ],
            product_subtotal: 165.9,
            shipping_estimate: 8.95,
            order_blockers: [],
          },
        ],
        total_estimate: 174.85,
        note:
          'Shipping is estimated line by line and summed per distributor; what ships together ' +
          'may cost less.',
        orderable: true,
      },
      items: [
        {
          upc: '493162079197',
          qty: 2,
          best: {
            distid: 'CSSI',
            distributor: 'Chattanooga Shooting Supplies',
            distsku: 'SLW-07919',
            qty_on_hand: 21,
            unit_price: 82.95,
            shipping_cost: 8.95,
            ...retail,
            line_total: 174.85,
          },
          alternatives: [
            {
              distid: 'RSR',
              distributor: 'RSR Group',
              distsku: 'SLWHO07919',
              qty_on_hand: 38,
              unit_price: 84.5,
              shipping_cost: 10.8,
              ...retail,
              line_total: 179.8,
            },
            {
              distid: 'LIP',
              distributor: 'Lipseys',
              distsku: 'SLWHO07919',
              qty_on_hand: 12,
              unit_price: 86.1,
              shipping_cost: 12.5,
              ...retail,
              line_total: 184.7,
            },
          ],
        },
      ],
      unfulfillable: [],
    },
    refused: {
      invalid_parameter: {
        request: { items: [{ upc: '493162079197', qty: 0 }] },
        message: 'items[0].qty: must be at least 1',
        details: [{ path: 'items[0].qty', message: 'must be at least 1' }],
      },
    },
  },
  async run(ctx, { body }) {
    const saved = await ctx.configurations.of(ctx.subscriber)
    const view = await ctx.catalog.view(ctx.subscriber, false, saved)
    return quoteLines(
      view,
      saved.document,
      body.items.map(({ upc, qty }) => ({ upc, qty })),
      await openBlockers(ctx, view, saved),
    )
  },
})
