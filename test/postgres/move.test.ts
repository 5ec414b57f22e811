/** An installation moves from a folder into PostgreSQL and back, and loses nothing on the way. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { moveFromPostgres, moveToPostgres } from '../../lib/app/move/move.js'
import type { MoveInput } from '../../lib/app/move/move.js'
import { silentLog } from '../../lib/core/log.js'
import { openPostgres } from '../../lib/db/postgres/connect.js'
import { openPostgresEngine } from '../../lib/db/postgres/engine.js'
import { migratePostgres, postgresSchema } from '../../lib/db/postgres/schema.js'
import { MOVED_TABLES, databasesOf } from '../../lib/db/move/tables.js'
import { openSqlite } from '../../lib/db/sqlite/driver.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { restoreBackup } from '../../lib/app/backup/restore.js'
import { quartermasterSchema } from '../../lib/db/migrations/quartermaster.js'
import { takeLock } from '../../lib/db/sqlite/locks.js'
import { migrate } from '../../lib/db/sqlite/migrate.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { openForTest } from '../../server/testing/open.js'
import { json, run } from '../server/launcher.js'
import { missing, startServer, superClient } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import { until } from '../harness/until.js'
import {
  copyOf,
  makeInstallation,
  remove,
  rowsInDatabase,
  rowsInFolder,
  triggersIn,
  withoutFile,
  withoutPulls,
} from './installation.js'

const input = (dir: string, address: string, more: Partial<MoveInput> = {}): MoveInput => ({
  dir,
  address,
  now: Date.now,
  monotonic: () => performance.now(),
  random: randomBytes,
  ...more,
})

/** Files of exports lie where the folder is, and calls of the last seconds count there. */
const OF_A_PLACE = ['export_file', 'recent']

describe('a move', { skip: missing }, () => {
  let server: TestServer
  let template: string
  const made: string[] = []

  /** A folder of its own, and an empty database. */
  async function places(): Promise<{ dir: string; address: string }> {
    const dir = copyOf(template)
    made.push(dir)
    return { dir, address: await server.database() }
  }

  const openNode = (dir: string, address: string) =>
    openPostgresEngine({
      dir: join(dir, 'node'),
      address,
      log: silentLog,
      now: Date.now,
      monotonic: () => performance.now(),
      random: randomBytes,
    })

  before(async () => {
    server = await startServer()
    template = await makeInstallation()
    made.push(template)
  })
  after(async () => {
    await server?.close()
    made.forEach(remove)
  })

  test('knows every table of the record', () => {
    const all = databasesOf(MOVED_TABLES).flatMap((database) => {
      const raw = openSqlite(filesIn(template)[database])
      const names = raw
        .prepare(
          `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
            AND name NOT LIKE 'fulfillment_search%'`,
        )
        .pluck()
        .all() as string[]
      raw.close()
      return names
    })
    assert.deepEqual(
      MOVED_TABLES.map(({ name }) => name).toSorted(),
      all.filter((name) => !OF_A_PLACE.includes(name)).toSorted(),
    )
  })

  test('there and back has the same rows in every table, and a journal that goes on', async () => {
    const { dir, address } = await places()
    const there = await moveToPostgres(input(dir, address))
    const before = rowsInFolder(dir)
    assert.deepEqual(
      Object.entries(before).filter(([, rows]) => rows.length === 0),
      [],
      'there is a row in each table',
    )
    assert.deepEqual(await rowsInDatabase(address), withoutFile(before))
    assert.equal(there.was_done, false)
    assert.equal(there.journal?.sound && there.audit?.sound, true)
    assert.equal(
      there.rows,
      Object.values(withoutFile(before)).reduce((sum, rows) => sum + rows.length, 0),
    )

    const journal = readFileSync(join(dir, 'orders.journal'), 'utf8')
    const back = await moveFromPostgres(input(dir, address))
    assert.deepEqual(rowsInFolder(dir), withoutPulls(before))
    assert.equal(readFileSync(join(dir, 'orders.journal'), 'utf8'), journal)
    assert.deepEqual(
      back.tables.map(({ table, digest }) => [table, digest]),
      there.tables.map(({ table, digest }) => [table, digest]),
    )
    await using app = await openForTest({ dir, worker: false })
    const proof = await app.operator.orders.verifyJournal()
    assert.deepEqual([proof.sound, proof.file.pending], [true, 0])
  })

  test('that is done already changes nothing, and says so', async () => {
    const { dir, address } = await places()
    await moveToPostgres(input(dir, address))
    const there = await rowsInDatabase(address)
    assert.equal((await moveToPostgres(input(dir, address))).was_done, true)
    assert.deepEqual(await rowsInDatabase(address), there)
    await moveFromPostgres(input(dir, address))
    const here = rowsInFolder(dir)
    assert.equal((await moveFromPostgres(input(dir, address))).was_done, true)
    assert.deepEqual(rowsInFolder(dir), here)
  })

  test('that is only tried reads everything and changes nothing', async () => {
    const { dir, address } = await places()
    await (await openForTest({ dir, worker: false })).close()
    const [before, files] = [rowsInFolder(dir), readdirSync(dir)]
    const tried = await moveToPostgres(input(dir, address, { dryRun: true }))
    // And the documents of distributors, which are a table there alone.
    assert.equal(tried.tables.length, MOVED_TABLES.length + 1)
    assert.deepEqual([rowsInFolder(dir), readdirSync(dir)], [before, files])
    const { rows } = await server.run(
      address,
      'select nspname from pg_namespace where nspname = $1',
      ['quartermaster'],
    )
    assert.deepEqual(rows, [])
    await moveToPostgres(input(dir, address))
    const moved = await rowsInDatabase(address)
    const back = await moveFromPostgres(input(dir, address, { dryRun: true }))
    assert.deepEqual([back.rows, await rowsInDatabase(address)], [tried.rows, moved])
    await assert.rejects(openForTest({ dir, worker: false }), /was moved into the database/)
  })

  describe('leaves', () => {
    test('a folder that is not served any more, and takes no write', async () => {
      const { dir, address } = await places()
      // Opened before: a command that waits, or a program that has the folder open all the time.
      const late = openSqlite(filesIn(dir).record)
      await moveToPostgres(input(dir, address))
      const line = new RegExp(
        `quartermaster.db was moved into the database db\\d+ at 127.0.0.1:${server.port} on .* ` +
          'serve that one; `quartermaster move --from-file FILE` brings it back',
      )
      await assert.rejects(openForTest({ dir, worker: false }), line)
      const said = await run(dir, 'subscribers', 'list')
      assert.equal(said.status, 1)
      assert.match(said.err, line)
      const looked = await run(dir, 'doctor', '--offline')
      assert.equal(looked.status, 3)
      assert.match(looked.out, /database: quartermaster.db was moved into the database db\d+ at/)
      for (const { name } of MOVED_TABLES.filter(({ database }) => database === 'record'))
        assert.throws(() => late.exec(`DELETE FROM ${name}`), /was moved into PostgreSQL/)
      late.close()
      await assert.rejects(moveToPostgres(input(dir, await server.database())), line)
      const node = await openNode(dir, address)
      await node.close()
    })

    test('a folder into which a backup of before can still be put back', async () => {
      const { dir, address } = await places()
      const backup = join(dir, '..', `backup-${randomBytes(6).toString('hex')}`)
      made.push(backup)
      const app = await openForTest({ dir, worker: false })
      await app.operator.backup({ to: backup })
      await app.close()
      await moveToPostgres(input(dir, address))
      await restoreBackup({ backup, dir })
      await using again = await openForTest({ dir, worker: false })
      assert.equal((await again.operator.subscribers.list()).length > 0, true)
    })

    test('a database that is not served any more, and takes no write', async () => {
      const { dir, address } = await places()
      await moveToPostgres(input(dir, address))
      await moveFromPostgres(input(dir, address))
      await assert.rejects(
        openNode(dir, address),
        /^Error: the installation of this database was moved into .* on .* serve that one/,
      )
      for (const { name } of MOVED_TABLES)
        await assert.rejects(
          server.run(address, `delete from quartermaster."${name}"`),
          /was moved into a folder/,
        )
      await assert.rejects(
        moveToPostgres(input(dir, address)),
        /has what went into .* name an empty database/,
      )
      const other = copyOf(template)
      made.push(other)
      await assert.rejects(moveFromPostgres(input(other, address)), /was moved into/)
      await (await openForTest({ dir, worker: false })).close()
    })

    test('numbers that go on behind the highest that was ever given', async () => {
      const { dir, address } = await places()
      await moveToPostgres(input(dir, address))
      const schema = 'set search_path = quartermaster; '
      const highest = async (table: string, column: string) =>
        Number(
          (await server.run(address, `select max(${column}) as last from quartermaster.${table}`))
            .rows[0]!['last'],
        )
      const event = `insert into event (uid, kind, subject, state, severity, message, at)
        values ('UID', 'k2', 's2', 'told', 'info', 'm', 1) returning id`
      const next = async (text: string) => {
        const results = (await server.run(address, schema + text)) as unknown as {
          rows: { id: string }[]
        }[]
        return Number(results[1]!.rows[0]!.id)
      }
      assert.equal(await next(event), 78)
      for (const [table, column, columns, values] of [
        ['fulfillment_change', 'seq', 'fulfillment_order_id, at, field', `1, 1, 'f'`],
        ['audit', 'seq', 'at, actor, action, detail', `1, 'a', 'b', '{}'`],
        [
          'fraud_report',
          'id',
          'dealer, key, strong, reported_at, updated_at, payload',
          `'d', 'k', 's', 1, 1, 'p'`,
        ],
        [
          'dealer',
          '"row"',
          'id, license_number, license_type, expires_on, license_name, premise_street, ' +
            'premise_city, premise_state, premise_zip, source, updated_at',
          `'i', 'l', 't', 'e', 'n', 's', 'c', 'st', 'z', 'atf', 1`,
        ],
      ] as const) {
        const last = await highest(table, column)
        assert.equal(
          await next(
            `insert into ${table} (${columns}) values (${values}) returning ${column} as id`,
          ),
          last + 1,
          table,
        )
      }
      await server.run(address, `delete from quartermaster.audit where actor = 'a'`)
      await server.run(address, `delete from quartermaster.event where id = 78`)
      await moveFromPostgres(input(dir, address, { acceptsDamage: true }))
      const raw = openSqlite(filesIn(dir).record)
      assert.equal(raw.prepare(event.replace('UID', 'again')).pluck().get(), 79)
      raw.close()
    })

    test('searches and counts that find what they found', async () => {
      const { dir, address } = await places()
      await moveToPostgres(input(dir, address))
      const { rows } = await server.run(
        address,
        `select (select count(*) from quartermaster.fulfillment_order) as orders,
          (select count(*) from quartermaster.fulfillment_search) as texts,
          (select count(*) from quartermaster.fulfillment_search where folded like '%pat doe%') as found,
          (select count(*) from pg_indexes where indexname = 'fulfillment_search_parts') as indexes,
          (select count(*) from pg_trigger where tgenabled <> 'O') as disabled`,
      )
      const [{ orders, texts, found, indexes, disabled }] = rows as [Record<string, string>]
      assert.deepEqual([texts, found, indexes, disabled], [orders, orders, '1', '0'])
      await moveFromPostgres(input(dir, address))
      const raw = openSqlite(filesIn(dir).record)
      assert.equal(
        String(raw.prepare(`SELECT count(*) FROM fulfillment_search('"pat doe"')`).pluck().get()),
        orders,
      )
      assert.equal(
        raw.prepare(`SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'`).pluck().get(),
        triggersIn(template),
      )
      raw.close()
    })
  })

  describe('is refused', () => {
    test('while somebody serves the folder, or sends its orders', async () => {
      for (const [lock, line] of [
        ['serve', /a server runs on .* stop it before it is moved/],
        ['engine', /orders are being sent on .* stop it before it is moved/],
      ] as const) {
        const { dir, address } = await places()
        const held = takeLock(join(dir, `${lock}.lock`))
        await assert.rejects(moveToPostgres(input(dir, address)), line)
        held!.close()
        await moveToPostgres(input(dir, address))
      }
    })

    const IN_USE = /a node or a command on 127.0.0.1 uses the database: stop all of them first/

    test('while a node has the database open, whose schema it leaves as it is', async () => {
      const { dir, address } = await places()
      const earlier = await openPostgres(address)
      await migratePostgres(earlier, postgresSchema.slice(0, 1))
      const version = async () =>
        (await server.run(address, 'select version from quartermaster.schema_version')).rows
      const before = await version()
      await earlier.read.selectFrom('state').selectAll().execute()
      for (const move of [moveToPostgres, moveFromPostgres])
        await assert.rejects(
          move(input(move === moveToPostgres ? dir : join(dir, 'back'), address)),
          move === moveToPostgres ? IN_USE : /has no installation/,
        )
      assert.deepEqual(await version(), before)
      await earlier.close()
      await moveToPostgres(input(dir, address))
      const node = await openNode(dir, address)
      await assert.rejects(moveFromPostgres(input(dir, address)), IN_USE)
      await node.close()
      await moveFromPostgres(input(dir, address))
    })

    test('where a node comes between the look and the mark, and then goes on', async () => {
      const { dir, address } = await places()
      await (await openNode(dir, address)).close()
      // The mark has to wait, while whoever looks whether there is one need not.
      const holder = superClient(address)
      await holder.connect()
      await holder.query('begin; lock table quartermaster.move in exclusive mode')
      const move = moveToPostgres(input(dir, address))
      const refused = assert.rejects(move, IN_USE)
      const waits = `select 1 from pg_stat_activity where query like 'INSERT INTO move %'
        and wait_event_type = 'Lock'`
      await until(async () => (await server.run(address, waits)).rows.length > 0, 'the mark waits')
      const node = await openNode(dir, address)
      await holder.query('commit')
      await holder.end()
      await refused
      await node.db.insertInto('job').values({ name: 'a job', next_at: 1, failures: 0 }).execute()
      await node.close()
      await (await openForTest({ dir, worker: false })).close()
      await assert.rejects(openNode(dir, address), /is being moved into this database since/)
      await moveToPostgres(input(dir, address))
      assert.deepEqual(await rowsInDatabase(address), withoutFile(rowsInFolder(dir)))
    })

    test('and a node that comes while an installation is moved out waits, and does not start', async () => {
      const { dir, address } = await places()
      await moveToPostgres(input(dir, address))
      let late: Promise<void> | undefined
      await moveFromPostgres(
        input(dir, address, {
          onProgress({ doing }) {
            if (doing === 'copying')
              late ??= assert.rejects(openNode(dir, address), /was moved into .* serve that one/)
          },
        }),
      )
      assert.ok(late)
      await late
    })

    test('where the folder is written to, which waits in vain', async () => {
      const { dir, address } = await places()
      const other = openSqlite(filesIn(dir).record)
      let refused = 0
      await moveToPostgres(
        input(dir, address, {
          onProgress({ doing }) {
            if (doing !== 'copying') return
            other.pragma('busy_timeout = 0')
            assert.throws(() => other.exec(`UPDATE state SET value = value + 1`), /locked/)
            refused++
          },
        }),
      )
      other.close()
      assert.ok(refused > MOVED_TABLES.length)
    })

    test('into a database that has another installation, or something of one', async () => {
      const { dir, address } = await places()
      await moveToPostgres(input(dir, address))
      const other = await places()
      await assert.rejects(
        moveToPostgres(input(other.dir, address)),
        /has what came from .* name an empty database/,
      )
      const node = await openNode(other.dir, other.address)
      await node.db.insertInto('job').values({ name: 'a job', next_at: 1, failures: 0 }).execute()
      await node.close()
      await assert.rejects(
        moveToPostgres(input(other.dir, other.address)),
        /has an installation of its own: name an empty database/,
      )
    })

    test('into a folder that has an installation, and without the key of the database', async () => {
      const { dir, address } = await places()
      await moveToPostgres(input(dir, address))
      const other = await places()
      await assert.rejects(
        moveFromPostgres(input(other.dir, address)),
        /has an installation: name a new folder with --dir/,
      )
      const empty = join(dir, 'new')
      await assert.rejects(
        moveFromPostgres(input(empty, address)),
        /keys.secret-key is missing: put the one of the nodes there/,
      )
      cpSync(join(dir, 'keys'), join(empty, 'keys'), { recursive: true })
      await moveFromPostgres(input(empty, address))
      await (await openForTest({ dir: empty, worker: false })).close()
      await assert.rejects(moveFromPostgres(input(dir, address)), /was moved into/)
      await assert.rejects(
        moveFromPostgres(input(join(dir, 'newer'), await server.database())),
        /has no installation/,
      )
    })

    test('with a text that PostgreSQL cannot hold, whose row and column are named', async () => {
      for (const [bytes, what] of [
        ['610062', 'a NUL character'],
        ['61ff62', 'bytes that are not UTF-8'],
        // A half of a pair, as JavaScript may have it.
        ['eda080', 'bytes that are not UTF-8'],
      ]) {
        const { dir, address } = await places()
        const raw = openSqlite(filesIn(dir).record)
        raw.exec(`INSERT INTO setting VALUES ('the name', CAST(x'${bytes}' AS TEXT))`)
        raw.close()
        await assert.rejects(moveToPostgres(input(dir, address)), {
          message: `setting.value in the row ["the name"] has ${what}, which PostgreSQL cannot hold`,
        })
        await (await openForTest({ dir, worker: false })).close()
      }
    })

    test('with a journal or an audit that is damaged, unless that is accepted', async () => {
      const journal = `UPDATE journal SET line = replace(line, 'Pat', 'Pet') || '' WHERE seq = 2`
      for (const [change, line] of [
        [
          `${journal}; UPDATE journal SET line = line || ' ' WHERE seq = 2`,
          /order journal, database, line 2: the line was changed/,
        ],
        [
          `UPDATE audit SET actor = 'nobody' WHERE seq = 3`,
          /audit, row 3: the row, or its place, was changed/,
        ],
        [`DELETE FROM audit WHERE seq = 3`, /audit, row 3: the row is missing/],
      ] as const) {
        const { dir, address } = await places()
        const raw = openSqlite(filesIn(dir).record)
        raw.exec(change)
        raw.close()
        await assert.rejects(moveToPostgres(input(dir, address)), line)
        const moved = await moveToPostgres(input(dir, address, { acceptsDamage: true }))
        assert.equal(moved.journal?.sound && moved.audit?.sound, false)
        assert.deepEqual(await rowsInDatabase(address), withoutFile(rowsInFolder(dir)))
      }
    })

    test('back, where a line of the journal or a row of the audit was changed meanwhile', async () => {
      for (const [change, line] of [
        [
          `update quartermaster.journal set line = line || ' ' where seq = 2`,
          /is damaged: order journal, database, line 2: the line was changed/,
        ],
        [
          `delete from quartermaster.audit where seq = 3`,
          /is damaged: audit, row 3: the row is missing/,
        ],
        [
          `update quartermaster.purchase_order set sends = 7 where id = 1`,
          /is damaged: order journal, purchase orders: purchase order 1: sends is 7/,
        ],
      ] as const) {
        const { dir, address } = await places()
        await moveToPostgres(input(dir, address))
        await server.run(address, change)
        await assert.rejects(moveFromPostgres(input(dir, address)), line)
        // It is served as before.
        await (await openNode(dir, address)).close()
        await moveFromPostgres(input(dir, address, { acceptsDamage: true }))
      }
    })
  })

  test('of a folder of an earlier schema brings it up to date first', async () => {
    const { address } = await places()
    const dir = join(template, '..', `earlier-${randomBytes(6).toString('hex')}`)
    made.push(dir)
    mkdirSync(dir)
    const raw = openFile(filesIn(dir).record, { synchronous: 'FULL' })
    migrate(raw, 'quartermaster.db', quartermasterSchema.slice(0, 1))
    raw.exec(`INSERT INTO subscriber VALUES ('s', 'Shop', 'owner@shop.example', 1)`)
    raw.close()
    const secretKey = 'ab'.repeat(32)
    await assert.rejects(
      moveToPostgres(input(dir, address, { secretKey, dryRun: true })),
      /has schema 1, and this release \d+: any command brings it up to date/,
    )
    await moveToPostgres(input(dir, address, { secretKey }))
    assert.deepEqual(await rowsInDatabase(address), withoutFile(rowsInFolder(dir)))
    assert.equal((await rowsInDatabase(address))['subscriber']!.length, 1)
  })

  describe('by its command', () => {
    test('tells tables, rows and what stays, also in JSON, and takes no address as an argument', async () => {
      const { dir, address } = await places()
      const file = join(dir, 'address')
      writeFileSync(file, `${address}\n`, { mode: 0o600 })
      for (const words of [
        ['move'],
        ['move', '--to-file', file, '--from-file', file],
        ['move', '--to-file', file],
        ['move', '--preview', '--to-file', address],
        ['move', '--preview', '--to-file', join(dir, 'none')],
      ]) {
        const refused = await run(dir, ...words)
        assert.equal(refused.status, 2, refused.out)
        assert.ok(!refused.err.includes('pass%20word'))
      }
      const told = await run(dir, 'move', '--preview', '--to-file', file)
      assert.equal(told.status, 0, told.err)
      assert.match(told.out, /^table +rows +seconds\n/)
      assert.match(told.out, /\njournal +\d+ +\d+\.\d\n/)
      assert.match(told.out, /rows of \d+ tables were moved from .* into the database db\d+ at/)
      assert.match(told.out, /Head of the order journal: \d+:/)
      assert.match(told.out, /\nkeys\/secret-key +1 /)
      const again = await json(dir, 'move', '--preview', '--to-file', file)
      assert.equal(again['was_done'], true)
      const back = await json(dir, 'move', '--from-file', file)
      assert.deepEqual(
        [back['to'], back['dry_run'], (back['tables'] as unknown as unknown[]).length],
        ['folder', false, MOVED_TABLES.length + 1],
      )
      assert.equal((await run(dir, 'subscribers', 'list')).status, 0)
    })
  })
})
