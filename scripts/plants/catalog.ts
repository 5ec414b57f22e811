/** Bugs of what a subscriber sees, and at which price. */
import type * as Costs from '../../lib/catalog/view/costs.js'
import type * as Restrictions from '../../lib/catalog/view/restrictions.js'
import type * as Retail from '../../lib/catalog/view/retail.js'
import type * as Shipping from '../../lib/catalog/view/shipping.js'
import type * as View from '../../lib/catalog/view/view.js'
import type * as Quote from '../../lib/quotes/quote.js'
import type { Plant } from './seam.js'

export const CATALOG: readonly Plant[] = [
  {
    name: 'a line is insured as one unit',
    suites: ['quotes/quotes', 'catalog/view'],
    seams: [
      {
        at: 'lib/catalog/view/shipping.ts#shippingModel',
        make:
          (real: typeof Shipping.shippingModel): typeof real =>
          (shipping) => {
            const model = real(shipping)
            return (shipped) => model(shipped, 1)
          },
      },
    ],
  },
  {
    name: 'an unused spelling of the levels is not read',
    suites: ['catalog/view', 'quotes/quotes', 'configuration/schema'],
    seams: [
      {
        at: 'lib/catalog/view/shipping.ts#shippingModel',
        make:
          (real: typeof Shipping.shippingModel): typeof real =>
          ({ price_based_shipping_levels: _levels, ...shipping }) =>
            real(shipping as Parameters<typeof real>[0]),
      },
    ],
  },
  {
    name: 'a half cent goes down',
    suites: ['catalog/view', 'quotes/quotes'],
    seams: [
      {
        at: 'lib/catalog/view/costs.ts#roundHalfUp',
        make: (): typeof Costs.roundHalfUp => (cents) => Math.ceil(cents - 0.5),
      },
    ],
  },
  {
    name: "prices of one's own feed are not used",
    suites: ['feeds/sources', 'catalog/view'],
    seams: [
      {
        at: 'lib/catalog/view/costs.ts#costColumn',
        make:
          (real: typeof Costs.costColumn): typeof real =>
          (snapshot, _subscriber, adjustments) =>
            real(snapshot, 'nobody', adjustments),
      },
    ],
  },
  {
    name: 'of several cost adjustments the last one counts',
    suites: ['catalog/view'],
    seams: [
      {
        at: 'lib/catalog/view/costs.ts#costColumn',
        make:
          (real: typeof Costs.costColumn): typeof real =>
          (snapshot, subscriber, adjustments) =>
            real(snapshot, subscriber, adjustments.slice(-1)),
      },
    ],
  },
  {
    name: 'handling goes into the cost of a cart at its threshold',
    suites: ['catalog/view', 'quotes/quotes'],
    seams: [
      {
        at: 'lib/catalog/view/costs.ts#shownColumn',
        make:
          (real: typeof Costs.shownColumn): typeof real =>
          (snapshot, costs, distributors) =>
            real(
              snapshot,
              costs,
              distributors.map(({ place, entry }) => {
                const { handling } = entry.shipping
                return {
                  place,
                  entry: handling
                    ? {
                        ...entry,
                        shipping: {
                          ...entry.shipping,
                          handling: {
                            ...handling,
                            order_threshold: handling.order_threshold + 0.01,
                          },
                        },
                      }
                    : entry,
                }
              }),
            ),
      },
    ],
  },
  {
    name: 'MAP binds nobody',
    suites: ['catalog/view'],
    seams: [
      {
        at: 'lib/catalog/view/retail.ts#retailRule',
        make:
          (real: typeof Retail.retailRule): typeof real =>
          (pricing) => {
            const rule = real(pricing)
            return (
              rule &&
              ((offer) =>
                rule({
                  ...offer,
                  distid: offer.distid,
                  sku: offer.sku,
                  upcKey: offer.upcKey,
                  brand: offer.brand,
                  category: offer.category,
                  productClass: offer.productClass,
                  cost: offer.cost,
                  unitPrice: offer.unitPrice,
                  shippingCost: offer.shippingCost,
                  map: -1,
                }))
            )
          },
      },
    ],
  },
  {
    name: 'the fee of the card is added once for the price and not for the tax',
    suites: ['catalog/view'],
    seams: [
      {
        at: 'lib/catalog/view/retail.ts#retailRule',
        make:
          (real: typeof Retail.retailRule): typeof real =>
          (pricing) =>
            real({ ...pricing, sales_tax_assumption: 0 }),
      },
    ],
  },
  {
    name: 'include lists admit on their own by default',
    suites: ['catalog/view'],
    seams: [
      {
        at: 'lib/catalog/view/restrictions.ts#entryRules',
        make:
          (real: typeof Restrictions.entryRules): typeof real =>
          (input, name, entry) => {
            const layer = Object.fromEntries(
              Object.entries(entry.product_restrictions).map(([list, rule]) => [
                list,
                rule && typeof rule === 'object' && 'include' in rule
                  ? { include_operand: 'OR', ...rule }
                  : rule,
              ]),
            )
            return real(input, name, {
              ...entry,
              product_restrictions: layer as typeof entry.product_restrictions,
            })
          },
      },
    ],
  },
  {
    name: 'what a distributor does not drop-ship is shown all the same',
    suites: ['catalog/view'],
    seams: [
      {
        at: 'lib/catalog/view/restrictions.ts#entryRules',
        make:
          (real: typeof Restrictions.entryRules): typeof real =>
          (input, name, entry) =>
            real(input, name, { ...entry, drop_ship_only_items: false }),
      },
    ],
  },
  {
    name: 'the root layer holds for nobody',
    suites: ['catalog/view'],
    seams: [
      {
        at: 'lib/catalog/view/restrictions.ts#layerRules',
        make: (): typeof Restrictions.layerRules => () => [],
      },
    ],
  },
  {
    name: 'a view is not judged again where prices moved',
    suites: ['catalog/view', 'feeds/updates'],
    seams: [
      {
        at: 'lib/catalog/view/view.ts#makeView',
        make:
          (real: typeof View.makeView): typeof real =>
          (snapshot, input, prices, previous) => {
            const view = real(snapshot, input, prices, previous)
            return previous && previous.snapshot.rows === snapshot.rows
              ? { ...view, visible: previous.visible }
              : view
          },
      },
    ],
  },
  {
    name: 'each line of a quote has all the stock',
    suites: ['quotes/quotes'],
    seams: [
      {
        at: 'lib/quotes/quote.ts#quoteLines',
        make:
          (real: typeof Quote.quoteLines): typeof real =>
          (view, document, lines) => {
            const quotes = lines.map((line) => real(view, document, [line]))
            return {
              ...real(view, document, lines),
              items: quotes.flatMap(({ items }) => items),
              unfulfillable: quotes.flatMap(({ unfulfillable }) => unfulfillable),
            }
          },
      },
    ],
  },
  {
    name: 'a quote takes the lines from the last on',
    suites: ['quotes/quotes'],
    seams: [
      {
        at: 'lib/quotes/quote.ts#quoteLines',
        make:
          (real: typeof Quote.quoteLines): typeof real =>
          (view, document, lines) => {
            const quote = real(view, document, [...lines].reverse())
            return { ...quote, items: [...quote.items].reverse() }
          },
      },
    ],
  },
]
