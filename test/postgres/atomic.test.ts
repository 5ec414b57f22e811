/** Transactions of PostgreSQL: conflicts are run again, and what is not known is never said to be. */
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { pause } from '../../lib/core/async/wait.js'
import type { AtomicOptions } from '../../lib/db/engine.js'
import { isBusy, isCommitUnknown, isDuplicate, isUnavailable } from '../../lib/db/faults.js'
import { openPostgres } from '../../lib/db/postgres/connect.js'
import type { Postgres } from '../../lib/db/postgres/connect.js'
import { faultOf, isConnectionLost, isRefusedCommit } from '../../lib/db/postgres/faults.js'
import { migratePostgres } from '../../lib/db/postgres/schema.js'
import { missing, startServer } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import { startProxy } from '../harness/tcp-proxy.js'
import { until } from '../harness/until.js'
import { countTraffic } from '../harness/postgres-traffic.js'
import { pipelined, together } from '../../lib/db/together.js'
import type { TcpProxy } from '../harness/tcp-proxy.js'

/** The table of settings, with names of our own. */
const loose = (db: Postgres['db']) =>
  db as unknown as Kysely<{ setting: { name: string; value: string } }>

/** Lets two sides come to the same point before either goes on. */
function meeting(sides: number) {
  let waiting = 0
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return () => {
    if (++waiting >= sides) open()
    return opened
  }
}

describe('atomic', { skip: missing }, () => {
  let server: TestServer
  let address: string
  let postgres: Postgres

  before(async () => {
    server = await startServer()
    address = await server.database()
    postgres = await openPostgres(address)
    await migratePostgres(postgres)
  })
  after(async () => {
    await postgres?.close()
    await server?.close()
  })
  beforeEach(async () => {
    await postgres.db.deleteFrom('setting').execute()
  })

  const ctxOf = ({ db }: Postgres) => ({ db, read: db })
  const put = (db: Postgres['db'], name: string, value: string) =>
    loose(db).replaceInto('setting').values({ name, value }).execute()
  const valueOf = async (name: string) =>
    (
      await loose(postgres.db)
        .selectFrom('setting')
        .select('value')
        .where('name', '=', name)
        .executeTakeFirst()
    )?.value

  test('is one transaction, and joins the one it is called in', async () => {
    await postgres.atomic(ctxOf(postgres), async (tx) => {
      await put(tx.db, 'a', '1')
      await postgres.atomic(tx, (inner) => put(inner.db, 'b', '2'))
      assert.equal(await countIn(tx.db), 2)
    })
    const failing = postgres.atomic(ctxOf(postgres), async (tx) => {
      await put(tx.db, 'c', '3')
      throw new Error('undone')
    })
    await assert.rejects(failing, /^Error: undone$/)
    assert.deepEqual(
      [await valueOf('a'), await valueOf('b'), await valueOf('c')],
      ['1', '2', undefined],
    )
  })

  const inserted = (db: Postgres['db'], name: string, value = '') =>
    loose(db).insertInto('setting').values({ name, value })

  /** The same database through a proxy. */
  async function overProxy() {
    const proxy = await startProxy(server.port)
    const through = await openPostgres(address.replace(`:${server.port}/`, `:${proxy.port}/`))
    await through.db.selectFrom('setting').selectAll().execute()
    return {
      proxy,
      atomic: <R>(
        fn: (ctx: { db: Postgres['db']; read: Postgres['db'] }) => Promise<R>,
        options?: AtomicOptions,
      ) => through.atomic(ctxOf(through), fn, options),
      async [Symbol.asyncDispose]() {
        await through.close()
        await proxy.close()
      },
    }
  }

  const countIn = async (db: Postgres['db']) =>
    (
      await db
        .selectFrom('setting')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow()
    ).n

  test('sends statements together, and undoes all of them where one fails', async () => {
    const proxy = await startProxy(server.port)
    const through = await openPostgres(address.replace(`:${server.port}/`, `:${proxy.port}/`))
    const insert = (db: Postgres['db'], name: string) =>
      loose(db).insertInto('setting').values({ name, value: '' }).execute()
    try {
      await put(through.db, 'taken', '')
      const traffic = countTraffic(proxy)
      const [, rows] = await through.atomic(ctxOf(through), ({ db }) =>
        together([insert(db, 'a'), countIn(db), insert(db, 'b')]),
      )
      assert.equal(rows, 2, 'in their order')
      // BEGIN alone, since the first of them has values; they themselves; COMMIT.
      assert.equal(traffic.trips, 3)
      let after: unknown
      const failing = through.atomic(ctxOf(through), async ({ db }) => {
        await together([insert(db, 'c'), insert(db, 'taken'), insert(db, 'd')]).catch(() => {})
        after = await insert(db, 'e').catch((error: unknown) => error)
      })
      await assert.rejects(failing, isDuplicate)
      assert.ok(isDuplicate(after), 'what comes behind it is told its reason')
      assert.equal(await countIn(postgres.db), 3)
      // Of two, that one is told which failed, wherever it stands: by it a conflict is known.
      const twice = async (db: Postgres['db']) => [await countIn(db), await countIn(db)]
      await assert.rejects(
        through.atomic(ctxOf(through), ({ db }) => together([twice(db), insert(db, 'taken')])),
        isDuplicate,
      )
      // And the connection is as good as before.
      await through.atomic(ctxOf(through), ({ db }) => insert(db, 'c'))
    } finally {
      await through.close()
      await proxy.close()
    }
  })

  test('sends what nobody waits for along with its COMMIT', async () => {
    await using far = await overProxy()
    const traffic = countTraffic(far.proxy)
    const rows = await far.atomic(
      async ({ db }) => {
        const before = await countIn(db)
        await pipelined(db, [inserted(db, 'a'), inserted(db, 'b')])
        return before
      },
      { inTurn: true },
    )
    assert.equal(rows, 0)
    // BEGIN, LOCK TABLE, and the question; the writes, and COMMIT.
    assert.deepEqual([traffic.statements, traffic.trips], [6, 2])
    assert.equal(await countIn(postgres.db), 2)
    // What comes behind a write sees it.
    const seen = await far.atomic(async ({ db }) => {
      await pipelined(db, [inserted(db, 'c')])
      return countIn(db)
    })
    assert.equal(seen, 3)
  })

  test('undoes all where a write fails that nobody waited for, and tells its error', async () => {
    await using far = await overProxy()
    await put(postgres.db, 'taken', '')
    for (const inTurn of [false, true]) {
      let runs = 0
      const failing = far.atomic(
        ({ db }) => {
          runs++
          return pipelined(
            db,
            ['a', 'taken', 'b'].map((name) => inserted(db, name)),
          )
        },
        { inTurn },
      )
      await assert.rejects(failing, (error) => isDuplicate(error) && !isCommitUnknown(error))
      assert.deepEqual([runs, await countIn(postgres.db)], [1, 1])
    }
    // One that cannot be sent at all is not left out either.
    const circle: { self?: unknown } = {}
    circle.self = circle
    const unsent = far.atomic(({ db }) =>
      pipelined(db, [inserted(db, 'a'), inserted(db, 'b', circle as never), inserted(db, 'c')]),
    )
    await assert.rejects(unsent, /circular/i)
    assert.equal(await countIn(postgres.db), 1)
    // And the connection is as good as before.
    await far.atomic(({ db }) => pipelined(db, [inserted(db, 'a')]))
    assert.equal(await countIn(postgres.db), 2)
  })

  test('runs a transaction again whose last write another one made impossible', async () => {
    await put(postgres.db, 'count', '0')
    const meet = meeting(2)
    let runs = 0
    const raise = () =>
      postgres.atomic(ctxOf(postgres), async ({ db }) => {
        runs++
        const { value } = await loose(db)
          .selectFrom('setting')
          .select('value')
          .where('name', '=', 'count')
          .executeTakeFirstOrThrow()
        await meet()
        await pipelined(db, [
          loose(db)
            .updateTable('setting')
            .set({ value: String(Number(value) + 1) })
            .where('name', '=', 'count'),
        ])
      })
    await Promise.all([raise(), raise()])
    assert.deepEqual([await valueOf('count'), runs], ['2', 3])
  })

  test('has the server keep what is asked often, and nothing that a newer schema would change', async () => {
    const own = await server.database()
    const [node, other] = [await openPostgres(own), await openPostgres(own)]
    await migratePostgres(node)
    const named = (db: Postgres['db']) =>
      loose(db).selectFrom('setting').select('value').where('name', '=', 'a').execute()
    const whole = (db: Postgres['db']) =>
      loose(db).selectFrom('setting').selectAll().where('name', '=', 'a').execute()
    const both = async ({ db }: { db: Postgres['db'] }) => {
      for (let i = 0; i < 10; i++) {
        await put(db, 'a', String(i))
        await together([named(db), whole(db)])
      }
      const { rows } = await sql<{ statement: string }>`select statement from
        pg_prepared_statements`.execute(db)
      return rows.map(({ statement }) => statement.slice(0, 14))
    }
    try {
      assert.deepEqual((await node.atomic(ctxOf(node), both)).toSorted(), [
        'insert into "s',
        'select "value"',
      ])
      await sql`alter table setting add column more text`.execute(other.db)
      await node.atomic(ctxOf(node), both)
      // What cannot be sent has the server forget the statement: its connection is not used again.
      const circle: { self?: unknown } = {}
      circle.self = circle
      const unsent = node.atomic(ctxOf(node), ({ db }) => put(db, 'b', circle as never))
      await assert.rejects(unsent, /circular/i)
      await assert.rejects(put(node.db, 'b', circle as never), /circular/i)
      for (let i = 0; i < 10; i++) await put(node.db, 'b', String(i))
    } finally {
      await node.close()
      await other.close()
    }
  })

  test('undoes what was asked at once with its first statement', async () => {
    let asked: Promise<unknown> | undefined
    const failing = postgres.atomic(ctxOf(postgres), async ({ db }) => {
      asked = put(db, 'early', '1')
      asked.catch(() => {})
      throw new Error('undone')
    })
    await assert.rejects(failing, /^Error: undone$/)
    await asked!.catch(() => {})
    assert.equal(await countIn(postgres.db), 0)
  })

  test('says nothing to the server where nothing is asked of it', async () => {
    const proxy = await startProxy(server.port)
    const through = await openPostgres(address.replace(`:${server.port}/`, `:${proxy.port}/`))
    try {
      await put(through.db, 'a', '')
      const traffic = countTraffic(proxy)
      await through.db.transaction().execute(async () => {})
      const undone = through.db.transaction().execute(async () => {
        throw new Error('undone')
      })
      await assert.rejects(undone, /undone/)
      assert.deepEqual([traffic.statements, traffic.trips], [0, 0])
    } finally {
      await through.close()
      await proxy.close()
    }
  })

  test('refuses the outer db inside, and another atomic of it', async () => {
    await assert.rejects(
      postgres.atomic(ctxOf(postgres), () =>
        postgres.db.selectFrom('setting').selectAll().execute(),
      ),
      /the outer db would wait for itself/,
    )
    await assert.rejects(
      postgres.atomic(ctxOf(postgres), () => postgres.atomic(ctxOf(postgres), async () => {})),
      /already inside atomic/,
    )
  })

  for (const order of ['the first', 'the second'] as const)
    test(`runs a transaction again that ${order} of two writers made impossible`, async () => {
      await put(postgres.db, 'count', '0')
      const meet = meeting(2)
      const runs = [0, 0]
      let letGo = () => {}
      const firstIsDone = new Promise<void>((resolve) => {
        letGo = resolve
      })
      const raise = (who: number) =>
        postgres.atomic(ctxOf(postgres), async ({ db }) => {
          runs[who]!++
          const { value } = await loose(db)
            .selectFrom('setting')
            .select('value')
            .where('name', '=', 'count')
            .executeTakeFirstOrThrow()
          // Both have read before either writes.
          await meet()
          if (who === (order === 'the first' ? 1 : 0)) await firstIsDone
          await loose(db)
            .updateTable('setting')
            .set({ value: String(Number(value) + 1) })
            .where('name', '=', 'count')
            .execute()
        })
      const winner = order === 'the first' ? 0 : 1
      const both = [raise(0), raise(1)]
      await both[winner]
      letGo()
      await Promise.all(both)
      assert.equal(await valueOf('count'), '2')
      assert.deepEqual(runs, winner === 0 ? [1, 2] : [2, 1])
    })

  test('runs one of two again that wait for each other', async () => {
    await put(postgres.db, 'x', '')
    await put(postgres.db, 'y', '')
    const meet = meeting(2)
    const add = (names: string[]) =>
      postgres.atomic(ctxOf(postgres), async ({ db }) => {
        for (const name of names) {
          await loose(db)
            .updateTable('setting')
            .set({ value: sql`value || ${names[0]}` })
            .where('name', '=', name)
            .execute()
          await meet()
        }
      })
    await Promise.all([add(['x', 'y']), add(['y', 'x'])])
    assert.deepEqual([(await valueOf('x'))!.length, (await valueOf('y'))!.length], [2, 2])
    assert.equal(await valueOf('x'), await valueOf('y'))
  })

  test('tells twenty writers apart that all want the same number', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) =>
        postgres.atomic(ctxOf(postgres), async ({ db }) => {
          const name = `n${await countIn(db)}`
          await loose(db)
            .insertInto('setting')
            .values({ name, value: String(i) })
            .execute()
        }),
      ),
    )
    // So many at once may be too many: then they are told that they can come again.
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        assert.ok(isUnavailable(outcome.reason) && isBusy(outcome.reason), String(outcome.reason))
    const rows = await loose(postgres.db).selectFrom('setting').select('name').execute()
    assert.deepEqual(
      rows.map(({ name }) => Number(name.slice(1))).toSorted((a, b) => a - b),
      rows.map((_, i) => i),
    )
    assert.equal(rows.length, outcomes.filter(({ status }) => status === 'fulfilled').length)
  })

  test('comes to the error of a statement, also where that was caught and gone on from', async () => {
    await put(postgres.db, 'there', '1')
    let runs = 0
    const caught = postgres.atomic(ctxOf(postgres), async ({ db }) => {
      runs++
      await put(db, 'other', '1')
      await loose(db)
        .insertInto('setting')
        .values({ name: 'there', value: '2' })
        .execute()
        .catch(() => {})
    })
    await assert.rejects(caught, (error) => isDuplicate(error) && !isUnavailable(error))
    assert.deepEqual([runs, await valueOf('other')], [1, undefined])
  })

  test('does nothing for who comes while it is undone', async () => {
    let late: Promise<unknown> | undefined
    const failing = postgres.atomic(ctxOf(postgres), async ({ db }) => {
      await put(db, 'early', '1')
      // Of two at once the first one fails, and nobody waits for the second one.
      late = put(db, 'between', '1').then(async () => {
        for (let i = 0; i < 50; i++) await put(db, `late ${i}`, '1')
      })
      late.catch(() => {})
      throw new Error('undone')
    })
    await assert.rejects(failing, /^Error: undone$/)
    await assert.rejects(late!, /has ended|already rolled back/i)
    assert.equal(await countIn(postgres.db), 0)
  })

  test('does nothing for who comes while it is committed', async () => {
    let late: Promise<unknown> | undefined
    await postgres.atomic(ctxOf(postgres), async ({ db }) => {
      await put(db, 'early', '1')
      const meanwhile = async () => {
        await Promise.resolve()
        await put(db, 'late', '1')
      }
      late = new Promise((resolve) => setImmediate(resolve)).then(meanwhile)
      late.catch(() => {})
    })
    await assert.rejects(late!, /has ended|already committed/i)
    assert.equal(await countIn(postgres.db), 1)
  })

  test('is unavailable where it was idle for too long', async () => {
    const idle = postgres.atomic(ctxOf(postgres), async ({ db }) => {
      await sql`set local idle_in_transaction_session_timeout = 50`.execute(db)
      await pause(500)
      await put(db, 'idle', '1')
    })
    await assert.rejects(idle, (error) => isUnavailable(error) && !isCommitUnknown(error))
    assert.equal(await countIn(postgres.db), 0)
  })

  test('does not go by words that a server says in its own language', async () => {
    const said = (code: string) =>
      faultOf(Object.assign(new Error('doppelt'), { severity: 'FEHLER', code }))
    assert.equal(isConnectionLost(said('23505')), false)
    assert.equal(isRefusedCommit(said('23505')), true)
    for (const code of ['57P01', '08006', '25P03']) assert.equal(isConnectionLost(said(code)), true)
    for (const code of ['XX000', '58030', '57P01']) assert.equal(isRefusedCommit(said(code)), false)
  })

  describe('over a connection that is cut', () => {
    let proxy: TcpProxy
    let far: Postgres
    before(async () => {
      proxy = await startProxy(server.port)
      const { pathname } = new URL(address)
      far = await openPostgres(server.address({ database: pathname.slice(1), port: proxy.port }))
    })
    after(async () => {
      await far?.close()
      await proxy?.close()
    })
    beforeEach(() => {
      proxy.judge = () => 'pass'
      proxy.isStalled = false
    })

    // Its name is part of a setting, too.
    const COMMIT = 'commit\0'
    const isCommit = (bytes: Buffer) => bytes.includes(COMMIT)
    for (const [when, verdict, isDone] of [
      ['before the server has it', 'cut', false],
      ['after the server has done it', 'cut once done', true],
    ] as const)
      test(`does not know of a COMMIT that was lost ${when}, and does not run it again`, async () => {
        let runs = 0
        proxy.judge = (bytes) => (isCommit(bytes) ? verdict : 'pass')
        const lost = far.atomic(ctxOf(far), async ({ db }) => {
          runs++
          await put(db, 'lost', '1')
        })
        await assert.rejects(
          lost,
          (error: Error) =>
            error.name === 'CommitUnknown' &&
            isCommitUnknown(error) &&
            !isUnavailable(error) &&
            !isBusy(error),
        )
        assert.equal(runs, 1)
        assert.equal(await valueOf('lost'), isDone ? '1' : undefined)
        // The next one has a connection of its own.
        proxy.judge = () => 'pass'
        await far.atomic(ctxOf(far), ({ db }) => put(db, 'next', '1'))
        assert.equal(await valueOf('next'), '1')
      })

    for (const [when, verdict, isDone] of [
      ['before the server has it', 'cut', false],
      ['after the server has done it', 'cut once done', true],
    ] as const)
      test(`does not know of a COMMIT that was lost with the writes before it ${when}`, async () => {
        let runs = 0
        proxy.judge = (bytes) => (isCommit(bytes) ? verdict : 'pass')
        const lost = far.atomic(
          ctxOf(far),
          ({ db }) => {
            runs++
            return pipelined(db, [inserted(db, 'lost'), inserted(db, 'as well')])
          },
          { inTurn: true },
        )
        await assert.rejects(lost, isCommitUnknown)
        assert.equal(runs, 1)
        assert.equal(await countIn(postgres.db), isDone ? 2 : 0)
      })

    test('that only reads has nothing to be unsure of', async () => {
      proxy.judge = (bytes) => (isCommit(bytes) ? 'cut' : 'pass')
      const reading = () =>
        far.read
          .withoutPlugins()
          .transaction()
          .setAccessMode('read only')
          .execute((tx) => tx.selectFrom('setting').selectAll().execute())
      assert.deepEqual(await reading(), [], 'what was read is read')
      proxy.judge = (bytes) => (bytes.includes('select') ? 'cut' : 'pass')
      await until(async () => {
        const error = await reading().catch((error: unknown) => error)
        return isUnavailable(error) && !isCommitUnknown(error)
      }, 'a read that is cut says that the database is away')
      proxy.judge = () => 'pass'
      await until(
        () =>
          reading().then(
            () => true,
            () => false,
          ),
        'it reads again',
      )
    })

    test('is undone before its COMMIT, and says that the database is away', async () => {
      proxy.judge = (bytes) => (bytes.includes('insert into') ? 'cut' : 'pass')
      await assert.rejects(
        far.atomic(ctxOf(far), ({ db }) => put(db, 'cut', '1')),
        (error) => isUnavailable(error) && !isCommitUnknown(error),
      )
      assert.equal(await valueOf('cut'), undefined)
    })

    test('does not know of a change without a transaction either', async () => {
      proxy.judge = (bytes) => (bytes.includes('insert into') ? 'cut once done' : 'pass')
      await assert.rejects(put(far.db, 'alone', '1'), isCommitUnknown)
      assert.equal(await valueOf('alone'), '1')
      proxy.judge = (bytes) => (bytes.includes('select') ? 'cut' : 'pass')
      await assert.rejects(far.db.selectFrom('setting').selectAll().execute(), isUnavailable)
    })

    test('is given up where the server says nothing any more, and what is not known is said', async () => {
      const { pathname } = new URL(address)
      const text = server.address({ database: pathname.slice(1), port: proxy.port })
      const hasty = await openPostgres(text, { answerTimeout: 300 })
      const stallAt = (word: string) => {
        proxy.judge = (bytes) => {
          if (bytes.includes(word)) proxy.isStalled = true
          return 'pass'
        }
      }
      stallAt('insert into')
      const before = hasty.atomic(ctxOf(hasty), ({ db }) => put(db, 'stalled', '1'))
      await assert.rejects(before, (error) => isUnavailable(error) && !isCommitUnknown(error))
      proxy.isStalled = false
      stallAt(COMMIT)
      const during = hasty.atomic(ctxOf(hasty), ({ db }) => put(db, 'stalled', '2'))
      await assert.rejects(during, (error) => !isUnavailable(error) && isCommitUnknown(error))
      proxy.isStalled = false
      proxy.judge = () => 'pass'
      await hasty.atomic(ctxOf(hasty), ({ db }) => put(db, 'next', '3'))
      assert.equal(await valueOf('next'), '3')
      proxy.cutAll()
      await hasty.close()
    })

    test('of a backend that was killed is unavailable, and the next one is not', async () => {
      await assert.rejects(
        far.atomic(ctxOf(far), async ({ db }) => {
          const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
          await server.run(address, 'select pg_terminate_backend($1)', [rows[0]!.pid])
          await put(db, 'killed', '1')
        }),
        isUnavailable,
      )
      assert.equal(await valueOf('killed'), undefined)
      await far.atomic(ctxOf(far), ({ db }) => put(db, 'next', '2'))
      assert.equal(await valueOf('next'), '2')
    })

    test('is unavailable while no server is there, and works once one is', async () => {
      await server.crash()
      await assert.rejects(
        far.atomic(ctxOf(far), ({ db }) => put(db, 'a', '1')),
        isUnavailable,
      )
      await assert.rejects(far.db.selectFrom('setting').selectAll().execute(), isUnavailable)
      await server.start()
      await far.atomic(ctxOf(far), ({ db }) => put(db, 'a', '1'))
      assert.equal(await valueOf('a'), '1')
    })

    test('is unavailable on what has become a standby', async () => {
      const mark = join(server.dir, 'data', 'standby.signal')
      await server.crash()
      writeFileSync(mark, '')
      await server.start()
      const failing = far.atomic(ctxOf(far), ({ db }) => put(db, 'standby', '1'))
      await assert.rejects(failing, (error) => isUnavailable(error) && !isCommitUnknown(error))
      await server.crash()
      rmSync(mark)
      await server.start()
    })
  })
})
