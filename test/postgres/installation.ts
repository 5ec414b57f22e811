/** A folder that has something in every table that moves, and what a place has of it. */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '../../lib/db/sqlite/driver.js'
import type { Raw } from '../../lib/db/sqlite/driver.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { MOVED_TABLES, databasesOf } from '../../lib/db/move/tables.js'
import { superClient } from '../harness/postgres.js'
import { orderShop } from '../orders/shop.js'
import { scripted } from '../orders/scripted-distributor.js'

/** Made once, and copied for each use. */
export async function makeInstallation(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'qm-installation-'))
  const distributor = scripted()
  const t = await orderShop([distributor])
  try {
    for (let i = 0; i < 6; i++) await t.place(t.body())
    distributor.acts.push({
      accept: false,
      answer: { outcome: 'rejected', reason: 'no stock' } as never,
    })
    await t.place(t.body())
    await t.later(60_000, 2)
    await t.app.close()
    cpSync(t.app.dir, dir, { recursive: true })
  } finally {
    await t.close()
  }
  for (const database of databasesOf(MOVED_TABLES)) {
    const raw = openSqlite(filesIn(dir)[database])
    try {
      if (database === 'record') addHardOnes(raw)
      for (const table of MOVED_TABLES) if (table.database === database) fill(raw, table.name)
    } finally {
      raw.close()
    }
  }
  return dir
}

/** Beyond the whole numbers of JavaScript. */
export const HUGE = 9_007_199_254_740_993n
/** What a driver could take for something else. */
export const HARD = ['', 'NULL', '{"a",NULL}', 'O\'Neill \\ "x"', 'Zürich ☃ 🙂 \ufffd', 'a\r\n\tb']

/** Values that are easily spoiled on their way. */
function addHardOnes(raw: Raw): void {
  const order = raw.prepare('SELECT id FROM fulfillment_order').pluck().get()
  const setting = raw.prepare('INSERT INTO setting VALUES (?, ?)')
  const change = raw.prepare('INSERT INTO fulfillment_change VALUES (NULL, ?, 1, ?, ?, NULL)')
  const parcel = raw.prepare(
    `INSERT INTO parcel (fulfillment_order_id, subscriber_id, tracking_number, updated_at)
      VALUES (?, 's', ?, 1)`,
  )
  for (const [i, text] of [...HARD, 'long '.repeat(50_000)].entries()) {
    setting.run(`hard ${i} ${text.slice(0, 20)}`, text)
    change.run(order, text.slice(0, 100), text)
    parcel.run(order, `1Z${i}${text.slice(0, 30)}`)
  }
  const use = raw.prepare('INSERT INTO fraud_use VALUES (?, ?, ?)')
  // Alike, in a table without a key.
  for (let i = 0; i < 5; i++) use.run('key', 'check', i % 2)
  const report = raw
    .prepare(
      `INSERT INTO fraud_report (dealer, key, strong, reported_at, updated_at, payload)
        VALUES ('d', 'k', 's', 1, 1, 'p') RETURNING id`,
    )
    .pluck()
    .get()
  for (const hash of [HUGE, -HUGE, 2n ** 63n - 1n, -(2n ** 63n), 0n])
    raw.prepare('INSERT INTO fraud_signal VALUES (?, ?)').run(hash, report)
  for (const name of ['Ä', 'a', 'B', '_', 'Z'])
    raw.prepare('INSERT INTO console_try VALUES (?, 1, 2)').run(name)
  // Numbers that were given and whose rows are gone.
  raw.prepare(`INSERT INTO event VALUES (77, 'u', 'k', 's', 'told', 'info', 'm', NULL, 1)`).run()
  raw.exec('DELETE FROM event WHERE id = 77')
}

/** A row for a table that has none: what it refers to is there. */
function fill(raw: Raw, table: string): void {
  if (raw.prepare(`SELECT 1 FROM ${table}`).get() !== undefined) return
  const text = raw
    .prepare('SELECT sql FROM sqlite_schema WHERE name = ?')
    .pluck()
    .get(table) as string
  const references = raw.pragma(`foreign_key_list(${table})`) as { from: string; table: string }[]
  const columns = raw.pragma(`table_info(${table})`) as { name: string; type: string }[]
  const values = columns.map(({ name, type }) => {
    const parent = references.find((one) => one.from === name)?.table
    if (parent !== undefined) {
      const [key] = (raw.pragma(`table_info(${parent})`) as { name: string; pk: number }[]).filter(
        ({ pk }) => pk > 0,
      )
      return raw.prepare(`SELECT "${key!.name}" FROM ${parent}`).pluck().get()
    }
    const named = new RegExp(`\\b${name} IN \\('([^']*)'`).exec(text)?.[1]
    if (named !== undefined) return named
    if (name === 'rules') return '[]'
    return type === 'BLOB' ? Buffer.from([0, 1, 127, 128, 255]) : type === 'TEXT' ? '1' : 1
  })
  raw
    .prepare(
      `INSERT INTO ${table} (${columns.map(({ name }) => `"${name}"`).join()}) ` +
        `VALUES (${columns.map(() => '?').join()})`,
    )
    .run(...values)
}

export function copyOf(dir: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'qm-moved-'))
  cpSync(dir, copy, { recursive: true })
  return copy
}

export const remove = (dir: string): void => rmSync(dir, { recursive: true, force: true })

/** Every row of every table that moves, as text, whatever its order. */
export type Rows = Record<string, string[]>

const asText = (value: unknown) =>
  value === null ? null : Buffer.isBuffer(value) ? `bytes ${value.toString('hex')}` : String(value)
const asRow = (row: Record<string, unknown>) =>
  JSON.stringify(
    Object.keys(row)
      .toSorted()
      .map((name) => [name, asText(row[name])]),
  )

export function rowsInFolder(dir: string): Rows {
  return Object.fromEntries(
    databasesOf(MOVED_TABLES).flatMap((database) => {
      const raw = openSqlite(filesIn(dir)[database], { readonly: true })
      try {
        return MOVED_TABLES.filter((table) => table.database === database).map(({ name }) => [
          name,
          (raw.prepare(`SELECT * FROM ${name}`).safeIntegers().all() as Record<string, unknown>[])
            .map(asRow)
            .toSorted(),
        ])
      } finally {
        raw.close()
      }
    }),
  )
}

/** By a driver that knows nothing of ours. */
/** But for what only nodes have; without it they would not hear of each other's catalogs. */
export async function rowsInDatabase(address: string): Promise<Rows> {
  const client = superClient(address)
  await client.connect()
  try {
    const rows: Rows = {}
    for (const { name } of MOVED_TABLES)
      rows[name] = (await client.query(`SELECT * FROM quartermaster."${name}"`)).rows
        .map(asRow)
        .toSorted()
    const ofNodes = rows['state']!.findIndex((row) => row.includes('catalog'))
    assert.ok(ofNodes >= 0)
    rows['state']!.splice(ofNodes, 1)
    return rows
  } finally {
    await client.end()
  }
}

/** Without what tells how far the file of the journal goes, which PostgreSQL has not. */
export function withoutFile(rows: Rows): Rows {
  return {
    ...rows,
    order_engine: rows['order_engine']!.filter((row) => !row.includes('journaled')),
  }
}

/** A folder into which a record has come back has every source pulled at once. */
export function withoutPulls(rows: Rows): Rows {
  const feeds = rows['feed_source']!.map((row) =>
    row.replace(/\["last_pull_at",[^\]]*\]/, '["last_pull_at",null]'),
  )
  return { ...rows, feed_source: feeds.toSorted() }
}

/** How many triggers its record has. */
export function triggersIn(dir: string): number {
  const raw = openSqlite(filesIn(dir).record, { readonly: true })
  try {
    return raw
      .prepare(`SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'`)
      .pluck()
      .get() as number
  } finally {
    raw.close()
  }
}
