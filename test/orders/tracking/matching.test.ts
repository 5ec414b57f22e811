/**
 * What a distributor shows under our reference, and where it would go: whatever is not the order as
 * it was frozen is for a person.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Updateable } from 'kysely'
import { DAY, MINUTE, SECOND } from '../../../lib/core/clock.js'
import type { FoundOrder, Submission } from '../../../lib/distributors/fulfillment.js'
import type { DealerTable } from '../../../lib/db/tables/ffls.js'
import { resolveOrder } from '../../../lib/orders/operator/resolve.js'
import type { TestOffer } from '../../../server/testing/index.js'
import {
  REVIEW,
  CUSTOMER,
  DEALER,
  GUN_UPC,
  OTHER_DEALER,
  UPC,
  offersOf,
  orderShop,
} from '../shop.js'
import type { OrderShop } from '../shop.js'
import { scripted } from '../scripted-distributor.js'
import type { Act, Scripted } from '../scripted-distributor.js'

const unknown: Submission = { outcome: 'unknown', reason: 'timeout' }
const nothing: Act = { accept: false, answer: unknown }
const unreachable: Act = {
  accept: false,
  answer: { outcome: 'not_sent', reason: 'connection refused' },
}
const states = async (t: OrderShop) => (await t.purchaseOrders()).map(({ state }) => state)
const gun = (distid = 'TST', licenseNumber = DEALER) => ({
  items: [{ distid, distsku: 'G1', upc: GUN_UPC, qty: 1, ffl_req: true }],
  ffl: { licenseNumber },
})
const setDealer = (t: OrderShop, license: string, set: Updateable<DealerTable>) =>
  t.app.ctx.db.updateTable('dealer').set(set).where('license_number', '=', license).execute()
const MOVED = { premise_street: '9 New Place', premise_city: 'TUCSON', premise_zip: '85701' }

describe('our reference', () => {
  const shown = (tst: Scripted, shipTo: FoundOrder['shipTo']): FoundOrder => {
    const { clientRef, po, lines } = tst.sends[0]!
    return {
      number: 'N-1',
      clientRef,
      po,
      lines: lines.map(({ distsku, qty }) => ({ distsku, qty })),
      shipTo,
    }
  }
  const rows: [
    name: string,
    shipTo: FoundOrder['shipTo'],
    end: [state: string, number: string | null],
  ][] = [
    [
      'on an order to another ZIP is for a person',
      { name: 'Somebody Else', address1: '9 Elsewhere Rd', zip: '99999' },
      ['review', null],
    ],
    [
      'on an order to another ZIP alone, too',
      { name: 'DESERT ARMS LLC', address1: '400 E Van Buren St', zip: '85005' },
      ['review', null],
    ],
    [
      'on an order to the same ZIP is ours, however the street is written',
      { name: 'DESERT ARMS', address1: '400 EAST VAN BUREN STREET', zip: '85004-1234' },
      ['placed', 'N-1'],
    ],
    ['on an order of which no destination is told is ours', {}, ['placed', 'N-1']],
  ]
  for (const [name, shipTo, end] of rows) {
    test(name, async () => {
      const tst = scripted({ recovery: 'lookup' })
      tst.acts.push(nothing)
      await using t = await orderShop([tst])
      if (end[0] === 'review') t.expectErrors(REVIEW)
      await t.place(t.body(gun()))
      tst.connector.find = async () => ({ outcome: 'answered', orders: [shown(tst, shipTo)] })
      await t.later(MINUTE, 15)
      assert.deepEqual(
        [
          tst.sends.length,
          (await t.purchaseOrders()).map(({ state, distributor_order_id: number }) => [
            state,
            number,
          ]),
        ],
        [1, [end]],
      )
    })
  }

  test('staged: once a stage is kept, another open one is a leftover', async () => {
    const tst = scripted({ recovery: 'staged' })
    const went: (string | null)[] = []
    const opened: string[] = []
    tst.connector.submit = async ({ stage, keepStage }) => {
      went.push(stage)
      const mine = stage ?? `S-${opened.push('') + 1}`
      await keepStage(mine)
      return went.length === 1 ? unknown : { outcome: 'accepted', number: mine }
    }
    // The header that was made first answered too late to be kept, and stands there still.
    tst.connector.find = async (_session, { po, clientRef }) => ({
      outcome: 'answered',
      orders: [{ number: 'S-1', po, clientRef, lines: [], submitted: false }],
    })
    await using t = await orderShop([tst])
    await t.place(t.body())
    assert.equal((await t.purchaseOrders())[0]!.stage, 'S-2')
    await t.later(MINUTE, 9)
    assert.deepEqual(
      [went, await states(t)],
      [[null], ['unknown']],
      'going on with what is not its own would be refused, again and again',
    )
    await t.later(MINUTE, 4)
    const [row] = await t.purchaseOrders()
    assert.deepEqual([went, row!.state, row!.stage, row!.sends], [[null, null], 'placed', 'S-3', 2])
  })
})

describe('what a distributor shows without our reference', () => {
  const to = (zip: string, more: object = {}) => ({ shipTo: { zip, ...more } })
  const lines = (qty: number) => ({ lines: [{ distsku: 'A1', qty }] })
  const whole = to('85001', { name: 'Pat Doe', address1: '12 Main St' })
  const own: [name: string, content: Partial<FoundOrder>, end: string, ofFile: string][] = [
    ['nothing more', {}, 'placed', 'review'],
    ['its items', lines(2), 'placed', 'review'],
    ['its ZIP', to('85001'), 'placed', 'review'],
    ['its items and ZIP', { ...lines(2), ...to('85001') }, 'placed', 'placed'],
    ['a part of its items, and its ZIP', { ...lines(1), ...to('85001') }, 'placed', 'placed'],
    ['another name', { shipTo: { name: 'Lee Roe' } }, 'review', 'review'],
    ['one item too many', { ...lines(3), ...to('85001') }, 'review', 'review'],
    ['no items at all', { lines: [], ...to('85001') }, 'review', 'review'],
    ['another ZIP', { ...lines(2), ...to('85002') }, 'review', 'review'],
  ]
  // Where it is surely somebody else's, ours is sent again, or waited for where nobody may send it
  // again.
  const callers: typeof own = [
    ['nothing more', {}, 'review', 'review'],
    ['its items and all of its address', { ...lines(2), ...whole }, 'placed', 'placed'],
    [
      'its items and ZIP, and another name',
      { ...lines(2), ...to('85001', { name: 'Lee Roe' }) },
      'review',
      'review',
    ],
    ['a part of its items, and all of its address', { ...lines(1), ...whole }, 'review', 'review'],
    ['one item too many', { ...lines(3), ...whole }, 'sent again', 'unknown'],
    ['another ZIP', { ...lines(2), ...to('85002') }, 'sent again', 'unknown'],
  ]
  for (const [rows, po_number] of [
    [own, undefined],
    [callers, 'MONDAY'],
  ] as const) {
    for (const [name, content, end, ofFile] of rows) {
      for (const recovery of ['lookup', 'resend', 'staged', 'one_shot', 'file'] as const) {
        const expected =
          recovery === 'file'
            ? ofFile
            : recovery === 'one_shot' && end === 'sent again'
              ? 'unknown'
              : end
        test(`${recovery}: ${po_number ? 'their' : 'our'} PO, ${name}: ${expected}`, async () => {
          const tst = scripted({ recovery })
          tst.acts.push(async ({ keepStage }) => {
            if (recovery === 'staged') await keepStage('S-1')
            return unknown
          })
          await using t = await orderShop([tst])
          if (expected === 'review') t.expectErrors(/an order needs a person's decision/)
          await t.place(
            t.body({
              items: [{ distid: 'TST', distsku: 'A1', upc: UPC, qty: 2 }],
              ...(po_number && { po_number }),
            }),
          )
          tst.connector.find = async () => ({
            outcome: 'answered',
            orders: [{ number: 'N-1', po: tst.sends[0]!.po, ...content }],
          })
          await t.later(MINUTE, 15)
          const [row] = await t.purchaseOrders()
          assert.deepEqual(
            [tst.sends.length, row!.state, row!.distributor_order_id],
            expected === 'sent again'
              ? [2, 'placed', 'TST-1']
              : [1, expected, expected === 'placed' ? 'N-1' : null],
          )
        })
      }
    }
  }
})

describe('a dealer that changes between two sends', () => {
  const ways: [
    name: string,
    license: string,
    set: Updateable<DealerTable>,
    reason: RegExp,
    productClass: 'FA' | 'SO',
  ][] = [
    ['whose premise moved', DEALER, MOVED, /premise of .* is no longer where/, 'FA'],
    [
      'whose premise has another ZIP',
      DEALER,
      { premise_zip: '85701' },
      /premise of .* is no longer where/,
      'FA',
    ],
    ['whose SOT is gone', OTHER_DEALER, { sot_on_file: 0 }, /no longer has an SOT on file/, 'SO'],
    ['who is in the directory no more', DEALER, { listed: 0 }, /no longer valid/, 'FA'],
  ]
  for (const [name, license, set, reason, productClass] of ways) {
    const offers = [...offersOf('TST'), ...offersOf('OTH')].map((offer): TestOffer =>
      offer.stockid === 'G1' ? { ...offer, productClass } : offer,
    )

    test(`${name}: what was never sent is refused, and nothing leaves`, async () => {
      const [tst, other] = [scripted(), scripted({ distid: 'OTH', name: 'Other Wholesale' })]
      tst.acts.push(unreachable)
      await using t = await orderShop([tst, other], { offers })
      await t.place(
        t.body({
          ...gun('TST', license),
          items: [...gun().items, { distid: 'OTH', distsku: 'A1', upc: UPC, qty: 1 }],
        }),
      )
      assert.deepEqual(await states(t), ['planned', 'placed'])
      await setDealer(t, license, set)
      await t.later(MINUTE)
      assert.deepEqual([tst.sends.length, await states(t)], [1, ['rejected', 'placed']])
      assert.match((await t.purchaseOrders())[0]!.reason!, reason)
      assert.match((await t.purchaseOrders())[0]!.reason!, /nothing was sent$/)
    })

    test(`${name}: what may have been sent is for a person, and does not go out`, async () => {
      const tst = scripted({ recovery: 'lookup' })
      tst.acts.push(nothing)
      await using t = await orderShop([tst], { offers })
      t.expectErrors(REVIEW)
      await t.place(t.body(gun('TST', license)))
      await setDealer(t, license, set)
      await t.later(MINUTE, 15)
      const [row] = await t.purchaseOrders()
      assert.deepEqual([tst.sends.length, await states(t)], [1, ['review']])
      assert.match(row!.reason!, reason)
      t.clock.advance(DAY)
      await resolveOrder(t.app.ctx, {
        order: row!.client_ref,
        verdict: 'absent',
        next: 'resend',
        reason: 'asked by telephone',
      })
      await t.later(SECOND)
      assert.deepEqual([tst.sends.length, await states(t)], [1, ['rejected']])
      assert.match((await t.purchaseOrders())[0]!.reason!, reason)
    })
  }

  test('in the spelling of its address alone: it goes out', async () => {
    const tst = scripted({ recovery: 'resend' })
    tst.acts.push(nothing)
    await using t = await orderShop([tst])
    await t.place(t.body(gun()))
    await setDealer(t, DEALER, {
      premise_street: '400 E. VAN BUREN ST',
      premise_city: 'Phoenix',
      premise_zip: '85004-9999',
    })
    await t.later(10 * SECOND)
    assert.deepEqual([tst.sends.length, await states(t)], [2, ['placed']])
  })

  test("to the store: its address is the subscriber's own, and the premise may move", async () => {
    const tst = scripted({ recovery: 'resend' })
    tst.acts.push(nothing)
    await using t = await orderShop([tst])
    await t.place(t.body({ items: gun().items, ship_to_store: true }))
    await setDealer(t, DEALER, MOVED)
    await t.later(10 * SECOND)
    assert.deepEqual(
      [tst.sends.map(({ shipTo: { address1 } }) => address1), await states(t)],
      [['1 Store Rd', '1 Store Rd'], ['placed']],
    )
  })

  test('an order without a firearm is sent to its customer, wherever dealers are', async () => {
    const tst = scripted({ recovery: 'resend' })
    tst.acts.push(nothing)
    await using t = await orderShop([tst])
    await t.place(t.body())
    await setDealer(t, DEALER, { ...MOVED, listed: 0 })
    await t.later(10 * SECOND)
    assert.deepEqual(await states(t), ['placed'])
  })
})

describe("a distributor that wants the consumer's telephone with a firearm", () => {
  const { phone: _, ...customer } = CUSTOMER
  const faults = async (body: Record<string, unknown>) => {
    const tst = scripted({ limits: { needsConsumerPhone: 'ffl' } })
    await using t = await orderShop([tst])
    const { status, body: answer } = await t.place(t.body({ ...body, customer }))
    return [
      status,
      answer.error?.code,
      answer.error?.details.map(({ path }: { path: string }) => path),
      tst.sends.length,
    ]
  }

  test('wants it also of what goes to the store', async () => {
    assert.deepEqual(await faults({ items: gun().items, ship_to_store: true }), [
      400,
      'invalid_parameter',
      ['customer.phone'],
      0,
    ])
    assert.deepEqual(
      await faults({ ship_to_store: true }),
      [400, 'invalid_parameter', ['customer.phone'], 0],
      'an accessory goes to a licensed store as well',
    )
  })

  test('wants it of what goes to a dealer, and not of what goes to the customer', async () => {
    assert.deepEqual(await faults(gun()), [400, 'invalid_parameter', ['customer.phone'], 0])
    assert.deepEqual(await faults({}), [200, undefined, undefined, 1])
  })
})
