/** What is not well becomes an alarm, once; and its end is told, once. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findings } from '../../lib/app/health.js'
import type { App } from '../../lib/app/open.js'
import { DAY, HOUR, MINUTE } from '../../lib/core/clock.js'
import { MB } from '../../lib/core/figures.js'
import type { Finding } from '../../lib/core/finding.js'
import type { Submission } from '../../lib/distributors/fulfillment.js'
import { tellAlarms } from '../../lib/events/events.js'
import { pauseOrders, resumeOrders } from '../../lib/orders/engine/pause.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { scripted } from '../orders/scripted-distributor.js'
import { REVIEW, orderShop } from '../orders/shop.js'

/** Those of one kind, the newest first: nodes of a server have others beside them. */
const told = async ({ operator }: App, kind: string) =>
  (await operator.events.list({ limit: 1_000 })).filter((event) => event.kind === kind)

const events = async (app: App, kind: string) =>
  (await told(app, kind)).map(({ state, subject }) => `${state} ${subject}`.trim()).reverse()

/** Looks as the schedule does, so often. */
async function look({ app, clock }: TestApp, times = 1): Promise<void> {
  for (let i = 0; i < times; i++) {
    clock.advance(MINUTE)
    await app.jobs.run('alarms')
  }
}

/** Severities of a check. */
const found = async (t: TestApp, check: string) =>
  (await findings(t.app.ctx)).filter((one) => one.check === check)

describe('an alarm', () => {
  test('is raised once, ended once, and raised again when it comes back', async () => {
    await using t = await createTestApp()
    await pauseOrders(t.app.ctx, { reason: 'a test', isForgetful: false })
    await look(t, 3)
    assert.deepEqual(await events(t.app, 'orders_paused'), ['raised'])
    await resumeOrders(t.app.ctx)
    await look(t, 3)
    assert.deepEqual(await events(t.app, 'orders_paused'), ['raised', 'ended'])
    await pauseOrders(t.app.ctx, { reason: 'another', isForgetful: false })
    await look(t, 2)
    assert.deepEqual(await events(t.app, 'orders_paused'), ['raised', 'ended', 'raised'])
    const [last, over, first] = await told(t.app, 'orders_paused')
    assert.match(last!.message, /^orders are paused since .*: another$/)
    assert.deepEqual([over!.severity, first!.severity], ['info', 'bad'])
    assert.match(over!.message, /^over: orders are paused/)
    assert.match(first!.mend!, /^quartermaster orders reconcile --since \S+ --resume$/)
    assert.equal(new Set([last!.id, over!.id, first!.id]).size, 3)
    t.expectErrors(/orders are paused/)
  })

  test('is raised once where two looks, or one, find it twice', async () => {
    await using t = await createTestApp()
    const finding: Finding = {
      check: 'disk_low',
      subject: '',
      severity: 'bad',
      message: 'full',
      mend: null,
    }
    const tell = () => tellAlarms(t.app.ctx, [finding, finding], new Set(['disk_low']))
    await Promise.all([tell(), tell()])
    assert.deepEqual(await events(t.app, 'disk_low'), ['raised'])
  })

  test('tells of a broken journal by another name', async () => {
    await using t = await createTestApp()
    t.expectErrors(/orders are paused/)
    await pauseOrders(t.app.ctx, { reason: 'line 3', damage: ['line 3'], isForgetful: false })
    await look(t)
    assert.deepEqual(await events(t.app, 'journal_broken'), ['raised'])
    assert.deepEqual(await events(t.app, 'orders_paused'), [])
  })

  test('names each order that waits for a person, without a word about the customer', async () => {
    const unknown: Submission = { outcome: 'unknown', reason: 'no ship to 12 Main St for Pat Doe' }
    const tst = scripted({ recovery: 'one_shot', withoutFind: true })
    tst.acts.push({ accept: true, answer: unknown })
    await using t = await orderShop([tst], { expectErrors: [REVIEW] })
    await t.place(t.body())
    await t.later(DAY, 5)
    const [{ client_ref: ref, state } = { client_ref: '', state: '' }] = await t.purchaseOrders()
    assert.equal(state, 'review')
    await look(t, 2)
    assert.deepEqual(await events(t.app, 'order_in_review'), [`raised ${ref}`])
    const [event] = await told(t.app, 'order_in_review')
    assert.doesNotMatch(JSON.stringify(event), /Main St|Pat Doe/)
    assert.equal(event!.mend, `quartermaster orders show ${ref}`)
  })

  test('begins when the disk is low, before feeds stop', async () => {
    let free = Infinity
    await using t = await createTestApp({ faults: { freeBytes: () => free } })
    const [well] = await found(t, 'disk_low')
    assert.equal(well!.severity, 'ok')
    await look(t)
    free = 900 * MB
    await look(t, 2)
    const [low] = await found(t, 'disk_low')
    assert.deepEqual([low!.severity, low!.message.startsWith('900 MB are free')], ['warn', true])
    free = 31 * MB
    const [full] = await found(t, 'disk_low')
    assert.match(full!.message, /no order is taken/)
    // A disk that fills and empties at the edge is one alarm.
    free = 1_126 * MB
    await look(t, 2)
    assert.deepEqual(await events(t.app, 'disk_low'), ['raised'])
    free = 1_127 * MB
    await look(t)
    assert.deepEqual(await events(t.app, 'disk_low'), ['raised', 'ended'])
  })

  test('begins when a job has failed three times in a row, and ends with a run that is well', async () => {
    await using t = await createTestApp()
    const job = { name: 'feeds', next_at: MINUTE, last_started_at: 0, last_finished_at: null }
    const fail = (failures: number) =>
      t.app.ctx.db
        .insertInto('job')
        .values({ ...job, last_error: 'no such file', failures })
        .onConflict((it) => it.column('name').doUpdateSet({ failures }))
        .execute()
    await fail(2)
    await look(t)
    assert.deepEqual(await events(t.app, 'job_failing'), [])
    await fail(3)
    await look(t)
    assert.deepEqual(await events(t.app, 'job_failing'), ['raised feeds'])
    await t.app.jobs.run('feeds')
    await look(t)
    assert.deepEqual(await events(t.app, 'job_failing'), ['raised feeds', 'ended feeds'])
  })

  test('begins when a server has waited a minute for the right to send', async () => {
    await using first = await createTestApp()
    assert.ok(first.app.ctx.engine.lock('engine'))
    await using t = first
    t.app.orders.start()
    await look(t)
    assert.deepEqual(await events(t.app, 'sender_lost'), ['raised'])
    t.app.ctx.engine.unlock('engine')
    while (!t.app.orders.isSender)
      await new Promise((resolve) => {
        setTimeout(resolve, 10)
      })
    await look(t)
    assert.deepEqual(await events(t.app, 'sender_lost'), ['raised', 'ended'])
  })
})

describe('the jobs', () => {
  test('count their failures in a row', async () => {
    await using t = await createTestApp()
    t.expectErrors(/a job failed/)
    const failures = async () =>
      (
        await t.app.ctx.read
          .selectFrom('job')
          .select('failures')
          .where('name', '=', 'alarms')
          .executeTakeFirst()
      )?.failures
    await t.app.jobs.run('alarms')
    assert.equal(await failures(), 0)
    await t.app.ctx.db
      .insertInto('order_engine')
      .values({ name: 'paused', value: 'no JSON' })
      .execute()
    for (const times of [1, 2, 3]) {
      await assert.rejects(t.app.jobs.run('alarms'), SyntaxError)
      assert.equal(await failures(), times)
    }
    await t.app.ctx.db.deleteFrom('order_engine').where('name', '=', 'paused').execute()
    await t.app.jobs.run('alarms')
    assert.equal(await failures(), 0)
  })
})

describe('a feed', () => {
  const withFeed = async (use: (t: TestApp, file: string) => Promise<void>) => {
    const dir = mkdtempSync(join(tmpdir(), 'qm-alarms-'))
    try {
      await using t = await createTestApp()
      const file = join(dir, 'feed.csv')
      writeFileSync(file, 'I,Q,P,UPC\n1,1,10.00,\n2,1,20.00,\n3,1,30.00,\n')
      await t.app.operator.feeds.set({ distid: 'TSW', location: file })
      await use(t, file)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  }

  test('that cannot be pulled three times is failing, and then well again', () =>
    withFeed(async (t, file) => {
      const pull = () => t.app.operator.feeds.pull({ distid: 'TSW' })
      await pull()
      rmSync(file)
      await pull()
      await pull()
      await look(t)
      assert.deepEqual(await events(t.app, 'feed_failing'), [])
      await pull()
      await look(t, 2)
      const [alarm] = await told(t.app, 'feed_failing')
      assert.match(alarm!.message, /could not be pulled 3 times in a row: .*there is no such file/)
      assert.match(alarm!.subject, /^TSW\//)
      writeFileSync(file, 'I,Q,P,UPC\n1,1,10.00,\n2,1,20.00,\n3,1,30.00,\n')
      await pull()
      await look(t)
      assert.deepEqual(
        (await events(t.app, 'feed_failing')).map((text) => text.split(' ')[0]),
        ['raised', 'ended'],
      )
    }))

  test('that was refused waits until it is accepted', () =>
    withFeed(async (t, file) => {
      await t.app.operator.feeds.pull({ distid: 'TSW' })
      t.clock.advance(HOUR)
      writeFileSync(file, 'I,Q,P,UPC\n1,1,10.00,\n')
      const [result] = await t.app.operator.feeds.pull({ distid: 'TSW' })
      assert.equal(result!.outcome, 'refused')
      await look(t)
      const [alarm] = await told(t.app, 'feed_refused')
      assert.match(alarm!.mend!, /^quartermaster feeds accept TSW --preset \S+$/)
      await t.app.operator.feeds.accept({ distid: 'TSW' })
      await look(t)
      assert.deepEqual(
        (await events(t.app, 'feed_refused')).map((text) => text.split(' ')[0]),
        ['raised', 'ended'],
      )
    }))

  test('is stale after a day without a good one, but not in the first minutes of a server', () =>
    withFeed(async (t) => {
      await t.app.operator.feeds.pull({ distid: 'TSW' })
      t.clock.advance(2 * DAY)
      await look(t)
      assert.equal((await found(t, 'feed_stale'))[0]!.severity, 'warn')
      assert.deepEqual(await events(t.app, 'feed_stale'), [])
      await look(t, 10)
      const [alarm] = await told(t.app, 'feed_stale')
      assert.match(alarm!.message, /is 48 hours old/)
      // The file is the same as ever, and that it is still so is news enough.
      const [result] = await t.app.operator.feeds.pull({ distid: 'TSW' })
      assert.equal(result!.outcome, 'unchanged')
      await look(t)
      assert.equal((await events(t.app, 'feed_stale')).length, 2)
    }))
})
