/**
 * What refuses an order before anything is written or sent (contract "Place order").
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DAY, HOUR, MINUTE, SECOND } from '../../../lib/core/clock.js'
import type { TestOffer } from '../../../server/testing/index.js'
import { isOnPostgres } from '../../harness/record.js'
import {
  CUSTOMER,
  DEALER,
  GUN_UPC,
  OTHER_DEALER,
  STORE,
  UPC,
  offersOf,
  orderShop,
} from '../shop.js'
import type { OrderShop } from '../shop.js'
import { scripted } from '../scripted-distributor.js'

type Fault = { path: string; message: string }
const item = (more: Record<string, unknown> = {}) => ({
  distid: 'TST',
  distsku: 'A1',
  upc: UPC,
  qty: 1,
  ...more,
})
const gun = (more: Record<string, unknown> = {}) =>
  item({ distsku: 'G1', upc: GUN_UPC, ffl_req: true, ...more })
const customer = (more: Record<string, unknown>) => ({ customer: { ...CUSTOMER, ...more } })

async function nothingWritten(t: OrderShop): Promise<void> {
  for (const table of [
    'placement',
    'fulfillment_order',
    'purchase_order',
    'order_count',
    'journal',
    'failed_placement',
  ] as const) {
    assert.deepEqual(await t.app.ctx.read.selectFrom(table).selectAll().execute(), [], table)
  }
}

describe('members of an order', () => {
  const long = 'x'.repeat(50)
  const rows: [name: string, more: Record<string, unknown>, paths: string[]][] = [
    ['order_id of 50 characters', { order_id: long }, []],
    ['order_id of 51 characters', { order_id: `${long}x` }, ['order_id']],
    ['an empty order_id', { order_id: '' }, ['order_id']],
    ['order_id with a space', { order_id: 'a b' }, ['order_id']],
    ['order_id with every allowed kind', { order_id: 'aZ09-_' }, []],
    ['order_id with a letter of another alphabet', { order_id: 'é' }, ['order_id']],
    ['order_id as a number', { order_id: 7 }, ['order_id']],
    ['no customer', { customer: undefined }, ['customer']],
    ['no name', customer({ name: undefined }), ['customer.name']],
    ['a blank name', customer({ name: '  ' }), ['customer.name']],
    ['no e-mail', customer({ email: undefined }), ['customer.email']],
    ['no e-mail address', customer({ email: 'pat' }), ['customer.email']],
    ['no street', customer({ address1: undefined }), ['customer.address1']],
    ['no city', customer({ city: undefined }), ['customer.city']],
    ['a state of three letters', customer({ state: 'ARI' }), ['customer.state']],
    ['two letters that are no state', customer({ state: 'XX' }), ['customer.state']],
    ['a state in lower case', customer({ state: 'az' }), []],
    ['no ZIP', customer({ zip: undefined }), ['customer.zip']],
    ['a ZIP of four digits', customer({ zip: '8500' }), ['customer.zip']],
    ['a ZIP of nine digits', customer({ zip: '85001-1234' }), []],
    ['a ZIP of another state', customer({ zip: '10001' }), ['customer.zip']],
    ['no phone', customer({ phone: undefined }), []],
    ['a second line', customer({ address2: 'Apt 4' }), []],
    ['an unknown member of customer', customer({ adress2: 'x' }), ['customer.adress2']],
    ['an unknown member', { orderid: 'x' }, ['orderid']],
    ['no items', { items: [] }, ['items']],
    ['101 items', { items: Array.from({ length: 101 }, () => item()) }, ['items']],
    ['no qty', { items: [item({ qty: undefined })] }, ['items[0].qty']],
    ['qty 0', { items: [item({ qty: 0 })] }, ['items[0].qty']],
    ['qty 1.5', { items: [item({ qty: 1.5 })] }, ['items[0].qty']],
    ['qty of all the stock', { items: [item({ qty: 50 })] }, []],
    ['qty of more than the stock', { items: [item({ qty: 51 })] }, ['items[0].qty']],
    [
      'two lines of one item that are more than the stock',
      { items: [item({ qty: 26 }), item({ qty: 25 })] },
      ['items[0].qty'],
    ],
    ['ffl_req as a number', { items: [item({ ffl_req: 1 })] }, ['items[0].ffl_req']],
    ['distid as a number', { items: [item({ distid: 1 })] }, ['items[0].distid']],
    ['an unknown distributor', { items: [item({ distid: 'NOPE' })] }, ['items[0].distid']],
    ['an unknown SKU', { items: [item({ distsku: 'ZZZ' })] }, ['items[0].distsku']],
    ['a SKU in another case', { items: [item({ distsku: 'a1' })] }, []],
    ['the UPC of another item', { items: [item({ upc: GUN_UPC })] }, ['items[0].upc']],
    ['a UPC as GTIN-14', { items: [item({ upc: `00${UPC}` })] }, []],
    ['no upc', { items: [item({ upc: undefined })] }, ['items[0].upc']],
    [
      'members of an Option',
      {
        items: [
          item({ distributor: 'Test Wholesale', unit_price: 25, line_total: 35, map_price: null }),
        ],
      },
      [],
    ],
    ['an unknown member of an item', { items: [item({ quantity: 1 })] }, ['items[0].quantity']],
    ['a firearm without ffl', { items: [gun()] }, ['ffl.licenseNumber']],
    [
      'a firearm with a masked license',
      { items: [gun()], ffl: { licenseNumber: DEALER.replace('033', 'XXX') } },
      ['ffl.licenseNumber'],
    ],
    [
      'a firearm with an unknown license',
      { items: [gun()], ffl: { licenseNumber: '1-57-033-01-9E-11111' } },
      ['ffl.licenseNumber'],
    ],
    [
      'a firearm with a license that was renewed',
      { items: [gun()], ffl: { licenseNumber: DEALER.replace('9E', '6E') } },
      ['ffl.licenseNumber'],
    ],
    [
      'a firearm to a dealer, without dashes',
      { items: [gun()], ffl: { licenseNumber: DEALER.replaceAll('-', '') } },
      [],
    ],
    [
      'an accessory that goes to a dealer',
      { items: [item({ ffl_req: true })], ffl: { licenseNumber: DEALER } },
      [],
    ],
    [
      'an accessory that goes to a dealer, without ffl',
      { items: [item({ ffl_req: true })] },
      ['ffl.licenseNumber'],
    ],
    ['a po_number of 200 characters', { po_number: 'p'.repeat(200) }, []],
    ['a po_number of 201 characters', { po_number: 'p'.repeat(201) }, ['po_number']],
    ['an empty po_number', { po_number: '' }, ['po_number']],
    [
      'an SOT item to a dealer without SOT',
      { items: [item({ distsku: 'S1', upc: '', ffl_req: true })], ffl: { licenseNumber: DEALER } },
      ['ffl.licenseNumber'],
    ],
    [
      'an SOT item to a dealer with SOT',
      {
        items: [item({ distsku: 'S1', upc: '', ffl_req: true })],
        ffl: { licenseNumber: OTHER_DEALER },
      },
      [],
    ],
    [
      'an SOT item to the customer',
      { items: [item({ distsku: 'S1', upc: '' })] },
      ['items[0].ffl_req'],
    ],
    [
      'a UPC for an item without one',
      {
        items: [item({ distsku: 'S1', upc: UPC, ffl_req: true })],
        ffl: { licenseNumber: OTHER_DEALER },
      },
      ['items[0].upc'],
    ],
    [
      'what is not shipped to customers',
      { items: [item({ distsku: 'N1', upc: '' })] },
      ['items[0].distsku'],
    ],
    [
      'all faults at once',
      { order_id: '', items: [item({ qty: 0 })] },
      ['order_id', 'items[0].qty'],
    ],
    [
      'all faults of the catalog at once',
      { items: [item({ distsku: 'ZZZ' }), gun({ ffl_req: false }), item({ qty: 99 })] },
      ['items[0].distsku', 'items[1].ffl_req', 'items[2].qty'],
    ],
  ]
  const more: TestOffer[] = [
    {
      distid: 'TST',
      stockid: 'S1',
      upc: null,
      name: 'Suppressor',
      qty: 3,
      fflReq: true,
      dropShip: false,
      productClass: 'SO',
    },
    { distid: 'TST', stockid: 'N1', upc: null, name: 'Heavy safe', qty: 3, dropShip: false },
  ]
  for (const [name, parts, paths] of rows) {
    test(`${name}: ${paths.length === 0 ? 'taken' : paths.join(', ')}`, async () => {
      const tst = scripted()
      await using t = await orderShop([tst], { offers: [...offersOf('TST'), ...more] })
      const { status, body } = await t.place(t.body(parts))
      assert.deepEqual(
        status === 200 ? [] : body.error.details.map(({ path }: Fault) => path),
        paths,
        JSON.stringify(body),
      )
      assert.equal(status, paths.length === 0 ? 200 : 400)
      if (paths.length > 0) {
        assert.equal(tst.sends.length, 0)
        await nothingWritten(t)
      }
    })
  }

  test("a class that is a firearm's goes to a dealer, whatever the offer's flag says", async () => {
    await using t = await orderShop([scripted()], {
      offers: [
        {
          distid: 'TST',
          stockid: 'F1',
          upc: null,
          qty: 1,
          productClass: 'FA',
          fflReq: false,
          dropShip: true,
        },
      ],
    })
    assert.deepEqual(
      (await t.place(t.body({ items: [item({ distsku: 'F1', upc: '' })] }))).body.error.details.map(
        ({ path }: Fault) => path,
      ),
      ['items[0].ffl_req'],
    )
  })

  test('the stock of an item is that of all warehouses', async () => {
    const at = (stockid: string): TestOffer => ({
      distid: 'TST',
      stockid,
      distsku: 'A1',
      upc: UPC,
      qty: 2,
    })
    await using t = await orderShop([scripted()], { offers: [at('A1-NC'), at('A1-AZ')] })
    assert.equal((await t.place(t.body({ items: [item({ qty: 5 })] }))).status, 400)
    assert.equal((await t.place(t.body({ items: [item({ qty: 4 })] }))).status, 200)
  })

  test('product restrictions do not hide here, the purchase limit holds', async () => {
    await using t = await orderShop([scripted()], {
      document: { product_restrictions: { sku: { exclude: ['A1'] }, purchase_limit: 3 } },
    })
    assert.equal(
      (await t.place(t.body({ items: [item({ qty: 2 }), item({ qty: 1 })] }))).status,
      200,
    )
    assert.match(
      (await t.place(t.body({ items: [item({ qty: 2 }), item({ qty: 2 })] }))).body.error.message,
      /purchase limit of 3/,
    )
  })

  for (const [needs, items, wanted] of [
    ['always', [item()], 400],
    ['ffl', [item()], 200],
    ['ffl', [gun()], 400],
  ] as const) {
    test(`a phone is needed ${needs}: ${items[0]!.distsku} without one is ${wanted}`, async () => {
      await using t = await orderShop([scripted({ limits: { needsConsumerPhone: needs } })])
      const { status, body } = await t.place(
        t.body({ items, ffl: { licenseNumber: DEALER }, ...customer({ phone: null }) }),
      )
      assert.equal(status, wanted)
      if (wanted === 400)
        assert.deepEqual(
          body.error.details.map(({ path }: Fault) => path),
          ['customer.phone'],
        )
    })
  }

  test('a license that expires today is good today, and not tomorrow', async () => {
    await using t = await orderShop([scripted()])
    await t.app.ctx.db
      .updateTable('dealer')
      .set({ expires_on: '2026-11-21' })
      .where('license_number', '=', DEALER)
      .execute()
    const order = () => t.body({ items: [gun()], ffl: { licenseNumber: DEALER } })
    assert.equal((await t.place(order())).status, 200)
    t.clock.advance(DAY)
    const { status, body } = await t.place(order())
    assert.deepEqual([status, body.error.details[0].path], [400, 'ffl.licenseNumber'])
    assert.match(body.error.details[0].message, /expired on 2026-11-21/)
  })

  test('a dealer that left the list of licensees gets nothing', async () => {
    await using t = await orderShop([scripted()])
    await t.app.ctx.db
      .updateTable('dealer')
      .set({ listed: 0 })
      .where('license_number', '=', DEALER)
      .execute()
    assert.equal(
      (await t.place(t.body({ items: [gun()], ffl: { licenseNumber: DEALER } }))).status,
      400,
    )
  })
})

describe('ship-to-store', () => {
  test('goes to the configured address as one order, whatever ffl says', async () => {
    const tst = scripted()
    await using t = await orderShop([tst])
    const { status, body } = await t.place(
      t.body({
        items: [item(), gun({ ffl_req: false })],
        ship_to_store: true,
        ffl: { licenseNumber: 'nonsense' },
      }),
    )
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(
      body.data.fulfillment_orders.map((order: Record<string, unknown>) => [
        order['ship_to_store'],
        order['ffl_required'],
        order['ffl'],
      ]),
      [[1, 1, DEALER]],
    )
    assert.match(body.data.fulfillment_orders[0].po_number, /-111$/)
    assert.deepEqual(
      [tst.sends[0]!.shipTo.address1, tst.sends[0]!.shipTo.phone, tst.sends[0]!.ffl!.licenseNumber],
      ['1 Store Rd', '602-555-0199', DEALER],
    )
  })

  test("without an address it goes to the premise of the store's license", async () => {
    const tst = scripted()
    await using t = await orderShop([tst], {
      document: { fulfillment: { ship_to_store: { ffl: DEALER } } },
    })
    await t.place(t.body({ ship_to_store: true }))
    assert.equal(tst.sends[0]!.shipTo.address1, '400 E Van Buren St')
  })

  const refused: [name: string, store: unknown, items: unknown[]][] = [
    ['no store', undefined, [item()]],
    ['no license', { address: STORE.address }, [item()]],
    [
      'a license that nobody has, and a firearm',
      { ...STORE, ffl: '1-57-033-01-9E-11111' },
      [gun()],
    ],
    ['a masked license, and a firearm', { ...STORE, ffl: '1-57-XXX-XX-XX-67890' }, [gun()]],
    [
      'half of an address, and an unknown license',
      { ffl: '1-57-033-01-9E-11111', address: { city: 'Phoenix' } },
      [item()],
    ],
    ['no SOT, and a suppressor', STORE, [item({ distsku: 'S1', upc: '' })]],
  ]
  for (const [name, store, items] of refused) {
    test(`${name}: 409 fulfillment_not_configured`, async () => {
      const tst = scripted()
      await using t = await orderShop([tst], {
        document: { fulfillment: store === undefined ? {} : { ship_to_store: store } },
        offers: [
          ...offersOf('TST'),
          {
            distid: 'TST',
            stockid: 'S1',
            upc: null,
            qty: 1,
            productClass: 'SO',
            fflReq: true,
            dropShip: false,
          },
        ],
      })
      const { status, body } = await t.place(t.body({ items, ship_to_store: true }))
      assert.deepEqual(
        [status, body.error.code],
        [409, 'fulfillment_not_configured'],
        JSON.stringify(body),
      )
      await nothingWritten(t)
    })
  }

  test('an expired store license takes accessories, and no firearm', async () => {
    await using t = await orderShop([scripted()])
    await t.app.ctx.db
      .updateTable('dealer')
      .set({ expires_on: '2026-01-01' })
      .where('license_number', '=', DEALER)
      .execute()
    assert.equal(
      (await t.place(t.body({ items: [gun()], ship_to_store: true }))).body.error.code,
      'fulfillment_not_configured',
    )
    assert.equal((await t.place(t.body({ ship_to_store: true }))).status, 200)
  })
})

describe('a distributor that orders cannot be placed with', () => {
  const reason = async (t: OrderShop, items: unknown[] = [item()]) => {
    const { status, body } = await t.place(t.body({ items }))
    assert.deepEqual(
      [status, body.error.code],
      [409, 'fulfillment_not_configured'],
      JSON.stringify(body),
    )
    await nothingWritten(t)
    return body.error.details.map(
      (detail: { distid: string; reason: string }) => `${detail.distid}: ${detail.reason}`,
    )
  }
  const entry = (more: Record<string, unknown> = {}) => ({
    'Test Wholesale': { distid: 'TST', fulfillment: {}, product_restrictions: {}, ...more },
  })

  test('is not configured, not active, not validated, or has no fulfillment section', async () => {
    await using t = await orderShop([scripted()])
    await t.configure({ distributors: entry({ fulfillment: undefined }) as never })
    assert.deepEqual(await reason(t), ['TST: its entry has no fulfillment section'])
    await t.configure({ distributors: entry({ active: false }) as never })
    assert.deepEqual(await reason(t), ['TST: it is not active'])
    await t.configure({ distributors: entry() as never })
    await t.app.operator.configurations.recordCheck(t.subscriber, 'Test Wholesale', false)
    assert.match((await reason(t))[0], /^TST: its credentials have not passed validation/)
    await t.configure({ distributors: {} })
    assert.deepEqual(await reason(t), ['TST: it is not configured'])
  })

  test('has no automated fulfillment', async () => {
    await using t = await orderShop([scripted()], {
      offers: [...offersOf('TST'), ...offersOf('DAV')],
    })
    await t.configure({
      distributors: {
        ...entry(),
        Davidsons: { distid: 'DAV', fulfillment: {}, product_restrictions: {} },
      } as never,
    })
    assert.deepEqual(await reason(t, [item(), item({ distid: 'DAV' })]), [
      'DAV: it has no automated fulfillment',
    ])
  })

  test('lacks a setting that is needed', async () => {
    await using t = await orderShop([scripted()], { offers: offersOf('RSR') })
    await t.configure({
      distributors: {
        'RSR Group': {
          distid: 'RSR',
          fulfillment: { API_USER: '99901' },
          product_restrictions: {},
        },
      } as never,
    })
    assert.match((await reason(t, [item({ distid: 'RSR' })]))[0], /lacks fulfillment.API_PASSWORD/)
  })

  test('is in another mode than the others of the cart; alone it is live', async () => {
    const [a, b] = [
      scripted({ distid: 'AAA', name: 'Alpha' }),
      scripted({ distid: 'BBB', name: 'Beta' }),
    ]
    await using t = await orderShop([a, b])
    await t.app.operator.distributors.setMode({
      distid: 'BBB',
      mode: 'live',
      reason: 'opening day',
    })
    const reasons = await reason(t, [item({ distid: 'AAA' }), item({ distid: 'BBB' })])
    assert.match(reasons.join('; '), /AAA: it is in mode simulator.*BBB: it is in mode live/)
    const answer = await t.place(t.body({ items: [item({ distid: 'BBB' })] }))
    assert.deepEqual(
      [answer.status, answer.body.data.mode, answer.headers.get('x-service-mode')],
      [200, 'live', 'mixed'],
    )
    const [audit] = await t.app.ctx.read
      .selectFrom('audit')
      .select('detail')
      .where('action', '=', 'distributors.mode')
      .execute()
    assert.deepEqual(JSON.parse(audit!.detail), {
      distid: 'BBB',
      mode: 'live',
      before: 'simulator',
      reason: 'opening day',
    })
  })

  test("live needs a reason, and a connector with the distributor's own protocol", async () => {
    const played = scripted({ distid: 'PLAYED', name: 'Played Wholesale' })
    const { fulfillment: _fulfillment, ...distributor } = played.distributor
    await using t = await orderShop([scripted(), { ...played, distributor }])
    await assert.rejects(
      t.app.operator.distributors.setMode({ distid: 'TST', mode: 'live', reason: ' ' }),
      /reason/,
    )
    await assert.rejects(
      t.app.operator.distributors.setMode({ distid: 'PLAYED', mode: 'live', reason: 'x' }),
      /no connector that speaks its own protocol, only its simulator/,
    )
    await assert.rejects(
      t.app.operator.distributors.setMode({ distid: 'NOPE', mode: 'live', reason: 'x' }),
      /is not a distributor/,
    )
  })
})

describe('a rule that blocks an item', () => {
  const rule = (more: Record<string, unknown> = {}) => ({
    rule_id: 'no-bipods',
    version: 1,
    kind: 'BLOCK',
    scope: { country: 'US', state: ['AZ'] },
    match: { upc: [UPC] },
    destination: 'consumer',
    customer_message: 'No bipods here.',
    effective_from: '2020-01-01',
    effective_to: null,
    legal_status: 'in_force',
    citations: [{ cite: 'x', url: null, retrieved: null }],
    unknown_attribute: 'review',
    ...more,
  })
  const withRule = async (t: OrderShop, more: Record<string, unknown> = {}) =>
    t.app.operator.rules.import({
      text: JSON.stringify([rule(more)]),
      origin: 'test',
      replace: true,
    })

  test('is a 409 with the check, for the place where the item really goes', async () => {
    await using t = await orderShop([scripted()])
    await withRule(t)
    const { status, body } = await t.place(t.body())
    assert.deepEqual([status, body.error.code], [409, 'restricted_destination'])
    assert.deepEqual(
      body.error.details.items[0].blocking_rules.map(({ rule_id: id }: { rule_id: string }) => id),
      ['no-bipods'],
    )
    await nothingWritten(t)
    assert.equal(
      (await t.place(t.body({ items: [item({ ffl_req: true })], ffl: { licenseNumber: DEALER } })))
        .status,
      200,
      'to a dealer it may go',
    )
    assert.equal(
      (await t.place(t.body(customer({ state: 'NV', zip: '89101', city: 'Las Vegas' })))).status,
      200,
      'elsewhere too',
    )
  })

  test("of the dealer's state counts for what goes to the dealer, not the customer's", async () => {
    await using t = await orderShop([scripted()])
    await withRule(t, { match: { upc: [GUN_UPC] }, destination: 'any' })
    const order = () =>
      t.body({
        items: [gun()],
        ffl: { licenseNumber: DEALER },
        ...customer({ state: 'NV', zip: '89101', city: 'Las Vegas' }),
      })
    assert.equal((await t.place(order())).body.error.code, 'restricted_destination')
  })

  test('warns only when the operator has turned enforcement off', async () => {
    await using t = await orderShop([scripted()])
    await withRule(t)
    const { setEnforcement } = await import('../../../lib/orders/place/enforcement.js')
    await assert.rejects(setEnforcement(t.app.ctx, { on: false, reason: null }), /reason/)
    await setEnforcement(t.app.ctx, { on: false, reason: 'checked by hand' })
    assert.equal((await t.place(t.body())).status, 200)
    await setEnforcement(t.app.ctx, { on: true, reason: null })
    assert.equal((await t.place(t.body())).status, 409)
  })

  test('knows a PO box from the address', async () => {
    await using t = await orderShop([scripted()])
    await withRule(t, { scope: { country: 'US', place: ['po_box'] } })
    assert.equal(
      (await t.place(t.body(customer({ address1: 'PO Box 12' })))).body.error.code,
      'restricted_destination',
    )
    assert.equal((await t.place(t.body())).status, 200)
  })
})

describe('order volume', () => {
  test('60 an hour and 500 a day, rolling, by key; what was refused does not count', async () => {
    const tst = scripted()
    await using t = await orderShop([tst], {
      offers: [{ distid: 'TST', stockid: 'A1', upc: UPC, qty: 10_000 }],
    })
    let at = 0
    const admitted: number[] = []
    const attempt = async () => {
      const { status, headers } = await t.place(t.body())
      if (status === 200) admitted.push(at)
      return { status, retryAfter: Number(headers.get('retry-after')) }
    }
    assert.equal((await t.place(t.body({ items: [] }))).status, 400)
    for (let i = 0; i < 60; i++) assert.equal((await attempt()).status, 200)
    const refused = await attempt()
    assert.deepEqual(refused, { status: 429, retryAfter: 3_600 })
    const wait = (ms: number) => {
      at += ms
      t.clock.advance(ms)
    }
    wait(HOUR - SECOND)
    assert.deepEqual(await attempt(), { status: 429, retryAfter: 1 })
    wait(SECOND)
    assert.equal((await attempt()).status, 200)
    while (admitted.length < 500) {
      if ((await attempt()).status === 429) wait(10 * MINUTE)
    }
    const day = await attempt()
    assert.equal(day.status, 429)
    assert.equal(day.retryAfter, (DAY - (at - admitted[0]!)) / SECOND)
    for (const [window, limit] of [
      [HOUR, 60],
      [DAY, 500],
    ] as const) {
      for (const end of admitted)
        assert.ok(admitted.filter((time) => time > end - window && time <= end).length <= limit)
    }
    const { key } = await t.app.operator.keys.create({
      subscriber: t.subscriber,
      name: 'another',
      tier: 'pro',
      ips: ['127.0.0.1'],
    })
    assert.equal((await t.place(t.body(), { key })).status, 200, 'another key has its own')
  })

  test('a clock that was ahead locks nobody, one that is set ahead unlocks nobody', async () => {
    let steady = 0
    await using t = await orderShop([scripted()], {
      offers: [{ distid: 'TST', stockid: 'A1', upc: UPC, qty: 10_000 }],
      monotonic: () => steady,
    })
    t.clock.advance(DAY)
    for (let i = 0; i < 30; i++) assert.equal((await t.place(t.body())).status, 200)
    t.clock.advance(-DAY)
    for (let i = 0; i < 30; i++) assert.equal((await t.place(t.body())).status, 200)
    assert.equal((await t.place(t.body())).status, 429)
    t.clock.advance(3 * DAY)
    assert.equal((await t.place(t.body())).status, 429, 'by the steady clock no hour has gone by')
    steady = HOUR
    assert.equal((await t.place(t.body())).status, 200)
  })

  test('holds over a restart, and over two processes', async () => {
    const { openForTest: open } = await import('../../../server/testing/open.js')
    const { builtin } = await import('../../../lib/distributors/builtin/index.js')
    const tst = scripted()
    await using t = await orderShop([tst], {
      offers: [{ distid: 'TST', stockid: 'A1', upc: UPC, qty: 10_000 }],
    })
    await using second = await open({
      dir: t.app.dir,
      worker: false,
      now: () => t.clock.ms,
      distributors: [...builtin, tst.distributor],
    })
    // Of several nodes one sends what all take in; who has one folder sends its own.
    if (isOnPostgres) t.app.orders.start()
    const shops = [t.app.as({ key: t.key }), second.as({ key: t.key })]
    const place = (i: number) =>
      shops[i % 2]!.orders.place(t.body() as never).then(
        () => 'placed',
        (error: { code: string }) => error.code,
      )
    // A node turns away who waits for five seconds behind others; seven at a time, some of the last
    // that fit and the first that do not are still placed at once.
    const atOnce = isOnPostgres ? 7 : 70
    const codes: string[] = []
    while (codes.length < 70)
      codes.push(...(await Promise.all(Array.from({ length: atOnce }, (_, i) => place(i)))))
    assert.deepEqual(
      [
        codes.filter((code) => code === 'placed').length,
        codes.filter((code) => code === 'order_volume_limit').length,
      ],
      [60, 10],
      codes.join(' '),
    )
  })
})

test('secrets and names of an order stand sealed in the database', async () => {
  await using t = await orderShop([scripted()])
  await t.place(t.body())
  const [order] = await t.purchaseOrders()
  assert.ok(!order!.payload.includes('Main St'))
  const journal = (await t.app.ctx.read.selectFrom('journal').select('line').execute())
    .map(({ line }) => line)
    .join('\n')
  for (const text of ['Pat Doe', '12 Main St', 'pat@customer.example'])
    assert.ok(!journal.includes(text), text)
})
