import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MINUTE, SECOND } from '../../../lib/core/clock.js'
import type { Submission } from '../../../lib/distributors/fulfillment.js'
import { REVIEW, orderShop } from '../shop.js'
import { scripted } from '../scripted-distributor.js'
import type { Act } from '../scripted-distributor.js'

const unknown: Submission = { outcome: 'unknown', reason: 'timeout' }
const lost: Act = { accept: true, answer: unknown }
const nothing: Act = { accept: false, answer: unknown }
const refusal: Submission = { outcome: 'rejected', reason: 'out of stock' }

describe('a send whose outcome is not known', () => {
  test('is answered with 200 pending, and found at the distributor later', async () => {
    const tst = scripted({ recovery: 'lookup' })
    tst.acts.push(lost)
    await using t = await orderShop([tst])
    const body = t.body()
    const {
      status,
      body: { data },
    } = await t.place(body)
    assert.deepEqual(
      [
        status,
        data.status,
        data.fulfillment_orders[0].order_status,
        data.fulfillment_orders[0].distributor_order_id,
      ],
      [200, 'pending', 'Pending', null],
    )
    assert.equal((await t.place(body)).status, 409)
    await t.later(5 * SECOND)
    assert.deepEqual(
      (await t.purchaseOrders()).map(({ state, distributor_order_id: number, sends }) => [
        state,
        number,
        sends,
      ]),
      [['placed', 'TST-1', 1]],
    )
    assert.equal(tst.sends.length, 1)
  })

  test('lookup: sent again only after two looks, a minute apart, after ten minutes', async () => {
    const tst = scripted({ recovery: 'lookup' })
    tst.acts.push(nothing)
    await using t = await orderShop([tst])
    await t.place(t.body())
    await t.later(MINUTE, 9)
    assert.deepEqual([tst.sends.length, (await t.purchaseOrders())[0]!.state], [1, 'unknown'])
    await t.later(MINUTE + SECOND)
    assert.deepEqual([tst.sends.length, (await t.purchaseOrders())[0]!.misses], [1, 1])
    await t.later(30 * SECOND)
    assert.equal(tst.sends.length, 1)
    await t.later(31 * SECOND)
    assert.deepEqual(
      [tst.sends.length, (await t.purchaseOrders())[0]!.state, tst.orders.length],
      [2, 'placed', 1],
    )
    assert.deepEqual(tst.sends[1], tst.sends[0], 'the very same content')
  })

  test('a search that cannot be made proves nothing', async () => {
    const tst = scripted({ recovery: 'lookup' })
    tst.acts.push(lost)
    tst.searches.push(...Array<'throw'>(40).fill('throw'))
    await using t = await orderShop([tst])
    await t.place(t.body())
    await t.later(5 * MINUTE, 30)
    assert.deepEqual([tst.sends.length, (await t.purchaseOrders())[0]!.state], [1, 'unknown'])
    await t.later(5 * MINUTE, 20)
    assert.deepEqual([tst.sends.length, (await t.purchaseOrders())[0]!.state], [1, 'placed'])
  })

  test('resend: the same reference goes out again; a refusal then proves nothing', async () => {
    const tst = scripted({ recovery: 'resend' })
    tst.acts.push(lost, { accept: false, answer: refusal })
    // The first look shows nothing yet.
    tst.searches.push({ outcome: 'answered', orders: [] })
    await using t = await orderShop([tst])
    await t.place(t.body())
    await t.later(5 * SECOND)
    assert.deepEqual(
      [
        tst.sends.length,
        (await t.purchaseOrders())[0]!.state,
        (await t.purchaseOrders())[0]!.refusal,
      ],
      [2, 'unknown', 'out of stock'],
    )
    await t.later(SECOND)
    assert.deepEqual(
      [
        tst.sends.length,
        (await t.purchaseOrders())[0]!.state,
        (await t.purchaseOrders())[0]!.distributor_order_id,
      ],
      [2, 'placed', 'TST-1'],
    )
  })

  test('resend: a refusal after an unknown counts once two looks prove the absence', async () => {
    const tst = scripted({ recovery: 'resend' })
    tst.acts.push(nothing, { accept: false, answer: refusal })
    await using t = await orderShop([tst])
    await t.place(t.body({ order_id: 'W-7' }))
    await t.later(5 * SECOND)
    assert.deepEqual([tst.sends.length, (await t.purchaseOrders())[0]!.state], [2, 'unknown'])
    await t.later(MINUTE, 9)
    assert.equal((await t.purchaseOrders())[0]!.state, 'unknown')
    await t.later(MINUTE + SECOND, 3)
    assert.deepEqual([tst.sends.length, (await t.purchaseOrders())[0]!.state], [2, 'rejected'])
    // The order_id is free again, and the PO says that it is another try.
    const again = await t.place(t.body({ order_id: 'W-7' }))
    assert.equal(again.status, 200)
    assert.match(again.body.data.fulfillment_orders[0].po_number, /^W-7-.*-010-2$/)
  })

  for (const recovery of ['file', 'one_shot'] as const) {
    test(`${recovery}: never sent again; after a day without a sign a person decides`, async () => {
      const tst = scripted({ recovery })
      tst.acts.push(nothing)
      await using t = await orderShop([tst])
      t.expectErrors(REVIEW)
      await t.place(t.body())
      await t.later(10 * MINUTE, 143)
      assert.equal((await t.purchaseOrders())[0]!.state, 'unknown')
      await t.later(20 * MINUTE, 3)
      assert.deepEqual([tst.sends.length, (await t.purchaseOrders())[0]!.state], [1, 'review'])
    })
    test(`${recovery}: a sign of it settles it`, async () => {
      const tst = scripted({ recovery })
      tst.acts.push(lost)
      tst.searches.push({ outcome: 'answered', orders: [] }, { outcome: 'answered', orders: [] })
      await using t = await orderShop([tst])
      await t.place(t.body())
      await t.later(MINUTE, 5)
      assert.deepEqual([tst.sends.length, (await t.purchaseOrders())[0]!.state], [1, 'placed'])
    })
  }

  test('a distributor that cannot be asked at all: a person decides at once', async () => {
    const tst = scripted({ recovery: 'one_shot', withoutFind: true })
    tst.acts.push({ accept: true, answer: 'throw' })
    await using t = await orderShop([tst])
    t.expectErrors(REVIEW)
    await t.place(t.body())
    await t.later(10 * SECOND)
    assert.deepEqual([tst.sends.length, (await t.purchaseOrders())[0]!.state], [1, 'review'])
  })

  test('staged: without a stage it starts again; with an open one it goes on there', async () => {
    const tst = scripted({ recovery: 'staged' })
    const stages: (string | null)[] = []
    tst.acts.push(
      async ({ stage }) => {
        stages.push(stage)
        return unknown
      },
      async ({ stage, keepStage }) => {
        stages.push(stage)
        await keepStage('S-1')
        return unknown
      },
      async ({ stage }) => {
        stages.push(stage)
        return { outcome: 'accepted', number: 'N-1' }
      },
    )
    await using t = await orderShop([tst])
    await t.place(t.body())
    await t.later(5 * SECOND)
    const [order] = tst.sends
    tst.searches.push({
      outcome: 'answered',
      orders: [
        { number: 'S-1', po: order!.po, clientRef: order!.clientRef, submitted: false, lines: [] },
      ],
    })
    await t.later(15 * SECOND)
    assert.deepEqual(stages, [null, null, 'S-1'])
    assert.deepEqual(
      [(await t.purchaseOrders())[0]!.state, (await t.purchaseOrders())[0]!.stage],
      ['placed', 'S-1'],
    )
  })

  test('staged: a connector that begins anew is stopped before the last call', async () => {
    const tst = scripted({ recovery: 'staged' })
    const reached: string[] = []
    const under =
      (stage: string): Act =>
      async ({ keepStage }) => {
        await keepStage(stage)
        reached.push(stage)
        return unknown
      }
    tst.acts.push(under('S-1'), under('S-2'))
    await using t = await orderShop([tst])
    await t.place(t.body())
    const [order] = tst.sends
    tst.searches.push({
      outcome: 'answered',
      orders: [
        { number: 'S-1', po: order!.po, clientRef: order!.clientRef, submitted: false, lines: [] },
      ],
    })
    await t.later(5 * SECOND)
    const [row] = await t.purchaseOrders()
    assert.deepEqual(
      [tst.sends.length, reached, row!.state, row!.stage],
      [2, ['S-1'], 'unknown', 'S-1'],
    )
  })

  test('staged: once a stage is gone, the order begins anew after two looks', async () => {
    const tst = scripted({ recovery: 'staged' })
    const stages: (string | null)[] = []
    tst.acts.push(
      async ({ stage, keepStage }) => {
        stages.push(stage)
        await keepStage('S-1')
        return unknown
      },
      async ({ stage }) => {
        stages.push(stage)
        return { outcome: 'accepted', number: 'N-1' }
      },
    )
    await using t = await orderShop([tst])
    await t.place(t.body())
    await t.later(MINUTE, 9)
    assert.deepEqual(stages, [null])
    await t.later(MINUTE, 4)
    assert.deepEqual([stages, (await t.purchaseOrders())[0]!.state], [[null, null], 'placed'])
  })

  test("somebody else's order with the same PO is not ours", async () => {
    const tst = scripted({ recovery: 'lookup' })
    await using t = await orderShop([tst])
    tst.acts.push('accept', nothing)
    await t.place(t.body({ po_number: 'MONDAY' }))
    await t.place(
      t.body({
        po_number: 'MONDAY',
        items: [{ distid: 'TST', distsku: 'A1', upc: '012345678905', qty: 3 }],
      }),
    )
    await t.later(MINUTE, 9)
    assert.deepEqual(
      (await t.purchaseOrders()).map(({ state }) => state),
      ['placed', 'unknown'],
    )
  })

  test('our reference on another content is for a person', async () => {
    const tst = scripted({ recovery: 'lookup' })
    tst.acts.push(nothing)
    await using t = await orderShop([tst])
    t.expectErrors(REVIEW)
    await t.place(t.body())
    tst.searches.push({
      outcome: 'answered',
      orders: [
        {
          number: 'X-1',
          po: 'x',
          clientRef: tst.sends[0]!.clientRef,
          lines: [{ distsku: 'A1', qty: 9 }],
        },
      ],
    })
    await t.later(5 * SECOND)
    assert.deepEqual([tst.sends.length, (await t.purchaseOrders())[0]!.state], [1, 'review'])
  })

  test('a number that stands on another order is for a person', async () => {
    const tst = scripted()
    tst.acts.push('accept', { accept: false, answer: { outcome: 'accepted', number: 'TST-1' } })
    await using t = await orderShop([tst])
    t.expectErrors(REVIEW)
    await t.place(t.body())
    assert.equal((await t.place(t.body())).body.data.status, 'pending')
    assert.deepEqual(
      (await t.purchaseOrders()).map(({ state }) => state),
      ['placed', 'review'],
    )
  })

  test('a duplicate is looked up before it counts', async () => {
    const tst = scripted({ recovery: 'resend' })
    tst.acts.push(lost, { accept: false, answer: { outcome: 'duplicate', number: 'TST-1' } })
    tst.searches.push({ outcome: 'answered', orders: [] })
    await using t = await orderShop([tst])
    await t.place(t.body())
    await t.later(5 * SECOND)
    await t.later(5 * SECOND)
    assert.deepEqual(
      (await t.purchaseOrders()).map(({ state, distributor_order_id: number }) => [state, number]),
      [['placed', 'TST-1']],
    )
  })
})

describe('a distributor that cannot be reached', () => {
  const unreachable: Act = {
    accept: false,
    answer: { outcome: 'not_sent', reason: 'connection refused' },
  }

  test('alone: 503, the order_id stays free, the quota too', async () => {
    const tst = scripted()
    tst.acts.push(unreachable)
    await using t = await orderShop([tst])
    const body = t.body()
    const answer = await t.place(body)
    assert.deepEqual(
      [answer.status, answer.body.error.code, answer.body.error.details[0].failure_reason],
      [503, 'distributor_unavailable', 'connection refused'],
    )
    assert.deepEqual(await t.app.ctx.read.selectFrom('order_count').selectAll().execute(), [])
    const again = await t.place(body)
    assert.equal(again.status, 200)
    assert.ok(!again.body.data.fulfillment_orders[0].po_number.endsWith('-2'), 'nobody refused it')
    assert.equal(tst.orders.length, 1)
  })

  test('in a split it stays Pending, is tried for 15 minutes, then stands in errors', async () => {
    const [a, b] = [
      scripted({ distid: 'AAA', name: 'Alpha' }),
      scripted({ distid: 'BBB', name: 'Beta' }),
    ]
    b.acts.push(...Array.from({ length: 30 }, () => unreachable))
    await using t = await orderShop([a, b])
    const items = ['AAA', 'BBB'].map((distid) => ({
      distid,
      distsku: 'A1',
      upc: '012345678905',
      qty: 1,
    }))
    const {
      body: { data },
    } = await t.place(t.body({ items }))
    assert.deepEqual(
      [
        data.status,
        data.fulfillment_orders.map(({ order_status }: { order_status: string }) => order_status),
      ],
      ['pending', ['Submitted', 'Pending']],
    )
    await t.later(MINUTE, 14)
    assert.deepEqual(
      (await t.purchaseOrders()).map(({ state }) => state),
      ['placed', 'planned'],
    )
    assert.ok(b.sends.length > 3)
    await t.later(5 * MINUTE)
    assert.deepEqual(
      (await t.purchaseOrders()).map(({ state }) => state),
      ['placed', 'expired'],
    )
    assert.equal(
      (await t.app.ctx.read.selectFrom('failed_placement').selectAll().execute()).length,
      1,
    )
  })

  test('all refused: 409 order_rejected with the failures; the next sends -2', async () => {
    const tst = scripted()
    tst.acts.push({ accept: false, answer: refusal })
    await using t = await orderShop([tst])
    const body = t.body({ po_number: 'PO-9' })
    const answer = await t.place(body)
    assert.deepEqual(
      [answer.status, answer.body.error.code, answer.body.error.details[0].failure_reason],
      [409, 'order_rejected', 'out of stock'],
    )
    assert.equal((await t.place(body)).body.data.fulfillment_orders[0].po_number, 'PO-9-2')
  })
})
