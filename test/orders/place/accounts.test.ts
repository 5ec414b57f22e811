/**
 * An order is sent, and looked for, with one account alone; a number there belongs to one order,
 * whoever's it is.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DAY, MINUTE } from '../../../lib/core/clock.js'
import type { OrderSession, Submission } from '../../../lib/distributors/fulfillment.js'
import { REVIEW, UPC, orderShop } from '../shop.js'
import type { OrderShop } from '../shop.js'
import { scripted } from '../scripted-distributor.js'
import type { Act, Scripted } from '../scripted-distributor.js'

const unknown: Submission = { outcome: 'unknown', reason: 'timeout' }
const lost: Act = { accept: true, answer: unknown }
const nothing: Act = { accept: false, answer: unknown }
/** A file has no number yet when it is taken in. */
const takenIn: Act = { accept: true, answer: { outcome: 'accepted', number: null } }
const unreachable: Act = {
  accept: false,
  answer: { outcome: 'not_sent', reason: 'connection refused' },
}
const states = async (t: OrderShop) => (await t.purchaseOrders()).map(({ state }) => state)
const numbers = async (t: OrderShop) =>
  (await t.purchaseOrders()).map(({ state, distributor_order_id: number }) => [state, number])
const accountOf = ({ settings }: Pick<OrderSession, 'settings'>) => String(settings['account'])

/** Each account sees its own orders only, as everywhere. Returns the accounts of its sends. */
function apart({ connector, orders }: Scripted): string[] {
  const { submit, find } = connector
  const sends: string[] = []
  const ownerOf = new Map<string, string>()
  connector.submit = async (session, order) => {
    sends.push(accountOf(session))
    const before = orders.length
    const answer = await submit(session, order)
    for (const { number } of orders.slice(before)) ownerOf.set(number, accountOf(session))
    return answer
  }
  if (find) {
    connector.find = async (session, order) => {
      const search = await find(session, order)
      return search.outcome === 'answered'
        ? {
            ...search,
            orders: search.orders.filter(
              ({ number }) => ownerOf.get(number!) === accountOf(session),
            ),
          }
        : search
    }
  }
  return sends
}

/** It shows all that it has, with content, and without a reference of ours. */
function showAll(tst: Scripted, isNumbered: boolean): void {
  tst.connector.find = async () => ({
    outcome: 'answered',
    orders: tst.orders.map(
      ({
        number,
        order: {
          po,
          lines,
          shipTo: { name, address1, zip },
        },
      }) => ({
        number: isNumbered ? number : null,
        po,
        lines: lines.map(({ distsku, qty }) => ({ distsku, qty })),
        shipTo: { name, address1, zip },
      }),
    ),
  })
}

describe('a login that changes between two sends', () => {
  test('the same reference goes out again with the same account alone', async () => {
    const tst = scripted({ recovery: 'resend', withoutFind: true, hasLogin: true })
    tst.acts.push(lost)
    const sends = apart(tst)
    await using t = await orderShop([tst])
    t.expectErrors(REVIEW)
    await t.logIn('first')
    assert.equal((await t.place(t.body())).body.data.status, 'pending')
    await t.logIn('second')
    await t.later(MINUTE, 3)
    assert.deepEqual([sends, tst.orders.length, await states(t)], [['first'], 1, ['review']])
    assert.match((await t.purchaseOrders())[0]!.reason!, /another account/)
  })

  test('with the first one back before a look, it goes out again', async () => {
    const tst = scripted({ recovery: 'resend', withoutFind: true, hasLogin: true })
    tst.acts.push(nothing)
    const sends = apart(tst)
    await using t = await orderShop([tst])
    await t.logIn('first')
    await t.place(t.body())
    await t.logIn('second')
    await t.logIn('first')
    await t.later(MINUTE)
    assert.deepEqual([sends, await states(t)], [['first', 'first'], ['placed']])
  })

  for (const recovery of ['resend', 'lookup', 'staged'] as const) {
    test(`${recovery}: also one that changes while the distributor is asked`, async () => {
      const tst = scripted({ recovery, hasLogin: true })
      tst.acts.push(recovery === 'lookup' ? nothing : lost)
      const sends = apart(tst)
      await using t = await orderShop([tst])
      t.expectErrors(REVIEW)
      await t.logIn('first')
      await t.place(t.body())
      // The last look before it would be sent again shows nothing, and comes back after the change.
      if (recovery === 'lookup') await t.later(11 * MINUTE)
      tst.connector.find = async () => {
        await t.logIn('second')
        return { outcome: 'answered', orders: [] }
      }
      await t.later(MINUTE, 2)
      assert.deepEqual([sends, tst.orders.length], [['first'], recovery === 'lookup' ? 0 : 1])
      await t.later(MINUTE, 15)
      assert.deepEqual([sends, await states(t)], [['first'], ['review']])
      assert.match((await t.purchaseOrders())[0]!.reason!, /another account/)
    })
  }

  test('what was never sent is sent with the account of now, which alone counts', async () => {
    const [tst, other] = [
      scripted({ hasLogin: true }),
      scripted({ distid: 'OTH', name: 'Other Wholesale' }),
    ]
    tst.acts.push(unreachable, lost)
    const sends = apart(tst)
    await using t = await orderShop([tst, other])
    t.expectErrors(REVIEW)
    await t.logIn('first')
    // In a split, an order that could not be sent waits.
    await t.place(
      t.body({
        items: ['TST', 'OTH'].map((distid) => ({ distid, distsku: 'A1', upc: UPC, qty: 1 })),
      }),
    )
    assert.deepEqual(
      [await states(t), (await t.purchaseOrders())[0]!.account],
      [['planned', 'placed'], null],
    )
    await t.logIn('second')
    await t.later(MINUTE)
    await t.logIn('first')
    await t.later(MINUTE, 15)
    assert.deepEqual(
      [sends, tst.orders.length, await states(t)],
      [['first', 'second'], 1, ['review', 'placed']],
    )
  })
})

describe('two orders alike, with a login that changes between them', () => {
  for (const recovery of ['lookup', 'one_shot'] as const) {
    test(`${recovery}: the first does not take the second's order`, async () => {
      const tst = scripted({ recovery, hasLogin: true })
      tst.acts.push(lost, lost)
      showAll(tst, true)
      const sends = apart(tst)
      await using t = await orderShop([tst])
      t.expectErrors(REVIEW)
      await t.logIn('first')
      await t.place(t.body({ po_number: 'MONDAY' }))
      await t.logIn('second')
      await t.place(t.body({ po_number: 'MONDAY' }))
      await t.later(MINUTE, 15)
      assert.deepEqual(
        [sends, await numbers(t)],
        [
          ['first', 'second'],
          [
            ['review', null],
            ['placed', 'TST-2'],
          ],
        ],
      )
    })
  }

  test('under a PO made for it alone it is found: the login may be renamed', async () => {
    const tst = scripted({ recovery: 'lookup', hasLogin: true })
    tst.acts.push(lost)
    showAll(tst, true)
    await using t = await orderShop([tst])
    await t.logIn('first')
    await t.place(t.body())
    await t.logIn('second')
    await t.later(MINUTE)
    assert.deepEqual(await numbers(t), [['placed', 'TST-1']])
  })
})

describe('two subscribers with one account', () => {
  test("an order that stands on a record of one is not taken for the other's", async () => {
    const tst = scripted({ hasLogin: true })
    tst.acts.push('accept', nothing)
    showAll(tst, true)
    await using t = await orderShop([tst])
    await t.logIn('shared')
    const key = await t.addShop()
    await t.place(t.body({ po_number: 'MONDAY' }))
    assert.equal(
      (await t.place(t.body({ po_number: 'MONDAY' }), { key })).body.data.status,
      'pending',
    )
    await t.later(MINUTE, 15)
    assert.deepEqual(
      [await numbers(t), tst.orders.length],
      [
        [
          ['placed', 'TST-1'],
          ['placed', 'TST-2'],
        ],
        2,
      ],
    )
  })

  test('a fresh number that stands on a record of the other is for a person', async () => {
    const tst = scripted({ hasLogin: true })
    tst.acts.push('accept', { accept: false, answer: { outcome: 'accepted', number: 'TST-1' } })
    await using t = await orderShop([tst])
    t.expectErrors(REVIEW)
    await t.logIn('shared')
    const key = await t.addShop()
    await t.place(t.body())
    await t.place(t.body(), { key })
    assert.deepEqual(await states(t), ['placed', 'review'])
  })

  test('with two accounts the same number is two orders: each may count anew', async () => {
    const tst = scripted({ hasLogin: true })
    tst.acts.push('accept', { accept: false, answer: { outcome: 'accepted', number: 'TST-1' } })
    await using t = await orderShop([tst])
    await t.logIn('mine')
    const key = await t.addShop()
    await t.logIn('yours')
    await t.place(t.body())
    await t.place(t.body(), { key })
    assert.deepEqual(await numbers(t), [
      ['placed', 'TST-1'],
      ['placed', 'TST-1'],
    ])
  })

  test("file: what may be one's is not taken for the other's either", async () => {
    const fil = scripted({ distid: 'FIL', recovery: 'file', hasLogin: true })
    fil.acts.push(takenIn, nothing)
    showAll(fil, true)
    await using t = await orderShop([fil])
    t.expectErrors(REVIEW)
    await t.logIn('shared')
    const key = await t.addShop()
    await t.place(t.body({ po_number: 'WEEK 47' }))
    await t.place(t.body({ po_number: 'WEEK 47' }), { key })
    await t.later(MINUTE, 15)
    assert.deepEqual([fil.sends.length, await states(t)], [2, ['placed', 'review']])
  })
})

describe('file: two orders alike of which no outcome is known', () => {
  test('never both take the one that is there without a number', async () => {
    const fil = scripted({ distid: 'FIL', recovery: 'file' })
    fil.acts.push(lost, nothing)
    showAll(fil, false)
    await using t = await orderShop([fil])
    t.expectErrors(REVIEW)
    for (let n = 0; n < 2; n++) await t.place(t.body({ po_number: 'WEEK 47' }))
    await t.later(MINUTE, 15)
    assert.deepEqual([fil.orders.length, await states(t)], [1, ['review', 'review']])
  })

  test('with a number one of them takes it, and the other sees that it is taken', async () => {
    const fil = scripted({ distid: 'FIL', recovery: 'file' })
    fil.acts.push(lost, nothing)
    showAll(fil, true)
    await using t = await orderShop([fil])
    for (let n = 0; n < 2; n++) await t.place(t.body({ po_number: 'WEEK 47' }))
    await t.later(MINUTE, 15)
    assert.deepEqual((await numbers(t)).filter(([, number]) => number === 'FIL-1').length, 1)
    assert.deepEqual((await states(t)).toSorted(), ['placed', 'unknown'])
  })

  for (const [name, placedAt, end] of [
    ['without a time may be as old as any that has no number', false, 'review'],
    ['with its time is the older one, and not this', true, 'unknown'],
  ] as const) {
    test(`what is shown ${name}`, async () => {
      const fil = scripted({ distid: 'FIL', recovery: 'file' })
      fil.acts.push(takenIn, nothing)
      await using t = await orderShop([fil])
      if (end === 'review') t.expectErrors(REVIEW)
      await t.place(t.body({ po_number: 'WEEK 47' }))
      const { po, lines, shipTo } = fil.sends[0]!
      const shown = {
        number: null,
        po,
        lines,
        shipTo: { name: shipTo.name, address1: shipTo.address1, zip: shipTo.zip },
        ...(placedAt && { placedAt: t.clock.ms }),
      }
      fil.connector.find = async () => ({ outcome: 'answered', orders: [shown] })
      t.clock.advance(15 * DAY)
      await t.place(t.body({ po_number: 'WEEK 47' }))
      await t.later(MINUTE, 15)
      assert.deepEqual([fil.orders.length, await states(t)], [1, ['placed', end]])
    })
  }

  test('one that cannot be opened is left to a person after a day', async () => {
    const fil = scripted({ distid: 'FIL', recovery: 'file' })
    fil.acts.push(takenIn, nothing)
    fil.searches.push(
      ...Array.from({ length: 400 }, () => ({ outcome: 'answered' as const, orders: [] })),
    )
    await using t = await orderShop([fil])
    t.expectErrors(REVIEW)
    for (let n = 0; n < 2; n++) await t.place(t.body())
    await t.app.ctx.db
      .updateTable('purchase_order')
      .set({ payload: 'damaged' })
      .where('id', '=', 1)
      .execute()
    await t.later(20 * MINUTE, 71)
    assert.deepEqual(await states(t), ['placed', 'unknown'])
    await t.later(20 * MINUTE, 3)
    assert.deepEqual(await states(t), ['placed', 'review'])
  })

  test('whatever is shown without a reference may be the one that cannot be opened', async () => {
    const fil = scripted({ distid: 'FIL', recovery: 'file' })
    fil.acts.push(takenIn, nothing)
    showAll(fil, true)
    await using t = await orderShop([fil])
    t.expectErrors(REVIEW)
    for (let n = 0; n < 2; n++) await t.place(t.body({ po_number: 'WEEK 47' }))
    await t.app.ctx.db
      .updateTable('purchase_order')
      .set({ payload: 'damaged' })
      .where('id', '=', 1)
      .execute()
    await t.later(MINUTE, 15)
    assert.deepEqual(await states(t), ['placed', 'review'])
  })
})
