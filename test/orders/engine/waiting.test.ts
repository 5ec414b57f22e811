/**
 * Orders that wait: for a distributor, for their turn, for the end of a server, and for the next
 * hour.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HOUR, MINUTE, SECOND } from '../../../lib/core/clock.js'
import { resumeOrders } from '../../../lib/orders/engine/pause.js'
import type { Submission } from '../../../lib/distributors/fulfillment.js'
import { DEALER, GUN_UPC, UPC, orderShop } from '../shop.js'
import type { OrderShop } from '../shop.js'
import { scripted } from '../scripted-distributor.js'
import type { Act, Scripted } from '../scripted-distributor.js'
import { isOnPostgres } from '../../harness/record.js'
import { VirtualTime } from '../../harness/time.js'

const unknown: Submission = { outcome: 'unknown', reason: 'timeout' }
const states = async (t: OrderShop) => (await t.purchaseOrders()).map(({ state }) => state)
const gun = {
  items: [{ distid: 'TST', distsku: 'G1', upc: GUN_UPC, qty: 1, ffl_req: true }],
  ffl: { licenseNumber: DEALER },
}
const soon = () =>
  new Promise<void>((resolve) => {
    setImmediate(resolve)
  })

/** Its next send reaches it and does not end. Returns what ends it. */
function hold(tst: Scripted, answer: Submission): () => void {
  let end!: () => void
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  tst.acts.push((_session, order) =>
    ended.then(() => {
      if (answer.outcome === 'accepted') tst.orders.push({ number: answer.number!, order })
      return answer
    }),
  )
  return end
}

/** Until the shop has so many purchase orders, and the distributor so many sends. */
async function until(
  t: OrderShop,
  tst: Scripted,
  { orders, sends }: { orders: number; sends: number },
): Promise<void> {
  for (
    let turns = 0;
    (await t.purchaseOrders()).length < orders || tst.sends.length < sends;
    turns++
  ) {
    assert.ok(turns < 5_000, `${tst.sends.length} sends, and nothing happens any more`)
    await soon()
  }
}

describe('a distributor that asks for a pause', () => {
  const limited = (retryAfter: number): Act => ({
    accept: false,
    answer: { outcome: 'not_sent', reason: 'HTTP 429', retryAfter },
  })
  const split = (t: OrderShop) =>
    t.place(
      t.body({
        items: ['AAA', 'BBB'].map((distid) => ({ distid, distsku: 'A1', upc: UPC, qty: 1 })),
      }),
    )

  test('of more than 15 minutes: the order is given up after 15 all the same', async () => {
    const [a, b] = [
      scripted({ distid: 'AAA', name: 'Alpha' }),
      scripted({ distid: 'BBB', name: 'Beta' }),
    ]
    b.acts.push(limited(3_600))
    await using t = await orderShop([a, b])
    await split(t)
    await t.later(MINUTE, 14)
    assert.deepEqual(await states(t), ['placed', 'planned'])
    await t.later(MINUTE)
    assert.deepEqual([await states(t), b.sends.length], [['placed', 'expired'], 1])
  })

  test('of less: it is left alone so long, and sent then', async () => {
    const [a, b] = [
      scripted({ distid: 'AAA', name: 'Alpha' }),
      scripted({ distid: 'BBB', name: 'Beta' }),
    ]
    b.acts.push(limited(300))
    await using t = await orderShop([a, b])
    await split(t)
    await t.later(MINUTE, 4)
    assert.deepEqual([await states(t), b.sends.length], [['placed', 'planned'], 1])
    await t.later(MINUTE)
    assert.deepEqual([await states(t), b.sends.length], [['placed', 'placed'], 2])
  })
})

/** Two orders of an account that takes one at a time: the second waits until `end` is called. */
async function twoOrders(next: Record<string, unknown> = {}) {
  const tst = scripted({ recovery: 'staged', limits: { concurrency: 1 } })
  const end = hold(tst, { outcome: 'accepted', number: 'N-1' })
  const t = await orderShop([tst])
  const first = t.place(t.body())
  await until(t, tst, { orders: 1, sends: 1 })
  const second = t.place(t.body(next))
  await until(t, tst, { orders: 2, sends: 1 })
  return { t, tst, first, second, end, [Symbol.asyncDispose]: () => t.close() }
}

describe('an order that waits for its turn', () => {
  test('longer than 15 minutes is given up and never sent', async () => {
    await using waiting = await twoOrders()
    const { t, tst, first, second, end } = waiting
    t.clock.advance(15 * MINUTE)
    end()
    assert.equal((await first).body.data.status, 'placed')
    const { status, body } = await second
    assert.deepEqual(
      [status, body.error.code, tst.sends.length, await states(t)],
      [503, 'distributor_unavailable', 1, ['placed', 'expired']],
    )
    assert.match(body.error.details[0].failure_reason, /15 minutes, nothing was sent/)
    assert.equal((await t.app.ctx.read.selectFrom('order_count').selectAll().execute()).length, 1)
  })

  test('and is paused meanwhile is not sent before orders go on', async () => {
    await using waiting = await twoOrders()
    const { t, tst, first, second, end } = waiting
    await t.app.operator.orders.pause({ reason: 'a call from the distributor' })
    end()
    assert.equal((await first).body.data.status, 'placed')
    const since = performance.now()
    assert.equal((await second).body.data.status, 'pending')
    assert.ok(performance.now() - since < 5 * SECOND, 'nobody waits for what nobody sends')
    await t.later(MINUTE, 2)
    assert.deepEqual([tst.sends.length, await states(t)], [1, ['placed', 'planned']])
    await resumeOrders(t.app.ctx)
    await t.later(SECOND)
    assert.deepEqual([tst.sends.length, await states(t)], [2, ['placed', 'placed']])
  })

  test('less than that is sent', async () => {
    await using waiting = await twoOrders()
    const { t, tst, first, second, end } = waiting
    t.clock.advance(15 * MINUTE - SECOND)
    end()
    assert.deepEqual([(await first).status, (await second).status, tst.sends.length], [200, 200, 2])
  })

  // The database's driver has timers of its own, which would stand still with all others.
  const still = isOnPostgres && 'the time of the whole process stands still'
  test(
    'behind a call that never ends is sent once that cannot be on its way',
    { skip: still },
    async () => {
      const tst = scripted({ recovery: 'staged', limits: { concurrency: 1 } })
      hold(tst, unknown)
      await using t = await orderShop([tst])
      const time = new VirtualTime()
      const restore = time.install()
      try {
        const first = t.place(t.body())
        await until(t, tst, { orders: 1, sends: 1 })
        time.advance(MINUTE)
        assert.equal((await first).body.data.status, 'pending')
        const second = t.place(t.body())
        await until(t, tst, { orders: 2, sends: 1 })
        time.advance(9 * MINUTE)
        assert.deepEqual([(await second).body.data.status, tst.sends.length], ['pending', 1])
        time.advance(MINUTE)
        await until(t, tst, { orders: 2, sends: 2 })
      } finally {
        restore()
      }
    },
  )

  test('whose dealer is gone by then counts against no quota, here or there', async () => {
    await using waiting = await twoOrders(gun)
    const { t, first, second, end } = waiting
    await t.app.ctx.db
      .updateTable('dealer')
      .set({ listed: 0 })
      .where('license_number', '=', DEALER)
      .execute()
    end()
    assert.deepEqual([(await first).status, (await second).status], [200, 409])
    assert.deepEqual(await counted(t), [1, 1])
  })
})

/** Orders of the key that count by the database, and by this process. */
async function counted(t: OrderShop): Promise<[database: number, process: number]> {
  const rows = await t.app.ctx.read.selectFrom('order_count').select('placement_id').execute()
  return [rows.length, t.app.orders.counts.times.get(t.keyId)?.size ?? 0]
}

describe('the order quota', () => {
  test('of a split with one part sent and the other never: it counts, here and there', async () => {
    const [a, b] = [
      scripted({ distid: 'AAA', name: 'Alpha' }),
      scripted({ distid: 'BBB', name: 'Beta' }),
    ]
    b.acts.push(
      ...Array.from({ length: 30 }, (): Act => ({
        accept: false,
        answer: { outcome: 'not_sent', reason: 'connection refused' },
      })),
    )
    await using t = await orderShop([a, b])
    await t.place(
      t.body({
        items: ['AAA', 'BBB'].map((distid) => ({ distid, distsku: 'A1', upc: UPC, qty: 1 })),
      }),
    )
    await t.later(MINUTE, 16)
    assert.deepEqual(
      [await states(t), await counted(t)],
      [
        ['placed', 'expired'],
        [1, 1],
      ],
    )
  })

  test('with both windows full, Retry-After is that of the one that opens last', async () => {
    await using t = await orderShop([scripted()])
    await t.place(t.body())
    const now = t.clock.ms
    const { db } = t.app.ctx
    const { placement_id: _, ...count } = await db
      .selectFrom('order_count')
      .selectAll()
      .executeTakeFirstOrThrow()
    const placement = await db.selectFrom('placement').selectAll().executeTakeFirstOrThrow()
    // 440 orders two hours ago and 60 within the last ten minutes: the hour opens in 50 minutes,
    // the day in 22 hours.
    const ids = Array.from({ length: 499 }, (_each, i) => placement.id + 1 + i)
    await db
      .insertInto('placement')
      .values(ids.map((id) => ({ ...placement, id, order_id: `Q-${id}`, holds_id: 0 })))
      .execute()
    await db
      .insertInto('order_count')
      .values(
        ids.map((id, i) => ({
          ...count,
          placement_id: id,
          at: i < 440 ? now - 2 * HOUR : now - 10 * MINUTE,
        })),
      )
      .execute()
    const { status, headers, body } = await t.place(t.body())
    assert.deepEqual(
      [status, headers.get('retry-after'), body.error.details],
      [
        429,
        String(22 * 3_600),
        { limit: 500, window_seconds: 86_400, retry_after_seconds: 22 * 3_600 },
      ],
    )
    t.clock.advance(22 * HOUR)
    assert.equal((await t.place(t.body())).status, 200, 'who waited so long is let in')
  })
})

describe('a server that stops', () => {
  test('does not wait for orders that wait for their turn, and sends none of them', async () => {
    const tst = scripted({ recovery: 'staged', limits: { concurrency: 1, sendTimeout: 1 } })
    // The call is given up at once, and keeps its cart for as long as it runs.
    const end = hold(tst, unknown)
    await using t = await orderShop([tst])
    assert.equal((await t.place(t.body())).body.data.status, 'pending')
    const second = t.place(t.body())
    await until(t, tst, { orders: 2, sends: 1 })
    // No clock of the engine's own moves here: a stop that waits for the cart would wait for ever.
    await t.app.orders.stop()
    const { status, body } = await second
    assert.deepEqual(
      [status, body.data.status, tst.sends.length, await states(t)],
      [200, 'pending', 1, ['unknown', 'planned']],
    )
    end()
  })

  test('takes in no order: 503 service_unavailable, and nothing is written down', async () => {
    const tst = scripted()
    await using t = await orderShop([tst])
    await t.app.orders.stop()
    const { status, headers, body } = await t.place(t.body())
    assert.deepEqual(
      [status, body.error.code, headers.get('retry-after'), tst.sends.length, await states(t)],
      [503, 'service_unavailable', '5', 0, []],
    )
  })
})
