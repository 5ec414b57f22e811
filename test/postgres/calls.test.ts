/** Request limits and usage, counted by several nodes together. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openLimits } from '../../lib/accounts/limits/limits.js'
import { TIERS } from '../../lib/accounts/tiers.js'
import type { Key } from '../../lib/accounts/caller.js'
import { pause } from '../../lib/core/async/wait.js'
import { DAY, HOUR, MINUTE, SECOND, startOfDay } from '../../lib/core/clock.js'
import { silentLog } from '../../lib/core/log.js'
import { SlidingWindow } from '../../lib/core/quota.js'
import { isUnavailable } from '../../lib/db/faults.js'
import { CommitUnknown } from '../../lib/db/postgres/faults.js'
import type { Call, CountedCall } from '../../lib/db/metered.js'
import type { Tier } from '../../lib/db/tables/accounts.js'
import { createServer } from '../../server/http/app.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { missing } from '../harness/postgres.js'
import { Rng } from '../harness/random.js'
import { until } from '../harness/until.js'
import { startNodes } from './nodes.js'
import type { Nodes, TestNode } from './nodes.js'

const NOON = Date.UTC(2026, 10, 21, 12)
const PING = 'GET /v1/ping'

const call = (keyId: string, rest: Partial<Call> = {}): Call => ({
  keyId,
  endpoint: PING,
  perMinute: 60,
  perDay: 10_000,
  ...rest,
})
const count = ({ engine }: TestNode, asked: Call): Promise<CountedCall> =>
  engine.calls!.count(asked)
const burst = (node: TestNode, times: number, asked: Call): Promise<CountedCall[]> =>
  Promise.all(Array.from({ length: times }, () => count(node, asked)))
const allowed = (answers: readonly CountedCall[]) =>
  answers.filter(({ isAllowed }) => isAllowed).length

describe('calls that two nodes count', { skip: missing }, () => {
  let nodes: Nodes
  let one: TestNode
  let two: TestNode

  before(async () => {
    nodes = await startNodes()
    ;({ one, two } = nodes)
  })
  after(() => nodes?.close())

  /** Limits as a server of that node has them, and a key of this name and tier. */
  const limitsOf = ({ engine, now }: TestNode) => openLimits(engine, now, silentLog)
  const keyOf = (id: string, tier: Tier = 'standard') => ({ id, tier }) as Key

  test('are no more than the limit, also when both are asked at once', async () => {
    const tiers = Object.entries(TIERS) as [Tier, (typeof TIERS)[Tier]][]
    for (const [tier, { per_minute: perMinute, per_day: perDay }] of tiers) {
      const asked = call(`at once ${tier}`, { perMinute, perDay })
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          pause(i * 2).then(() => burst(i % 2 ? one : two, perMinute / 4, asked)),
        ),
      )
      assert.equal(allowed(answers.flat()), perMinute, tier)
    }
  })

  test('of many keys are counted at once, in whatever order each node has them', async () => {
    const rng = new Rng(4)
    const keys = Array.from({ length: 40 }, (_, i) => `many ${i}`)
    const rounds = Array.from({ length: 30 }, async (_, round) => {
      await pause(round)
      const order = keys.map((key) => ({ key, at: rng.next() })).sort((a, b) => a.at - b.at)
      const node = round % 2 ? one : two
      return Promise.all(order.map(({ key }) => count(node, call(key, { perMinute: 20 }))))
    })
    assert.equal(allowed((await Promise.all(rounds)).flat()), 40 * 20)
  })

  test('are as those of a sliding window, at whatever times they come', async () => {
    await using fresh = await nodes.fresh()
    const clock = await fresh.clock()
    const rng = new Rng(11)
    let [at, seen] = [NOON, 0]
    for (let key = 0; key < 12; key++) {
      const perMinute = rng.int(1, 9)
      const model = new SlidingWindow(perMinute)
      let wasAllowed = false
      for (let step = 0; step < 60; step++) {
        // Back, too: by a little it stands still, and by more than a minute it begins anew.
        const isBack = wasAllowed && rng.chance(0.08)
        at += isBack
          ? -rng.pick([1, 900, 59_999, 60_001, 5 * HOUR])
          : rng.pick([0, 0, 1, rng.int(2, 9_000), rng.int(2, 30_000), 59_999, MINUTE, 3 * MINUTE])
        await clock.set(at)
        const size = rng.int(1, 3)
        const node = rng.chance(0.5) ? fresh.one : fresh.two
        const expected = Array.from({ length: size }, () => {
          const wait = model.wait(at)
          if (wait === 0) model.record(at)
          return { isAllowed: wait === 0, wait, recent: perMinute - model.remaining(at) }
        })
        const answers = await burst(node, size, call(`window ${key}`, { perMinute }))
        assert.deepEqual(
          answers.map(({ isAllowed, wait, recent }) => ({ isAllowed, wait, recent })),
          expected,
          `key ${key} of ${perMinute} a minute, step ${step}`,
        )
        wasAllowed = expected.at(-1)!.isAllowed
        seen += expected.filter(({ isAllowed }) => !isAllowed).length
      }
    }
    assert.ok(seen > 200, `${seen} were refused`)
  })

  test('fit again at the millisecond at which the first one is a minute old, and not before', async () => {
    await using fresh = await nodes.fresh()
    const clock = await fresh.clock()
    await clock.set(NOON)
    assert.equal(allowed(await burst(fresh.one, 61, call('edge'))), 60)
    await clock.set(NOON + MINUTE - 1)
    const { isAllowed, wait } = await count(fresh.two, call('edge'))
    assert.deepEqual([isAllowed, wait], [false, 1])
    await clock.set(NOON + MINUTE)
    assert.equal(allowed(await burst(fresh.two, 61, call('edge'))), 60)
  })

  test('that are refused do not count', async () => {
    await using fresh = await nodes.fresh()
    const clock = await fresh.clock()
    await clock.set(NOON)
    await burst(fresh.one, 60, call('refused'))
    for (const [i, node] of [fresh.one, fresh.two, fresh.one].entries()) {
      await clock.set(NOON + (i + 1) * 10 * SECOND)
      assert.equal(allowed(await burst(node, 50, call('refused'))), 0)
    }
    await clock.set(NOON + MINUTE)
    assert.equal(allowed(await burst(fresh.two, 60, call('refused'))), 60)
    const usage = await limitsOf(fresh.one).usage('refused')
    assert.equal(usage.today, 120)
  })

  test('of a tier that was lowered fit once enough of them are a minute old', async () => {
    await using fresh = await nodes.fresh()
    const clock = await fresh.clock()
    for (let i = 0; i < 300; i++) {
      await clock.set(NOON + i * 100)
      await count(fresh.one, call('lowered', { perMinute: 300 }))
    }
    const refused = await count(fresh.two, call('lowered'))
    // 240 of them have to go, and the one after those.
    const fits = NOON + 240 * 100 + MINUTE
    assert.deepEqual([refused.isAllowed, refused.wait], [false, fits - (NOON + 299 * 100)])
    await clock.set(fits - 1)
    assert.equal((await count(fresh.one, call('lowered'))).isAllowed, false)
    await clock.set(fits)
    assert.equal(allowed(await burst(fresh.one, 2, call('lowered'))), 1)
  })

  test('are no more than the limit of the UTC day, and as many again from midnight on', async () => {
    await using fresh = await nodes.fresh()
    const clock = await fresh.clock()
    const asked = call('day', { perMinute: 1_000, perDay: 250 })
    const midnight = startOfDay(NOON) + DAY
    await clock.set(midnight - 3 * MINUTE)
    assert.equal(allowed(await burst(fresh.one, 200, asked)), 200)
    await clock.set(midnight - 1)
    const both = await Promise.all([burst(fresh.one, 60, asked), burst(fresh.two, 60, asked)])
    assert.equal(allowed(both.flat()), 50)
    const limits = limitsOf(fresh.two)
    await clock.set(midnight)
    assert.equal(allowed(await burst(fresh.two, 300, asked)), 250)
    const { today, thisMonth, byDayLast7 } = await limits.usage('day')
    assert.deepEqual([today, thisMonth], [250, 500])
    assert.deepEqual(
      byDayLast7.slice(-3).map(({ requests }) => requests),
      [0, 250, 250],
    )
  })

  test('are told of in the words of one machine, by the clock of the server', async () => {
    await using fresh = await nodes.fresh()
    const clock = await fresh.clock()
    await clock.set(NOON)
    await using t = await createTestApp({ tier: 'standard' })
    t.clock.ms = NOON
    const limits = [limitsOf(fresh.one), limitsOf(fresh.two)] as const
    const here = t.app.ctx.limits
    for (let i = 0; i < 64; i++) {
      await clock.set(NOON + i * 500)
      t.clock.ms = NOON + i * 500
      const [theirs, ours] = [
        await here.admit(keyOf('words'), PING),
        await limits[i % 2]!.admit(keyOf('words'), PING),
      ]
      assert.deepEqual(ours, theirs, `call ${i}`)
    }
    await fresh.one.engine.meter.db
      .updateTable('usage')
      .set({ requests: 10_000 })
      .where('key_id', '=', 'words')
      .execute()
    const tomorrow = startOfDay(NOON) + DAY
    await clock.set(tomorrow + HOUR)
    await clock.set(tomorrow - HOUR)
    const full = await limits[0].admit(keyOf('words'), PING)
    assert.equal(full.allowed, true, 'what is kept of the day is not read with each call')
    assert.match(full.state, /^"minute";r=59;t=60, "day";r=9939;t=3600$/)
  })

  test('are all in the usage, by endpoint and day, after both nodes have closed', async () => {
    await using fresh = await nodes.fresh()
    const rng = new Rng(9)
    const routes = [PING, 'GET /v1/products/{upc}', 'unknown', 'it\'s "odd", {0}\\']
    const asked = Array.from({ length: 200 }, () => rng.pick(routes))
    await Promise.all(
      asked.map((endpoint, i) =>
        count(i % 2 ? fresh.one : fresh.two, call('usage', { endpoint, perMinute: 1_000 })),
      ),
    )
    await fresh.close()
    const { rows } = await nodes.server.run(
      fresh.address,
      `select endpoint, requests::int from quartermaster.usage where key_id = 'usage'`,
    )
    const expected = routes.map((endpoint) => ({
      endpoint,
      requests: asked.filter((each) => each === endpoint).length,
    }))
    const sorted = (list: object[]) => list.map((each) => JSON.stringify(each)).toSorted()
    assert.deepEqual(sorted(rows), sorted(expected))
  })

  /** The server of an app whose calls are counted by a node. */
  function serverOver(t: TestApp, node: TestNode) {
    const limits = limitsOf(node)
    const server = createServer({ ...t.app, ctx: { ...t.app.ctx, limits } })
    const ping = () =>
      server.fetch(
        new Request('http://shop.example/v1/ping', { headers: { 'x-api-key': t.key } }),
        { address: '127.0.0.1' },
      )
    return { ping, limits }
  }

  test('of one turn of the event loop are counted by one statement', async () => {
    await using fresh = await nodes.fresh()
    const name = new URL(fresh.address).pathname.slice(1)
    await nodes.server.run(fresh.address, `alter database ${name} set track_functions = 'pl'`)
    // Connections that are made from now on tell what they run.
    await using t = await createTestApp({ tier: 'standard' })
    const { ping } = serverOver(t, fresh.one)
    const statuses = await Promise.all(
      Array.from({ length: 100 }, async () => (await ping()).status),
    )
    assert.equal(statuses.filter((status) => status === 200).length, 60)
    assert.equal(statuses.filter((status) => status === 429).length, 40)
    await fresh.close()
    const { rows } = await nodes.server.run(
      fresh.address,
      `select calls::int from pg_stat_user_functions where funcname = 'count_calls'`,
    )
    assert.deepEqual(rows, [{ calls: 1 }])
  })

  test('are counted by each node while the database is away, and together once it is there', async () => {
    await using t = await createTestApp({ tier: 'standard' })
    let ahead = 0
    const { ping } = serverOver(t, { ...one, now: () => one.now() + ahead })
    const left = (response: Response) =>
      /r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]
    assert.equal(left(await ping()), '59')
    await nodes.server.crash()
    assert.equal(left(await ping()), '59', 'its own count begins')
    const statuses = await Promise.all(
      Array.from({ length: 70 }, async () => (await ping()).status),
    )
    assert.equal(statuses.filter((status) => status === 200).length, 59)
    assert.equal(statuses.filter((status) => status === 429).length, 11)
    await assert.rejects(count(two, call('away')), isUnavailable)

    ahead = 14 * 60_000 + 0.5
    assert.equal((await ping()).status, 200)
    // It does not hear of cancelled keys any more.
    ahead += 60_000
    t.expectErrors(/the database cannot be reached/)
    const late = await ping()
    assert.equal(late.status, 503)
    assert.equal(late.headers.get('retry-after'), '1')

    await nodes.server.start()
    ahead += 2_000
    await until(async () => left(await ping()) === '58', 'the calls of before count again', 5)
    assert.equal((await count(two, call('away'))).isAllowed, true)
  })

  test('of which nobody knows whether they were written are to be asked again', async () => {
    await using t = await createTestApp()
    const limits = {
      ...t.app.ctx.limits,
      admit: () => Promise.reject(new CommitUnknown(new Error('cut off'))),
    }
    t.expectErrors(/a request failed/)
    const server = createServer({ ...t.app, ctx: { ...t.app.ctx, limits } })
    const answer = await server.fetch(
      new Request('http://shop.example/v1/ping', { headers: { 'x-api-key': t.key } }),
      { address: '127.0.0.1' },
    )
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '1'])
  })

  test('are known after a crash of the database, as far as its log was written', async () => {
    assert.equal(allowed(await burst(one, 60, call('crash'))), 60)
    // Nobody waits for the disk with a call, but what is committed later takes it along.
    await one.engine.decisions.db
      .insertInto('restriction_decision')
      .values({ at: 1, subscriber_id: 's', digest: '', state: 'CA', approved: 1, items: '[]' })
      .execute()
    await nodes.server.crash()
    await nodes.server.start()
    assert.equal((await count(two, call('crash'))).isAllowed, false)
  })

  test('are answered for before a node closes', async () => {
    await using fresh = await nodes.fresh()
    const answers = burst(fresh.one, 30, call('closing'))
    const closed = fresh.close()
    assert.equal(allowed(await answers), 30)
    await closed
  })
})
