import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp, TestOffer } from '../../server/testing/index.js'
import { runsOnRecord } from '../harness/record.js'

const UPC = '012345678905'
const OTHER = '012345678912'

const times = (count: number) => Array.from({ length: count }, () => ({ upc: UPC, qty: 1 }))

async function shop(
  offers: TestOffer[],
  parts: Parameters<TestApp['configure']>[0] = {},
): Promise<TestApp> {
  const t = await createTestApp()
  await t.stock(offers)
  const { distributors, ...rest } = parts
  await t.configure({
    ...rest,
    distributors: distributors ?? {
      'RSR Group': { distid: 'RSR', product_restrictions: {} },
      Lipseys: { distid: 'LIP', product_restrictions: {} },
      Zanders: { distid: 'ZND', product_restrictions: {} },
    },
  })
  return t
}

const three: TestOffer[] = [
  { distid: 'RSR', stockid: 'R1', upc: UPC, price: 10_000, qty: 5, map: 13_000, msrp: 15_000 },
  { distid: 'LIP', stockid: 'L1', upc: '0012345678905', price: 9_000, qty: 1 },
  { distid: 'ZND', stockid: 'Z1', upc: '12345678905', price: 11_000, qty: 100, dropShip: false },
  { distid: 'ZND', stockid: 'Z2', upc: OTHER, price: 500, qty: 10 },
]

describe('a quote', () => {
  test('takes the cheapest offer with enough stock, and names up to five others', async () => {
    await using t = await shop(three)
    for (const caller of [t.shop, t.remote]) {
      const one = await caller.orders.quote({ items: [{ upc: UPC, qty: 1 }] })
      assert.deepEqual(one.items[0]!.best, {
        distid: 'LIP',
        distributor: 'Lipseys',
        distsku: 'L1',
        qty_on_hand: 1,
        unit_price: 90,
        shipping_cost: 10,
        map_price: null,
        msrp: null,
        drop_ship_flg: 1,
        line_total: 100,
        order_blockers: [
          {
            code: 'fulfillment_not_configured',
            message: 'Lipseys: its entry has no fulfillment section.',
          },
        ],
      })
      assert.deepEqual(
        one.items[0]!.alternatives.map(({ distid, line_total }) => [distid, line_total]),
        [
          ['RSR', 110],
          ['ZND', 120],
        ],
      )
      assert.equal(one.fulfillable, true)
      const two = await caller.orders.quote({ items: [{ upc: UPC, qty: 2 }] })
      assert.deepEqual(
        [two.items[0]!.best!.distid, two.items[0]!.best!.line_total, two.items[0]!.best!.map_price],
        ['RSR', 210, 130],
      )
    }
  })

  test('groups the plan by distributor, lines without shipping, subtotals with it apart', async () => {
    await using t = await shop(three)
    const { plan } = await t.remote.orders.quote({
      items: [
        { upc: UPC, qty: 8 },
        { upc: OTHER, qty: 3 },
        { upc: UPC, qty: 1 },
      ],
    })
    assert.deepEqual(
      plan.orders.map(({ order_blockers: blockers, ...order }) => ({
        ...order,
        blocked: blockers.map(({ code }) => code),
      })),
      [
        {
          distid: 'ZND',
          distributor: 'Zanders',
          product_subtotal: 895,
          shipping_estimate: 20,
          blocked: ['fulfillment_not_configured', 'not_drop_shippable'],
          items: [
            { upc: UPC, distsku: 'Z1', qty: 8, unit_price: 110, line_total: 880 },
            { upc: OTHER, distsku: 'Z2', qty: 3, unit_price: 5, line_total: 15 },
          ],
        },
        {
          distid: 'LIP',
          distributor: 'Lipseys',
          product_subtotal: 90,
          shipping_estimate: 10,
          blocked: ['fulfillment_not_configured'],
          items: [{ upc: UPC, distsku: 'L1', qty: 1, unit_price: 90, line_total: 90 }],
        },
      ],
    )
    assert.equal(plan.total_estimate, 1_015)
    assert.equal(plan.orderable, false)
  })

  test('quotes lines of one UPC in order, each against the stock that the earlier ones left', async () => {
    await using t = await shop(three)
    const quote = await t.remote.orders.quote({
      items: [
        { upc: UPC, qty: 1 },
        { upc: UPC, qty: 1 },
        { upc: UPC, qty: 5 },
        { upc: UPC, qty: 96 },
        { upc: UPC, qty: 1 },
      ],
    })
    assert.deepEqual(
      quote.items.map(({ best }) => best?.distid ?? null),
      ['LIP', 'RSR', 'ZND', null, 'RSR'],
    )
    assert.deepEqual(quote.unfulfillable, [{ upc: UPC, qty: 96, reason: 'insufficient_stock' }])
    assert.equal(quote.fulfillable, false)
  })

  test('says why a line cannot be filled', async () => {
    await using t = await shop(three, {
      distributors: {
        'RSR Group': { distid: 'RSR', product_restrictions: { purchase_limit: 3 } },
        Lipseys: { distid: 'LIP', product_restrictions: {} },
      },
    })
    const quote = await t.remote.orders.quote({
      items: [
        { upc: '999999999993', qty: 1 },
        { upc: 'no upc', qty: 1 },
        { upc: UPC, qty: 6 },
        { upc: UPC, qty: 4 },
        { upc: UPC, qty: 3 },
      ],
    })
    assert.deepEqual(
      quote.unfulfillable.map(({ reason }) => reason),
      ['upc_not_found', 'upc_not_found', 'insufficient_stock', 'purchase_limit_exceeded'],
    )
    assert.deepEqual(
      quote.items.map(({ best }) => best === null),
      [true, true, true, true, false],
    )
    assert.deepEqual(
      quote.plan.orders.map(({ distid }) => distid),
      ['RSR'],
      'the plan covers the rest',
    )
  })

  test('the stricter purchase limit holds, and one UPC cannot pass it in two lines', async () => {
    await using t = await shop([three[0]!], {
      product_restrictions: { purchase_limit: 2 },
      distributors: { 'RSR Group': { distid: 'RSR', product_restrictions: { purchase_limit: 4 } } },
    })
    const reasons = async (...qtys: number[]) =>
      (
        await t.remote.orders.quote({ items: qtys.map((qty) => ({ upc: UPC, qty })) })
      ).unfulfillable.map(({ reason }) => reason)
    assert.deepEqual(await reasons(2), [])
    assert.deepEqual(await reasons(3), ['purchase_limit_exceeded'])
    assert.deepEqual(await reasons(2, 1), ['purchase_limit_exceeded'])
  })

  test('one item in two warehouses is one order line to the purchase limit', async () => {
    const warehouse = (stockid: string): TestOffer => ({
      distid: 'RSR',
      stockid,
      distsku: 'A',
      upc: UPC,
      price: 100,
      qty: 2,
    })
    await using t = await shop([warehouse('A-1'), warehouse('A-2')], {
      product_restrictions: { purchase_limit: 3 },
    })
    const { items, unfulfillable } = await t.remote.orders.quote({
      items: [
        { upc: UPC, qty: 2 },
        { upc: UPC, qty: 2 },
        { upc: UPC, qty: 1 },
      ],
    })
    assert.deepEqual(
      items.map(({ best }) => best?.distsku ?? null),
      ['A', null, 'A'],
    )
    assert.deepEqual(
      unfulfillable.map(({ reason }) => reason),
      ['purchase_limit_exceeded'],
    )
  })

  test('ties go to the higher stock, then to the distid', async () => {
    const tie = (distid: string, qty: number): TestOffer => ({
      distid,
      stockid: `${distid}1`,
      upc: UPC,
      price: 1_000,
      qty,
    })
    await using t = await shop([tie('RSR', 5), tie('LIP', 5), tie('ZND', 6)])
    const { items } = await t.remote.orders.quote({ items: [{ upc: UPC, qty: 1 }] })
    assert.deepEqual(
      [items[0]!.best, ...items[0]!.alternatives].map((option) => option!.distid),
      ['ZND', 'LIP', 'RSR'],
    )
  })

  test('cheapest counts shipping: a dearer item that ships for less wins', async () => {
    await using t = await shop(three, {
      distributors: {
        'RSR Group': {
          distid: 'RSR',
          product_restrictions: {},
          shipping: { flat_rate: { cost: 2, shipping_class: 'x' } },
        },
        Lipseys: {
          distid: 'LIP',
          product_restrictions: {},
          shipping: { flat_rate: { cost: 30, shipping_class: 'x' } },
        },
      },
    })
    assert.equal(
      (await t.remote.orders.quote({ items: [{ upc: UPC, qty: 1 }] })).items[0]!.best!.distid,
      'RSR',
    )
  })

  test('what the view hides is not found', async () => {
    await using t = await shop(three, {
      product_restrictions: { sku: { exclude: ['L1', 'R1', 'Z1'] } },
    })
    assert.deepEqual(
      (await t.remote.orders.quote({ items: [{ upc: UPC, qty: 1 }] })).unfulfillable,
      [{ upc: UPC, qty: 1, reason: 'upc_not_found' }],
    )
  })

  test('takes an Option back as an item, and ignores its other members', async () => {
    await using t = await shop(three)
    const { items } = await t.remote.orders.quote({ items: [{ upc: UPC, qty: 1 }] })
    const { products } = await t.remote.products.search({ upc: UPC })
    const again = await t.remote.orders.quote({
      items: [
        { ...items[0]!.best, upc: UPC, qty: 1 },
        { ...products[0]!, upc: UPC, qty: 1 },
      ],
    })
    assert.equal(again.items.length, 2)
  })

  const bounds: [name: string, items: unknown, status: number, path?: string][] = [
    ['no items', [], 400, 'items'],
    ['100 items', times(100), 200],
    ['101 items', times(101), 400, 'items'],
    ['no list', { upc: UPC, qty: 1 }, 400, 'items'],
    ['qty 0', [{ upc: UPC, qty: 0 }], 400, 'items[0].qty'],
    ['qty -1', [{ upc: UPC, qty: -1 }], 400, 'items[0].qty'],
    ['qty 1.5', [{ upc: UPC, qty: 1.5 }], 400, 'items[0].qty'],
    ['qty as text', [{ upc: UPC, qty: '1' }], 400, 'items[0].qty'],
    ['qty 1e300', [{ upc: UPC, qty: 1e300 }], 400, 'items[0].qty'],
    ['qty 2147483647', [{ upc: UPC, qty: 2_147_483_647 }], 200],
    ['no qty', [{ upc: UPC }], 400, 'items[0].qty'],
    ['no upc', [{ qty: 1 }], 400, 'items[0].upc'],
    ['upc as a number', [{ upc: 12345678905, qty: 1 }], 400, 'items[0].upc'],
    ['an empty upc', [{ upc: '', qty: 1 }], 200],
    ['null', [null], 400, 'items[0]'],
  ]
  for (const [name, items, status, path] of bounds) {
    test(`${name}: ${status}`, async () => {
      await using t = await shop(three)
      const answer = await t.json('/v1/orders/quote', {
        method: 'POST',
        body: JSON.stringify({ items }),
      })
      assert.equal(answer.status, status)
      if (path) assert.equal(answer.body.error.details[0].path, path)
    })
  }

  test('no active, no validated distributor and no feed are told apart', async () => {
    await using t = await createTestApp()
    const code = async () =>
      (
        await t.json('/v1/orders/quote', {
          method: 'POST',
          body: JSON.stringify({ items: [{ upc: UPC, qty: 1 }] }),
        })
      ).body.error.code
    assert.equal(await code(), 'no_active_distributors')
    await t.configure({ distributors: { 'RSR Group': { distid: 'RSR' } } })
    assert.equal(await code(), 'feed_unavailable')
    await t.app.operator.configurations.recordCheck(t.subscriber, 'RSR Group', false)
    assert.equal(await code(), 'no_validated_distributors')
  })

  test('best is never dearer than any alternative, and no line takes stock twice', async () => {
    await using t = await createTestApp()
    await t.configure({
      distributors: {
        'RSR Group': { distid: 'RSR', product_restrictions: {} },
        Lipseys: { distid: 'LIP', product_restrictions: {} },
      },
    })
    const offer = fc.record({
      price: fc.integer({ min: 1, max: 300 }),
      qty: fc.integer({ min: 0, max: 6 }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(offer, { minLength: 2, maxLength: 6 }),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 6 }),
        async (offers, qtys) => {
          await t.stock(
            Array.from({ length: 6 }, (_, i) => ({
              distid: i % 2 ? 'RSR' : 'LIP',
              stockid: `S${i}`,
              upc: UPC,
              price: 1,
              qty: 0,
              ...offers[i],
            })),
          )
          const quote = await t.shop.orders.quote({ items: qtys.map((qty) => ({ upc: UPC, qty })) })
          const left = new Map(offers.map(({ qty }, i) => [`S${i}`, qty]))
          for (const { qty, best, alternatives } of quote.items) {
            if (!best) {
              assert.ok(
                [...left.values()].every((stock) => stock < qty),
                'something could have filled the line',
              )
              continue
            }
            for (const other of alternatives) assert.ok(best.line_total <= other.line_total)
            left.set(best.distsku, left.get(best.distsku)! - qty)
            assert.ok(left.get(best.distsku)! >= 0)
          }
        },
      ),
      { numRuns: runsOnRecord(60) },
    )
  })
})
