/** Quotas, intervals, exports and decisions, which several nodes have together. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Key, Subscriber } from '../../lib/accounts/caller.js'
import { turnsByName } from '../../lib/core/async/turns.js'
import { pause } from '../../lib/core/async/wait.js'
import { DAY, HOUR, MINUTE } from '../../lib/core/clock.js'
import { isApiError } from '../../lib/core/errors.js'
import type { ExportsCtx, Published } from '../../lib/exports/ctx.js'
import { findPublished, forgetPublished, savePublished, twin } from '../../lib/exports/queries.js'
import { EXPORTS, POLL_INTERVAL, assertPollDue, notePoll } from '../../lib/exports/version.js'
import { openPostgres } from '../../lib/db/postgres/connect.js'
import type { Postgres } from '../../lib/db/postgres/connect.js'
import { meteredQuery } from '../../lib/db/query.js'
import { change, first, value } from '../../lib/db/reading.js'
import type { FraudCtx } from '../../lib/fraud/ctx.js'
import { makeKey } from '../../lib/fraud/keys/keys.js'
import type { FraudKeys } from '../../lib/fraud/keys/keys.js'
import { forgetTries, limitGuessing } from '../../lib/fraud/reports/guess-limit.js'
import {
  FRAUD_QUOTAS,
  countCheck,
  countUse,
  openFraudCounts,
} from '../../lib/fraud/reports/quota.js'
import { addCheck, checkBefore, checksByKey } from '../../lib/fraud/reports/meter-queries.js'
import type { OrdersCtx } from '../../lib/orders/ctx.js'
import {
  ORDER_QUOTAS,
  checkQuota,
  countOrder,
  openOrderCounts,
  quotaLeft,
} from '../../lib/orders/quota.js'
import { forgetDecisions, logDecision } from '../../lib/restrictions/decision-log.js'
import { placeOf } from '../../lib/restrictions/destination.js'
import { missing } from '../harness/postgres.js'
import { ASKEW, startNodes } from './nodes.js'
import type { Nodes, TestNode } from './nodes.js'

const NOON = Date.UTC(2026, 10, 21, 12)

// A sum that is read, and written one higher: two who do so at once would lose one.
const sumNow = meteredQuery((db) =>
  db.selectFrom('export_poll').select('at').where('key_id', '=', 'sum'),
)
const insertSum = meteredQuery((db) =>
  db.insertInto('export_poll').values({ key_id: 'sum', at: 1 }),
)
const setSum = meteredQuery((db, { sum }: { sum: number }) =>
  db.updateTable('export_poll').set({ at: sum }).where('key_id', '=', 'sum'),
)

/** How many were done; the others have to be refused with this code. */
async function done(work: Promise<unknown>[], code: string): Promise<number> {
  const ends = await Promise.allSettled(work)
  for (const end of ends)
    if (end.status === 'rejected' && !(isApiError(end.reason) && end.reason.code === code))
      throw end.reason
  return ends.filter(({ status }) => status === 'fulfilled').length
}

describe('what two nodes count and note', { skip: missing }, () => {
  let nodes: Nodes
  let one: TestNode
  let two: TestNode
  /** Beside the nodes, for what takes its time within a turn. */
  let slow: Postgres

  before(async () => {
    nodes = await startNodes()
    ;({ one, two } = nodes)
    slow = await openPostgres(nodes.address)
  })
  after(async () => {
    await slow?.close()
    await nodes?.close()
  })

  const meter = ({ engine }: TestNode) => engine.meter
  const both = () => [one, two, one, two, one, two]
  /** Keeps a name until it is released. */
  function hold(name: string): [Promise<void>, () => void] {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    return [slow.alone(name, () => held), release]
  }
  // As an app has it, as far as these functions look.
  const fraudOf = (node: TestNode) =>
    ({ ...node, log: { warn() {} }, fraudCounts: openFraudCounts() }) as unknown as FraudCtx
  const ordersOf = (node: TestNode) => node as unknown as OrdersCtx
  const exportsOf = (node: TestNode) => node as unknown as ExportsCtx
  const key = (id: string) => ({ id }) as Key

  test('is told by one time, whatever clocks they have', async () => {
    const before = Date.now()
    const times = [await one.engine.time(one), await two.engine.time(two)]
    for (const at of times) assert.ok(at >= before - 1 && at <= Date.now() + 1)
    assert.ok(Math.abs(one.now() - two.now()) >= ASKEW[0] - ASKEW[1] - 1_000)
    // eslint-disable-next-line require-yield
    await meter(one).alone(one, 'time', function* (at) {
      assert.ok(Number.isInteger(at) && at >= times[1]!)
    })
  })

  test('is changed by one at a time of a name, and by others of other names meanwhile', async () => {
    const add = (node: TestNode) =>
      meter(node).alone(node, 'sum', function* () {
        const sum = yield* value(sumNow)
        if (sum === undefined) yield* change(insertSum)
        else yield* change(setSum, { sum: sum + 1 })
      })
    const [other, release] = hold('other')
    await Promise.all(Array.from({ length: 40 }, (_, i) => add(i % 2 ? one : two)))
    release()
    await other
    const { at } = await meter(one)
      .db.selectFrom('export_poll')
      .select('at')
      .where('key_id', '=', 'sum')
      .executeTakeFirstOrThrow()
    assert.equal(at, 40)
  })

  test('is undone where it fails, and the next of that name goes on', async () => {
    const failing = meter(one).alone(one, 'failing', function* () {
      yield* addCheck('failing', 1)
      throw new Error('no')
    })
    const next = meter(one).alone(one, 'failing', () =>
      checkBefore('failing', { at: 2, since: 0, latest: 2 }),
    )
    await assert.rejects(failing, /no/)
    assert.equal(await next, undefined)
    assert.deepEqual(await checksByKey(meter(one).db, 0), [])
  })

  test('a node that waits for a name holds no connection meanwhile', async () => {
    const [holding, release] = hold('held')
    const waiting = Array.from({ length: 30 }, () =>
      meter(one).alone(one, 'held', () => value(sumNow)),
    )
    const rows = await one.db.selectFrom('job').selectAll().execute()
    assert.deepEqual(rows, [])
    release()
    await holding
    assert.equal((await Promise.all(waiting)).length, 30)
  })

  test('fraud checks are no more than their quota within 24 hours', async () => {
    await using fresh = await nodes.fresh()
    const clock = await fresh.clock()
    const { check: limit } = FRAUD_QUOTAS
    await clock.set(NOON)
    await meter(fresh.one)
      .db.insertInto('fraud_check')
      .values(Array.from({ length: limit - 5 }, () => ({ key_id: 'k', at: NOON })))
      .execute()
    const check = (node: TestNode) => countCheck(fraudOf(node), 'k')
    const ask = () =>
      done(
        Array.from({ length: 12 }, (_, i) => check(i % 2 ? fresh.one : fresh.two)),
        'rate_limited',
      )
    assert.equal(await ask(), 5)
    await clock.set(NOON + DAY - 1)
    assert.equal(await ask(), 0)
    await clock.set(NOON + DAY)
    assert.equal(await ask(), 12)
  })

  test('fraud reports are no more than their quota, by the clock of the server', async () => {
    await using fresh = await nodes.fresh()
    const clock = await fresh.clock()
    const { report: limit } = FRAUD_QUOTAS
    const report = (node: TestNode) =>
      node.engine.atomic(fraudOf(node), (tx) => countUse(tx, 'report', 'k'))
    await clock.set(NOON)
    for (let i = 0; i < limit - 2; i++) await report(i % 2 ? fresh.one : fresh.two)
    const ask = () =>
      done(
        Array.from({ length: 6 }, (_, i) => report(i % 2 ? fresh.one : fresh.two)),
        'rate_limited',
      )
    assert.equal(await ask(), 2)
    await clock.set(NOON + DAY - 1)
    assert.equal(await ask(), 0)
    await clock.set(NOON + DAY)
    assert.equal(await ask(), 6)
  })

  test('orders are no more than 60 an hour, by the clock of the server', async () => {
    await using fresh = await nodes.fresh()
    const clock = await fresh.clock()
    const [{ limit }] = ORDER_QUOTAS
    let last = 0
    const place = (node: TestNode) => {
      const id = ++last
      return node.engine.atomic(ordersOf(node), async (tx) => {
        await checkQuota(tx, openOrderCounts(), 'k')
        await countOrder(tx, 'k', id, await tx.engine.time(tx))
      })
    }
    const ask = (times: number) =>
      done(
        Array.from({ length: times }, (_, i) => place(i % 2 ? fresh.one : fresh.two)),
        'order_volume_limit',
      )
    await clock.set(NOON)
    assert.equal(await ask(70), limit, 'all at once')
    assert.deepEqual(await quotaLeft(ordersOf(fresh.two), 'k'), { hour: 0, day: 440 })
    await clock.set(NOON + HOUR - 1)
    assert.equal(await ask(3), 0)
    await clock.set(NOON + HOUR)
    assert.deepEqual(await quotaLeft(ordersOf(fresh.two), 'k'), { hour: 60, day: 440 })
    assert.equal(await ask(6), 6)
  })

  test('guesses at what a report holds are counted together', async () => {
    await using fresh = await nodes.fresh()
    const clock = await fresh.clock()
    await clock.set(NOON)
    const keys = { current: makeKey('local 1', randomBytes(32)) } as FraudKeys
    const [first, later] = [
      { items_overlap: 1, items_similar: true },
      { items_overlap: 0, items_similar: false },
    ]
    const ctx = [fraudOf(fresh.one), fraudOf(fresh.two)] as const
    const guess = (node: number, values: string[], answer = later) =>
      limitGuessing(ctx[node]!, keys, { asker: 'k', matched: [1n, 2n], values, answer })
    assert.deepEqual(await guess(0, ['own'], first), first)
    const items = (from: number) => Array.from({ length: 6 }, (_, i) => `item ${from + i}`)
    // Ten more may be tried: one of the two gets there, and the other hears what was said first.
    const answers = await Promise.all([guess(0, items(0)), guess(1, items(6))])
    assert.equal(answers.filter(({ items_overlap: overlap }) => overlap === 0).length, 1)
    assert.equal(answers.filter(({ items_overlap: overlap }) => overlap === 1).length, 1)
    await clock.set(NOON + 2 * DAY)
    await forgetTries(ctx[1])
    const tries = () => meter(fresh.one).db.selectFrom('fraud_try').selectAll().execute()
    assert.equal((await tries()).length, 0)
  })

  test('an export may be asked for 20 minutes after the last answer, whoever gave it', async () => {
    await using fresh = await nodes.fresh()
    const clock = await fresh.clock()
    await clock.set(NOON)
    const [here, there] = [exportsOf(fresh.one), exportsOf(fresh.two)]
    await assertPollDue(there, key('k'))
    await notePoll(here, key('k'))
    for (const [after, seconds] of [
      [0, 1_200],
      [1, 1_200],
      [POLL_INTERVAL - 1, 1],
    ] as const) {
      await clock.set(NOON + after)
      await assert.rejects(assertPollDue(there, key('k')), (error) => {
        assert.ok(isApiError(error))
        assert.deepEqual(error.details, { retry_after_seconds: seconds })
        return true
      })
    }
    await assertPollDue(there, key('another'))
    await clock.set(NOON + POLL_INTERVAL)
    await assertPollDue(there, key('k'))
    await notePoll(there, key('k'))
    await assert.rejects(assertPollDue(here, key('k')))
    // A clock that was ahead locks nobody for longer.
    await clock.set(NOON - 5 * HOUR)
    await assert.rejects(assertPollDue(here, key('k')))
    await clock.set(NOON - 5 * HOUR + POLL_INTERVAL)
    await assertPollDue(here, key('k'))
  })

  test('an export that one node has made is known to the other, and its objects stay while in use', async () => {
    const row = (owner: string): Published => ({
      subscriber_id: owner,
      export_version: 'v1',
      content: 'c',
      parquet_key: 'exports/1/catalog.parquet',
      attributes_key: null,
      made_at: 1,
      urls_until: 0,
    })
    await meter(one).change(savePublished, row('a'))
    assert.deepEqual(await findPublished(meter(two).db, 'a', 'v1'), row('a'))
    for (let round = 0; round < 10; round++) {
      const join = meter(two).alone(two, EXPORTS, function* () {
        const known = yield* first(twin, { content: 'c' })
        if (known) yield* change(savePublished, { ...known, subscriber_id: 'b' })
        return known !== undefined
      })
      const forget = meter(one).alone(one, EXPORTS, () => forgetPublished(row('a')))
      const [hasJoined, gone] = await Promise.all([join, forget])
      assert.deepEqual(gone, hasJoined ? [] : ['exports/1/catalog.parquet'])
      await meter(one).alone(one, EXPORTS, () => forgetPublished(row('b')))
      await meter(one).change(savePublished, row('a'))
    }
  })

  test('a decision is kept where every node finds it, for 400 days', async () => {
    const decide = (node: TestNode) =>
      logDecision(node as never, { id: 's' } as Subscriber, {
        digest: 'd',
        place: placeOf({ state: 'CA', zip: '90210' }),
        target: null,
        result: { approved: true, items: [] },
      })
    for (const node of both()) await decide(node)
    const kept = () =>
      two.engine.decisions.db.selectFrom('restriction_decision').selectAll().execute()
    const rows = await kept()
    assert.deepEqual(
      rows.map(({ seq, zip, approved }) => ({ seq, zip, approved })),
      both().map((_, i) => ({ seq: i + 1, zip: '90210', approved: 1 })),
    )
    const late = { ...two, now: () => two.now() + 400 * DAY + 10 * MINUTE }
    await forgetDecisions(late as never)
    assert.deepEqual(await kept(), [])
  })
})

describe('work of a name', () => {
  test('begins once what came before has ended, and that of another name at once', async () => {
    const inTurn = turnsByName()
    const told: string[] = []
    const work = (name: string, what: string, ms: number) =>
      inTurn(name, async () => {
        told.push(`${what} begins`)
        await pause(ms)
        told.push(`${what} ends`)
        if (what === 'bad') throw new Error(what)
        return what
      })
    const all = [work('a', 'bad', 20), work('a', 'good', 1), work('b', 'other', 1)]
    await assert.rejects(all[0]!, /bad/)
    assert.deepEqual(await Promise.all(all.slice(1)), ['good', 'other'])
    assert.deepEqual(told, [
      'bad begins',
      'other begins',
      'other ends',
      'bad ends',
      'good begins',
      'good ends',
    ])
  })
})
