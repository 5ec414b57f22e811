/**
 * The roll-up of a long history against SQLite, which sums up the same changes day by
 * day on one thread. SQLite is spared what is given back, held or vanished; where both count the
 * same they must agree. The process of the roll-up is nice, so on a busy machine the whole is run
 * so:
 *   nice -n 10 npx tsx scripts/bench/history-rollup.ts [days] [items]
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import duckdb from '@duckdb/node-api'
import * as esbuild from 'esbuild'
import { startAnalytics } from '../../lib/analytics/builds/child-start.js'
import { dayFile, daysIn, historyPaths } from '../../lib/analytics/history/files.js'
import { DAY, HOUR } from '../../lib/core/clock.js'
import type { OperatorCtx } from '../../lib/app/ctx.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { migrate } from '../../lib/db/sqlite/migrate.js'
import { historySchema } from '../../lib/db/migrations/history.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import type { Raw } from '../../lib/db/sqlite/sqlite.js'

const DAYS = Number(process.argv[2] ?? 90)
const ITEMS = Number(process.argv[3] ?? 250_000)
const DISTRIBUTORS = 12
const FEEDS = 4
const FIRST = Date.UTC(2026, 0, 1)

/**
 * Four feeds a day from each of twelve distributors; four of five items change once a day, the
 * first day brings them all.
 */
function fill(history: Raw): number {
  const change = history.prepare(
    'INSERT INTO change (at, distid, stockid, upc, price, qty, gone, held) VALUES (?, ?, ?, ?, ?, ?, 0, 0)',
  )
  const seen = history.prepare('INSERT INTO seen (distid, at) VALUES (?, ?)')
  const keys = Array.from(
    { length: ITEMS },
    (_, i) => [`SKU${String(i).padStart(7, '0')}`, String(700_000_000_000 + i)] as const,
  )
  const qty = new Int32Array(ITEMS).map((_, i) => (i * 13) % 50)
  let rows = 0
  for (let day = 0; day < DAYS; day++) {
    history.exec('BEGIN')
    for (let feed = 0; feed < FEEDS; feed++) {
      for (let dist = 0; dist < DISTRIBUTORS; dist++) {
        const [at, distid] = [
          FIRST + day * DAY + (feed * 6 + 1) * HOUR + dist,
          `D${String(dist).padStart(2, '0')}`,
        ]
        for (let i = dist; i < ITEMS; i += DISTRIBUTORS) {
          // Multiplied, so that the same items do not come in the same feed each day.
          const mixed = (Math.imul(i + 1, 2_654_435_761) + Math.imul(day, 40_503)) >>> 8
          if (day === 0 ? feed > 0 : mixed % 5 === 0 || (mixed >>> 3) % FEEDS !== feed) continue
          if (day > 0) qty[i] = qty[i]! > 3 ? qty[i]! - 1 - (mixed % 3) : mixed % 7 === 0 ? 40 : 0
          change.run(
            at,
            distid,
            keys[i]![0],
            keys[i]![1],
            1_000 + (i % 90_000) + (mixed % 11 === 0 ? day : 0),
            qty[i],
          )
          rows++
        }
        seen.run(distid, at)
      }
    }
    history.exec('COMMIT')
  }
  history.pragma('wal_checkpoint(TRUNCATE)')
  return rows
}

/** The yardstick, with the tables and keys that suit it. */
function rollUpBySqlite(raw: Raw, history: string): void {
  raw.pragma('cache_size = -262144')
  raw.exec(`ATTACH '${history}' AS history;
    CREATE TABLE offer (distid TEXT, stockid TEXT, gtin INTEGER, price INTEGER, qty INTEGER,
      PRIMARY KEY (distid, stockid)) WITHOUT ROWID;
    CREATE TABLE item (distid TEXT, gtin INTEGER, qty INTEGER, price INTEGER, zero_since INTEGER,
      back_at INTEGER, first_at INTEGER, PRIMARY KEY (distid, gtin)) WITHOUT ROWID;
    CREATE TABLE day_row (day INTEGER, distid TEXT, gtin INTEGER, price INTEGER, qty INTEGER,
      sold INTEGER, restocks INTEGER, zero_since INTEGER, back_at INTEGER, first_at INTEGER)`)
  const steps = [
    'CREATE TEMP TABLE moved (distid TEXT, gtin INTEGER, sold INTEGER, restocks INTEGER, ' +
      'zero_since INTEGER, back_at INTEGER, first_at INTEGER, PRIMARY KEY (distid, gtin)) ' +
      'WITHOUT ROWID',
    'CREATE TEMP TABLE shelf (distid TEXT, gtin INTEGER, qty INTEGER, price INTEGER, PRIMARY ' +
      'KEY (distid, gtin)) WITHOUT ROWID',
    `INSERT INTO moved
      WITH step AS (
        SELECT c.distid, CAST(upc AS INTEGER) AS gtin, at, c.qty, coalesce(lag(c.qty) OVER w, o.qty) AS old
        FROM history.change c LEFT JOIN offer o ON o.distid = c.distid AND o.stockid = c.stockid
          WHERE at >= @from AND at < @until
        WINDOW w AS (PARTITION BY c.distid, c.stockid ORDER BY at)
      ), move AS (SELECT distid, gtin, at, sum(coalesce(qty - old, 0)) AS trade,
        sum(qty - coalesce(old, 0)) AS rise FROM step GROUP BY distid, gtin, at),
      timed AS (
        SELECT m.*, i.gtin IS NULL AS is_new, coalesce(i.qty, 0) + sum(rise)
          OVER (PARTITION BY m.distid, m.gtin ORDER BY at) AS after
        FROM move m LEFT JOIN item i ON i.distid = m.distid AND i.gtin = m.gtin
      )
      SELECT distid, gtin, sum(max(0, -trade)), sum(trade > 0),
        max(at) FILTER (WHERE after = 0 AND rise < 0),
        max(at) FILTER (WHERE after > 0 AND after = rise AND NOT is_new),
        min(at) FILTER (WHERE is_new)
      FROM timed GROUP BY distid, gtin`,
    `INSERT OR REPLACE INTO offer SELECT distid, stockid, CAST(upc AS INTEGER), price, qty
      FROM (SELECT *, row_number() OVER (PARTITION BY distid, stockid ORDER BY at DESC) AS n
        FROM history.change WHERE at >= @from AND at < @until) WHERE n = 1`,
    `INSERT INTO shelf SELECT o.distid, o.gtin, sum(o.qty),
      coalesce(min(o.price) FILTER (WHERE o.qty > 0), min(o.price))
      FROM offer o CROSS JOIN moved m ON m.distid = o.distid AND m.gtin = o.gtin GROUP BY o.distid, o.gtin`,
    `INSERT INTO day_row SELECT @from, m.distid, m.gtin, s.price, s.qty, sold, restocks, zero_since, back_at, first_at
      FROM moved m CROSS JOIN shelf s ON s.distid = m.distid AND s.gtin = m.gtin ORDER BY m.distid, m.gtin`,
    `INSERT INTO item SELECT m.distid, m.gtin, s.qty, s.price, zero_since, back_at, first_at
      FROM moved m CROSS JOIN shelf s ON s.distid = m.distid AND s.gtin = m.gtin WHERE true
      ON CONFLICT DO UPDATE SET qty = excluded.qty, price = excluded.price,
        zero_since = coalesce(excluded.zero_since, zero_since),
        back_at = coalesce(excluded.back_at, back_at)`,
    'DROP TABLE moved',
    'DROP TABLE shelf',
    'DELETE FROM history.change WHERE at >= @from AND at < @until',
  ]
  for (let day = 0; day < DAYS; day++) {
    raw.exec('BEGIN')
    for (const step of steps) {
      const statement = raw.prepare(step)
      const named = { from: FIRST + day * DAY, until: FIRST + (day + 1) * DAY }
      if (step.includes('@until')) statement.run(named)
      else if (step.includes('@')) statement.run({ from: named.from })
      else statement.run()
    }
    raw.exec('COMMIT')
  }
  raw.pragma('wal_checkpoint(TRUNCATE)')
}

const dir = mkdtempSync(join(tmpdir(), 'qm-rollup-'))
try {
  const path = filesIn(dir).history
  await mkdir(dirname(path), { recursive: true })
  const history = openFile(path, { synchronous: 'NORMAL' })
  migrate(history, 'history.db', historySchema)
  history.pragma('cache_size = -262144')
  const rows = fill(history)
  const copy = join(dir, 'copy.db')
  history.prepare('VACUUM INTO ?').run(copy)
  history.close()
  console.log(
    `${rows.toLocaleString('en-US')} changes of ${ITEMS.toLocaleString('en-US')} items in ` +
      `${DAYS} days, history.db ${(statSync(path).size / 1e6).toFixed(0)} MB`,
  )

  // As it is shipped: a loader of source texts would take longer to start than a day's roll-up.
  await esbuild.build({
    entryPoints: { duckdb: 'lib/app/background/duckdb.ts' },
    outdir: join('dist', 'bench'),
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    external: ['better-sqlite3', '@duckdb/node-api'],
    outExtension: { '.js': '.mjs' },
    banner: {
      js:
        "import { createRequire as __createRequire } from 'node:module'; const require = " +
        '__createRequire(import.meta.url);',
    },
  })
  let start = performance.now()
  const { days, peak, cpu } = await startAnalytics(
    { engine: { dir } as OperatorCtx['engine'], now: () => FIRST + DAYS * DAY },
    { task: 'roll-up' },
    { signal: new AbortController().signal, file: resolve('dist/bench/duckdb.mjs'), limit: HOUR },
  )
  const ours = performance.now() - start
  const size = daysIn(dir).reduce((sum, day) => sum + statSync(dayFile(dir, day)).size, 0)
  console.log(
    `roll-up           ${(ours / 1_000).toFixed(1)} s (of the processor ` +
      `${(cpu / 1_000).toFixed(1)}) for ${days.length} days, ${(ours / days.length).toFixed(0)} ` +
      `ms a day; peak memory of its process ${(peak / 1e6).toFixed(0)} MB; days ` +
      `${(size / 1e6).toFixed(0)} MB, state ` +
      `${(statSync(historyPaths(dir).state).size / 1e6).toFixed(0)} MB`,
  )

  const yardstick = openFile(join(dir, 'yardstick.db'), { synchronous: 'NORMAL' })
  start = performance.now()
  const before = process.cpuUsage()
  rollUpBySqlite(yardstick, copy)
  const theirs = performance.now() - start
  const { user, system } = process.cpuUsage(before)
  const theirCpu = (user + system) / 1_000
  console.log(
    `roll-up by SQLite ${(theirs / 1_000).toFixed(1)} s (of the processor ` +
      `${(theirCpu / 1_000).toFixed(1)}), ` +
      `${(statSync(join(dir, 'yardstick.db')).size / 1e6).toFixed(0)} MB`,
  )
  console.log(
    `ratio             ${(ours / theirs).toFixed(3)} x (goal 0.6), of processor time ${(cpu / theirCpu).toFixed(3)} x`,
  )

  const instance = await duckdb.DuckDBInstance.create(':memory:', { threads: '1' })
  const duck = await instance.connect()
  const files = readdirSync(historyPaths(dir).days)
    .map((name) => `'${join(historyPaths(dir).days, name)}'`)
    .join(', ')
  const sums =
    'count(*), sum(price), sum(qty), count(zero_since), sum(zero_since), sum(back_at), sum(first_at)'
  const mine = (await duck.runAndReadAll(`SELECT ${sums} FROM read_parquet([${files}])`))
    .getRows()[0]!
    .map(Number)
  const other = (yardstick.prepare(`SELECT ${sums} FROM day_row`).raw().get() as number[]).map(
    Number,
  )
  instance.closeSync()
  yardstick.close()
  if (JSON.stringify(mine) !== JSON.stringify(other))
    throw new Error(`they differ: ${mine.join(' ')} and ${other.join(' ')}`)
  console.log('price, stock and times agree')
} finally {
  rmSync(dir, { recursive: true, force: true })
}
