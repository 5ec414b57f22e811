/** What one node changes, the others learn. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { pause } from '../../lib/core/async/wait.js'
import { HOUR } from '../../lib/core/clock.js'
import { watchChanges } from '../../lib/db/postgres/changes.js'
import { openPostgres } from '../../lib/db/postgres/connect.js'
import type { Postgres } from '../../lib/db/postgres/connect.js'
import { migratePostgres } from '../../lib/db/postgres/schema.js'
import { touch } from '../../lib/db/state.js'
import type { StateName } from '../../lib/db/tables/column-types.js'
import { missing, startServer } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import { startProxy } from '../harness/tcp-proxy.js'

/** What a node was told, and a wait for the next of it. */
function ear() {
  const heard: StateName[][] = []
  let wake = () => {}
  return {
    heard,
    moved(names: StateName[]) {
      heard.push(names.toSorted())
      wake()
    },
    async until(name: StateName) {
      while (!heard.flat().includes(name))
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      return heard.splice(0)
    },
  }
}

/** What was logged, and a wait for it. */
function logBook() {
  const lines: string[] = []
  let wake = () => {}
  const note = (level: string) => (_: object, message: string) => {
    lines.push(`${level} ${message}`)
    wake()
  }
  return {
    lines,
    log: { warn: note('warn'), info: note('info') },
    async until(text: string) {
      while (!lines.some((line) => line.includes(text)))
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    },
  }
}

describe('a change', { skip: missing }, () => {
  let server: TestServer
  let address: string
  let writer: Postgres
  let reader: Postgres

  before(async () => {
    server = await startServer()
    address = await server.database()
    writer = await openPostgres(address)
    reader = await openPostgres(address)
    await migratePostgres(writer)
  })
  after(async () => {
    await writer?.close()
    await reader?.close()
    await server?.close()
  })

  const change = (...names: StateName[]) =>
    writer.atomic({ db: writer.db, read: writer.db }, async (tx) => {
      for (const name of names) await touch(tx.db, name)
    })

  test('that nobody waits for any more holds nobody up, also before it can be heard', async () => {
    for (let i = 0; i < 5; i++) {
      const changes = await watchChanges({ postgres: reader, log: logBook().log, moved: () => {} })
      await changes.close()
    }
  })

  test('is told to another node at once, by its names, and what was undone is not', async () => {
    const [{ moved, until, heard }, { log, lines }] = [ear(), logBook()]
    const changes = await watchChanges({ postgres: reader, log, lookEvery: HOUR, moved })
    // The connection that listens is made in the meantime: this is seen by it, or by its first look.
    await change('keys', 'rules', 'keys')
    assert.deepEqual(await until('keys'), [['keys', 'rules']])
    await assert.rejects(
      writer.atomic({ db: writer.db, read: writer.db }, async (tx) => {
        await touch(tx.db, 'fraud')
        throw new Error('undone')
      }),
    )
    for (const name of ['modes', 'dealers'] as const) {
      await change(name)
      assert.deepEqual(await until(name), [[name]])
    }
    assert.deepEqual([heard, lines], [[], []])
    await changes.close()
  })

  test('is told once, however often somebody looks', async () => {
    const { moved, heard } = ear()
    const changes = await watchChanges({
      postgres: reader,
      log: logBook().log,
      lookEvery: HOUR,
      moved,
    })
    await changes.look()
    await change('sources')
    await Promise.all([changes.look(), changes.look(), changes.look()])
    await changes.look()
    assert.deepEqual(heard, [['sources']])
    await changes.close()
  })

  test('is told after the connection that listens was lost, and what was changed meanwhile', async () => {
    const { moved, until } = ear()
    const changes = await watchChanges({
      postgres: reader,
      log: logBook().log,
      lookEvery: HOUR,
      moved,
    })
    await change('keys')
    await until('keys')
    for (const name of ['documents', 'rules'] as const) {
      let killed = 0
      // It may be about to be made.
      while (killed === 0) {
        const { rows } = await server.run(
          address,
          `select pg_terminate_backend(pid) from pg_stat_activity
            where query like 'listen%' and datname = current_database()`,
        )
        killed = rows.length
      }
      await change(name)
      assert.deepEqual((await until(name)).flat(), [name])
    }
    await changes.close()
  })

  test('is told within a look where notifications are swallowed', async () => {
    const proxy = await startProxy(server.port)
    const { pathname } = new URL(address)
    const deaf = await openPostgres(
      server.address({ database: pathname.slice(1), port: proxy.port }),
    )
    const { moved, until } = ear()
    let isListening = false
    proxy.judge = (bytes) => {
      isListening ||= bytes.includes('listen')
      return 'pass'
    }
    const changes = await watchChanges({
      // It looks in another way than it listens.
      postgres: { newClient: (given) => (given ? reader : deaf).newClient(given) },
      log: logBook().log,
      lookEvery: 20,
      moved,
    })
    while (!isListening) await changes.look()
    proxy.isStalled = true
    await change('fraud')
    assert.deepEqual(await until('fraud'), [['fraud']])
    await changes.close()
    await deaf.close()
    await proxy.close()
  })

  test('is told although a look hangs', async () => {
    const proxy = await startProxy(server.port)
    const { pathname } = new URL(address)
    const far = await openPostgres(
      server.address({ database: pathname.slice(1), port: proxy.port }),
    )
    const { moved, until } = ear()
    const changes = await watchChanges({
      postgres: far,
      log: logBook().log,
      lookEvery: HOUR,
      moved,
    })
    await change('keys')
    await until('keys')
    await changes.look()
    const hangs = new Promise<void>((resolve) => {
      proxy.judge = (bytes) => {
        if (bytes.includes('from state')) {
          proxy.isStalled = true
          resolve()
        }
        return 'pass'
      }
    })
    const since = performance.now()
    void changes.look()
    await hangs
    await change('rules')
    void changes.look()
    proxy.judge = () => 'pass'
    // The answer was dropped, and never comes.
    await pause(200)
    proxy.isStalled = false
    await until('rules')
    assert.ok(performance.now() - since < 10_000)
    await changes.close()
    await far.close()
    await proxy.close()
  })

  test('is told once the database is there again, and its absence is logged once', async () => {
    const [{ moved, until }, { log, lines, until: logged }] = [ear(), logBook()]
    const changes = await watchChanges({ postgres: reader, log, lookEvery: 20, moved })
    await server.crash()
    await logged('tried again')
    await changes.look()
    await server.start()
    await logged('there again')
    await change('modes')
    assert.deepEqual(await until('modes'), [['modes']])
    assert.deepEqual(lines, [
      'warn what has changed in the database cannot be read; tried again',
      'info the database is there again',
    ])
    await changes.close()
  })
})
