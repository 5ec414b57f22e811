/** What an acceptance tells besides the number, and orders that a person has to place. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DAY, MINUTE } from '../../../lib/core/clock.js'
import type { OpenOrder, OrderUpdate, Submission } from '../../../lib/distributors/fulfillment.js'
import { submissionOf } from '../../../lib/orders/engine/sender/answers.js'
import { replay } from '../../../lib/orders/journal/replay.js'
import type { LostLine } from '../../../lib/orders/journal/replay.js'
import { resolveOrder } from '../../../lib/orders/operator/resolve.js'
import { REVIEW, orderShop } from '../shop.js'
import type { OrderShop } from '../shop.js'
import { scripted } from '../scripted-distributor.js'

const record = async (t: OrderShop) => {
  const row = await t.app.ctx.read
    .selectFrom('fulfillment_order')
    .selectAll()
    .executeTakeFirstOrThrow()
  return row.order_status
}
const said = (value: unknown) => submissionOf({ value: value as Submission }, { secrets: ['hush'] })

describe('what an acceptance tells', () => {
  const accepted = (status: string): Submission =>
    ({ outcome: 'accepted', number: 'N-1', told: { status, reason: 'B2 is gone, hush' } }) as never

  test('is cleaned, and only what it may tell is believed', () => {
    assert.deepEqual(said(accepted('Partially Fulfilled')), {
      outcome: 'accepted',
      number: 'N-1',
      told: { status: 'Partially Fulfilled', reason: 'B2 is gone, [credential]' },
    })
    for (const status of ['Fulfilled', 'Cancelled', 'Pending', 'nonsense'])
      assert.deepEqual(said(accepted(status)), { outcome: 'accepted', number: 'N-1' })
    assert.deepEqual(said({ outcome: 'review', reason: 'call hush' }), {
      outcome: 'review',
      reason: 'call [credential]',
    })
  })

  for (const status of ['FFL Hold', 'Partially Fulfilled', 'Not Fulfilled'] as const)
    test(`${status}: stands in the record at once, and outlives the database`, async () => {
      const tst = scripted({ recovery: 'one_shot', withoutFind: true })
      tst.acts.push(async () => ({
        outcome: 'accepted',
        number: 'N-1',
        told: { status, reason: 'as they say' },
      }))
      const asked: OpenOrder[] = []
      tst.connector.updates = async function* (_session, _since, open) {
        asked.push(...open)
        yield* [] as OrderUpdate[]
      }
      await using t = await orderShop([tst])
      const { status: http, body } = await t.place(t.body())
      assert.deepEqual([http, body.data.status, await record(t)], [200, 'placed', status])
      const [order] = await t.purchaseOrders()
      assert.deepEqual(
        [order!.state, order!.distributor_order_id, order!.reason],
        ['placed', 'N-1', 'as they say'],
      )
      // Whoever asks for its news knows it.
      t.clock.advance(DAY)
      await t.app.monitors.pass()
      assert.deepEqual(
        asked.map((open) => open.status),
        status === 'Not Fulfilled' ? [] : [status],
      )

      // The line that tells of it, applied to a database that has lost what it says.
      const { ctx } = t.app
      const { line, seq } = await ctx.read
        .selectFrom('journal')
        .selectAll()
        .orderBy('seq', 'desc')
        .executeTakeFirstOrThrow()
      await ctx.engine.atomic(ctx, async ({ db }) => {
        await db.deleteFrom('journal').where('seq', '=', seq).execute()
        await db.deleteFrom('lane_status').execute()
        await db
          .updateTable('purchase_order')
          .set({ state: 'sending', distributor_order_id: null })
          .execute()
        await db.updateTable('fulfillment_order').set({ order_status: 'Pending' }).execute()
      })
      const lost = { ...(JSON.parse(line) as LostLine), text: line }
      await replay(ctx, [lost])
      assert.equal(await record(t), status)
    })
})

describe('an order that a person has to place', () => {
  test('goes to review at once, with nothing sent, and is never sent by itself', async () => {
    const tst = scripted({ recovery: 'one_shot', withoutFind: true })
    let calls = 0
    tst.connector.submit = async () => {
      calls++
      return { outcome: 'review', reason: 'call them' }
    }
    await using t = await orderShop([tst])
    t.expectErrors(REVIEW)
    assert.equal((await t.place(t.body())).body.data.status, 'pending')
    await t.later(MINUTE, 5)
    await t.later(DAY, 2)
    const [order] = await t.purchaseOrders()
    assert.deepEqual(
      [calls, order!.state, order!.reason, order!.ever_unknown],
      [1, 'review', 'call them', 0],
    )
    await resolveOrder(t.app.ctx, {
      order: order!.client_ref,
      verdict: 'placed',
      number: 'BY-PHONE-1',
    })
    assert.deepEqual([await record(t), calls], ['Submitted', 1])
  })

  test('so does one of which nobody can be asked what became, and a number that is told goes on', async () => {
    const tst = scripted({ recovery: 'one_shot', withoutFind: true })
    tst.acts.push({ accept: true, answer: { outcome: 'unknown', reason: 'timeout' } })
    await using t = await orderShop([tst])
    t.expectErrors(REVIEW)
    assert.equal((await t.place(t.body())).body.data.status, 'pending')
    await t.later(MINUTE, 2)
    await t.later(DAY, 2)
    const [order] = await t.purchaseOrders()
    assert.deepEqual([tst.sends.length, order!.state], [1, 'review'])
    assert.match(order!.reason!, /timeout, and this distributor cannot be asked/)
  })
})
