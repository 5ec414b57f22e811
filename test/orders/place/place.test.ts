import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DEALER, GUN_UPC, UPC, orderShop } from '../shop.js'
import { scripted } from '../scripted-distributor.js'

describe('placing an order', () => {
  test('writes it down, sends it, and answers with its record', async () => {
    const tst = scripted()
    await using t = await orderShop([tst])
    const answer = await t.place(t.body({ order_id: 'W-1' }))
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.equal(answer.headers.get('x-service-mode'), 'simulator')
    const {
      fulfillment_orders: [record],
      ...rest
    } = answer.body.data
    assert.deepEqual(rest, { order_id: 'W-1', status: 'placed', mode: 'simulator', errors: [] })
    assert.deepEqual(record, {
      order_date: '2026-11-21 12:00:00',
      order_id: 'W-1',
      distid: 'TST',
      distributor_order_id: 'TST-1',
      ffl: null,
      customer_name: 'Pat Doe',
      order_status: 'Submitted',
      order_source: 'cockpit_cart',
      po_number: `W-1-${(t.key.slice(0, 2) + t.key.slice(-2)).toUpperCase()}-010`,
      ship_date: null,
      ship_company: null,
      ship_method: null,
      ship_status: null,
      ship_tracking_number: null,
      ship_tracking_url: null,
      ship_to_store: 0,
      ffl_required: 0,
      dist_order_items: `[{"distsku":"A1","upc":"${UPC}","qty":1}]`,
    })
    assert.deepEqual(
      tst.sends.map(({ shipTo: { name, address1 }, ffl, lines }) => [
        name,
        address1,
        ffl,
        lines.length,
      ]),
      [['Pat Doe', '12 Main St', null, 1]],
    )
  })

  test('splits by distributor and need of a dealer; a firearm goes to the dealer', async () => {
    const [a, b] = [
      scripted({ distid: 'AAA', name: 'Alpha' }),
      scripted({ distid: 'BBB', name: 'Beta' }),
    ]
    await using t = await orderShop([a, b])
    const item = (distid: string, distsku: string, upc: string, ffl_req = false) => ({
      distid,
      distsku,
      upc,
      qty: 2,
      ffl_req,
    })
    const { body } = await t.place(
      t.body({
        items: [
          item('AAA', 'A1', UPC),
          item('BBB', 'G1', GUN_UPC, true),
          item('AAA', 'G1', GUN_UPC, true),
        ],
        ffl: { licenseNumber: DEALER },
      }),
    )
    assert.deepEqual(
      body.data.fulfillment_orders.map((order: Record<string, unknown>) => [
        order['distid'],
        order['ffl_required'],
        order['ffl'],
        order['distributor_order_id'],
      ]),
      [
        ['AAA', 0, null, 'AAA-1'],
        ['BBB', 1, DEALER, 'BBB-1'],
        ['AAA', 1, DEALER, 'AAA-2'],
      ],
    )
    assert.deepEqual(b.sends[0]!.shipTo, {
      name: 'Desert Arms',
      address1: '400 E Van Buren St',
      address2: null,
      city: 'PHOENIX',
      state: 'AZ',
      zip: '85004',
      phone: '6025550177',
    })
  })

  test('a firearm whose caller forgot ffl_req is never shipped', async () => {
    const tst = scripted()
    await using t = await orderShop([tst])
    for (const ffl of [undefined, { licenseNumber: DEALER }]) {
      const { status, body } = await t.place(
        t.body({ items: [{ distid: 'TST', distsku: 'G1', upc: GUN_UPC, qty: 1 }], ffl }),
      )
      assert.equal(status, 400)
      assert.deepEqual(
        body.error.details.map(({ path }: { path: string }) => path),
        ['items[0].ffl_req'],
      )
    }
    assert.equal(tst.sends.length, 0)
    assert.deepEqual(await t.purchaseOrders(), [])
  })

  test('the same order again is a 409 with its records, whenever it is asked', async () => {
    const tst = scripted()
    await using t = await orderShop([tst])
    const body = t.body()
    const answers = await Promise.all(Array.from({ length: 30 }, () => t.place(body)))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [
      200,
      ...Array<number>(29).fill(409),
    ])
    const again = await t.place({
      ...body,
      items: [{ distid: 'TST', distsku: 'A1', upc: UPC, qty: 2 }],
    })
    assert.equal(again.body.error.code, 'duplicate_order')
    assert.equal(again.body.error.details.same_request, false)
    assert.equal(again.body.error.details.fulfillment_orders[0].distributor_order_id, 'TST-1')
    assert.equal(tst.sends.length, 1)
  })
})
