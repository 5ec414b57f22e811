/** A move that is killed anywhere is run again, and comes to the same as one that nobody disturbed. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { moveFromPostgres, moveToPostgres } from '../../lib/app/move/move.js'
import type { MoveInput } from '../../lib/app/move/move.js'
import { memoryStore } from '../../lib/objects/memory.js'
import { open } from '../../lib/app/open.js'
import { openForTest } from '../../server/testing/open.js'
import { missing, startServer } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import { startProxy } from '../harness/tcp-proxy.js'
import type { TcpProxy, Verdict } from '../harness/tcp-proxy.js'
import { LAUNCHER } from '../server/launcher.js'
import {
  copyOf,
  makeInstallation,
  remove,
  rowsInDatabase,
  rowsInFolder,
  withoutFile,
  withoutPulls,
} from './installation.js'

/** A statement of the move, and what becomes of it when the process is killed. */
interface Point {
  name: string
  /** What the statement has in it. */
  text: string
  /** Which of them: the first by default. */
  which?: number
  /** Whether the server gets it. */
  verdict?: Verdict
  /** Where only those count that come after one with this in it. */
  behind?: string
}

const THERE: readonly Point[] = [
  { name: 'while the schema is made', text: 'CREATE TABLE subscriber' },
  { name: 'before anything is written', text: 'INSERT INTO move ' },
  { name: 'when the first table comes in', text: 'INSERT INTO "state"' },
  { name: 'in the middle of a table', text: 'INSERT INTO "setting"' },
  { name: 'before a table is noted', text: 'moved_table', which: 12 },
  {
    name: 'when a table is committed, unheard',
    text: 'COMMIT',
    which: 20,
    verdict: 'cut once done',
  },
  { name: 'at the journal', text: 'INSERT INTO "journal"' },
  { name: 'while the search is filled', text: 'TRUNCATE fulfillment_search' },
  { name: 'before it is compared', text: 'ANALYZE' },
  { name: 'while it is compared', text: 'DECLARE moving', which: 30 },
  { name: 'when the folder has been marked', text: 'ENABLE TRIGGER' },
  { name: 'at the last commit', text: 'COMMIT', behind: 'ENABLE TRIGGER' },
  {
    name: 'at the last commit, unheard',
    text: 'COMMIT',
    behind: 'ENABLE TRIGGER',
    verdict: 'cut once done',
  },
]
const BACK: readonly Point[] = [
  { name: 'when it has the tables to itself', text: 'DECLARE moving' },
  { name: 'in the middle of the tables', text: 'FETCH', which: 40 },
  { name: 'when the database is marked', text: 'CREATE TRIGGER moved_away', which: 5 },
  { name: 'at the commit', text: 'COMMIT', behind: 'moved_away' },
  {
    name: 'at the commit, unheard',
    text: 'COMMIT',
    behind: 'moved_away',
    verdict: 'cut once done',
  },
]

const input = (dir: string, address: string): MoveInput => ({
  dir,
  address,
  now: Date.now,
  monotonic: () => performance.now(),
  random: randomBytes,
})

describe('a move that is killed', { skip: missing }, () => {
  let server: TestServer
  let proxy: TcpProxy
  let template: string
  const made: string[] = []

  before(async () => {
    server = await startServer()
    proxy = await startProxy(server.port)
    template = await makeInstallation()
    made.push(template)
  })
  after(async () => {
    await proxy?.close()
    await server?.close()
    made.forEach(remove)
  })

  async function places(): Promise<{ dir: string; address: string; file: string }> {
    const dir = copyOf(template)
    made.push(dir)
    const address = await server.database()
    const file = join(dir, 'address')
    writeFileSync(file, address.replace(`:${server.port}/`, `:${proxy.port}/`))
    return { dir, address, file }
  }

  /** Runs the command until it comes to this point; there it is killed. */
  async function killAt(
    { text, which = 1, verdict = 'cut', behind }: Point,
    ...words: string[]
  ): Promise<void> {
    const child = spawn(process.execPath, [LAUNCHER, 'move', ...words], { stdio: 'ignore' })
    let [seen, isBehind] = [0, behind === undefined]
    proxy.judge = (bytes) => {
      if (behind !== undefined && bytes.includes(behind)) isBehind = true
      if (!isBehind || !bytes.includes(text) || ++seen < which) return 'pass'
      child.kill('SIGKILL')
      return verdict
    }
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
    proxy.judge = () => 'pass'
    assert.equal(signal, 'SIGKILL', 'it came to that point')
  }

  const hasBegun = async (address: string) =>
    (await server.run(address, 'select 1 from quartermaster.move')).rows.length > 0

  /** Whether a node serves the database. */
  async function isServed(dir: string, address: string): Promise<boolean> {
    const secretKey = readFileSync(join(dir, 'keys', 'secret-key'), 'utf8').trim()
    try {
      const node = {
        dir: join(dir, 'node'),
        database: address,
        objects: memoryStore({ now: Date.now }),
        secretKey,
        worker: false as const,
      }
      // Without an eye on its log: rows by chance have reports that nobody can open.
      await (await open(node)).close()
      return true
    } catch (error) {
      assert.match(String(error), /is being moved into this database since|was moved into/)
      return false
    }
  }

  async function opens(dir: string): Promise<boolean> {
    try {
      await (await openForTest({ dir, worker: false })).close()
      return true
    } catch (error) {
      assert.match(String(error), /was moved into the database/)
      return false
    }
  }

  for (const point of THERE)
    test(`on its way there, ${point.name}, ends right when it is run again`, async () => {
      const { dir, address, file } = await places()
      await killAt(point, '--preview', '--to-file', file, '--dir', dir)
      // A node would make an installation of its own where there is none.
      const known = await server.run(address, `select to_regclass('quartermaster.move') as name`)
      const begun = known.rows[0]!['name'] !== null && (await hasBegun(address))
      const [folder, database] = [await opens(dir), begun && (await isServed(dir, address))]
      assert.ok(!(folder && database), 'both are served')
      const done = await moveToPostgres(input(dir, address))
      assert.equal(done.was_done, database)
      assert.equal(await opens(dir), false)
      if (!database) assert.deepEqual(await rowsInDatabase(address), withoutFile(rowsInFolder(dir)))
      assert.equal(await isServed(dir, address), true)
    })

  for (const point of BACK)
    test(`on its way back, ${point.name}, ends right when it is run again`, async () => {
      const { dir, address, file } = await places()
      await moveToPostgres(input(dir, address))
      const before = rowsInFolder(dir)
      await killAt(point, '--from-file', file, '--dir', dir)
      const [folder, database] = [await opens(dir), await isServed(dir, address)]
      assert.ok(!(folder && database), 'both are served')
      const there = withoutFile(await rowsInDatabase(address))
      await moveFromPostgres(input(dir, address))
      assert.deepEqual(withoutFile(rowsInFolder(dir)), withoutPulls(there))
      if (!database) assert.deepEqual(rowsInFolder(dir), withoutPulls(before))
      assert.equal(await isServed(dir, address), false)
      assert.equal(await opens(dir), true)
      assert.ok(existsSync(join(dir, 'orders.journal')))
    })

  test('and whose folder was served since, begins anew', async () => {
    const { dir, address, file } = await places()
    await killAt({ name: '', text: 'ANALYZE' }, '--preview', '--to-file', file, '--dir', dir)
    const app = await openForTest({ dir, worker: false })
    await app.operator.subscribers.create({ name: 'Late', email: 'late@shop.example' })
    await app.close()
    await moveToPostgres(input(dir, address))
    assert.deepEqual(await rowsInDatabase(address), withoutFile(rowsInFolder(dir)))
  })

  test('keeps every other installation out of its database', async () => {
    const { dir, address, file } = await places()
    await killAt({ name: '', text: 'ANALYZE' }, '--preview', '--to-file', file, '--dir', dir)
    const other = await openForTest({ dir: join(dir, 'other'), worker: false })
    await other.close()
    await assert.rejects(
      moveToPostgres(input(join(dir, 'other'), address)),
      /another installation, of .* is being moved into .* name an empty database/,
    )
    await assert.rejects(
      moveFromPostgres(input(join(dir, 'third'), address)),
      /is being moved into/,
    )
    await moveToPostgres(input(dir, address))
  })

  test('and whose database was changed since, is told so by the comparison', async () => {
    for (const [change, table] of [
      [`update quartermaster.setting set value = value || ' ' where value = 'NULL'`, 'setting'],
      [`update quartermaster.journal set line = replace(line, 'intent', 'intend')`, 'journal'],
      [`delete from quartermaster.fraud_signal where hash = 0`, 'fraud_signal'],
    ] as const) {
      const { dir, address, file } = await places()
      await killAt({ name: '', text: 'ANALYZE' }, '--preview', '--to-file', file, '--dir', dir)
      await server.run(address, change)
      await assert.rejects(
        moveToPostgres(input(dir, address)),
        new RegExp(`^Error: ${table} is not in the database db\\d+ at .* as it is in the folder`),
      )
      assert.equal(await opens(dir), true)
      assert.equal(await isServed(dir, address), false)
    }
  })
})
