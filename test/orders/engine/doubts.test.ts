/**
 * What looks like an absence and is none, and what may stop in the middle: the traps of
 * reconciling.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { DAY, HOUR, MINUTE, SECOND } from '../../../lib/core/clock.js'
import { openForTest as open } from '../../../server/testing/open.js'
import { builtin } from '../../../lib/distributors/builtin/index.js'
import { rsr } from '../../../lib/distributors/builtin/rsr/index.js'
import type {
  FoundOrder,
  PurchaseOrder,
  Submission,
} from '../../../lib/distributors/fulfillment.js'
import { pauseOrders, resumeOrders } from '../../../lib/orders/engine/pause.js'
import { resolveOrder } from '../../../lib/orders/operator/resolve.js'
import { REVIEW, DEALER, GUN_UPC, UPC, offersOf, orderShop } from '../shop.js'
import type { OrderShop } from '../shop.js'
import { scripted } from '../scripted-distributor.js'
import type { Act, Scripted } from '../scripted-distributor.js'
import { oneFolder } from '../../harness/record.js'
import { until } from '../../harness/until.js'

const unknown: Submission = { outcome: 'unknown', reason: 'timeout' }
const lost: Act = { accept: true, answer: unknown }
const nothing: Act = { accept: false, answer: unknown }
const unreachable: Act = {
  accept: false,
  answer: { outcome: 'not_sent', reason: 'connection refused' },
}
const soon = (ms = 20) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, ms)
  })
const states = async (t: OrderShop) => (await t.purchaseOrders()).map(({ state }) => state)

/** Shows each of its orders as `show` writes it. */
function showing(tst: Scripted, show: (number: string, order: PurchaseOrder) => FoundOrder): void {
  tst.connector.find = async () => ({
    outcome: 'answered',
    orders: tst.orders.map(({ number, order }) => show(number, order)),
  })
}
const lines = (order: PurchaseOrder) => order.lines.map(({ distsku, qty }) => ({ distsku, qty }))

describe('an order that stands at the distributor is never bought again', () => {
  const ways: [
    name: string,
    show: (number: string, order: PurchaseOrder) => FoundOrder,
    body: Record<string, unknown>,
    end: string,
  ][] = [
    [
      'a supplied PO, and a list of numbers and POs',
      (number, { po }) => ({ number, po }),
      { po_number: 'MONDAY' },
      'review',
    ],
    [
      'our own PO, and a list of numbers and POs',
      (number, { po }) => ({ number, po }),
      {},
      'placed',
    ],
    [
      'the PO without its dashes',
      (number, { po }) => ({ number, po: po.replaceAll('-', '') }),
      {},
      'placed',
    ],
    [
      'the PO in another case',
      (number, { po }) => ({ number, po: po.toLowerCase() }),
      {},
      'placed',
    ],
    [
      'the PO cut off, with lines and address',
      (number, order) => ({
        number,
        po: order.po.slice(0, 13),
        lines: lines(order),
        shipTo: { name: 'PAT DOE', zip: '85001' },
      }),
      { order_id: 'W-123456789' },
      'placed',
    ],
    [
      'the PO cut off and nothing else',
      (number, { po }) => ({ number, po: po.slice(0, 13) }),
      { order_id: 'W-123456789' },
      'review',
    ],
    [
      'an address in another spelling',
      (number, order) => ({
        number,
        po: order.po,
        lines: lines(order),
        shipTo: { address1: '12 MAIN STREET', zip: '85001' },
      }),
      {},
      'placed',
    ],
    [
      'an address in another spelling and a supplied PO',
      (number, order) => ({
        number,
        po: order.po,
        lines: lines(order),
        shipTo: { address1: '12 MAIN STREET', zip: '85001' },
      }),
      { po_number: 'MONDAY' },
      'review',
    ],
    [
      'SKUs in another spelling under our own PO',
      (number, order) => ({ number, po: order.po, lines: [{ distsku: '000A1', qty: 1 }] }),
      {},
      'review',
    ],
    [
      'an empty address',
      (number, order) => ({ number, po: order.po, lines: lines(order), shipTo: {} }),
      { po_number: 'MONDAY' },
      'review',
    ],
  ]
  for (const [name, show, body, end] of ways) {
    test(`${name}: ${end}`, async () => {
      const tst = scripted({ recovery: 'lookup' })
      tst.acts.push(lost)
      showing(tst, show)
      await using t = await orderShop([tst])
      if (end === 'review') t.expectErrors(REVIEW)
      await t.place(t.body(body))
      await t.later(MINUTE, 15)
      assert.deepEqual([tst.sends.length, await states(t)], [1, [end]])
    })
  }

  test('also when an earlier try of it was never sent', async () => {
    const tst = scripted({ recovery: 'lookup' })
    tst.acts.push(unreachable, lost)
    showing(tst, (number, { po }) => ({ number, po }))
    await using t = await orderShop([tst])
    const body = t.body()
    assert.equal((await t.place(body)).status, 503)
    assert.equal((await t.place(body)).body.data.status, 'pending')
    await t.later(MINUTE, 15)
    assert.deepEqual([tst.sends.length, await states(t)], [2, ['expired', 'placed']])
  })

  test('a PO that differs from another by its case alone proves nothing', async () => {
    const tst = scripted({ recovery: 'lookup' })
    tst.acts.push(nothing, lost)
    showing(tst, (number, { po }) => ({ number, po: po.toUpperCase() }))
    await using t = await orderShop([tst])
    t.expectErrors(REVIEW)
    await t.place(t.body({ order_id: 'w-9' }))
    await t.place(t.body({ order_id: 'W-9' }))
    await t.later(MINUTE, 15)
    assert.deepEqual([tst.sends.length, await states(t)], [2, ['review', 'review']])
  })

  test('where one order of a PO is shown at most, another one of it may hide ours', async () => {
    for (const [showsOne, sends, end] of [
      [true, 2, ['placed', 'review']],
      // A list that shows all of them, and not ours, proves that it is not there.
      [false, 3, ['placed', 'placed']],
    ] as const) {
      const tst = scripted({ recovery: 'lookup' })
      tst.acts.push('accept', lost)
      await using t = await orderShop([tst])
      if (showsOne) t.expectErrors(REVIEW)
      const body = (order_id: string) => t.body({ order_id, po_number: 'MONDAY' })
      await t.place(body('W-1'))
      await t.place(body('W-2'))
      tst.connector.find = async () => ({
        outcome: 'answered',
        orders: [{ number: 'TST-1', po: 'MONDAY' }],
        showsOne,
      })
      await t.later(MINUTE, 15)
      assert.deepEqual([tst.sends.length, await states(t)], [sends, end])
    }
  })

  test('parts of one order share its PO: their items tell them apart, and nothing else does', async () => {
    const items = [
      { distid: 'TST', distsku: 'A1', upc: UPC, qty: 1 },
      { distid: 'TST', distsku: 'G1', upc: GUN_UPC, qty: 1, ffl_req: true },
    ]
    for (const [tellsItems, end] of [
      [true, 'placed'],
      [false, 'review'],
    ] as const) {
      const tst = scripted({
        recovery: 'lookup',
        plan: (all) => all.map((_, i) => ({ name: `part ${i}`, lines: [i] })),
      })
      tst.acts.push(lost, lost)
      showing(tst, (number, order) => ({
        number,
        po: order.po,
        ...(tellsItems && { lines: lines(order) }),
      }))
      await using t = await orderShop([tst])
      if (!tellsItems) t.expectErrors(REVIEW)
      await t.place(t.body({ items, ship_to_store: true }))
      await t.later(MINUTE, 15)
      assert.deepEqual([tst.sends.length, await states(t)], [2, [end, end]])
      if (!tellsItems) continue
      const ours = await t.purchaseOrders()
      assert.deepEqual(
        ours.map(({ distributor_order_id: number }) => number),
        ['TST-1', 'TST-2'],
      )
    }
  })

  test('our reference under a number of another record is for a person', async () => {
    const tst = scripted({ recovery: 'lookup' })
    await using t = await orderShop([tst])
    t.expectErrors(REVIEW)
    tst.acts.push('accept', nothing)
    await t.place(t.body())
    await t.place(t.body())
    tst.connector.find = async (_session, order) => ({
      outcome: 'answered',
      orders: [{ number: 'TST-1', po: order.po, clientRef: order.clientRef }],
    })
    await t.later(5 * SECOND)
    assert.deepEqual([tst.sends.length, await states(t)], [2, ['placed', 'review']])
  })

  test('another account than the one that it was sent with proves no absence', async () => {
    const tst = scripted({ recovery: 'lookup' })
    tst.acts.push(lost)
    tst.connector.find = async () => ({ outcome: 'answered', orders: [] })
    // RSR's own entry, so that there is an account that can change.
    await using t = await orderShop([], {
      distributors: [
        ...builtin.filter(({ distid }) => distid !== 'RSR'),
        { ...rsr.distributor, check: async () => 'valid' as const, simulator: tst.connector },
      ],
      offers: offersOf('RSR'),
    })
    t.expectErrors(REVIEW)
    const configure = (API_USER: string) =>
      t.configure({
        distributors: {
          'RSR Group': {
            distid: 'RSR',
            product_restrictions: {},
            fulfillment: { API_USER, API_PASSWORD: 'x', ffl_recipient_emails: ['a@b.example'] },
          },
        } as never,
      })
    await configure('11111')
    const body = {
      order_id: 'W-1',
      customer: (await orderBody()).customer,
      items: [{ distid: 'RSR', distsku: 'A1', upc: UPC, qty: 1 }],
    }
    assert.equal((await t.place(body)).body.data.status, 'pending')
    await configure('22222')
    await t.later(MINUTE, 15)
    assert.deepEqual([tst.sends.length, await states(t)], [1, ['review']])
    assert.match((await t.purchaseOrders())[0]!.reason!, /another account/)
  })
})

async function orderBody() {
  const { CUSTOMER } = await import('../shop.js')
  return { customer: CUSTOMER }
}

describe('while orders are paused', () => {
  test('nothing is placed, sent or given up; then it goes on', async () => {
    const [a, b] = [
      scripted({ distid: 'AAA', name: 'Alpha' }),
      scripted({ distid: 'BBB', name: 'Beta', recovery: 'resend' }),
    ]
    b.acts.push(unreachable)
    await using t = await orderShop([a, b])
    t.expectErrors(/orders are paused/)
    await t.place(
      t.body({
        items: ['AAA', 'BBB'].map((distid) => ({ distid, distsku: 'A1', upc: UPC, qty: 1 })),
      }),
    )
    await pauseOrders(t.app.ctx, { reason: 'a test', isForgetful: false })
    assert.deepEqual(
      [(await t.place(t.body())).status, (await t.place(t.body())).body.error.code],
      [503, 'service_unavailable'],
    )
    await t.later(10 * MINUTE, 3)
    await t.app.orders.pass({ force: true })
    assert.deepEqual([b.sends.length, await states(t)], [1, ['placed', 'planned']])
    await resumeOrders(t.app.ctx)
    await t.later(SECOND)
    assert.deepEqual(
      [b.sends.length, await states(t)],
      [1, ['placed', 'expired']],
      'too old by then',
    )
  })

  test('after a loss, what counted as never sent is looked up, and not sent again', async () => {
    const [a, b] = [
      scripted({ distid: 'AAA', name: 'Alpha' }),
      scripted({ distid: 'BBB', name: 'Beta' }),
    ]
    b.acts.push(unreachable)
    await using t = await orderShop([a, b])
    t.expectErrors(/orders are paused/)
    await t.place(
      t.body({
        items: ['AAA', 'BBB'].map((distid) => ({ distid, distsku: 'A1', upc: UPC, qty: 1 })),
      }),
    )
    b.orders.push({ number: 'BBB-7', order: b.sends[0]! })
    await pauseOrders(t.app.ctx, { reason: 'an older backup', isForgetful: true })
    await t.later(SECOND)
    assert.deepEqual(
      [
        b.sends.length,
        (await t.purchaseOrders()).map(({ state, distributor_order_id: number }) => [
          state,
          number,
        ]),
      ],
      [
        1,
        [
          ['placed', 'AAA-1'],
          ['placed', 'BBB-7'],
        ],
      ],
    )
  })
})

describe('a license that ends between two sends', () => {
  test('keeps an unknown order from being sent again: a person decides', async () => {
    const tst = scripted({ recovery: 'lookup' })
    tst.acts.push(nothing)
    await using t = await orderShop([tst])
    t.expectErrors(REVIEW)
    await t.app.ctx.db
      .updateTable('dealer')
      .set({ expires_on: '2026-11-21' })
      .where('license_number', '=', DEALER)
      .execute()
    t.clock.advance(12 * HOUR - 6 * MINUTE)
    await t.place(
      t.body({
        items: [{ distid: 'TST', distsku: 'G1', upc: GUN_UPC, qty: 1, ffl_req: true }],
        ffl: { licenseNumber: DEALER },
      }),
    )
    await t.later(MINUTE, 15)
    assert.deepEqual([tst.sends.length, await states(t)], [1, ['review']])
    assert.match((await t.purchaseOrders())[0]!.reason!, /expired on 2026-11-21/)
    await resolveOrder(t.app.ctx, {
      order: (await t.purchaseOrders())[0]!.client_ref,
      verdict: 'absent',
      next: 'resend',
      reason: 'asked by phone',
    }).catch(() => {})
    await t.later(SECOND)
    assert.equal(tst.sends.length, 1, "not at a person's word either")
  })
})

describe('what stays unknown for a day is for a person', () => {
  const ways: [name: string, tst: () => Scripted][] = [
    [
      'a search that shows nothing of what is sent again and again',
      () => {
        const tst = scripted({ recovery: 'resend' })
        tst.acts.push(...Array.from({ length: 2_000 }, () => nothing))
        return tst
      },
    ],
    [
      'a distributor that says duplicate and cannot be asked',
      () => {
        const tst = scripted({ recovery: 'resend', withoutFind: true })
        tst.acts.push(
          nothing,
          ...Array.from({ length: 2_000 }, (): Act => ({
            accept: false,
            answer: { outcome: 'duplicate', number: 'X' },
          })),
        )
        return tst
      },
    ],
    [
      'searches that cannot be read',
      () => {
        const tst = scripted()
        tst.acts.push(lost)
        tst.connector.find = async () => ({
          outcome: 'answered',
          orders: [{ number: '' } as never],
        })
        return tst
      },
    ],
  ]
  for (const [name, make] of ways) {
    test(name, async () => {
      const tst = make()
      await using t = await orderShop([tst])
      t.expectErrors(REVIEW)
      await t.place(t.body())
      await t.later(10 * MINUTE, 150)
      assert.deepEqual(await states(t), ['review'])
      assert.ok(tst.sends.length < 300, `${tst.sends.length} sends`)
    })
  }

  test('a distributor that is no longer configured', async () => {
    const tst = scripted()
    tst.acts.push(lost)
    await using t = await orderShop([tst])
    t.expectErrors(REVIEW)
    await t.place(t.body())
    await t.configure({ distributors: {} })
    await t.later(10 * MINUTE, 150)
    assert.deepEqual([tst.sends.length, await states(t)], [1, ['review']])
  })
})

describe('the disk', () => {
  test(
    'once it has failed, nothing is taken in or sent by this process',
    { skip: oneFolder },
    async () => {
      const tst = scripted({ recovery: 'resend' })
      tst.acts.push(nothing)
      const told: unknown[] = []
      await using t = await orderShop([tst], {
        fatal: (error) => {
          told.push(error)
        },
      })
      await t.place(t.body())
      t.app.ctx.engine.fatal(new Error('I/O error'))
      assert.equal(told.length, 1)
      assert.equal((await t.place(t.body())).status, 503)
      t.clock.advance(HOUR)
      await assert.rejects(t.app.orders.pass(), /disk failed/)
      assert.equal(tst.sends.length, 1)
    },
  )

  test('below 32 MB no order is taken in, below 512 MB no feed', async () => {
    let free = 32 * 1_048_576
    const tst = scripted()
    await using t = await orderShop([tst], { faults: { freeBytes: () => free } })
    assert.equal((await t.place(t.body())).status, 200)
    const file = join(t.app.dir, 'feed.csv')
    writeFileSync(file, 'I,Q,P,UPC\n1,2,3.00,\n')
    await assert.rejects(t.app.operator.feeds.import({ distid: 'TSW', file }), /512 MB/)
    free--
    const { status, body } = await t.place(t.body())
    assert.deepEqual([status, body.error.code], [503, 'service_unavailable'])
    assert.equal(tst.sends.length, 1)
    free = 512 * 1_048_576
    assert.equal((await t.app.operator.feeds.import({ distid: 'TSW', file })).outcome, 'taken')
  })

  test(
    'a lock that is damaged is told of, and not taken for another process',
    { skip: oneFolder },
    async () => {
      const tst = scripted()
      await using t = await orderShop([tst])
      t.expectErrors(/a request failed: file is not a database/)
      writeFileSync(
        join(t.app.dir, 'engine.lock'),
        'this is no database, and it is long enough to be seen as none',
      )
      const { status } = await t.place(t.body())
      assert.equal(status, 500)
      assert.deepEqual([tst.sends.length, await states(t)], [0, []])
    },
  )
})

describe('two processes', { skip: oneFolder }, () => {
  test('an order that waits for another sender is sent by whoever has the right to', async () => {
    const tst = scripted()
    await using t = await orderShop([tst])
    const other = await open({
      dir: t.app.dir,
      worker: false,
      now: () => t.clock.ms,
      distributors: [...builtin, tst.distributor],
    })
    const lease = (await other.orders.lease())!
    const placing = t.place(t.body())
    await soon(300)
    assert.deepEqual([tst.sends.length, await states(t)], [0, ['planned']])
    lease.release()
    assert.equal((await placing).body.data.status, 'placed')
    await other.close()
  })

  test('what waits for another process is not sent while orders are paused', async () => {
    const tst = scripted()
    await using t = await orderShop([tst])
    t.expectErrors(/orders are paused/)
    const other = await open({
      dir: t.app.dir,
      worker: false,
      now: () => t.clock.ms,
      distributors: [...builtin, tst.distributor],
    })
    const lease = (await other.orders.lease())!
    const placing = t.place(t.body())
    await soon(300)
    await pauseOrders(t.app.ctx, { reason: 'a test', isForgetful: false })
    lease.release()
    await soon(600)
    assert.deepEqual([tst.sends.length, await states(t)], [0, ['planned']])
    const since = performance.now()
    assert.equal((await placing).body.data.status, 'pending')
    assert.ok(performance.now() - since < 5_000, 'nobody waits for what nobody sends')
    // Nobody was started: it is sent by who took it in, behind its answer.
    await resumeOrders(t.app.ctx)
    await until(async () => (await states(t))[0] === 'placed', 'it is sent')
    assert.equal(tst.sends.length, 1)
    await other.close()
  })

  test('a server that starts sends what others left', async () => {
    const tst = scripted()
    await using t = await orderShop([tst])
    const other = await open({
      dir: t.app.dir,
      worker: false,
      now: () => t.clock.ms,
      distributors: [...builtin, tst.distributor],
    })
    const lease = await other.orders.lease()
    other.orders.start()
    assert.equal(await t.app.orders.lease(), null)
    assert.equal((await t.place(t.body())).body.data.status, 'placed')
    assert.equal(tst.sends.length, 1)
    lease!.release()
    await other.close()
  })
})

describe('one cart an account', () => {
  test('a call that was given up keeps its place until it has ended', async () => {
    const tst = scripted({ recovery: 'staged', limits: { concurrency: 1, sendTimeout: 50 } })
    let end!: () => void
    tst.acts.push(
      () =>
        new Promise((resolve) => {
          end = () => resolve(unknown)
        }),
    )
    await using t = await orderShop([tst])
    assert.equal((await t.place(t.body())).body.data.status, 'pending')
    const second = t.place(t.body())
    await soon(150)
    assert.equal(tst.sends.length, 1, 'the cart may still be filled by the first')
    end()
    assert.equal((await second).body.data.status, 'placed')
    await t.later(DAY / 24)
    assert.deepEqual(await states(t), ['placed', 'placed'])
  })
})

describe('the very item', () => {
  const item = (distsku: string, upc: string, qty = 1) => ({ distid: 'TST', distsku, upc, qty })

  test('SKUs that differ by their case alone are two items', async () => {
    const tst = scripted()
    await using t = await orderShop([tst], {
      offers: [
        { distid: 'TST', stockid: 'X1', upc: UPC, qty: 1 },
        { distid: 'TST', stockid: 'x1', upc: GUN_UPC, qty: 99 },
      ],
    })
    await t.place(t.body({ items: [item('X1', UPC)] }))
    assert.deepEqual(
      tst.sends.map(({ lines: [line] }) => [line!.distsku, line!.upc]),
      [['X1', UPC]],
    )
    assert.equal((await t.place(t.body({ items: [item('x1', UPC)] }))).status, 400)
  })

  test('a UPC goes out as the catalog has it', async () => {
    const tst = scripted()
    await using t = await orderShop([tst])
    await t.place(t.body({ items: [item('A1', `00${UPC}`)] }))
    await t.place(t.body({ items: [item('A1', '0123456\n78905')] }))
    assert.deepEqual([...new Set(tst.sends.map(({ lines: [line] }) => line!.upc))], [UPC])
  })

  test('only stock that ships to customers counts for one', async () => {
    const at = (stockid: string, qty: number, dropShip: boolean) => ({
      distid: 'TST',
      stockid,
      distsku: 'A1',
      upc: UPC,
      qty,
      dropShip,
    })
    await using t = await orderShop([scripted()], {
      offers: [at('A1-NC', 1, true), at('A1-AZ', 40, false)],
    })
    assert.equal(
      (await t.place(t.body({ items: [item('A1', UPC, 2)] }))).body.error.details[0].path,
      'items[0].qty',
    )
    assert.equal(
      (await t.place(t.body({ items: [item('A1', UPC, 2)], ship_to_store: true }))).status,
      200,
    )
  })

  test('what other feeds know for a firearm goes to a dealer', async () => {
    await using t = await orderShop([scripted()], {
      offers: [
        { distid: 'TST', stockid: 'A1', upc: UPC, productClass: 'OT', qty: 1 },
        { distid: 'RSR', stockid: 'R1', upc: UPC, productClass: 'FA', fflReq: true, qty: 1 },
      ],
    })
    assert.equal(
      (await t.place(t.body({ items: [item('A1', UPC)] }))).body.error.details[0].path,
      'items[0].ffl_req',
    )
  })

  for (const type of ['03', '06']) {
    test(`a license of type ${type} receives nothing`, async () => {
      await using t = await orderShop([scripted()])
      const license = DEALER.replace('-01-', `-${type}-`)
      await t.app.ctx.db
        .updateTable('dealer')
        .set({ license_number: license, license_type: type })
        .where('license_number', '=', DEALER)
        .execute()
      const { body } = await t.place(
        t.body({
          items: [{ ...item('G1', GUN_UPC), ffl_req: true }],
          ffl: { licenseNumber: license },
        }),
      )
      assert.deepEqual(
        body.error.details.map(({ path }: { path: string }) => path),
        ['ffl.licenseNumber'],
      )
    })
  }

  test('an address of the store that cannot be one is no fault of the request', async () => {
    await using t = await orderShop([scripted()], {
      document: {
        fulfillment: {
          ship_to_store: {
            ffl: DEALER,
            address: {
              ship_to_name: 'S',
              address_street: '1 A',
              city: 'X',
              state: 'AZ',
              postal_code: '10001',
            },
          },
        },
      },
    })
    const { status, body } = await t.place(t.body({ ship_to_store: true }))
    assert.deepEqual([status, body.error.code], [409, 'fulfillment_not_configured'])
  })

  test('an ffl beside ship_to_store is ignored, whatever it holds', async () => {
    await using t = await orderShop([scripted()])
    for (const ffl of [{}, { licenseNumber: 'x'.repeat(60) }])
      assert.equal((await t.place(t.body({ ship_to_store: true, ffl }))).status, 200)
  })

  test('a retry is the same request, whatever an Option said beside it', async () => {
    await using t = await orderShop([scripted()])
    const body = t.body()
    await t.place(body)
    const [first] = body['items'] as Record<string, unknown>[]
    assert.equal(
      (await t.place({ ...body, items: [{ ...first, unit_price: 24, qty_on_hand: 49 }] })).body
        .error.details.same_request,
      true,
    )
  })
})
