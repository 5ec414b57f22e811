import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { MINUTE, SECOND, wholeMilliseconds } from '../../lib/core/clock.js'
import { open } from '../../lib/app/open.js'
import { demoSettings } from '../../lib/simulator/profiles.js'
import { fractional } from '../../server/testing/clock.js'
import { createTestApp } from '../../server/testing/index.js'
import { CUSTOMER, UPC, offersOf, orderShop } from '../orders/shop.js'
import { scripted } from '../orders/scripted-distributor.js'

describe('whole milliseconds', () => {
  test('a clock with fractions is rounded down: a moment is never told before it comes', () => {
    let shown = 999.999
    const clock = wholeMilliseconds(() => shown)
    assert.equal(clock(), 999)
    shown = 1_000
    assert.equal(clock(), 1_000)
    shown = 1_000.001
    assert.equal(clock(), 1_000)
  })

  test('an app tells whole milliseconds by its own clocks and by those that it is given', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'qm-time-'))
    try {
      for (const clocks of [
        {},
        { now: () => 1_795_262_400_000.75 },
        { now: () => 1_795_262_400_000.75, monotonic: () => 12.5 },
      ]) {
        await using app = await open({ dir, worker: false, ...clocks })
        for (const read of [app.ctx.now, app.ctx.monotonic])
          for (let i = 0; i < 50; i++) assert.ok(Number.isInteger(read()))
      }
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })

  test('the clock of tests has fractions, and never steps back', () => {
    let ms = 5
    const clock = fractional(() => ms)
    const told: number[] = []
    for (let i = 0; i < 3_000; i++) {
      if (i % 7 === 0 && i < 1_000) ms++
      told.push(clock())
      assert.equal(Math.floor(told.at(-1)!), ms)
      assert.ok(told.at(-1)! % 1 > 0 && told.at(-1)! >= (told.at(-2) ?? 0))
    }
  })
})

describe('fractions of a millisecond', () => {
  test('Chattanooga: what a send without an answer left open is sent again after eleven minutes', async () => {
    await using t = await createTestApp()
    const { api_sid: API_SID, api_token: API_TOKEN } = demoSettings('CSSI')
    await t.stock(offersOf('CSSI'))
    await t.configure({
      fulfillment: {},
      distributors: {
        'Chattanooga Shooting Supplies': { distid: 'CSSI', fulfillment: { API_SID, API_TOKEN } },
      },
    })
    const order = {
      order_id: 'A-TO-1-SIM-TIMEOUT',
      customer: CUSTOMER,
      items: [{ distid: 'CSSI', distsku: 'A1', upc: UPC, qty: 1 }],
    }
    const {
      body: { data },
    } = await t.json('/v1/orders', { method: 'POST', body: JSON.stringify(order) })
    assert.equal(data.status, 'pending')
    const read = () =>
      t.app.ctx.read.selectFrom('purchase_order').selectAll().executeTakeFirstOrThrow()
    let seconds = 0
    for (; (await read()).state !== 'placed' && seconds < 20 * 60; seconds += 5) {
      t.clock.advance(5 * SECOND)
      await t.app.orders.pass()
      assert.equal((await read()).failures, 0, `after ${seconds} s nothing of ours fails`)
    }
    assert.equal((await read()).sends, 2)
    assert.ok(seconds >= 11 * 60 && seconds <= 11 * 60 + 15, `sent again after ${seconds} s`)
  })

  test('an order that only a later report can tell of waits a tenth of its age, in whole milliseconds', async () => {
    const tst = scripted({ recovery: 'one_shot' })
    tst.acts.push({ accept: false, answer: { outcome: 'unknown', reason: 'timeout' } })
    await using t = await orderShop([tst])
    await t.place(t.body())
    await t.later(3 * MINUTE + 7)
    const [order] = await t.purchaseOrders()
    assert.equal(order!.failures, 0)
    assert.equal(order!.next_at, t.clock.ms + 18 * SECOND + 1)
  })

  test('a distributor may ask for a pause of a fraction: it is asked again no earlier', async () => {
    const tst = scripted({ recovery: 'resend' })
    const answers = [
      { outcome: 'unknown', reason: 'timeout' },
      { outcome: 'not_sent', reason: 'busy', retryAfter: 40.000_7 },
    ] as const
    tst.acts.push(...answers.map((answer) => ({ accept: false, answer })))
    await using t = await orderShop([tst])
    await t.place(t.body())
    await t.later(5 * SECOND)
    await t.later(40 * SECOND)
    assert.equal(tst.sends.length, 2)
    await t.later(1)
    assert.equal(tst.sends.length, 3)
  })

  test('a connector may declare its times with fractions', async () => {
    const tst = scripted({
      recovery: 'lookup',
      limits: { sendTimeout: 300_000.25, visibilityLag: 0.3, updatesEvery: 1_000.5 },
    })
    tst.connector.updates = async function* () {}
    tst.acts.push({ accept: false, answer: { outcome: 'unknown', reason: 'timeout' } })
    await using t = await orderShop([tst])
    await t.place(t.body())
    await t.later(6 * SECOND)
    const [order] = await t.purchaseOrders()
    assert.deepEqual(
      [order!.state, order!.failures, order!.next_at],
      ['unknown', 0, t.clock.ms + 10 * MINUTE - 6 * SECOND + 1],
    )
    await t.app.monitors.pass()
    const monitor = await t.app.ctx.read.selectFrom('monitor').selectAll().executeTakeFirstOrThrow()
    assert.equal(monitor.next_at, t.clock.ms + 1_001)
  })

  test('the time of a file may be told with a fraction, and so may the time between two pulls', async () => {
    await using t = await createTestApp()
    const file = join(t.app.dir, 'feed.csv')
    writeFileSync(file, 'SKU,Item Name,Price,Qty On Hand\n')
    const { operator, ctx } = t.app
    await operator.feeds.import({ distid: 'CSSI', file }, { asOf: t.clock.ms - 0.5 })
    assert.equal(
      ctx.engine.catalog.prepare('SELECT as_of FROM refusal').pluck().get(),
      t.clock.ms - 1,
    )
    await operator.feeds.set({ distid: 'CSSI', location: file, every: 90_000.4 })
    assert.equal(
      (await ctx.read.selectFrom('feed_source').select('every_ms').executeTakeFirstOrThrow())
        .every_ms,
      90_001,
    )
  })
})
