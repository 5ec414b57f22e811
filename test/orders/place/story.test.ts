/**
 * An order from the quote to the customer's door, over the simulated distributors, the library and
 * HTTP.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DAY, MINUTE, SECOND } from '../../../lib/core/clock.js'
import { businessDay } from '../../../lib/orders/operator/paperwork.js'
import { storeDocument } from '../../../lib/ffls/documents.js'
import { ALL_NEWS } from '../../../lib/simulator/engine/world.js'
import { demoSettings, profileOf } from '../../../lib/simulator/profiles.js'
import type { ConfigurationDocument } from '../../../lib/configuration/document/document.js'
import {
  CUSTOMER,
  DEALER,
  GUN_UPC,
  OTHER_DEALER,
  STORE,
  UPC,
  addDealers,
  offersOf,
} from '../shop.js'
import { createTestApp } from '../../../server/testing/index.js'
import type { TestApp } from '../../../server/testing/index.js'

const NINE = ['RSR', 'LIP', 'CSSI', 'TSW', 'ZND', 'BILL', '2AW', 'ORI', 'HIX']
/** Whether it tells how far a parcel has got; some tell that it has left, and no more. */
const tellsJourney = (distid: string) => (profileOf(distid)!.news ?? ALL_NEWS).journey

/** Papers that are to be sent for a firearm: subject and last day, which no weekend counts for. */
const PAPERS: Readonly<Record<string, (po: string, at: number) => string[][]>> = {
  LIP: (po, at) => [['LIP', `License for PO ${po}`, businessDay(at, 5)]],
  TSW: (po, at) => [['TSW', `99905 - ${po}`, businessDay(at, 3)]],
  BILL: (po, at) => [['BILL', `DEMO-BILL - ${po}`, businessDay(at, 1)]],
  '2AW': (po, at) => [['2AW', `License for PO ${po}`, businessDay(at, 3)]],
  ZND: (po, at) => [['ZND', `License for PO ${po}`, businessDay(at, 1)]],
  HIX: (po, at) => [['HIX', `License for PO ${po}`, businessDay(at, 1)]],
}

/** A shop with all nine simulated distributors, each with an accessory and a pistol. */
async function nineShop(): Promise<TestApp> {
  const t = await createTestApp()
  await t.stock(NINE.flatMap((distid) => offersOf(distid)))
  await addDealers(t)
  const distributors: Record<string, unknown> = {}
  for (const distid of NINE) {
    const { name, settings } = t.app.ctx.distributors.byDistid(distid)!
    const entry: Record<string, unknown> = { distid, product_restrictions: {}, fulfillment: {} }
    for (const [setting, value] of Object.entries(demoSettings(distid)))
      put(entry, settings[setting]!.path.split('-'), value)
    for (const { path, required, type } of Object.values(settings))
      if (required === true && type === 'array') put(entry, path.split('-'), ['ffl@shop.example'])
    distributors[name] = entry
  }
  await t.configure({
    fulfillment: { ship_to_store: STORE },
    distributors: distributors as ConfigurationDocument['distributors'],
  })
  return t
}

function put(entry: Record<string, unknown>, path: string[], value: unknown): void {
  const leaf = path.pop()!
  let at = entry
  for (const name of path) at = (at[name] ??= {}) as Record<string, unknown>
  at[leaf] ??= value
}

const item = (distid: string, distsku: string, ffl_req = false) => ({
  distid,
  distsku,
  upc: distsku === 'G1' ? GUN_UPC : UPC,
  qty: 1,
  ffl_req,
})

async function later(t: TestApp, ms: number): Promise<void> {
  t.clock.advance(ms)
  await t.app.orders.pass()
  await t.app.monitors.pass()
}

/** What each says of the dealer, asked before anything is placed; the others cannot be asked. */
const DEALERS: Readonly<Record<string, RegExp>> = {
  RSR: /^RSR has the license of /,
  CSSI: /^Chattanooga has the license of .* on file$/,
  TSW: / accepts transfers, until 1\/1\/2030$/,
}

describe('the way of an order', () => {
  test('distributors are asked about the dealer before anything is placed', async () => {
    await using t = await nineShop()
    for (const distid of NINE) {
      const body = {
        order_id: `P-${distid}`,
        customer: CUSTOMER,
        items: [item(distid, 'A1'), item(distid, 'G1', true)],
        ffl: { licenseNumber: DEALER },
      }
      const { fulfillment_orders: groups } = await t.app.operator.orders.preflight(
        t.subscriber,
        body,
        { ask: true },
      )
      const [accessory, firearm] = groups
      assert.equal(accessory!.dealer, undefined)
      const expected = DEALERS[distid]
      if (expected) {
        assert.deepEqual([firearm!.dealer!.takes, firearm!.dealer!.on_file], [true, true])
        assert.match(firearm!.dealer!.reason, expected)
      } else assert.equal(firearm!.dealer, null)
      const { fulfillment_orders: unasked } = await t.app.operator.orders.preflight(
        t.subscriber,
        body,
      )
      assert.ok(unasked.every((group) => !('dealer' in group)))
    }
    assert.deepEqual((await t.app.operator.orders.list({ state: 'all' })).orders, [])
  })

  for (const distid of NINE) {
    test(`${distid}: placed, confirmed, shipped, delivered, and found each time`, async () => {
      await using t = await nineShop()
      const placed = await t.remote.orders.place({
        order_id: `W-${distid}`,
        customer: CUSTOMER,
        items: [item(distid, 'A1'), item(distid, 'G1', true)],
        ffl: { licenseNumber: DEALER },
      })
      assert.deepEqual(
        placed.fulfillment_orders.map(({ distid: at, ffl_required }) => [at, ffl_required]),
        [
          [distid, 0],
          [distid, 1],
        ],
      )
      assert.equal(placed.status, 'placed')
      const papers = async () =>
        (await t.app.operator.orders.list({ state: 'paperwork' })).orders.map(
          ({ distid: at, paperwork }) => [at, paperwork!.subject, paperwork!.due],
        )
      const { po_number: po } = placed.fulfillment_orders[1]!
      assert.deepEqual(await papers(), PAPERS[distid]?.(po, t.clock.ms) ?? [])
      for (let i = 0; i < 12; i++) await later(t, MINUTE)
      // What has left needs none any more.
      assert.deepEqual(await papers(), [])
      const { fulfillment_orders: records } = await t.shop.orders.get({ order_id: `W-${distid}` })
      for (const record of records) {
        const last = tellsJourney(distid) ? 'delivered' : 'in_transit'
        assert.equal(record.ship_status, last, JSON.stringify(record))
        assert.equal(record.order_status, 'Fulfilled')
        assert.match(record.distributor_order_id!, /^SIM-/)
        for (const reference of [
          record.order_id,
          record.po_number,
          record.distributor_order_id!,
          record.ship_tracking_number!,
        ]) {
          const { orders } = await t.remote.fulfillment.history({ reference })
          assert.ok(
            orders.some((order) => order.po_number === record.po_number),
            reference,
          )
        }
      }
      assert.ok(
        (
          await t.app.ctx.read
            .selectFrom('fulfillment_change')
            .selectAll()
            .where('field', '=', 'ship_status')
            .execute()
        ).length >= (tellsJourney(distid) ? 6 : 2),
        'every change is kept',
      )
    })
  }

  test('what went over the wire can be read for 90 days, without credentials', async () => {
    await using t = await nineShop()
    await t.shop.orders.place({
      order_id: 'W-1-SIM-CUT-REPLY',
      customer: CUSTOMER,
      items: [item('LIP', 'A1')],
    })
    for (let i = 0; i < 4; i++) await later(t, 5 * MINUTE)
    const read = async () => {
      const [shown] = await t.app.operator.orders.show('W-1-SIM-CUT-REPLY', {
        withTranscripts: true,
      })
      return shown!.fulfillment_orders[0]!.purchase_orders[0]!.transcripts!
    }
    const [send, search] = await read()
    assert.deepEqual(
      [send!.kind, send!.exchanges.map(({ path, status, fault }) => [path, status, fault])],
      [
        'send',
        [
          ['authentication/login', 200, null],
          ['order/DropShip', null, 'the connection was broken off'],
        ],
      ],
    )
    assert.equal(search!.kind, 'search')
    assert.ok(search!.exchanges.some(({ path }) => path === 'shipping/oneday'))
    const [login, order] = send!.exchanges
    assert.equal(
      login!.request,
      JSON.stringify({ Email: 'demo@demo-shop.example', Password: '[credential]' }),
    )
    assert.equal((JSON.parse(login!.answer!) as { token: string }).token, '[credential]')
    assert.deepEqual(order!.headers['token'], '[credential]')
    assert.equal(
      (JSON.parse(order!.request!) as { ShippingName: string }).ShippingName,
      CUSTOMER.name,
    )
    const rows = await t.app.ctx.read.selectFrom('transcript').select('payload').execute()
    assert.ok(rows.length > 1 && rows.every(({ payload }) => !payload.includes('ShippingName')))
    assert.equal(
      (await t.app.operator.orders.show('W-1-SIM-CUT-REPLY'))[0]!.fulfillment_orders[0]!
        .purchase_orders[0]!.transcripts,
      undefined,
    )
    const first = Date.parse(send!.at)
    t.clock.advance(first + 90 * DAY - t.clock.ms)
    await t.app.jobs.run('transcripts')
    assert.equal((await read()).length, rows.length)
    t.clock.advance(1)
    await t.app.jobs.run('transcripts')
    assert.equal((await read()).length, rows.length - 1)
  })

  test('stock falls at the distributor: what is sold out is refused there', async () => {
    await using t = await nineShop()
    const order = (order_id: string) => ({
      order_id,
      customer: CUSTOMER,
      items: [{ ...item('CSSI', 'A1'), qty: 30 }],
    })
    assert.equal((await t.shop.orders.place(order('W-1'))).status, 'placed')
    await assert.rejects(t.shop.orders.place(order('W-2')), { code: 'order_rejected' })
    const { orders, errors } = await t.shop.fulfillment.history({ distid: 'CSSI' })
    assert.deepEqual(
      [orders.map(({ order_id: id }) => id), errors.map(({ order_id: id }) => id)],
      [['W-1'], ['W-2']],
    )
  })

  test('a firearm and an accessory to the store are one fulfillment order', async () => {
    await using t = await nineShop()
    const {
      fulfillment_orders: [record],
      status,
    } = await t.shop.orders.place({
      order_id: 'W-1',
      customer: CUSTOMER,
      items: [item('RSR', 'A1'), item('RSR', 'G1')],
      ship_to_store: true,
    })
    assert.equal(status, 'placed')
    const numbers = record!.distributor_order_id!.split(', ')
    assert.equal(numbers.length, 2)
    for (const number of numbers)
      assert.equal((await t.shop.fulfillment.history({ distributor_order_id: number })).count, 1)
    assert.deepEqual(
      await t.app.ctx.read.selectFrom('purchase_order').select('lane').orderBy('id').execute(),
      [{ lane: 'firearms' }, { lane: 'accessories' }],
    )
  })

  test("a dealer's document is for who has an order to that very license", async () => {
    await using t = await nineShop()
    await storeDocument(t.app.ctx, {
      license_number: DEALER,
      document_type: 'ffl',
      bytes: Buffer.from('%PDF-1.4 a license'),
    })
    await storeDocument(t.app.ctx, {
      license_number: OTHER_DEALER,
      document_type: 'ffl',
      bytes: Buffer.from('%PDF-1.4 another'),
    })
    const ask = (license_number: string) =>
      t.remote.ffls.document({ license_number, document_type: 'ffl' })
    await assert.rejects(ask(DEALER), { code: 'ffl_not_associated_with_order' })
    for (const order_id of ['W-1', 'W-2']) {
      await t.shop.orders.place({
        order_id,
        customer: CUSTOMER,
        items: [item('LIP', 'G1', true)],
        ffl: { licenseNumber: DEALER },
      })
      t.clock.advance(SECOND)
    }
    assert.equal((await ask(DEALER)).associated_order_id, 'W-2', 'the newest')
    await assert.rejects(ask(OTHER_DEALER), { code: 'ffl_not_associated_with_order' })
    const stranger = await t.app.operator.subscribers.create({
      name: 'Stranger',
      email: 'a@stranger.example',
    })
    const { key } = await t.app.operator.keys.create({
      subscriber: stranger.name,
      name: 'k',
      tier: 'pro',
      ips: ['127.0.0.1'],
    })
    assert.equal(
      (await t.json(`/v1/ffls/${DEALER}/documents/ffl`, { key })).body.error.code,
      'ffl_not_associated_with_order',
    )
    assert.equal((await t.json('/v1/orders/W-1', { key })).status, 404)
  })

  test('an order may be called as another address is', async () => {
    await using t = await nineShop()
    await t.remote.orders.place({
      order_id: 'quote',
      customer: CUSTOMER,
      items: [item('CSSI', 'A1')],
    })
    assert.equal((await t.remote.orders.get({ order_id: 'quote' })).fulfillment_orders.length, 1)
    assert.equal((await t.json('/v1/orders/quote')).body.data.order_id, 'quote')
  })

  test('what a quote proposes can be placed as it is', async () => {
    await using t = await nineShop()
    const { items } = await t.remote.orders.quote({ items: [{ upc: UPC, qty: 2 }] })
    const best = items[0]!.best!
    const { fulfillment_orders: records } = await t.remote.orders.place({
      order_id: 'Q-1',
      customer: CUSTOMER,
      items: [{ ...best, upc: UPC, qty: 2 }] as never,
    })
    assert.deepEqual(
      records.map(({ distid }) => distid),
      [best.distid],
    )
  })
})
