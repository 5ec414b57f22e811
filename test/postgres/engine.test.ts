/** What a node reads and remembers of a system of record that others change, too. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { pause } from '../../lib/core/async/wait.js'
import { silentLog } from '../../lib/core/log.js'
import type { Engine } from '../../lib/db/engine.js'
import { openPostgresEngine } from '../../lib/db/postgres/engine.js'
import { query } from '../../lib/db/query.js'
import { all, lookWithin, value } from '../../lib/db/reading.js'
import { changesOf, touch, valueOf } from '../../lib/db/state.js'
import { missing, startServer } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import { until } from '../harness/until.js'

const modes = query((db) =>
  db.selectFrom('distributor_mode').select(['distid', 'mode']).orderBy('distid'),
)
const count = query((db) =>
  db.selectFrom('distributor_mode').select(({ fn }) => fn.countAll<number>().as('modes')),
)

const sleep = query(() => sql<{ slept: string }>`select pg_sleep(3)`)
const nap = query(() => sql<{ slept: string }>`select pg_sleep(0.1)`)

describe('a node', { skip: missing }, () => {
  let server: TestServer
  let address: string
  let dir: string
  let one: Engine
  let two: Engine

  before(async () => {
    server = await startServer()
    address = await server.database()
    dir = mkdtempSync(join(tmpdir(), 'qm-nodes-'))
    const open = (name: string) =>
      openPostgresEngine({
        dir: join(dir, name),
        address,
        log: silentLog,
        now: Date.now,
        monotonic: () => performance.now(),
        random: randomBytes,
      })
    one = await open('one')
    two = await open('two')
  })
  after(async () => {
    await one?.close()
    await two?.close()
    await server?.close()
    if (dir) rmSync(dir, { recursive: true })
  })

  const ctxOf = (engine: Engine) => ({ db: engine.db, read: engine.read })
  const change = (engine: Engine, distid: string, after: () => Promise<void> = async () => {}) =>
    engine.atomic(ctxOf(engine), async ({ db }) => {
      await db
        .insertInto('distributor_mode')
        .values({ distid, mode: 'live', changed_at: 1, changed_by: 'test' })
        .execute()
      await touch(db, 'modes')
      await after()
    })
  const names = (engine: Engine) =>
    engine.remember('modes', function* () {
      return (yield* all(modes)).map(({ distid }) => distid)
    })

  test('remembers what was there when it is ready, and says so before', async () => {
    const known = names(one)
    assert.throws(known, /was not read yet/)
    await one.ready()
    assert.deepEqual(known(), [])
  })

  test('finds its own change as soon as it is done, and others soon after', async () => {
    const [mine, theirs] = [names(one), names(two)]
    await Promise.all([one.ready(), two.ready()])
    await change(one, 'AAA')
    assert.deepEqual(mine(), ['AAA'])
    const since = performance.now()
    await until(() => theirs().includes('AAA'), 'the other node knows')
    assert.ok(performance.now() - since < 2_000)
  })

  test('does not remember what was undone', async () => {
    const [mine, theirs] = [names(one), names(two)]
    const moved = changesOf(one, 'modes')
    await Promise.all([one.ready(), two.ready()])
    const [before, number] = [mine(), moved()]
    await assert.rejects(
      change(one, 'BBB', () => Promise.reject(new Error('no'))),
      /no/,
    )
    assert.deepEqual([mine(), moved()], [before, number])
    await pause(1_200)
    assert.deepEqual(theirs(), before)
  })

  test('reads anew only what somebody touched', async () => {
    let loads = 0
    const keys = one.remember('keys', function* () {
      loads++
      return yield* value(count)
    })
    await one.ready()
    assert.equal(loads, 1)
    await change(one, 'CCC')
    await change(two, 'DDD')
    await pause(1_200)
    assert.equal(loads, 1)
    await one.atomic(ctxOf(one), ({ db }) => touch(db, 'keys'))
    assert.equal(loads, 2)
    assert.equal(keys(), 3)
  })

  test('what is kept of one state moves together, however long a part of it takes', async () => {
    const quick = two.remember('modes', () => value(count))
    const slow = two.remember('modes', function* () {
      yield* value(nap)
      return yield* value(count)
    })
    await two.ready()
    const before = quick()!
    await change(one, 'TOG')
    await until(() => {
      assert.equal(quick(), slow())
      return quick() === before + 1
    }, 'it is read')
  })

  test('reads over one state, however many queries that takes', async () => {
    const read = await one.look(function* () {
      const before = yield* value(count)
      const rows = yield* all(modes)
      return { before, rows }
    })
    assert.equal(read.before, read.rows.length)
    const sums = new Set<boolean>()
    let isOver = false
    const writing = (async () => {
      for (let n = 0; n < 60; n++) await change(two, `W${String(n).padStart(2, '0')}`)
      isOver = true
    })()
    while (!isOver)
      sums.add(
        await one.look(function* () {
          const before = yield* value(count)
          return (yield* all(modes)).length === before
        }),
      )
    await writing
    assert.deepEqual([...sums], [true])
  })

  test('reads what is committed also while a transaction of its own is under way', async () => {
    const before = await one.look(() => value(count))
    await change(one, 'EEE', async () => {
      assert.equal(await one.look(() => value(count)), before)
    })
    assert.equal(await one.look(() => value(count)), before! + 1)
  })

  test('within a transaction, a reading sees what that has written, and what is kept does not', async () => {
    const known = names(one)
    await one.ready()
    await one.atomic(ctxOf(one), async ({ db }) => {
      await db.deleteFrom('distributor_mode').where('distid', '=', 'EEE').execute()
      await touch(db, 'modes')
      assert.ok(known().includes('EEE'))
      const now = await lookWithin(db, () => known.now())
      assert.ok(!now.includes('EEE'))
    })
    assert.ok(!known().includes('EEE'))
  })

  test('says that a change is done also where it cannot be read again, and reads it later', async () => {
    let fault: 'none' | 'fails' | 'hangs' = 'none'
    const reads = one.remember('rules', function* () {
      if (fault === 'fails') throw new Error('it cannot be read')
      if (fault === 'hangs') yield* value(sleep)
      return (yield* value(valueOf, { name: 'rules' })) ?? 0
    })
    await one.ready()
    const before = reads()
    const touchRules = () => one.atomic(ctxOf(one), ({ db }) => touch(db, 'rules'))
    fault = 'fails'
    await touchRules()
    assert.equal(reads(), before)
    fault = 'none'
    await until(() => reads() === before + 1, 'it is read at last')
    fault = 'hangs'
    const since = performance.now()
    await touchRules()
    assert.ok(performance.now() - since < 2_500)
    fault = 'none'
    await until(() => reads() === before + 2, 'it is read at last')
  })

  test('looks beside each of as many transactions as there may be', async () => {
    let waiting = 0
    await Promise.all(
      Array.from({ length: 10 }, () =>
        one.atomic(ctxOf(one), async () => {
          waiting++
          await until(() => waiting >= 10, 'all of them are under way')
          await one.look(() => value(count))
        }),
      ),
    )
  })

  test('goes on with what it knows while the database is away, and catches up afterwards', async () => {
    const [mine, theirs] = [names(one), names(two)]
    await Promise.all([one.ready(), two.ready()])
    const before = mine()
    await server.crash()
    await assert.rejects(change(one, 'FFF'))
    assert.deepEqual(mine(), before)
    await server.start()
    await until(() => mine().length >= before.length, 'it still knows')
    for (;;)
      try {
        await change(two, 'GGG')
        break
      } catch {
        await pause(50)
      }
    assert.ok(theirs().includes('GGG'))
    await until(() => mine().includes('GGG'), 'the other node knows')
  })

  test('a snapshot shows one state over many turns, until it is released', async () => {
    const names = query((db) =>
      db.selectFrom('distributor_mode').select('distid').orderBy('distid'),
    )
    await change(one, 'SNA')
    const snapshot = await two.openSnapshot()
    try {
      const seen = () => snapshot.look(() => all(names))
      const before = await seen()
      await change(one, 'SNB')
      assert.deepEqual(await seen(), before)
      const steps: unknown[] = []
      for await (const some of snapshot.inSteps(names, {}, 1)) steps.push(...some)
      assert.deepEqual(
        steps,
        before.map(({ distid }) => distid),
      )
      await snapshot.release()
      assert.equal((await seen()).length, before.length + 1)
    } finally {
      await snapshot.close()
    }
  })
})
