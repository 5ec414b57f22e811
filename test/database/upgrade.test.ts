/** Folders of earlier and later schemas, and the way back from an upgrade. */
import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { verifyBackup } from '../../lib/app/backup/backup.js'
import { restoreBackup } from '../../lib/app/backup/restore.js'
import { silentLog } from '../../lib/core/log.js'
import { openSqlite } from '../../lib/db/sqlite/driver.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { migrate } from '../../lib/db/sqlite/migrate.js'
import { quartermasterSchema } from '../../lib/db/migrations/quartermaster.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import type { Raw } from '../../lib/db/sqlite/sqlite.js'
import { openForTest as open } from '../../server/testing/open.js'

const NEWEST = quartermasterSchema.length
const secretKey = 'ab'.repeat(32)

let scratch: string
let places = 0
before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-upgrade-'))
})
after(() => rmSync(scratch, { recursive: true, force: true }))

/** A folder as the release with this schema left it, with a row in each table that can have one. */
function folderOf(schema: number): { dir: string; rows: Map<string, number> } {
  const dir = join(scratch, `place-${++places}`)
  mkdirSync(dir)
  const raw = openFile(filesIn(dir).record, { synchronous: 'FULL' })
  try {
    migrate(raw, 'quartermaster.db', quartermasterSchema.slice(0, schema))
    return { dir, rows: fill(raw) }
  } finally {
    raw.close()
  }
}

/** The first start writes these itself. */
const OWN = new Set(['secret_key', 'data_key', 'state', 'order_engine', 'audit', 'journal'])

interface ColumnInfo {
  name: string
  type: string
  pk: number
}

/** Tables of their own: not those that an index of texts or places is made of. */
function tablesIn(raw: Raw): { name: string; sql: string }[] {
  const sql = raw.prepare('SELECT sql FROM main.sqlite_schema WHERE name = ?').pluck()
  return (raw.pragma('main.table_list') as { name: string; type: string }[])
    .filter(({ name, type }) => type === 'table' && !name.startsWith('sqlite_'))
    .map(({ name }) => ({ name, sql: sql.get(name) as string }))
}

/** A row in each table: every reference meets its row, since all rows hold the same values. */
function fill(raw: Raw): Map<string, number> {
  raw.pragma('foreign_keys = OFF')
  const tables = tablesIn(raw)
  const rows = new Map<string, number>()
  for (const { name, sql } of tables) {
    if (OWN.has(name)) continue
    const columns = raw.pragma(`table_info(${name})`) as ColumnInfo[]
    const values = columns.map((column) => valueOf(column, sql))
    try {
      raw
        .prepare(
          `INSERT INTO ${name} (${columns.map((column) => `"${column.name}"`).join()}) ` +
            `VALUES (${columns.map(() => '?').join()})`,
        )
        .run(...values)
    } catch (error) {
      // A rule that couples columns, which a row of the same values cannot keep.
      if (!/CHECK constraint/.test((error as Error).message)) throw error
    }
    rows.set(name, raw.prepare(`SELECT count(*) FROM ${name}`).pluck().get() as number)
  }
  return rows
}

/** What a column takes: one of the words that its rule names, or something of its type. */
function valueOf({ name, type }: ColumnInfo, sql: string): unknown {
  const named = new RegExp(`\\b${name} IN \\('([^']*)'`).exec(sql)?.[1]
  if (named !== undefined) return named
  if (type === 'BLOB') return Buffer.from('x')
  return type === 'TEXT' ? '1' : 1
}

/** Gives a closed installation the schema of the release before, with its rows. */
function setBack(dir: string): void {
  const { record } = filesIn(dir)
  renameSync(record, `${record}.newer`)
  const raw = openFile(record, { synchronous: 'FULL' })
  try {
    migrate(raw, 'quartermaster.db', quartermasterSchema.slice(0, NEWEST - 1))
    raw.pragma('foreign_keys = OFF')
    raw.prepare('ATTACH ? AS newer').run(`${record}.newer`)
    const tables = tablesIn(raw)
    for (const { name: table } of tables) {
      const columnsOf = (schema: string) =>
        (raw.pragma(`${schema}.table_info(${table})`) as ColumnInfo[]).map(({ name }) => name)
      const shared = columnsOf('main').filter((name) => columnsOf('newer').includes(name))
      if (shared.length === 0) continue
      raw.exec(
        `INSERT OR REPLACE INTO main.${table} (${shared.join()}) ` +
          `SELECT ${shared.join()} FROM newer.${table}`,
      )
    }
  } finally {
    raw.close()
    rmSync(`${record}.newer`)
  }
}

const backupsIn = (dir: string) => readdirSync(join(dir, 'backups')).sort()

describe('a folder of an earlier schema', () => {
  for (let schema = 1; schema < NEWEST; schema++)
    test(`${schema} of ${NEWEST} is opened, and loses no row`, async () => {
      const { dir, rows } = folderOf(schema)
      assert.ok([...rows.values()].filter((count) => count > 0).length >= 5, [...rows].join(' '))
      await (await open({ dir, worker: false, secretKey })).close()
      const raw = openSqlite(filesIn(dir).record)
      assert.equal(raw.pragma('user_version', { simple: true }), NEWEST)
      assert.equal(raw.pragma('integrity_check', { simple: true }), 'ok')
      for (const [name, count] of rows) {
        const is =
          raw.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) === undefined
            ? count
            : raw.prepare(`SELECT count(*) FROM ${name}`).pluck().get()
        assert.ok((is as number) >= count, `${name} had ${count} rows, and has ${String(is)}`)
      }
      raw.close()
    })
})

describe('an upgrade', () => {
  test('makes a backup first, verifies it, and says where it lies', async () => {
    const { dir } = folderOf(NEWEST - 1)
    const said: [object, string][] = []
    const log = { ...silentLog, warn: (...line: [object, string]) => said.push(line) }
    const at = Date.UTC(2026, 10, 25, 12)
    await (await open({ dir, worker: false, secretKey, log, now: () => at })).close()
    const name = `before-schema-${NEWEST}-20261125T120000`
    assert.deepEqual(backupsIn(dir), [name])
    const backup = join(dir, 'backups', name)
    assert.equal((await verifyBackup(backup)).schema, NEWEST - 1)
    assert.deepEqual(said, [
      [
        { backup, from: NEWEST - 1, to: NEWEST },
        'the system of record is brought up to date; the way back is the backup that was made of it',
      ],
    ])
    // The next start has nothing to do.
    await (await open({ dir, worker: false, secretKey })).close()
    assert.deepEqual(backupsIn(dir), [name])
  })

  test('keeps the last three of them', async () => {
    const { dir } = folderOf(NEWEST - 1)
    for (let day = 1; day <= 5; day++) {
      const raw = openSqlite(filesIn(dir).record)
      raw.close()
      rmSync(filesIn(dir).record)
      rmSync(join(dir, 'keys'), { recursive: true, force: true })
      const fresh = openFile(filesIn(dir).record, { synchronous: 'FULL' })
      migrate(fresh, 'quartermaster.db', quartermasterSchema.slice(0, NEWEST - 1))
      fresh.close()
      const at = Date.UTC(2026, 10, day)
      await (await open({ dir, worker: false, secretKey, now: () => at })).close()
    }
    assert.deepEqual(
      backupsIn(dir),
      [3, 4, 5].map((day) => `before-schema-${NEWEST}-2026110${day}T000000`),
    )
  })

  test('does nothing where there is no room for the backup, and says how much', async () => {
    const { dir } = folderOf(NEWEST - 1)
    await assert.rejects(
      open({ dir, worker: false, secretKey, faults: { freeBytes: () => 1_000_000 } }),
      /there is no room for the backup that it makes first: free \d+ MB, and start again/,
    )
    const raw = openSqlite(filesIn(dir).record)
    assert.equal(raw.pragma('user_version', { simple: true }), NEWEST - 1)
    raw.close()
  })

  test('can be taken back by what the release before says', async () => {
    const { dir } = folderOf(NEWEST - 1)
    const app = await open({ dir, worker: false, secretKey })
    await app.operator.subscribers.create({ name: 'Shop', email: 'a@shop.example' })
    await app.close()
    const raw = openSqlite(filesIn(dir).record)
    raw.pragma(`user_version = ${NEWEST + 1}`)
    raw.close()
    const [name] = backupsIn(dir)
    const refusal = await open({ dir, worker: false, secretKey }).then(
      () => '',
      (error: unknown) => (error as Error).message,
    )
    assert.equal(
      refusal,
      `quartermaster.db was written by a newer release (schema ${NEWEST + 1}, this one knows ` +
        `${NEWEST}); install that release again, or restore a backup that was made before the ` +
        `upgrade: quartermaster restore ${join(dir, 'backups', name!)} --dir ${dir}`,
    )
  })
})

describe('a backup before an upgrade', () => {
  test('is put back over the folder of the newer release, as any backup', async () => {
    const dir = join(scratch, `place-${++places}`)
    const app = await open({ dir, worker: false, secretKey })
    await app.operator.subscribers.create({ name: 'Shop', email: 'a@shop.example' })
    await app.close()
    setBack(dir)
    await (await open({ dir, worker: false, secretKey })).close()
    const [name] = backupsIn(dir)
    const raw = openSqlite(filesIn(dir).record)
    raw.exec('DELETE FROM subscriber')
    raw.pragma(`user_version = ${NEWEST + 1}`)
    raw.close()
    // Whatever else the newer release has brought up to date must not keep this one out.
    for (const name of ['meter', 'decisions', 'history'] as const) {
      const newer = openSqlite(filesIn(dir)[name])
      newer.pragma('user_version = 999')
      newer.close()
    }
    const document = join(dir, 'objects', 'documents', 'license.pdf')
    mkdirSync(dirname(document), { recursive: true })
    writeFileSync(document, 'a license')
    await restoreBackup({ backup: join(dir, 'backups', name!), dir, secretKey })
    await using again = await open({ dir, worker: false, secretKey })
    assert.deepEqual(
      (await again.operator.subscribers.list()).map((shop) => shop.name),
      ['Shop'],
    )
    assert.deepEqual(backupsIn(dir), [name])
    // It holds the system of record alone: the rest stays.
    assert.equal(readFileSync(document, 'utf8'), 'a license')
  })
})
