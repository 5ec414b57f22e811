import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MINUTE, SECOND } from '../../../lib/core/clock.js'
import { CONCURRENCY, openAccountSlots } from '../../../lib/orders/engine/account-limits.js'
import { BATCH } from '../../../lib/orders/engine/due.js'
import { UPC, orderShop } from '../shop.js'
import type { OrderShop } from '../shop.js'
import { scripted } from '../scripted-distributor.js'
import type { Act, Scripted } from '../scripted-distributor.js'

const lost: Act = { accept: false, answer: { outcome: 'unknown', reason: 'timeout' } }
const forever = new AbortController().signal

/** What is waited for comes within the turns of a loop. */
async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 1_000 && !isSo(); i++)
    await new Promise((resolve) => {
      setTimeout(resolve, 10)
    })
  assert.ok(isSo())
}

/** A gate at which calls wait until it is opened. */
function gate() {
  let open!: () => void
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** So many orders whose outcome is not known at a distributor, due at the next look. */
async function backlog(t: OrderShop, tst: Scripted, count: number): Promise<void> {
  tst.acts.push(...Array.from({ length: count }, () => lost))
  const items = [{ distid: tst.distributor.distid, distsku: 'A1', upc: UPC, qty: 1 }]
  for (let i = 0; i < count; i++)
    assert.equal((await t.place(t.body({ items }))).body.data.status, 'pending')
  t.clock.advance(5 * SECOND)
}

describe('recovery', () => {
  for (const concurrency of [undefined, 2]) {
    test(`new orders go before the backlog, with ${concurrency ?? 'four'} at a time`, async () => {
      const tst = scripted({
        recovery: 'resend',
        ...(concurrency !== undefined && { limits: { concurrency } }),
      })
      await using t = await orderShop([tst])
      await backlog(t, tst, 30)
      const sentBefore = tst.sends.length
      const { opened, open } = gate()
      const waits: Act = async () => {
        await opened
        return { outcome: 'accepted', number: `N-${++numbers}` }
      }
      let numbers = 0
      const most = (concurrency ?? CONCURRENCY) - 1
      tst.acts.push(...Array.from({ length: most }, () => waits))
      const pass = t.app.orders.pass()
      await until(() => tst.sends.length === sentBefore + most)
      const {
        body: { data },
      } = await t.place(t.body({ order_id: 'NEW-1' }))
      assert.equal(data.status, 'placed', 'while the backlog still waits')
      assert.match(tst.sends.at(-1)!.po, /^NEW-1/)
      assert.equal(tst.sends.length, sentBefore + most + 1)
      open()
      await pass
    })
  }

  test('a look takes up at most its batch, and of one shop at most its slots', async () => {
    const all = Array.from({ length: 6 }, (_, i) =>
      scripted({ distid: `T${i}`, name: `Wholesale ${i}`, recovery: 'resend' }),
    )
    await using t = await orderShop(all)
    for (const tst of all) await backlog(t, tst, 6)
    const { opened, open } = gate()
    const asked = new Map<string, number>()
    for (const {
      connector,
      distributor: { distid },
    } of all) {
      connector.find = async () => {
        asked.set(distid, (asked.get(distid) ?? 0) + 1)
        await opened
        return { outcome: 'answered', orders: [] }
      }
    }
    const sum = () => [...asked.values()].reduce((a, b) => a + b, 0)
    const pass = t.app.orders.pass()
    await until(() => sum() === BATCH)
    await new Promise((resolve) => {
      setTimeout(resolve, 50)
    })
    assert.equal(sum(), BATCH)
    assert.ok([...asked.values()].every((count) => count <= CONCURRENCY - 1))
    open()
    await pass
    assert.equal(sum(), 36, 'a pass goes on until all was looked at')
    assert.ok((await t.purchaseOrders()).every(({ state }) => state === 'placed'))
  })

  test('what a dead sender left is taken over in few transactions', async () => {
    const tst = scripted({ recovery: 'lookup' })
    await using t = await orderShop([tst])
    await backlog(t, tst, 60)
    await t.app.ctx.db
      .updateTable('purchase_order')
      .set({ state: 'sending', owner: 'a dead one' })
      .execute()
    const { engine } = t.app.ctx
    const { atomic } = engine
    let transactions = 0
    engine.atomic = (ctx, run) => {
      transactions++
      return atomic(ctx, run)
    }
    const lease = await t.app.orders.lease()
    engine.atomic = atomic
    lease!.release()
    assert.ok((await t.purchaseOrders()).every(({ state }) => state === 'unknown'))
    assert.ok(transactions <= 4, `${transactions} transactions`)
    await t.later(MINUTE)
  })
})

describe('slots of an account', () => {
  test('one is kept for new orders, which go before all others', async () => {
    const slots = openAccountSlots()
    const went: string[] = []
    const take = (name: string, isNew: boolean) =>
      void slots.take('A', 3, { signal: forever, isNew }).then(() => went.push(name))
    for (const name of ['old 1', 'old 2', 'old 3']) take(name, false)
    await new Promise(setImmediate)
    assert.deepEqual(went, ['old 1', 'old 2'])
    assert.equal(slots.tryTake('A', 3), true)
    assert.equal(slots.tryTake('A', 3), false)
    take('new', true)
    slots.free('A')
    await new Promise(setImmediate)
    assert.deepEqual(went, ['old 1', 'old 2', 'new'])
    slots.free('A')
    await new Promise(setImmediate)
    assert.deepEqual(went, ['old 1', 'old 2', 'new'], 'two are left, and the third is kept')
    slots.free('A')
    await new Promise(setImmediate)
    assert.deepEqual(went, ['old 1', 'old 2', 'new', 'old 3'])
  })

  test('where there is one slot, whoever waits for it goes behind new orders', async () => {
    const slots = openAccountSlots()
    const went: string[] = []
    assert.equal(slots.tryTake('A', 1), true)
    void slots.take('A', 1, { signal: forever, isNew: false }).then(() => went.push('old'))
    void slots.take('A', 1, { signal: forever, isNew: true }).then(() => went.push('new'))
    for (const expected of [['new'], ['new', 'old']]) {
      slots.free('A')
      await new Promise(setImmediate)
      assert.deepEqual(went, expected)
    }
  })
})
