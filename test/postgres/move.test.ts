/** An installation moves from a folder into PostgreSQL and back, and loses nothing on the way. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { moveFromPostgres, moveToPostgres } from '../../lib/app/move/move.js'
import type { MoveInput } from '../../lib/app/move/move.js'
import { silentLog } from '../../lib/core/log.js'
import { openPostgresEngine } from '../../lib/db/postgres/engine.js'
import { MOVED_TABLES } from '../../lib/db/move/tables.js'
import { openSqlite } from '../../lib/db/sqlite/driver.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openForTest } from '../../server/testing/open.js'
import { missing, startServer } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import {
  copyOf,
  makeInstallation,
  remove,
  rowsInDatabase,
  rowsInFolder,
  withoutFile,
} from './installation.js'

const input = (dir: string, address: string, more: Partial<MoveInput> = {}): MoveInput => ({
  dir,
  address,
  now: Date.now,
  monotonic: () => performance.now(),
  random: randomBytes,
  ...more,
})

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
    const raw = openSqlite(filesIn(template).record)
    const all = raw
      .prepare(
        `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
          AND name NOT LIKE 'fulfillment_search%' ORDER BY name`,
      )
      .pluck()
      .all()
    raw.close()
    assert.deepEqual(MOVED_TABLES.map(({ name }) => name).toSorted(), all)
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
    assert.deepEqual(rowsInFolder(dir), before)
    assert.equal(readFileSync(join(dir, 'orders.journal'), 'utf8'), journal)
    assert.deepEqual(
      back.tables.map(({ table, digest }) => [table, digest]),
      there.tables.map(({ table, digest }) => [table, digest]),
    )
    await using app = await openForTest({ dir, worker: false })
    const proof = await app.operator.orders.verifyJournal()
    assert.deepEqual([proof.sound, proof.file.pending], [true, 0])
  })
})
