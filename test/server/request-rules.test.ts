/** What a request may say, on both sides of each edge. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hasWholeCents } from '../../lib/core/money.js'
import { createTestApp } from '../../server/testing/index.js'
import { UPC, orderShop } from '../orders/shop.js'
import { scripted } from '../orders/scripted-distributor.js'

const post = (body: unknown, method = 'POST') => ({ method, body: JSON.stringify(body) })

describe('money has at most two decimals', () => {
  for (const dollars of [0, 0.01, 1, 12.5, 19.99, -10, -0.01, 1_000_000, 999_999.99, 21_474_836.47])
    test(`${dollars} does`, () => assert.equal(hasWholeCents(dollars), true))
  for (const dollars of [
    0.001,
    0.009,
    0.1 + 0.2,
    1.005,
    19.999,
    12.345,
    -0.001,
    1e-7,
    329.96999999999997,
    999_999.999,
  ])
    test(`${dollars} does not`, () => assert.equal(hasWholeCents(dollars), false))

  test('in a search, by name of the parameter; digits that say nothing are not decimals', async () => {
    await using t = await createTestApp()
    await t.stock([{ distid: 'RSR', stockid: 'A1' }])
    await t.configure({ distributors: { 'RSR Group': { distid: 'RSR' } } })
    for (const name of ['min_price', 'max_price'] as const) {
      for (const text of ['10', '10.5', '10.55', '10.550', '.5', '1e1'])
        assert.equal((await t.request(`/v1/products/search?${name}=${text}`)).status, 200, text)
      for (const text of ['10.555', '0.001', '1e-3']) {
        const { status, body } = await t.json(`/v1/products/search?${name}=${text}`)
        assert.deepEqual(
          [status, body.error.details],
          [400, [{ path: name, message: 'must have at most two decimals' }]],
          text,
        )
      }
      for (const shop of [t.shop, t.remote])
        await assert.rejects(shop.products.search({ [name]: 10.555 }), {
          code: 'invalid_parameter',
        })
    }
  })

  test('in the items of a fraud call', async () => {
    await using t = await createTestApp()
    const check = (price: number) =>
      t.json(
        '/v1/fraud/check',
        post({ email: 'pat@customer.example', order_items: [{ upc: UPC, price }] }),
      )
    assert.equal((await check(109.99)).status, 200)
    const { status, body } = await check(109.999)
    assert.deepEqual(
      [status, body.error.details],
      [400, [{ path: 'order_items[0].price', message: 'must have at most two decimals' }]],
    )
  })

  test('in every amount of the configuration, and shares of something are not amounts', async () => {
    await using t = await createTestApp()
    const entry = (shipping: object, more: object = {}) => ({
      distributors: {
        'RSR Group': {
          active: true,
          distid: 'RSR',
          drop_ship_only_items: false,
          shipping,
          product_restrictions: { min_quantity_to_list: 1 },
          ...more,
        },
      },
    })
    const rate = (cost: number) => ({ flat_rate: { cost, shipping_class: 'flat' } })
    const range = (min: number, max: number) => ({
      min_distributor_cost: min,
      max_distributor_cost: max,
    })
    const at = (amount: number): [path: string, part: object][] => [
      [
        '/pricing/credit_card_fee_transaction',
        { pricing: { credit_card_fee_transaction: amount } },
      ],
      [
        '/pricing/margin/default/margin_dollar',
        { pricing: { margin: { default: { margin_dollar: amount } } } },
      ],
      [
        '/pricing/margin/default/price_based_margin/0/minimum_unit_cost',
        {
          pricing: {
            margin: {
              default: {
                margin_dollar: 1,
                price_based_margin: [{ minimum_unit_cost: amount, margin_dollar: 1 }],
              },
            },
          },
        },
      ],
      [
        '/pricing/margin/default/price_based_margin/0/maximum_unit_cost',
        {
          pricing: {
            margin: {
              default: {
                margin_dollar: 1,
                price_based_margin: [{ maximum_unit_cost: amount, margin_dollar: 1 }],
              },
            },
          },
        },
      ],
      [
        '/pricing/cost_adjustments/0/dollar',
        { pricing: { cost_adjustments: [{ dollar: amount }] } },
      ],
      [
        '/targets/woo/pricing/margin_adjustment_dollar',
        { targets: { woo: { active: true, pricing: { margin_adjustment_dollar: amount } } } },
      ],
      [
        '/fulfillment/automation_exceptions/max_auto_fulfillment_dollar_value',
        { fulfillment: { automation_exceptions: { max_auto_fulfillment_dollar_value: amount } } },
      ],
      [
        '/product_restrictions/cost/global_restrictions/min_distributor_cost',
        { product_restrictions: { cost: { global_restrictions: range(amount, 99) } } },
      ],
      [
        '/product_restrictions/cost/product_class_restrictions/0/max_distributor_cost',
        {
          product_restrictions: {
            cost: { product_class_restrictions: [{ product_class: ['FA'], ...range(1, amount) }] },
          },
        },
      ],
      [
        '/product_restrictions/product_groups/0/criteria/cost/max_cost',
        {
          product_restrictions: {
            product_groups: [{ type: 'include', criteria: { cost: { max_cost: amount } } }],
          },
        },
      ],
      ['/distributors/RSR Group/shipping/flat_rate/cost', entry(rate(amount))],
      [
        '/distributors/RSR Group/shipping/insurance/cost_per_hundred',
        entry({ ...rate(1), insurance: { include: true, cost_per_hundred: amount } }),
      ],
      [
        '/distributors/RSR Group/shipping/handling/amount',
        entry({
          ...rate(1),
          handling: { amount, order_threshold: 1, add_handling_to_unit_cost: false },
        }),
      ],
      [
        '/distributors/RSR Group/shipping/handling/order_threshold',
        entry({
          ...rate(1),
          handling: { amount: 1, order_threshold: amount, add_handling_to_unit_cost: false },
        }),
      ],
      [
        '/distributors/RSR Group/shipping/price_based_shipping_levels/0/flat_rate/cost',
        entry({
          price_based_shipping_levels: [
            { min_unit_cost: 0, flat_rate: { cost: amount, shipping_class: 'flat' } },
          ],
        }),
      ],
    ]
    const document = {
      distributors: {},
      targets: {},
      notification_email: 'owner@shop.example',
      pricing: {},
      product_restrictions: {},
    }
    for (const [path, part] of at(12.34))
      assert.equal(
        (await t.json('/v1/config', post({ ...document, ...part }, 'PUT'))).status,
        200,
        path,
      )
    for (const [path, part] of at(12.345)) {
      const { status, body } = await t.json('/v1/config', post({ ...document, ...part }, 'PUT'))
      assert.deepEqual(
        [
          status,
          body.error?.code,
          body.error?.details.map((fault: { path: string }) => fault.path),
        ],
        [400, 'schema_validation_failed', [path]],
        path,
      )
      assert.match(body.error.details[0].message, /must have at most two decimals/)
    }
    assert.equal(
      (
        await t.json(
          '/v1/config',
          post(
            {
              ...document,
              pricing: { credit_card_fee_percent: 0.0295, sales_tax_assumption: 0.08875 },
            },
            'PUT',
          ),
        )
      ).status,
      200,
    )
    assert.doesNotMatch(await (await t.request('/v1/config/schema')).text(), /x-cents|multipleOf/)
  })
})

describe('whole numbers are digits alone', () => {
  test('wherever a query has one', async () => {
    await using t = await createTestApp()
    await t.stock([{ distid: 'RSR', stockid: 'A1' }])
    await t.configure({ distributors: { 'RSR Group': { distid: 'RSR' } } })
    for (const [path, name] of [
      ['/v1/products/search?', 'page'],
      ['/v1/products/search?', 'page_size'],
      ['/v1/ffls?zip=85001&', 'radius'],
      ['/v1/orders?', 'limit'],
      ['/v1/orders?', 'offset'],
      ['/v1/fulfillment/history?', 'limit'],
      ['/v1/analytics/trending?', 'limit'],
    ]) {
      for (const text of ['1', '01', '10'])
        assert.equal((await t.request(`${path}${name}=${text}`)).status, 200, `${name}=${text}`)
      for (const text of [
        '1e1',
        '1e0',
        '1.0',
        '5.',
        '.5e1',
        '%2B1',
        '-1',
        '0x1',
        ' 1',
        '1_0',
        '',
        '１',
      ]) {
        const { status, body } = await t.json(`${path}${name}=${text}`)
        assert.deepEqual(
          [status, body.error?.details],
          [400, [{ path: name, message: 'must be a whole number, digits alone' }]],
          `${name}=${text}`,
        )
      }
    }
    assert.equal((await t.request('/v1/analytics/trending?min_7d_units=2.5')).status, 200)
  })
})

describe('an order history', () => {
  test('from a day after to is an empty page', async () => {
    await using t = await orderShop([scripted()])
    assert.equal((await t.place(t.body())).status, 200)
    const count = async (from: string, to: string) =>
      (await t.json(`/v1/fulfillment/history?from=${from}&to=${to}`)).body.data
    assert.equal((await count('2026-11-21', '2026-11-21')).count, 1)
    assert.deepEqual(await count('2026-11-22', '2026-11-21'), { count: 0, orders: [], errors: [] })
    assert.deepEqual(await t.remote.fulfillment.history({ from: '2026-11-22', to: '2026-11-20' }), {
      count: 0,
      orders: [],
      errors: [],
    })
  })
})

describe('attributes of a restriction check', () => {
  test('may hold objects, which tell no rule anything', async () => {
    await using t = await createTestApp()
    const ask = async (attributes: object) =>
      t.json(
        '/v1/restrictions/check',
        post({
          shipping: { state: 'CA', zip: '90012' },
          items: [{ product_class: 'MG', attributes }],
        }),
      )
    for (const value of [{ inches: 4 }, {}, [{ inches: 4 }], { deep: { er: [1, null, 'x'] } }]) {
      const { status, body } = await ask({ magazine_capacity: 10, size: value })
      assert.deepEqual(
        [status, body],
        [200, (await ask({ magazine_capacity: 10 })).body],
        JSON.stringify(value),
      )
    }
    assert.deepEqual((await ask({ magazine_capacity: { rounds: 10 } })).body, (await ask({})).body)
  })
})

describe('a CRLF', () => {
  const signals = (notes: string) => ({ shipping_address_1: '12 Main St', notes })
  const notesOf = async (notes: string) => {
    await using t = await createTestApp()
    const { status, body } = await t.json('/v1/fraud/reports', post(signals(notes)))
    return status === 200 ? body.data.fraud.notes : [status, body.error.details[0].path]
  }

  test('in notes is a newline, and a carriage return alone is not text', async () => {
    assert.deepEqual(await notesOf('first\r\nsecond\r\n\r\nthird'), ['first\nsecond\n\nthird'])
    assert.deepEqual(await notesOf('first\nsecond'), ['first\nsecond'])
    for (const notes of ['first\rsecond', 'first\n\rsecond', 'first\r\r\nsecond', 'first\r'])
      assert.deepEqual(await notesOf(notes), [400, 'notes'], JSON.stringify(notes))
  })

  test('is one in the library and however it is written, and counts as one character', async () => {
    await using t = await createTestApp()
    for (const shop of [t.shop, t.remote])
      assert.deepEqual((await shop.fraud.report(signals('a\r\nb'))).fraud.notes, ['a\nb'])
    const escaped = await t.json('/v1/fraud/reports', {
      method: 'POST',
      body: '{"shipping_address_1":"12 Main St","notes":"a\\u000D\\u000Ac"}',
    })
    assert.deepEqual(escaped.body.data.fraud.notes, ['a\nc'])
    assert.equal(
      (await t.json('/v1/fraud/reports', post(signals('\r\n'.repeat(1_999) + 'xx')))).status,
      200,
    )
    assert.equal(
      (await t.json('/v1/fraud/reports', post(signals('a' + '\r\n'.repeat(3_998) + 'b')))).status,
      200,
    )
    assert.equal((await t.json('/v1/fraud/reports', post(signals('x'.repeat(4_001))))).status, 400)
  })
})

describe('a po_number of the caller', () => {
  test('that is too long for a distributor is shortened for it, and is found by what was given', async () => {
    const [short, long] = [
      scripted({ distid: 'AAA', name: 'Alpha', limits: { po: { max: 22 } } }),
      scripted({ distid: 'BBB', name: 'Beta', limits: { po: { max: 200 } } }),
    ]
    await using t = await orderShop([short, long])
    const po = `PO ${'x'.repeat(197)}`
    const items = ['AAA', 'BBB'].map((distid) => ({ distid, distsku: 'A1', upc: UPC, qty: 1 }))
    const { status, body } = await t.place(t.body({ po_number: po, items }))
    const sent = body.data.fulfillment_orders.map((order: { po_number: string }) => order.po_number)
    assert.equal(status, 200)
    assert.deepEqual([sent[0].length, sent[1]], [22, po])
    assert.deepEqual([short.sends[0]!.po, long.sends[0]!.po], sent)
    for (const wanted of [po, sent[0]])
      assert.ok(
        (await t.shop.fulfillment.history({ po_number: wanted })).orders.some(
          (order) => order.distid === 'AAA',
        ),
        wanted,
      )
    // One PO stays one value, and another that begins alike is another one.
    const shortened = async (given: string) =>
      (await t.place(t.body({ po_number: given }))).body.data.fulfillment_orders[0].po_number
    assert.equal(await shortened(po), sent[0])
    assert.notEqual(await shortened(`${po.slice(0, -1)}y`), sent[0])
    assert.equal((await t.place(t.body({ po_number: `${po}x` }))).status, 400)
  })
})
