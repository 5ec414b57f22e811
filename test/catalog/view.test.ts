import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import type {
  DistributorEntry,
  MarginGroup,
  Pricing,
  ProductRestrictions,
  Shipping,
} from '../../lib/configuration/document/document.js'
import type { Product } from '../../lib/catalog/shapes.js'
import { MAX_CENTS, dollarsText } from '../../lib/core/money.js'
import { retailRule } from '../../lib/catalog/view/retail.js'
import type { Priced } from '../../lib/catalog/view/retail.js'
import { makeView } from '../../lib/catalog/view/view.js'
import type { View } from '../../lib/catalog/view/view.js'
import { shippingModel } from '../../lib/catalog/view/shipping.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { quoteLines } from '../../lib/quotes/quote.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp, TestOffer } from '../../server/testing/index.js'

const level = (cost: number, min: number, max?: number, more = {}) => ({
  flat_rate: { cost, shipping_class: 'x' },
  min_unit_cost: min,
  ...(max !== undefined && { max_unit_cost: max }),
  ...more,
})
const flat = (cost: number) => ({ flat_rate: { cost, shipping_class: 'x' } })

test('adjustments beyond all measure end at ten million dollars', async () => {
  await using t = await createTestApp()
  await t.stock([{ distid: 'RSR', stockid: 'A', price: 1_000 }])
  const pricing = { cost_adjustments: Array.from({ length: 43 }, () => ({ dollar: 1_000_000 })) }
  await t.configure({ pricing, distributors: { 'RSR Group': { distid: 'RSR' } } })
  assert.equal((await t.json('/v1/products/search')).body.data.products[0].unit_price, 10_000_000)
})

describe('the shipping model', () => {
  const rows: [
    name: string,
    shipping: Shipping,
    unitDollars: number,
    qty: number,
    expectedDollars: number,
    more?: { productClass?: string; category?: string; feed?: number },
  ][] = [
    ['a flat rate', flat(9.95), 100, 1, 9.95],
    ['a flat rate once per line', flat(9.95), 100, 5, 9.95],
    [
      'the first level that fits',
      { price_based_shipping: [level(5, 0, 50), level(10, 51)] },
      30,
      1,
      5,
    ],
    [
      'a level up to 50 holds 50.99',
      { price_based_shipping: [level(5, 0, 50), level(10, 51)] },
      50.99,
      1,
      5,
    ],
    [
      'a level from 51 holds 51.00',
      { price_based_shipping: [level(5, 0, 50), level(10, 51)] },
      51,
      1,
      10,
    ],
    [
      'the other spelling of the levels',
      { price_based_shipping_levels: [level(5, 0, 50), level(10, 51)] },
      60,
      1,
      10,
    ],
    [
      'a level is chosen by unit cost, not by line',
      { price_based_shipping: [level(5, 0, 50), level(10, 51)] },
      30,
      4,
      5,
    ],
    [
      'overlapping levels: the first counts',
      { price_based_shipping: [level(5, 0), level(1, 0)] },
      30,
      1,
      5,
    ],
    [
      'a level of another class does not fit',
      { price_based_shipping: [level(5, 0, 99, { product_class: ['FA'] }), level(7, 0)] },
      30,
      1,
      7,
      { productClass: 'AC' },
    ],
    [
      'a level of the class fits',
      { price_based_shipping: [level(5, 0, 99, { product_class: ['FA'] }), level(7, 0)] },
      30,
      1,
      5,
      { productClass: 'FA' },
    ],
    [
      'a level of the category fits',
      { price_based_shipping: [level(5, 0, 99, { category: ['Knives'] }), level(7, 0)] },
      30,
      1,
      5,
      { category: 'Knives' },
    ],
    [
      'an empty class list is as if absent',
      { price_based_shipping: [level(5, 0, 99, { product_class: [] })] },
      30,
      1,
      5,
    ],
    [
      'no level fits: the flat rate',
      { price_based_shipping_levels: [level(5, 0, 50)], ...flat(20) },
      60,
      1,
      20,
    ],
    [
      "no level fits: the feed's estimate",
      { price_based_shipping: [level(5, 0, 50)] },
      60,
      1,
      8.5,
      { feed: 850 },
    ],
    [
      'no level fits and no estimate: the dearest level, never 0',
      { price_based_shipping: [level(5, 0, 50), level(12, 10, 20)] },
      60,
      1,
      12,
    ],
    [
      'insurance pro rata',
      { ...flat(10), insurance: { include: true, cost_per_hundred: 1 } },
      250,
      1,
      12.5,
    ],
    [
      'insurance on the line',
      { ...flat(10), insurance: { include: true, cost_per_hundred: 1 } },
      250,
      2,
      15,
    ],
    [
      'insurance rounded half up',
      { ...flat(0), insurance: { include: true, cost_per_hundred: 0.5 } },
      1,
      1,
      0.01,
    ],
    [
      'insurance that is not included',
      { ...flat(10), insurance: { include: false, cost_per_hundred: 1 } },
      250,
      1,
      10,
    ],
    [
      'handling below the threshold',
      {
        ...flat(10),
        handling: { amount: 7.5, order_threshold: 50, add_handling_to_unit_cost: false },
      },
      49.99,
      1,
      17.5,
    ],
    [
      'no handling at the threshold',
      {
        ...flat(10),
        handling: { amount: 7.5, order_threshold: 50, add_handling_to_unit_cost: false },
      },
      50,
      1,
      10,
    ],
    [
      'handling looks at the line',
      {
        ...flat(10),
        handling: { amount: 7.5, order_threshold: 50, add_handling_to_unit_cost: false },
      },
      25,
      2,
      10,
    ],
    [
      'insurance and handling come on top of a level',
      {
        price_based_shipping: [level(5, 0, 50)],
        insurance: { include: true, cost_per_hundred: 1 },
        handling: { amount: 2, order_threshold: 50, add_handling_to_unit_cost: false },
      },
      30,
      1,
      7.3,
    ],
    ['insurance that names no rate', { ...flat(10), insurance: { include: true } }, 250, 1, 10],
    ["a flat rate goes before the feed's estimate", flat(9.95), 100, 1, 9.95, { feed: 500 }],
    [
      'a level goes before both',
      { price_based_shipping_levels: [level(5, 0)], ...flat(20) },
      60,
      1,
      5,
      { feed: 850 },
    ],
    [
      'a level must fit in class and in category',
      {
        price_based_shipping: [
          level(5, 0, 99, { product_class: ['FA'], category: ['Knives'] }),
          level(7, 0),
        ],
      },
      30,
      1,
      7,
      { productClass: 'FA' },
    ],
    ['an estimate of 0 is one', { price_based_shipping: [level(5, 0, 50)] }, 60, 1, 0, { feed: 0 }],
    [
      'handling that went into the cost is not charged again',
      {
        ...flat(10),
        handling: { amount: 7.5, order_threshold: 50, add_handling_to_unit_cost: true },
      },
      20,
      1,
      10,
    ],
  ]
  for (const [name, shipping, unit, qty, expected, more = {}] of rows) {
    test(name, () => {
      const shipped = {
        cost: Math.round(unit * 100),
        productClass: more.productClass ?? 'AC',
        category: more.category ?? 'Uncategorized',
        feedEstimate: more.feed ?? -1,
      }
      assert.equal(shippingModel(shipping)(shipped, qty) / 100, expected)
    })
  }
})

test('cents as text are what JSON makes of the dollars', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: MAX_CENTS }), (cents) =>
      assert.equal(dollarsText(cents), JSON.stringify(cents / 100)),
    ),
  )
})

describe('retail prices', () => {
  const priced: Priced = {
    distid: 'RSR',
    sku: 'AB-1',
    upcKey: 12345678905,
    brand: 'Ridgeline',
    category: 'Rifles',
    productClass: 'FA',
    cost: 8_000,
    unitPrice: 8_000,
    shippingCost: 1_000,
    map: -1,
  }
  const group = (margin_percentage: number, filters: Partial<MarginGroup> = {}): MarginGroup => ({
    margin_percentage,
    ...filters,
  })
  const rows: [
    name: string,
    pricing: Pricing,
    offer: Partial<typeof priced>,
    expectedDollars: number,
  ][] = [
    ['a percentage is a share of the price', { margin: { default: group(0.2) } }, {}, 100],
    [
      'dollars come on top',
      { margin: { default: { margin_percentage: 0.2, margin_dollar: 5 } } },
      {},
      105,
    ],
    [
      'fees and tax that leave nothing end at 99 %',
      {
        margin: { default: group(0) },
        include_credit_card_fees_in_price: true,
        credit_card_fee_percent: 0.8,
        sales_tax_assumption: 0.25,
      },
      {},
      8_000,
    ],
    [
      'a margin below zero ends at a price of zero',
      { margin: { default: { margin_dollar: -1_000 } } },
      {},
      0,
    ],
    [
      "an empty brand is nobody's",
      { margin: { default: group(0.2), odd: group(0.5, { brand: [''] }) } },
      { brand: null },
      100,
    ],
    ['dollars alone', { margin: { default: { margin_dollar: 12.34 } } }, {}, 92.34],
    [
      'shipping is included where asked for',
      { margin: { default: group(0.1) }, include_shipping_in_price: true },
      {},
      100,
    ],
    [
      'card fees are solved for, with the tax that they are taken on',
      {
        margin: { default: group(0.2) },
        include_credit_card_fees_in_price: true,
        credit_card_fee_percent: 0.03,
        credit_card_fee_transaction: 0.3,
        sales_tax_assumption: 0.08,
      },
      {},
      103.66,
    ],
    [
      'fees that are not included change nothing',
      { margin: { default: group(0.2) }, credit_card_fee_percent: 0.03 },
      {},
      100,
    ],
    [
      'to the nearest dollar, down',
      { margin: { default: { margin_dollar: 0.49 } }, rounding: 'round_to_nearest_dollar' },
      {},
      80,
    ],
    [
      'to the nearest dollar, half up',
      { margin: { default: { margin_dollar: 0.5 } }, rounding: 'round_to_nearest_dollar' },
      {},
      81,
    ],
    [
      'up to 99 cents',
      { margin: { default: { margin_dollar: 0 } }, rounding: 'round_up_to_99_cents' },
      {},
      80.99,
    ],
    [
      '99 cents stay',
      { margin: { default: { margin_dollar: 0.99 } }, rounding: 'round_up_to_99_cents' },
      {},
      80.99,
    ],
    ['never below MAP', { margin: { default: group(0.2) } }, { map: 11_000 }, 110],
    ['above MAP the margin counts', { margin: { default: group(0.2) } }, { map: 9_000 }, 100],
    [
      'a brand that ignores MAP',
      { margin: { default: group(0.2) }, ignore_map_brands: ['Ridgeline'] },
      { map: 11_000 },
      100,
    ],
    [
      'another brand still keeps to it',
      { margin: { default: group(0.2) }, ignore_map_brands: ['Kestrel'] },
      { map: 11_000 },
      110,
    ],
    [
      'sell_at_map sets it to MAP',
      { margin: { default: group(0.2) }, sell_at_map: true },
      { map: 9_000 },
      90,
    ],
    ['sell_at_map without a MAP', { margin: { default: group(0.2) }, sell_at_map: true }, {}, 100],
    [
      'a class group before the default',
      { margin: { default: group(0.2), firearms: group(0.5, { product_class: ['FA'] }) } },
      {},
      160,
    ],
    [
      'a brand group before a class group',
      {
        margin: {
          default: group(0.2),
          a: group(0.5, { product_class: ['FA'] }),
          b: group(0.36, { brand: ['Ridgeline'] }),
        },
      },
      {},
      125,
    ],
    [
      'a sku group before all, case aside',
      {
        margin: {
          default: group(0.2),
          a: group(0.5, { brand: ['Ridgeline'] }),
          b: group(0.36, { sku: ['ab-1'] }),
        },
      },
      {},
      125,
    ],
    [
      'a upc group, as a number',
      { margin: { default: group(0.2), a: group(0.36, { upc: [12345678905] }) } },
      {},
      125,
    ],
    [
      'document order among equals',
      {
        margin: {
          default: group(0.2),
          a: group(0.36, { brand: ['Ridgeline'] }),
          b: group(0.5, { brand: ['Ridgeline'] }),
        },
      },
      {},
      125,
    ],
    [
      'all filters of a group must hold',
      {
        margin: {
          default: group(0.2),
          a: group(0.5, { brand: ['Ridgeline'], product_class: ['AC'] }),
        },
      },
      {},
      100,
    ],
    [
      'a distributor group comes last before the default',
      {
        margin: {
          default: group(0.2),
          a: group(0.36, { distributor: ['RSR'] }),
          b: group(0.5, { category: ['Rifles'] }),
        },
      },
      {},
      160,
    ],
    [
      'the fitting price range of a group',
      {
        margin: {
          default: {
            margin_percentage: 0.2,
            price_based_margin: [
              { minimum_unit_cost: 0, maximum_unit_cost: 50, margin_percentage: 0.5 },
              { minimum_unit_cost: 50.01, margin_dollar: 10 },
            ],
          },
        },
      },
      {},
      90,
    ],
    [
      'a cost between two ranges in whole dollars belongs to the lower one',
      {
        margin: {
          default: {
            margin_dollar: 0,
            price_based_margin: [
              { minimum_unit_cost: 0, maximum_unit_cost: 79, margin_dollar: 10 },
              { minimum_unit_cost: 80, margin_dollar: 20 },
            ],
          },
        },
      },
      { cost: 7_950, unitPrice: 7_950 },
      89.5,
    ],
    [
      'ranges that touch leave what is above the edge to the upper one',
      {
        margin: {
          default: {
            margin_dollar: 0,
            price_based_margin: [
              { minimum_unit_cost: 0, maximum_unit_cost: 79, margin_dollar: 10 },
              { minimum_unit_cost: 79, margin_dollar: 20 },
            ],
          },
        },
      },
      { cost: 7_950, unitPrice: 7_950 },
      99.5,
    ],
    [
      'a range chosen by the cost before handling, a price from the cost that is shown',
      {
        margin: {
          default: {
            margin_dollar: 0,
            price_based_margin: [
              { maximum_unit_cost: 80, margin_dollar: 10 },
              { minimum_unit_cost: 80.01, margin_dollar: 20 },
            ],
          },
        },
      },
      { cost: 8_000, unitPrice: 8_500 },
      95,
    ],
    [
      'fees come before the rounding',
      {
        margin: { default: { margin_dollar: 0 } },
        include_credit_card_fees_in_price: true,
        credit_card_fee_percent: 0.2,
        rounding: 'round_up_to_99_cents',
      },
      {},
      100.99,
    ],
    [
      'fees of the transaction alone',
      {
        margin: { default: { margin_dollar: 0 } },
        include_credit_card_fees_in_price: true,
        credit_card_fee_transaction: 0.3,
      },
      {},
      80.3,
    ],
    [
      'shipping, margin and dollars together',
      {
        margin: { default: { margin_percentage: 0.1, margin_dollar: 2 } },
        include_shipping_in_price: true,
      },
      {},
      102,
    ],
    [
      'MAP is not rounded',
      { margin: { default: group(0.2) }, rounding: 'round_up_to_99_cents' },
      { map: 11_050 },
      110.5,
    ],
    ['what is at MAP stays', { margin: { default: group(0.2) } }, { map: 10_000 }, 100],
    [
      'an offer without a brand keeps to MAP',
      { margin: { default: group(0.2) }, ignore_map_brands: ['Ridgeline'] },
      { map: 11_000, brand: null as never },
      110,
    ],
    [
      'a brand that ignores MAP is still sold at it by sell_at_map',
      { margin: { default: group(0.2) }, ignore_map_brands: ['Ridgeline'], sell_at_map: true },
      { map: 11_000 },
      110,
    ],
    [
      'a group without a filter never applies',
      { margin: { default: group(0.2), a: group(0.5), b: group(0.5, { brand: [] }) } },
      {},
      100,
    ],
    [
      'no fitting range: the group itself',
      {
        margin: {
          default: {
            margin_percentage: 0.2,
            price_based_margin: [{ maximum_unit_cost: 50, margin_percentage: 0.5 }],
          },
        },
      },
      {},
      100,
    ],
  ]
  for (const [name, pricing, offer, expected] of rows) {
    test(name, () => assert.equal(retailRule(pricing)!({ ...priced, ...offer }) / 100, expected))
  }

  test('a document without margin has no retail price', () => {
    assert.equal(retailRule({}), null)
    assert.equal(retailRule({ rounding: 'none' }), null)
  })

  test('of several groups that match the most specific counts, wherever it stands', () => {
    const filters: Partial<MarginGroup>[] = [
      { sku: ['AB-1'] },
      { upc: ['012345678905'] },
      { brand: ['Ridgeline'] },
      { category: ['Rifles'] },
      { product_class: ['FA'] },
      { distributor: ['RSR'] },
    ]
    for (let first = 0; first <= filters.length; first++) {
      const groups = filters
        .map((filter, i) => ['abcdef'[i]!, { margin_dollar: i, ...filter }] as const)
        .slice(first)
        .reverse()
      const rule = retailRule({
        margin: Object.fromEntries([...groups, ['default', { margin_dollar: filters.length }]]),
      })!
      assert.equal(rule(priced), 8_000 + first * 100)
    }
  })

  const cents = fc.integer({ min: 0, max: 500_000 })
  const rounding = fc.constantFrom(
    'none' as const,
    'round_to_nearest_dollar' as const,
    'round_up_to_99_cents' as const,
  )
  const percent = (most: number) => fc.integer({ min: 0, max: most }).map((whole) => whole / 100)
  const others: fc.Arbitrary<Pricing> = fc.record({
    rounding,
    include_shipping_in_price: fc.boolean(),
    include_credit_card_fees_in_price: fc.boolean(),
    credit_card_fee_percent: percent(30),
    credit_card_fee_transaction: percent(100),
    sales_tax_assumption: percent(20),
  })
  const margin: fc.Arbitrary<MarginGroup> = fc.record({
    margin_percentage: percent(98),
    margin_dollar: percent(5_000),
  })
  const offer = fc
    .record({ unitPrice: cents, shippingCost: cents, map: fc.oneof(fc.constant(-1), cents) })
    .map((some) => ({ ...priced, ...some, cost: some.unitPrice }))
  const price = (pricing: Pricing, standard: MarginGroup, of: typeof priced) =>
    retailRule({ ...pricing, margin: { default: standard } })!(of)

  test('a greater margin is never a lower price', () => {
    fc.assert(
      fc.property(others, margin, margin, offer, (pricing, a, b, of) => {
        const least = {
          margin_percentage: Math.min(a.margin_percentage!, b.margin_percentage!),
          margin_dollar: Math.min(a.margin_dollar!, b.margin_dollar!),
        }
        for (const greater of [a, b])
          assert.ok(price(pricing, least, of) <= price(pricing, greater, of))
      }),
    )
  })

  test('a greater cost, dearer shipping or a greater fee is never a lower price', () => {
    fc.assert(
      fc.property(
        others,
        margin,
        offer,
        cents,
        cents,
        percent(60),
        (pricing, standard, of, more, shipping, fee) => {
          const before = price(pricing, standard, of)
          assert.ok(
            before <=
              price(pricing, standard, {
                ...of,
                cost: of.cost + more,
                unitPrice: of.unitPrice + more,
              }),
          )
          assert.ok(
            before <= price(pricing, standard, { ...of, shippingCost: of.shippingCost + shipping }),
          )
          assert.ok(
            before <=
              price(
                {
                  ...pricing,
                  credit_card_fee_percent: Math.max(pricing.credit_card_fee_percent!, fee),
                },
                standard,
                of,
              ),
          )
        },
      ),
    )
  })

  test('a price is whole cents, never below MAP unless the brand ignores it, and MAP changes nothing else', () => {
    fc.assert(
      fc.property(others, margin, offer, fc.boolean(), (pricing, standard, of, ignores) => {
        const found = price(
          { ...pricing, ignore_map_brands: ignores ? [of.brand!] : ['Kestrel'] },
          standard,
          of,
        )
        const free = price(pricing, standard, { ...of, map: -1 })
        assert.ok(Number.isInteger(found))
        assert.equal(found, ignores ? free : Math.max(free, of.map))
      }),
    )
  })

  test('after the card company took its share what is left is the price without fees', () => {
    fc.assert(
      fc.property(others, margin, offer, (pricing, standard, of) => {
        const plain = { ...pricing, rounding: 'none' as const }
        const charged = price({ ...plain, include_credit_card_fees_in_price: true }, standard, {
          ...of,
          map: -1,
        })
        const fees =
          charged * plain.credit_card_fee_percent! * (1 + plain.sales_tax_assumption!) +
          plain.credit_card_fee_transaction! * 100
        assert.ok(
          Math.abs(
            charged -
              fees -
              price({ ...plain, include_credit_card_fees_in_price: false }, standard, {
                ...of,
                map: -1,
              }),
          ) <= 1.5,
        )
      }),
    )
  })
})

const rowsIn = ({ snapshot, visible }: View) =>
  Array.from({ length: snapshot.rows }, (_, row) => row).filter((row) => visible.has(row))

/** Names of the visible offers; the test offers' SKUs tell them apart. */
function namesIn(view: View): string[] {
  const { snapshot } = view
  return rowsIn(view).map(
    (row) =>
      OFFERS.find(
        ({ distid, stockid }) =>
          distid === snapshot.distids[snapshot.distributor[row]!] &&
          stockid === snapshot.stockid(row),
      )!.name!,
  )
}

const OFFERS: TestOffer[] = [
  {
    distid: 'RSR',
    stockid: 'A',
    name: 'Alpha',
    mfgName: 'Ridgeline',
    productClass: 'FA',
    categoryName: 'Rifles',
    categoryId: 3024,
    price: 50_000,
    map: 60_000,
    msrp: 70_000,
    qty: 3,
    fflReq: true,
    dropShip: true,
    upc: '012345678905',
  },
  {
    distid: 'RSR',
    stockid: 'B',
    name: 'Beta',
    mfgName: 'Kestrel',
    productClass: 'OP',
    categoryName: 'Sights',
    price: 10_000,
    qty: 50,
    upc: '012345678912',
  },
  {
    distid: 'RSR',
    stockid: 'C',
    name: 'Gamma',
    mfgName: 'Kestrel',
    productClass: 'AC',
    price: 500,
    qty: 0,
    dropShip: false,
  },
  {
    distid: 'LIP',
    stockid: 'A',
    name: 'Delta',
    mfgName: 'Ridgeline',
    productClass: 'MG',
    categoryName: 'Magazines',
    price: 2_000,
    qty: 7,
    upc: '012345678929',
  },
  {
    distid: 'LIP',
    stockid: 'E',
    name: 'Epsilon',
    mfgName: null,
    productClass: 'AC',
    price: 1_500,
    qty: 1,
  },
  {
    distid: 'LIP',
    stockid: 'F',
    name: 'Zeta',
    mfgName: 'Ridgeline',
    productClass: 'AC',
    price: null,
    qty: 9,
  },
]

async function shopWith(parts: {
  root?: ProductRestrictions
  rsr?: Partial<DistributorEntry>
  lip?: Partial<DistributorEntry>
  pricing?: Pricing
}): Promise<TestApp> {
  const t = await createTestApp()
  await t.stock(OFFERS)
  await t.configure({
    product_restrictions: parts.root ?? {},
    pricing: parts.pricing ?? {},
    distributors: {
      'RSR Group': { distid: 'RSR', product_restrictions: {}, ...parts.rsr },
      Lipseys: { distid: 'LIP', product_restrictions: {}, ...parts.lip },
    },
  })
  return t
}

async function seen(t: TestApp, query = {}): Promise<string[]> {
  const { products, total } = await t.remote.products.search(query)
  assert.equal(products.length, total)
  return products.map((product: Product) => product.name)
}

describe('product restrictions', () => {
  const all = ['Alpha', 'Beta', 'Delta', 'Epsilon', 'Gamma']
  const rows: [name: string, parts: Parameters<typeof shopWith>[0], expected: string[]][] = [
    ['nothing is restricted: all offers with a price', {}, all],
    [
      'an excluded brand',
      { root: { brand: { exclude: ['Kestrel'] } } },
      ['Alpha', 'Delta', 'Epsilon'],
    ],
    ['an unknown brand hides nothing', { root: { brand: { exclude: ['Nobody'] } } }, all],
    ['an empty list is as if absent', { root: { brand: { include: [], exclude: [] } } }, all],
    [
      'an included brand alone admits',
      { root: { brand: { include: ['Ridgeline'] } } },
      ['Alpha', 'Delta'],
    ],
    [
      'AND lists must all match',
      { root: { brand: { include: ['Ridgeline'] }, product_class: { include: ['MG'] } } },
      ['Delta'],
    ],
    [
      'an OR list admits on its own',
      {
        root: {
          brand: { include: ['Ridgeline'] },
          product_class: { include: ['OP'], include_operand: 'OR' },
        },
      },
      ['Alpha', 'Beta', 'Delta'],
    ],
    [
      'two OR lists admit each on its own',
      {
        root: {
          brand: { include: ['Kestrel'], include_operand: 'OR' },
          sku: { include: ['e'], include_operand: 'OR' },
        },
      },
      ['Beta', 'Epsilon', 'Gamma'],
    ],
    [
      'exclude beats include',
      { root: { brand: { include: ['Ridgeline'] }, sku: { exclude: ['A'] } } },
      [],
    ],
    [
      'a sku at all distributors, case aside',
      { root: { sku: { exclude: ['a'] } } },
      ['Beta', 'Epsilon', 'Gamma'],
    ],
    [
      'a upc as text, number or with more zeros',
      { root: { upc: { exclude: [12345678905, '0012345678912'] } } },
      ['Delta', 'Epsilon', 'Gamma'],
    ],
    [
      'a list that is included OR admits what two AND lists do not',
      {
        root: {
          brand: { include: ['Ridgeline'] },
          category: { include: ['Rifles'] },
          sku: { include: ['C'], include_operand: 'OR' },
        },
      },
      ['Alpha', 'Gamma'],
    ],
    [
      'an included and an excluded part of one list',
      { root: { brand: { include: ['Ridgeline', 'Kestrel'], exclude: ['Kestrel'] } } },
      ['Alpha', 'Delta'],
    ],
    ['an included unknown brand admits nothing', { root: { brand: { include: ['Nobody'] } } }, []],
    ['a category', { root: { category: { include: ['Sights', 'Magazines'] } } }, ['Beta', 'Delta']],
    [
      'uncategorized products',
      { root: { include_uncategorized_product: false } },
      ['Alpha', 'Beta', 'Delta'],
    ],
    ['a minimum quantity, inclusive', { root: { min_quantity_to_list: 7 } }, ['Beta', 'Delta']],
    [
      'global cost bounds, inclusive',
      {
        root: {
          cost: { global_restrictions: { min_distributor_cost: 15, max_distributor_cost: 100 } },
        },
      },
      ['Beta', 'Delta', 'Epsilon'],
    ],
    [
      'a class range replaces the global one',
      {
        root: {
          cost: {
            global_restrictions: { min_distributor_cost: 15, max_distributor_cost: 100 },
            product_class_restrictions: [
              { product_class: ['FA'], min_distributor_cost: 0, max_distributor_cost: 1_000 },
              { product_class: ['OP'], min_distributor_cost: 200, max_distributor_cost: 300 },
            ],
          },
        },
      },
      ['Alpha', 'Delta', 'Epsilon'],
    ],
    [
      'an excluded group must match in all its criteria',
      {
        root: {
          product_groups: [
            { type: 'exclude', criteria: { brand: ['Ridgeline'], cost: { max_cost: 100 } } },
          ],
        },
      },
      ['Alpha', 'Beta', 'Epsilon', 'Gamma'],
    ],
    [
      'an included group admits on its own',
      {
        root: {
          brand: { include: ['Kestrel'] },
          product_groups: [{ type: 'include', criteria: { sku: ['E'] } }],
        },
      },
      ['Beta', 'Epsilon', 'Gamma'],
    ],
    [
      'a group without criteria does nothing',
      { root: { product_groups: [{ type: 'exclude', criteria: {} }] } },
      all,
    ],
    [
      'an included group without criteria does nothing, not hide the rest',
      {
        root: {
          product_groups: [
            { type: 'include', criteria: {} },
            { type: 'include', criteria: { brand: [], cost: {} } },
          ],
        },
      },
      all,
    ],
    [
      'empty criteria beside others are as if absent',
      {
        root: {
          product_groups: [{ type: 'exclude', criteria: { brand: [], cost: {}, sku: ['B'] } }],
        },
      },
      ['Alpha', 'Delta', 'Epsilon', 'Gamma'],
    ],
    [
      'a group by upc, category and class',
      {
        root: {
          product_groups: [
            {
              type: 'exclude',
              criteria: { upc: [12345678905], category: ['Rifles'], product_class: ['FA'] },
            },
            { type: 'exclude', criteria: { upc: ['012345678912'], category: ['Rifles'] } },
          ],
        },
      },
      ['Beta', 'Delta', 'Epsilon', 'Gamma'],
    ],
    [
      'a group by cost, bounds inclusive',
      {
        root: {
          product_groups: [{ type: 'exclude', criteria: { cost: { min_cost: 15, max_cost: 20 } } }],
        },
      },
      ['Alpha', 'Beta', 'Gamma'],
    ],
    [
      'an excluded group beats every include',
      {
        root: {
          brand: { include: ['Kestrel'], include_operand: 'OR' },
          product_groups: [
            { type: 'include', criteria: { sku: ['B'] } },
            { type: 'exclude', criteria: { sku: ['B'] } },
          ],
        },
      },
      ['Gamma'],
    ],
    [
      'a group by quantity',
      { root: { product_groups: [{ type: 'exclude', criteria: { min_quantity_to_list: 7 } }] } },
      ['Alpha', 'Epsilon', 'Gamma'],
    ],
    [
      'a minimum quantity of a fraction',
      { root: { min_quantity_to_list: 2.5 } },
      ['Alpha', 'Beta', 'Delta'],
    ],
    [
      'quantity, category and cost hold for what an OR list admits',
      {
        root: {
          brand: { include: ['Kestrel', 'Ridgeline'], include_operand: 'OR' },
          min_quantity_to_list: 1,
          include_uncategorized_product: false,
          cost: { global_restrictions: { min_distributor_cost: 0, max_distributor_cost: 100 } },
        },
      },
      ['Beta', 'Delta'],
    ],
    [
      'uncategorized products that are included',
      { root: { include_uncategorized_product: true } },
      all,
    ],
    [
      'a class range without a global one binds its classes alone',
      {
        root: {
          cost: {
            product_class_restrictions: [
              {
                product_class: ['OP', 'AC'],
                min_distributor_cost: 15,
                max_distributor_cost: 99.99,
              },
            ],
          },
        },
      },
      ['Alpha', 'Delta', 'Epsilon'],
    ],
    [
      'of two ranges for a class the first counts',
      {
        root: {
          cost: {
            product_class_restrictions: [
              { product_class: ['OP'], min_distributor_cost: 0, max_distributor_cost: 100 },
              { product_class: ['FA', 'OP'], min_distributor_cost: 0, max_distributor_cost: 1 },
            ],
          },
        },
      },
      ['Beta', 'Delta', 'Epsilon', 'Gamma'],
    ],
    [
      'an OR list admits to its own layer alone',
      {
        root: { product_class: { include: ['FA', 'MG'] } },
        rsr: { product_restrictions: { sku: { include: ['B'], include_operand: 'OR' } } },
      },
      ['Delta'],
    ],
    [
      'AND lists of a distributor must all match',
      {
        rsr: {
          product_restrictions: {
            brand: { include: ['Kestrel'] },
            product_class: { include: ['OP', 'FA'] },
          },
        },
      },
      ['Beta', 'Delta', 'Epsilon'],
    ],
    [
      'each layer has its own minimum quantity',
      {
        root: { min_quantity_to_list: 3 },
        lip: { product_restrictions: { min_quantity_to_list: 8 } },
      },
      ['Alpha', 'Beta'],
    ],
    [
      'each layer has its own cost bounds',
      {
        root: {
          cost: { global_restrictions: { min_distributor_cost: 15, max_distributor_cost: 500 } },
        },
        rsr: {
          product_restrictions: {
            cost: { global_restrictions: { min_distributor_cost: 0, max_distributor_cost: 100 } },
          },
        },
      },
      ['Beta', 'Delta', 'Epsilon'],
    ],
    [
      "one distributor's rules concern its offers alone",
      { rsr: { product_restrictions: { brand: { include: ['Kestrel'] } } } },
      ['Beta', 'Delta', 'Epsilon', 'Gamma'],
    ],
    [
      'both layers must let an offer pass',
      {
        root: { brand: { exclude: ['Kestrel'] } },
        lip: { product_restrictions: { product_class: { exclude: ['MG'] } } },
      },
      ['Alpha', 'Epsilon'],
    ],
    [
      'drop-ship-only items',
      { rsr: { drop_ship_only_items: true } },
      ['Alpha', 'Beta', 'Delta', 'Epsilon'],
    ],
    ['purchase_limit hides nothing', { root: { purchase_limit: 1 } }, all],
    ['a class that nobody has', { root: { product_class: { exclude: ['XX'] } } }, all],
    [
      'an adjustment for a distributor without offers',
      {
        pricing: {
          cost_adjustments: [
            { distributor: 'ZND', percent: 1 },
            { product_class: 'XX', dollar: 1 },
          ],
        },
      },
      all,
    ],
    ['an inactive distributor', { lip: { active: false } }, ['Alpha', 'Beta', 'Gamma']],
    [
      'rules look at the adjusted cost',
      {
        pricing: { cost_adjustments: [{ distributor: 'RSR', percent: 1 }] },
        root: {
          cost: { global_restrictions: { min_distributor_cost: 0, max_distributor_cost: 150 } },
        },
      },
      ['Delta', 'Epsilon', 'Gamma'],
    ],
  ]
  for (const [name, parts, expected] of rows) {
    test(name, async () => {
      await using t = await shopWith(parts)
      assert.deepEqual(await seen(t), expected)
      assert.deepEqual(
        await seen(t, { ignore_restrictions: true }),
        parts.lip?.active === false ? expected : all,
      )
    })
  }
})

describe('dealer costs', () => {
  test('adjustments that match add up and nothing falls below zero', async () => {
    await using t = await shopWith({
      pricing: {
        cost_adjustments: [
          { percent: 0.1 },
          { brand: 'Kestrel', dollar: -3 },
          { product_class: 'AC', category: 'Uncategorized', dollar: -100 },
        ],
      },
    })
    const { products } = await t.shop.products.search({ ignore_restrictions: true })
    assert.deepEqual(
      products.map(({ name, unit_price }) => [name, unit_price]),
      [
        ['Alpha', 550],
        ['Beta', 107],
        ['Delta', 22],
        ['Epsilon', 0],
        ['Gamma', 0],
      ],
    )
  })

  test('handling goes into the shown cost last, below its threshold, and sort and bounds see it', async () => {
    const handling = { amount: 7.5, order_threshold: 100, add_handling_to_unit_cost: true }
    await using t = await shopWith({ rsr: { shipping: { ...flat(5), handling } } })
    const { products } = await t.shop.products.search({ sort: 'price' })
    assert.deepEqual(
      products.map(({ name, unit_price, shipping_cost, total_cost }) => [
        name,
        unit_price,
        shipping_cost,
        total_cost,
      ]),
      [
        ['Gamma', 12.5, 5, 17.5],
        ['Epsilon', 15, 10, 25],
        ['Delta', 20, 10, 30],
        ['Beta', 100, 5, 105],
        ['Alpha', 500, 5, 505],
      ],
    )
    assert.deepEqual(await seen(t, { min_price: 12.5, max_price: 15 }), ['Epsilon', 'Gamma'])
  })

  test('handling begins right below its threshold; levels, insurance and bounds see the cost before it', async () => {
    const shipping = {
      price_based_shipping: [level(5, 0, 19), level(9, 20)],
      insurance: { include: true, cost_per_hundred: 10 },
      handling: { amount: 30, order_threshold: 20, add_handling_to_unit_cost: true },
    }
    await using t = await shopWith({
      lip: { shipping },
      root: {
        cost: { global_restrictions: { min_distributor_cost: 0, max_distributor_cost: 20 } },
      },
    })
    const { products } = await t.remote.products.search({ distributor: 'LIP' })
    assert.deepEqual(
      products.map(({ name, unit_price, shipping_cost, total_cost }) => [
        name,
        unit_price,
        shipping_cost,
        total_cost,
      ]),
      [
        ['Delta', 20, 11, 31],
        ['Epsilon', 45, 6.5, 51.5],
      ],
    )
  })

  test("a price of one's own goes before the operator's, makes an offer visible, and is nobody else's", async () => {
    await using t = await shopWith({
      pricing: { cost_adjustments: [{ brand: 'Ridgeline', dollar: 1 }] },
      root: {
        cost: { global_restrictions: { min_distributor_cost: 0, max_distributor_cost: 400 } },
      },
    })
    const { ctx, findKey } = t.app
    const { subscriberId } = findKey(t.key)!
    const catalog = openFile(filesIn(ctx.engine.dir).catalog, { synchronous: 'NORMAL' })
    for (const [name, cents] of [
      ['Alpha', 30_000],
      ['Zeta', 900],
      ['Beta', 45_000],
    ])
      catalog
        .prepare(
          'INSERT INTO own_price (subscriber_id, offer, price) SELECT ?, o.id, ? FROM offer o ' +
            'JOIN fragment f ON f.id = o.fragment WHERE f.name = ?',
        )
        .run(subscriberId, cents, name)
    catalog.exec('UPDATE state SET revision = revision + 1')
    catalog.close()
    await ctx.catalog.refresh()
    const { products } = await t.remote.products.search({ sort: 'price' })
    // Beta's own price is above the bounds that the operator's would pass; Zeta has no other.
    assert.deepEqual(
      products.map(({ name, unit_price }) => [name, unit_price]),
      [
        ['Gamma', 5],
        ['Zeta', 10],
        ['Epsilon', 15],
        ['Delta', 21],
        ['Alpha', 301],
      ],
    )
    const { document, eligible } = await ctx.configurations.of({
      id: subscriberId,
      name: '',
      email: '',
    })
    const other = makeView(ctx.catalog.current()!, {
      subscriberId: 'another',
      document,
      eligible,
      ignoreRestrictions: true,
    })
    assert.deepEqual(
      namesIn(other).map((name, i) => [name, other.unitPrice(rowsIn(other)[i]!) / 100]),
      [
        ['Alpha', 501],
        ['Beta', 100],
        ['Delta', 21],
        ['Epsilon', 15],
        ['Gamma', 5],
      ],
    )
  })

  test('adjustments of a website target never enter', async () => {
    const parts = {
      pricing: { margin: { default: { margin_percentage: 0.2 } } },
      distributors: { 'RSR Group': { distid: 'RSR', product_restrictions: {} } },
    }
    await using t = await shopWith({})
    await t.configure({
      ...parts,
      targets: {
        woo: {
          active: true,
          pricing: { margin_adjustment_dollar: 5, margin_adjustment_percent: 0.3 },
          product_restrictions: { brand: { exclude: ['Kestrel'] } },
        },
      },
    })
    assert.equal((await t.remote.products.search({ sku: 'B' })).products[0]!.retail_price, 125)
  })

  test('the purchase limit of an order line holds when restrictions are ignored too', async () => {
    await using t = await shopWith({
      root: { purchase_limit: 5, brand: { exclude: ['Kestrel'] } },
      rsr: { product_restrictions: { purchase_limit: 2 } },
    })
    const { ctx, findKey } = t.app
    const subscriber = { id: findKey(t.key)!.subscriberId, name: '', email: '' }
    const reasons = async (qty: number, ignoreRestrictions: boolean) =>
      quoteLines(
        await ctx.catalog.view(subscriber, ignoreRestrictions),
        (await ctx.configurations.of(subscriber)).document,
        [{ upc: '012345678912', qty }],
      ).unfulfillable.map(({ reason }) => reason)
    assert.deepEqual(await reasons(2, false), ['upc_not_found'])
    assert.deepEqual(await reasons(2, true), [])
    assert.deepEqual(await reasons(3, true), ['purchase_limit_exceeded'])
  })

  test('retail prices are shown only where the document asks for them', async () => {
    await using t = await shopWith({ pricing: { margin: { default: { margin_percentage: 0.2 } } } })
    const { products } = await t.remote.products.search({ sku: 'B' })
    assert.equal(products[0]!.retail_price, 125)
    await using plain = await shopWith({})
    assert.ok(!('retail_price' in (await plain.remote.products.search({ sku: 'B' })).products[0]!))
  })

  test('a saved document is seen by the next call', async () => {
    await using t = await shopWith({})
    assert.equal((await seen(t)).length, 5)
    await t.configure({
      product_restrictions: { brand: { include: ['Kestrel'] } },
      distributors: { 'RSR Group': { distid: 'RSR', product_restrictions: {} } },
    })
    assert.deepEqual(await seen(t), ['Beta', 'Gamma'])
  })
})

describe('properties of the view', () => {
  const list = <T>(values: readonly T[]) => fc.subarray([...values], { minLength: 1 })
  const rule = (values: readonly string[]) =>
    fc.option(
      fc.record(
        {
          include: list(values),
          exclude: list(values),
          include_operand: fc.constantFrom('AND' as const, 'OR' as const),
        },
        { requiredKeys: [] },
      ),
      { nil: undefined },
    )
  const restrictions: fc.Arbitrary<ProductRestrictions> = fc.record({
    brand: rule(['Ridgeline', 'Kestrel', 'Nobody']),
    product_class: rule(['FA', 'AC', 'MG', 'OP']),
    sku: rule(['A', 'B', 'E']),
    category: rule(['Rifles', 'Uncategorized']),
    min_quantity_to_list: fc.option(fc.integer({ min: 1, max: 10 }), { nil: undefined }),
  }) as fc.Arbitrary<ProductRestrictions>

  test('after prices, stock and flags moved, a view is what it would be if computed anew', async () => {
    await using t = await shopWith({})
    const { ctx, findKey } = t.app
    const subscriber = { id: findKey(t.key)!.subscriberId, name: '', email: '' }
    const change = fc.record({
      price: fc.constantFrom(null, 400, 1_500, 9_000),
      qty: fc.integer({ min: 0, max: 9 }),
      dropShip: fc.boolean(),
    })
    const cost = fc.option(
      fc.constant({ global_restrictions: { min_distributor_cost: 10, max_distributor_cost: 80 } }),
      { nil: undefined },
    )
    let kept = 0
    await fc.assert(
      fc.asyncProperty(
        restrictions,
        cost,
        fc.boolean(),
        fc.array(change, { minLength: OFFERS.length, maxLength: OFFERS.length }),
        async (root, bounds, only, changes) => {
          await t.configure({
            product_restrictions: { ...root, ...(bounds && { cost: bounds }) },
            pricing: { cost_adjustments: [{ brand: 'Kestrel', dollar: 1 }] },
            distributors: {
              'RSR Group': { distid: 'RSR', product_restrictions: {}, drop_ship_only_items: only },
              Lipseys: { distid: 'LIP', product_restrictions: { min_quantity_to_list: 2 } },
            },
          })
          const before = await ctx.catalog.view(subscriber, false)
          await t.stock(OFFERS.map((offer, i) => (i % 2 ? offer : { ...offer, ...changes[i] })))
          const after = await ctx.catalog.view(subscriber, false)
          if (
            after.snapshot !== before.snapshot &&
            after.snapshot.textRevision === before.snapshot.textRevision
          )
            kept++
          const { document, eligible } = await ctx.configurations.of(subscriber)
          const anew = makeView(after.snapshot, {
            subscriberId: subscriber.id,
            document,
            eligible,
            ignoreRestrictions: false,
          })
          assert.deepEqual([...after.visible.words], [...anew.visible.words])
          assert.equal(after.total, anew.total)
        },
      ),
      { numRuns: 60 },
    )
    assert.ok(kept > 20, `only ${kept} updates left the text as it was`)
  })

  describe('under any restrictions', () => {
    const groups = fc.array(
      fc.record({
        type: fc.constantFrom('include' as const, 'exclude' as const),
        criteria: fc.record(
          {
            brand: list(['Ridgeline', 'Kestrel']),
            min_quantity_to_list: fc.integer({ min: 1, max: 8 }),
            cost: fc.record({ max_cost: fc.constantFrom(15, 100) }),
          },
          { requiredKeys: [] },
        ),
      }),
      { maxLength: 2 },
    )
    const layer = fc
      .tuple(restrictions, groups, fc.boolean())
      .map(([rules, product_groups, include_uncategorized_product]): ProductRestrictions => ({
        ...rules,
        product_groups,
        include_uncategorized_product,
      }))
    const shop = shopWith({})
    after(async () => (await shop).close())

    /** What is seen under a root and an RSR layer, and what another root would show. */
    async function check(
      arbitrary: fc.Arbitrary<[root: ProductRestrictions, changed: ProductRestrictions]>,
      judge: (before: Set<string>, after: Set<string>) => boolean,
    ): Promise<void> {
      const { ctx, findKey } = (await shop).app
      const { document, eligible } = await ctx.configurations.of({
        id: findKey((await shop).key)!.subscriberId,
        name: '',
        email: '',
      })
      fc.assert(
        fc.property(arbitrary, layer, fc.boolean(), ([root, changed], rsr, own) => {
          const namesUnder = (rules: ProductRestrictions) => {
            // The layer in question is the root's or a distributor's.
            const [top, entry] = own ? [rsr, rules] : [rules, rsr]
            const input = {
              subscriberId: '',
              document: { ...document, product_restrictions: top },
              eligible: eligible.map((one) =>
                one.name === 'Lipseys'
                  ? one
                  : { ...one, entry: { ...one.entry, product_restrictions: entry } },
              ),
            }
            const all = new Set(
              namesIn(makeView(ctx.catalog.current()!, { ...input, ignoreRestrictions: true })),
            )
            assert.equal(all.size, 5, 'ignoring restrictions shows all that has a price')
            const names = new Set(
              namesIn(makeView(ctx.catalog.current()!, { ...input, ignoreRestrictions: false })),
            )
            assert.ok(within(names, all))
            return names
          }
          assert.ok(judge(namesUnder(root), namesUnder(changed)))
        }),
        { numRuns: 300 },
      )
    }

    const within = (some: Set<string>, all: Set<string>) => [...some].every((name) => all.has(name))
    const kinds = fc.constantFrom(
      ['brand', 'Ridgeline'],
      ['brand', 'Kestrel'],
      ['product_class', 'AC'],
      ['sku', 'A'],
      ['upc', '012345678912'],
      ['category', 'Uncategorized'],
    ) as fc.Arbitrary<['brand', string]>

    test('an exclude never adds an offer', () =>
      check(
        fc.tuple(layer, kinds).map(([root, [kind, value]]) => [
          root,
          {
            ...root,
            [kind]: { ...root[kind], exclude: [...(root[kind]?.exclude ?? []), value] },
          },
        ]),
        (before, after) => within(after, before),
      ))

    test('an excluded group never adds an offer', () =>
      check(
        fc.tuple(layer, kinds).map(([root, [kind, value]]) => [
          root,
          {
            ...root,
            product_groups: [
              ...(root.product_groups ?? []),
              { type: 'exclude' as const, criteria: { [kind]: [value] } },
            ],
          },
        ]),
        (before, after) => within(after, before),
      ))

    test('a wider include never hides an offer', () =>
      check(
        fc
          .tuple(layer, kinds, list(['A', 'Rifles', 'Ridgeline', 'FA']))
          .map(([root, [kind, value], first]) => {
            const including = {
              ...root,
              [kind]: { ...root[kind], include: root[kind]?.include ?? first },
            }
            return [
              including,
              {
                ...including,
                [kind]: { ...including[kind], include: [...including[kind]!.include!, value] },
              },
            ]
          }),
        (before, after) => within(before, after),
      ))

    test('an included group never hides an offer where anything is included', () =>
      check(
        fc.tuple(layer, kinds).map(([root, [kind, value]]) => {
          const including = {
            ...root,
            brand: { ...root.brand, include: root.brand?.include ?? ['Kestrel'] },
          }
          return [
            including,
            {
              ...including,
              product_groups: [
                ...(root.product_groups ?? []),
                { type: 'include' as const, criteria: { [kind]: [value] } },
              ],
            },
          ]
        }),
        (before, after) => within(before, after),
      ))

    test('a greater minimum quantity and narrower cost bounds never add an offer', () =>
      check(
        fc
          .tuple(
            layer,
            fc.integer({ min: 0, max: 60 }),
            fc.integer({ min: 0, max: 600 }),
            fc.integer({ min: 0, max: 600 }),
          )
          .map(([root, quantity, least, most]) => {
            const bounds = (min_distributor_cost: number, max_distributor_cost: number) => ({
              cost: { global_restrictions: { min_distributor_cost, max_distributor_cost } },
            })
            const minimum = root.min_quantity_to_list ?? 1
            return [
              { ...root, ...bounds(least / 2, most + 50), min_quantity_to_list: minimum },
              { ...root, ...bounds(least, most), min_quantity_to_list: minimum + quantity },
            ]
          }),
        (before, after) => within(after, before),
      ))
  })
})
