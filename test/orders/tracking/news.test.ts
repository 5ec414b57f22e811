/**
 * What distributors tell of orders later: which order it is about, and what counts as refused and
 * is executed all the same.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MINUTE, SECOND } from '../../../lib/core/clock.js'
import type { OrderStatus } from '../../../lib/db/tables/column-types.js'
import type { OrderUpdate, Submission } from '../../../lib/distributors/fulfillment.js'
import { applyUpdate } from '../../../lib/orders/tracking/apply-update.js'
import { orphansSince } from '../../../lib/orders/tracking/orphans.js'
import { findSubscriber } from '../../../lib/accounts/subscribers.js'
import { GUN_UPC, UPC, orderShop } from '../shop.js'
import type { OrderShop, OrderShopOptions } from '../shop.js'
import { scripted } from '../scripted-distributor.js'
import type { Act, Scripted, ScriptedOptions } from '../scripted-distributor.js'

const unknown: Submission = { outcome: 'unknown', reason: 'timeout' }
const lost: Act = { accept: true, answer: unknown }
const nothing: Act = { accept: false, answer: unknown }
const refused: Act = { accept: false, answer: { outcome: 'rejected', reason: 'out of stock' } }
/** A file is taken in before it has a number. */
const takenIn: Act = { accept: true, answer: { outcome: 'accepted', number: null } }

/** A shop of one distributor, and news that it tells from now on. */
async function newsShop(options: ScriptedOptions, acts: Act[], shop: OrderShopOptions = {}) {
  const tst = scripted(options)
  tst.acts.push(...acts)
  const told: OrderUpdate[] = []
  tst.connector.updates = async function* () {
    yield* told
  }
  const t = await orderShop([tst], shop)
  return {
    t,
    tst,
    /** Tells it, and looks at once. */
    async tell(update: Partial<OrderUpdate>): Promise<void> {
      told.push({ number: null, po: '', at: t.clock.ms, ...update })
      t.clock.advance(20 * MINUTE)
      await t.app.monitors.pass()
    },
    orphans: async () => (await orphansSince(t.app.ctx, 0)).orphans.map(({ number }) => number),
    [Symbol.asyncDispose]: () => t.close(),
  }
}

const shown = async (t: OrderShop) => {
  const [{ order_status: status, distributor_order_id: number, ship_tracking_number: tracking }] = (
    await t.json('/v1/orders')
  ).body.data.orders
  return [status, number, tracking]
}
const contentOf = ({ sends }: Scripted, i = 0) => {
  const {
    lines,
    shipTo: { name, address1, zip },
  } = sends[i]!
  return {
    lines: lines.map(({ distsku, qty }) => ({ distsku, qty })),
    shipTo: { name, address1, zip },
  }
}
const parcel = {
  trackingNumber: '1Z9',
  company: 'UPS',
  method: null,
  shippedOn: null,
  url: null,
  status: 'in_transit' as const,
}

describe('news that name a PO alone', () => {
  const foreign: [name: string, content: Pick<OrderUpdate, 'lines' | 'shipTo'>][] = [
    ['other items', { lines: [{ distsku: 'ZZ9', qty: 7 }] }],
    ['another quantity', { lines: [{ distsku: 'A1', qty: 2 }] }],
    ['another ZIP', { shipTo: { name: 'Walk-in', address1: '1 Other Street', zip: '99999' } }],
  ]
  for (const [name, content] of foreign) {
    test(`a supplied one with ${name} are somebody else's: nothing is taken over`, async () => {
      await using shop = await newsShop({ recovery: 'file' }, [takenIn])
      const { t, tst, tell } = shop
      await t.place(t.body({ po_number: 'MONDAY' }))
      await tell({
        number: 'X-77',
        po: 'MONDAY',
        status: 'Cancelled',
        parcels: [parcel],
        ...content,
      })
      assert.deepEqual(await shown(t), ['Submitted', null, null])
      // Its own are taken over when they come.
      await tell({ number: 'R-1', po: 'MONDAY', status: 'FFL Hold', ...contentOf(tst) })
      assert.deepEqual(await shown(t), ['FFL Hold', 'R-1', null])
    })
  }

  for (const [name, fold] of [
    ['in capitals', (po: string) => po.toUpperCase()],
    ['without its dashes', (po: string) => po.replaceAll('-', '')],
    ['padded', (po: string) => `  ${po}  `],
    ['cut off', (po: string) => po.slice(0, 12)],
  ] as const) {
    test(`${name} find the order that it was made for, and it is no orphan`, async () => {
      await using shop = await newsShop({ recovery: 'file' }, [takenIn])
      const { t, tst, tell, orphans } = shop
      await t.place(t.body({ order_id: 'web-order-1' }))
      await tell({
        number: 'R-1',
        po: fold(tst.sends[0]!.po),
        status: 'Fulfilled',
        parcels: [parcel],
        ...contentOf(tst),
      })
      assert.deepEqual([await shown(t), await orphans()], [['Fulfilled', 'R-1', '1Z9'], []])
    })
  }

  for (const [name, po_number, number] of [
    ["a caller's is anybody's there", 'MONDAY', null],
    ['one that was made here is still its own', undefined, 'R-1'],
  ] as const) {
    test(`from another login than the order was sent with: ${name}`, async () => {
      await using shop = await newsShop({ recovery: 'file', hasLogin: true }, [takenIn])
      const { t, tst, tell } = shop
      await t.logIn('first')
      await t.place(t.body({ ...(po_number && { po_number }) }))
      await t.logIn('second')
      const told = {
        number: 'R-1',
        po: tst.sends[0]!.po,
        status: 'Fulfilled' as const,
        ...contentOf(tst),
      }
      await tell(told)
      assert.deepEqual(await shown(t), [number === null ? 'Submitted' : 'Fulfilled', number, null])
      await t.logIn('first')
      await tell(told)
      assert.deepEqual(await shown(t), ['Fulfilled', 'R-1', null])
    })
  }

  const numbered: [name: string, content: Partial<OrderUpdate>, end: OrderStatus][] = [
    ['with other items is of another order', { lines: [{ distsku: 'ZZ9', qty: 7 }] }, 'Submitted'],
    ['of which nothing more is told is its own', {}, 'Fulfilled'],
  ]
  for (const [name, content, end] of numbered) {
    test(`a number from another login ${name}`, async () => {
      await using shop = await newsShop({ recovery: 'lookup', hasLogin: true }, [])
      const { t, tell } = shop
      await t.logIn('first')
      await t.place(t.body({ po_number: 'MONDAY' }))
      await t.logIn('second')
      await tell({ number: 'TST-1', status: 'Fulfilled', ...content })
      assert.deepEqual(await shown(t), [end, 'TST-1', null])
    })
  }

  /**
   * What is told of two A1 to 85001, and whether it is taken under a PO that we made and under a
   * caller's, by a lookup and of a file.
   */
  const two = (qty = 2) => ({ lines: [{ distsku: 'A1', qty }] })
  const to = (zip: string, name = 'Pat Doe') => ({ shipTo: { name, zip } })
  const told: [
    name: string,
    content: Pick<OrderUpdate, 'lines' | 'shipTo'>,
    ours: [lookup: boolean, file: boolean],
    callers: [lookup: boolean, file: boolean],
  ][] = [
    ['its items and ZIP', { ...two(), ...to('85001') }, [true, true], [true, true]],
    ['its items and ZIP as ZIP+4', { ...two(), ...to('85001-1234') }, [true, true], [true, true]],
    ['a part of its items and its ZIP', { ...two(1), ...to('85001') }, [true, true], [true, true]],
    [
      'its items in two lines',
      { lines: [...two(1).lines, { distsku: ' a1', qty: 1 }], ...to('85001') },
      [true, true],
      [true, true],
    ],
    [
      'its items in two lines, one too many',
      { lines: [...two(1).lines, ...two(2).lines], ...to('85001') },
      [false, false],
      [false, false],
    ],
    ['one more than ours', { ...two(3), ...to('85001') }, [false, false], [false, false]],
    [
      'an item more',
      { lines: [...two().lines, { distsku: 'A2', qty: 1 }], ...to('85001') },
      [false, false],
      [false, false],
    ],
    [
      'fewer than none of another line',
      { lines: [...two(3).lines, ...two(-1).lines], ...to('85001') },
      [false, false],
      [false, false],
    ],
    ['its items and another ZIP', { ...two(), ...to('85002') }, [false, false], [false, false]],
    [
      'its items, its ZIP and another name',
      { ...two(), ...to('85001', 'Lee Roe') },
      [true, true],
      [false, false],
    ],
    [
      'its items, its ZIP and its name turned around',
      { ...two(), ...to('85001', 'DOE, P.') },
      [true, true],
      [true, true],
    ],
    ['its items alone', two(), [true, false], [false, false]],
    ['other items alone', two(3), [false, false], [false, false]],
    ['its ZIP alone', to('85001'), [true, false], [false, false]],
    ['another ZIP alone', to('85002'), [false, false], [false, false]],
    ['neither', {}, [true, false], [false, false]],
    ['neither, and another name', { shipTo: { name: 'Lee Roe' } }, [false, false], [false, false]],
  ]
  for (const [name, content, ours, callers] of told) {
    for (const [i, recovery] of (['lookup', 'file'] as const).entries()) {
      for (const [whose, po_number, isTaken] of [
        ['of our making', undefined, ours[i]!],
        ['of a caller', 'MONDAY', callers[i]!],
      ] as const) {
        test(`${recovery}: PO ${whose}, ${name}: ${isTaken ? 'taken' : 'left'}`, async () => {
          await using shop = await newsShop({ recovery }, recovery === 'file' ? [takenIn] : [])
          const { t, tst, tell } = shop
          await t.place(
            t.body({
              items: [{ distid: 'TST', distsku: 'A1', upc: UPC, qty: 2 }],
              ...(po_number && { po_number }),
            }),
          )
          const number = recovery === 'file' ? null : 'TST-1'
          await tell({
            number: recovery === 'file' ? 'R-1' : null,
            po: tst.sends[0]!.po,
            status: 'Fulfilled',
            parcels: [parcel],
            ...content,
          })
          assert.deepEqual(
            await shown(t),
            isTaken ? ['Fulfilled', number ?? 'R-1', '1Z9'] : ['Submitted', number, null],
          )
        })
      }
    }
  }

  test('of our making that is cut off, without items and ZIP, are left alone', async () => {
    await using shop = await newsShop({ recovery: 'lookup' }, [])
    const { t, tst, tell } = shop
    await t.place(t.body())
    await tell({ po: tst.sends[0]!.po.slice(0, 8), status: 'Fulfilled' })
    assert.deepEqual(await shown(t), ['Submitted', 'TST-1', null])
  })

  test('of our making on two orders prove nothing without items and ZIP', async () => {
    await using shop = await newsShop({ recovery: 'lookup' }, [])
    const { t, tst, tell } = shop
    await t.place(t.body({ order_id: 'W-7' }))
    await t.place(
      t.body({
        po_number: tst.sends[0]!.po.toLowerCase(),
        items: [{ distid: 'TST', distsku: 'A1', upc: UPC, qty: 5 }],
      }),
    )
    const states = async () =>
      ((await t.json('/v1/orders')).body.data.orders as { order_status: string }[])
        .map(({ order_status: status }) => status)
        .sort()
    // The items can be the second's alone, whose PO we did not make.
    await tell({ po: tst.sends[0]!.po, status: 'Fulfilled', lines: [{ distsku: 'A1', qty: 5 }] })
    assert.deepEqual(await states(), ['Submitted', 'Submitted'])
    await tell({ po: tst.sends[0]!.po, status: 'Fulfilled', ...contentOf(tst, 1) })
    assert.deepEqual(await states(), ['Fulfilled', 'Submitted'])
  })

  test('that an order of another subscriber of the account may be are of neither', async () => {
    await using shop = await newsShop({ recovery: 'file', hasLogin: true }, [takenIn, takenIn])
    const { t, tst, tell } = shop
    await t.logIn('shared')
    const key = await t.addShop()
    for (const of of [{}, { key }]) await t.place(t.body({ po_number: 'MONDAY' }), of)
    await tell({ number: 'R-1', po: 'MONDAY', status: 'Fulfilled', ...contentOf(tst) })
    assert.deepEqual(
      (await t.purchaseOrders()).map(({ distributor_order_id: number }) => number),
      [null, null],
    )
  })

  test('that two orders may have are of neither', async () => {
    await using shop = await newsShop({ recovery: 'file' }, [takenIn, takenIn])
    const { t, tst, tell } = shop
    for (const order_id of ['web-order-1', 'WEB-order-1']) await t.place(t.body({ order_id }))
    await tell({ number: 'R-1', po: tst.sends[0]!.po.toUpperCase(), status: 'Fulfilled' })
    assert.deepEqual(
      (await t.purchaseOrders()).map(({ distributor_order_id: number }) => number),
      [null, null],
    )
  })

  test('of an order that cannot be opened are left alone: what it held is not known', async () => {
    await using shop = await newsShop({ recovery: 'file' }, [takenIn], {
      expectErrors: [/an order cannot be opened/],
    })
    const { t, tst, tell } = shop
    await t.place(t.body())
    const content = contentOf(tst)
    await t.app.ctx.db.updateTable('purchase_order').set({ payload: 'damaged' }).execute()
    await tell({ number: 'R-1', po: tst.sends[0]!.po, ...content })
    assert.deepEqual(await shown(t), ['Submitted', null, null])
  })
})

describe('news that bear our own mark', () => {
  const marks: [
    name: string,
    mark: (tst: Scripted) => Partial<OrderUpdate>,
    content: Pick<OrderUpdate, 'lines' | 'shipTo'>,
    isTaken: boolean,
  ][] = [
    [
      'reference, and nothing more',
      (tst) => ({ number: 'R-1', clientRef: tst.sends[0]!.clientRef }),
      {},
      true,
    ],
    [
      'reference, and a part of our items',
      (tst) => ({ number: 'R-1', clientRef: tst.sends[0]!.clientRef }),
      { lines: [{ distsku: 'A1', qty: 1 }] },
      true,
    ],
    [
      'reference, and more than ours',
      (tst) => ({ number: 'R-1', clientRef: tst.sends[0]!.clientRef }),
      { lines: [{ distsku: 'A1', qty: 3 }] },
      false,
    ],
    [
      'reference, and another ZIP',
      (tst) => ({ number: 'R-1', clientRef: tst.sends[0]!.clientRef }),
      { shipTo: { zip: '99999' } },
      false,
    ],
  ]
  for (const [name, mark, content, isTaken] of marks) {
    test(`${name}: ${isTaken ? 'taken' : 'left alone'}`, async () => {
      await using shop = await newsShop({ recovery: 'file' }, [takenIn])
      const { t, tst, tell } = shop
      await t.place(t.body({ items: [{ distid: 'TST', distsku: 'A1', upc: UPC, qty: 2 }] }))
      await tell({ status: 'Fulfilled', ...mark(tst), ...content })
      assert.deepEqual(
        await shown(t),
        isTaken ? ['Fulfilled', 'R-1', null] : ['Submitted', null, null],
      )
    })
  }

  const numbered: [
    name: string,
    content: Pick<OrderUpdate, 'lines' | 'shipTo'>,
    isTaken: boolean,
  ][] = [
    [
      'an item that was replaced',
      { lines: [{ distsku: 'A9', qty: 1 }], shipTo: { zip: '85001' } },
      true,
    ],
    [
      'an address that was corrected by telephone',
      { lines: [{ distsku: 'A1', qty: 1 }], shipTo: { zip: '85004' } },
      true,
    ],
    [
      'other items that go elsewhere',
      { lines: [{ distsku: 'A9', qty: 1 }], shipTo: { zip: '99999' } },
      false,
    ],
  ]
  for (const [name, content, isTaken] of numbered) {
    test(`our number with ${name}: ${isTaken ? 'taken' : 'left alone'}`, async () => {
      await using shop = await newsShop({ recovery: 'lookup' }, [])
      const { t, tell } = shop
      await t.place(t.body())
      await tell({ number: 'TST-1', status: 'Fulfilled', parcels: [parcel], ...content })
      assert.deepEqual(
        await shown(t),
        isTaken ? ['Fulfilled', 'TST-1', '1Z9'] : ['Submitted', 'TST-1', null],
      )
    })
  }
})

describe('a number', () => {
  test('on an order of another subscriber with the same account is refused', async () => {
    await using shop = await newsShop({ recovery: 'file', hasLogin: true }, [takenIn, takenIn])
    const { t, tst } = shop
    await t.logIn('shared')
    const key = await t.addShop()
    await t.place(t.body())
    await t.place(t.body(), { key })
    const subscribers = [
      (await findSubscriber(t.app.ctx, t.subscriber)).id,
      (await findSubscriber(t.app.ctx, 'Another shop')).id,
    ]
    const apply = (i: number) =>
      applyUpdate(
        t.app.ctx,
        { subscriberId: subscribers[i]!, distid: 'TST', mode: 'simulator' },
        { number: 'R-1', clientRef: tst.sends[i]!.clientRef, po: tst.sends[i]!.po, at: t.clock.ms },
      )
    assert.equal((await apply(0)).outcome, 'applied')
    assert.deepEqual(await apply(1), {
      outcome: 'refused',
      reason: 'the number stands on another order',
    })
    assert.deepEqual(
      (await t.purchaseOrders()).map(({ distributor_order_id: number }) => number),
      ['R-1', null],
    )
  })
})

describe('an order that counts as refused', () => {
  /**
   * Sent twice, refused the second time, and absent for two looks: its order_id is free, and is
   * used.
   */
  async function refusedOnce(told: string[]) {
    const error = (_fields: object, message: string) => {
      told.push(message)
    }
    const shop = await newsShop({ recovery: 'resend' }, [nothing, refused], {
      log: { debug() {}, info() {}, warn() {}, error },
    })
    const { t } = shop
    await t.place(t.body({ order_id: 'W-9' }))
    await t.later(5 * SECOND)
    await t.later(MINUTE, 14)
    assert.equal((await t.purchaseOrders())[0]!.state, 'rejected')
    assert.equal((await t.place(t.body({ order_id: 'W-9' }))).body.data.status, 'placed')
    return shop
  }
  const rows: [status: OrderStatus | undefined, isTold: boolean][] = [
    ['Fulfilled', true],
    ['Submitted', true],
    ['Backordered', true],
    [undefined, true],
    ['Cancelled', false],
    ['Not Fulfilled', false],
  ]
  for (const [status, isTold] of rows) {
    const outcome = isTold ? 'an error in the log, and listed as unknown' : 'passed over'
    test(`and of which a distributor says ${status ?? 'no status'} is ${outcome}`, async () => {
      const told: string[] = []
      await using shop = await refusedOnce(told)
      const { t, tst, tell, orphans } = shop
      if (isTold) t.expectErrors(/executes an order that counts as refused/)
      const { clientRef, po } = tst.sends[0]!
      await tell({ number: 'LATE-1', clientRef, po, ...(status && { status }) })
      assert.equal(
        told.filter((message) => message.includes('counts as refused')).length,
        isTold ? 1 : 0,
      )
      assert.deepEqual(await orphans(), isTold ? ['LATE-1'] : [])
      assert.deepEqual(
        (await t.purchaseOrders()).map(({ state }) => state),
        ['rejected', 'placed'],
        'nobody changes it back',
      )
    })
  }
})

describe('a record of two distributor orders', () => {
  const items = [
    { distid: 'TST', distsku: 'A1', upc: UPC, qty: 1 },
    { distid: 'TST', distsku: 'G1', upc: GUN_UPC, qty: 1, ffl_req: true },
  ]
  const plan: NonNullable<ScriptedOptions['plan']> = (lines) =>
    lines.map((_, i) => ({ name: `part ${i}`, lines: [i] }))
  const rows: [news: OrderStatus, second: Act[], settled: OrderStatus][] = [
    ['Fulfilled', [lost], 'Partially Fulfilled'],
    ['FFL Hold', [lost], 'FFL Hold'],
    ['Backordered', [lost], 'Backordered'],
    ['Cancelled', [nothing, refused], 'Not Fulfilled'],
    ['Fulfilled', [nothing, refused], 'Partially Fulfilled'],
    ['FFL Hold', [nothing, refused], 'Partially Fulfilled'],
  ]
  for (const [status, second, settled] of rows) {
    const found = second.length > 1 ? 'refused' : 'placed'
    test(`whose first part is ${status} and then the second ${found} is ${settled}`, async () => {
      await using shop = await newsShop({ recovery: 'resend', plan }, ['accept', ...second])
      const { t, tst, tell } = shop
      // Until then nobody can be asked about the second.
      tst.searches.push(
        ...Array.from({ length: 2 }, () => ({ outcome: 'unreachable' as const, reason: 'down' })),
      )
      assert.equal(
        (await t.place(t.body({ items, ship_to_store: true }))).body.data.status,
        'pending',
      )
      await tell({ number: 'TST-1', po: tst.sends[0]!.po, status })
      assert.deepEqual((await shown(t))[0], 'Pending')
      await t.later(MINUTE, 20)
      assert.deepEqual(
        (await t.purchaseOrders()).map(({ state }) => state),
        ['placed', second.length > 1 ? 'rejected' : 'placed'],
      )
      assert.deepEqual((await shown(t))[0], settled)
      // The same news again change nothing.
      t.clock.advance(20 * MINUTE)
      await t.app.monitors.pass()
      assert.deepEqual((await shown(t))[0], settled)
    })
  }
})
