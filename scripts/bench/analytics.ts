/**
 * The seven metrics over 90 days of 250,000 UPCs at twelve distributors (a million offers, a fifth
 * of which change each day).
 *   nice -n 10 npx tsx scripts/bench/analytics.ts [offers] [days]
 *
 *   rebuild   all of it, as shipped: process, catalog, history, queries, files; against a bare
 *             DuckDB scan of the same days on one thread, and against SQLite summing up the same
 *             rows for the four windows; goal <= 0.6 x SQLite, < 600 MB
 *   search    how long a search takes during a rebuild, against the same search without one
 *   answers   the first one of a metric for a set of distributors, and from the cache; delay of the
 *             main loop meanwhile, goal <= 20 ms
 * The process of a rebuild is nice, so on a busy machine the whole is run so.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import duckdb from '@duckdb/node-api'
import * as esbuild from 'esbuild'
import { dayFile, historyPaths } from '../../lib/analytics/history/files.js'
import { METRICS, SLUGS } from '../../lib/analytics/metrics/index.js'
import { WINDOWS } from '../../lib/analytics/metrics/metric.js'
import { readCatalog } from '../../lib/analytics/builds/read-catalog.js'
import { DAY, HOUR, dayOf, startOfDay } from '../../lib/core/clock.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { open } from '../../lib/app/open.js'
import { BENCH_DISTIDS, writeOffers } from './offers.js'
import { benchDistributors, benchDocument, searches } from './shop.js'

const OFFERS = Number(process.argv[2] ?? 1_000_000)
const DAYS = Number(process.argv[3] ?? 90)
const ROUNDS = 2
const NOW = Date.UTC(2026, 10, 21, 12)

const dir = mkdtempSync(join(tmpdir(), 'qm-bench-'))
const peaks: number[] = []
let processor = 0
const log = {
  debug() {},
  warn() {},
  error: console.error,
  info({ peak, cpu }: { peak?: number; cpu?: number }) {
    if (peak === undefined) return
    peaks.push(peak)
    processor = cpu!
  },
}
// As it is shipped: a loader of source texts would take longer to start than many a query.
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
const app = await open({
  dir,
  now: () => NOW,
  monotonic: () => performance.now(),
  distributors: benchDistributors(),
  worker: false,
  log: log as never,
  faults: { analytics: { file: resolve('dist/bench/duckdb.mjs'), limit: HOUR } },
})
const subscriber = await app.operator.subscribers.create({
  name: 'Bench',
  email: 'bench@shop.example',
})
const instance = await duckdb.DuckDBInstance.create(':memory:', {
  threads: '1',
  memory_limit: '2GB',
  temp_directory: dir,
})
const duck = await instance.connect()

await generate()
await app.operator.configurations.put(subscriber.name, { document: benchDocument(BENCH_DISTIDS) })
for (const distid of BENCH_DISTIDS)
  await app.operator.configurations.recordCheck(subscriber.name, distid, true)
await app.ctx.catalog.refresh()

/**
 * A catalog, and a history that ends in it: each day a fifth of the offers sold some, were filled
 * up or were priced anew.
 */
async function generate(): Promise<void> {
  const catalog = openFile(filesIn(dir).catalog, { synchronous: 'NORMAL' })
  writeOffers(catalog, OFFERS)
  catalog.exec(
    'INSERT INTO tally SELECT distid, count(*), count(price), sum(qty > 0) FROM offer GROUP BY distid',
  )
  await readCatalog(duck, catalog, mkdtempSync(join(dir, 'texts-')))
  catalog.close()
  await duck.run(
    'CREATE TABLE pair AS SELECT distid, gtin, min(price) AS price, sum(qty)::INTEGER AS qty ' +
      'FROM catalog_offer GROUP BY ALL ORDER BY distid, gtin',
  )
  const { days, state } = historyPaths(dir)
  mkdirSync(days, { recursive: true })
  const today = startOfDay(NOW)
  for (let ago = DAYS; ago >= 1; ago--) {
    const chance = `hash(gtin, distid, ${ago})`
    await duck.run(`COPY (
      SELECT DATE '${dayOf(today - ago * DAY)}' AS day, distid, gtin,
        (price * (1 + CASE WHEN hash(gtin) % 20 = 0 AND hash(gtin, 1) % 60 < ${ago} THEN 0.15
        ELSE 0 END))::INTEGER AS price, qty,
        (${chance} % 7)::INTEGER AS sold, (${chance} % 11 = 0)::INTEGER AS restocks,
        CASE WHEN ${chance} % 40 = 0 THEN ${today - ago * DAY + 6 * HOUR} END::BIGINT
          AS zero_since, CASE WHEN ${chance} % 40 = 1 THEN ${today - ago * DAY + 9 * HOUR}
          END::BIGINT AS back_at, NULL::BIGINT AS first_at, true AS listed
      FROM pair WHERE (${chance} >> 8) % 5 = 0
        ORDER BY distid, gtin) TO '${dayFile(dir, dayOf(today - ago * DAY))}' (FORMAT parquet,
        COMPRESSION snappy, ROW_GROUP_SIZE 122880)`)
  }
  await duck.run(`COPY (
    SELECT distid, stockid, gtin, price, qty, listed, held, qty_before, changed_at, zero_since, back_at, first_at FROM (
      SELECT distid, 'S' || text AS stockid, gtin, price, qty, true AS listed, false AS held,
        qty AS qty_before, ${today - DAY}::BIGINT AS changed_at, NULL::BIGINT AS zero_since,
        NULL::BIGINT AS back_at, NULL::BIGINT AS first_at FROM catalog_offer
      UNION ALL
      SELECT distid, NULL, gtin, price, qty, true, NULL, NULL, NULL,
        CASE WHEN hash(gtin, distid) % 3 = 0
        OR qty = 0 THEN ${today} - (hash(gtin, distid) % 60 + 20)::BIGINT * ${DAY} END,
        CASE WHEN hash(gtin, distid) % 3 = 0
          AND qty > 0 THEN ${today} - (hash(gtin, distid) % 20)::BIGINT * ${DAY} END,
          ${today} - (CASE WHEN hash(gtin) % 50 = 0 THEN hash(gtin, 2) % 90 ELSE 400 END)::BIGINT
          * ${DAY} FROM pair)
    ) TO '${state}' (FORMAT parquet, COMPRESSION snappy, KV_METADATA {day: '${dayOf(today - DAY)}'})`)
  const [[rows, pairs, items]] = (
    await duck.runAndReadAll(
      `SELECT (SELECT count(*) FROM '${days}/*.parquet')::INTEGER, (SELECT count(*) FROM ` +
        'pair)::INTEGER, (SELECT count(DISTINCT gtin) FROM pair)::INTEGER',
    )
  ).getRows() as [[number, number, number]]
  const size = readdirSync(days).reduce((sum, name) => sum + statSync(join(days, name)).size, 0)
  console.log(
    `${rows.toLocaleString('en-US')} day rows of ${items.toLocaleString('en-US')} UPCs and ` +
      `${pairs.toLocaleString('en-US')} pairs with a distributor, ${(size / 1e6).toFixed(0)} MB`,
  )
}

async function timed(run: () => unknown): Promise<number> {
  const start = performance.now()
  await run()
  return performance.now() - start
}

/**
 * Milliseconds of a processor, which say more than the clock where others want the processor too.
 */
async function spentOn(run: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** Every column of every day, once. */
const scan = () =>
  duck.run(
    'SELECT count(*), min(day), max(distid), sum(gtin), sum(price), sum(qty), sum(sold), ' +
      'sum(restocks), max(zero_since), max(back_at), max(first_at), bool_and(listed) FROM ' +
      `'${historyPaths(dir).days}/*.parquet'`,
  )

/**
 * The same rows in SQLite, in the order of their days, and the sums of the four windows for each
 * pair.
 */
async function makeSqlite() {
  const raw = openFile(join(dir, 'yardstick.db'), { synchronous: 'NORMAL' })
  raw.pragma('cache_size = -524288')
  raw.exec(
    'CREATE TABLE daily (ago INTEGER, distid TEXT, gtin INTEGER, price INTEGER, qty INTEGER, ' +
      'sold INTEGER, restocks INTEGER) STRICT',
  )
  const insert = raw.prepare('INSERT INTO daily VALUES (?, ?, ?, ?, ?, ?, ?)')
  const result = await duck.stream(
    `SELECT (DATE '${dayOf(NOW)}' - day)::INTEGER, distid, gtin::DOUBLE, price, qty, sold, ` +
      `restocks FROM '${historyPaths(dir).days}/*.parquet'`,
  )
  raw.exec('BEGIN')
  for (
    let chunk = await result.fetchChunk();
    chunk && chunk.rowCount > 0;
    chunk = await result.fetchChunk()
  ) {
    const columns = chunk.getColumns()
    for (let i = 0; i < chunk.rowCount; i++) insert.run(columns.map((column) => column[i]))
  }
  raw.exec('COMMIT')
  const sums = WINDOWS.flatMap((days) =>
    ['sold', 'restocks'].map((what) => `sum(${what}) FILTER (WHERE ago < ${days})`),
  ).join(', ')
  return {
    raw,
    roll: () =>
      raw.exec(
        `CREATE TABLE rolled AS SELECT distid, gtin, ${sums}, max(price) FROM daily GROUP BY ` +
          'distid, gtin; DROP TABLE rolled',
      ),
  }
}

const at = (times: number[], share: number) => times[Math.floor(times.length * share)]!
const best = (list: number[]) => Math.min(...list)
const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`
const shop = app.as(subscriber.name)

/** Where the last rebuild spent its time. */
let steps: [words: string, ms: number][] = []
const rebuild = () => {
  steps = []
  let before = performance.now()
  let doing = 'start'
  return app.operator.analytics.rebuild({
    onProgress: (_done, _total, words) => {
      steps.push([doing.replace(/,.*/, ''), performance.now() - before])
      ;[before, doing] = [performance.now(), words]
    },
  })
}
const sqlite = await makeSqlite()
const times = { rebuild: [] as number[], scan: [] as number[], sqlite: [] as number[] }
const cpu = { rebuild: [] as number[], scan: [] as number[], sqlite: [] as number[] }
for (let round = 0; round < ROUNDS; round++) {
  times.scan.push(await timed(async () => cpu.scan.push(await spentOn(scan))))
  times.rebuild.push(await timed(rebuild))
  cpu.rebuild.push(processor)
  times.sqlite.push(await timed(async () => cpu.sqlite.push(await spentOn(sqlite.roll))))
}
sqlite.raw.close()
console.log(
  `rebuild ${seconds(best(times.rebuild))}; bare scan ${seconds(best(times.scan))}, ratio ` +
    `${(best(times.rebuild) / best(times.scan)).toFixed(1)}; SQLite's sums ` +
    `${seconds(best(times.sqlite))}, ratio ` +
    `${(best(times.rebuild) / best(times.sqlite)).toFixed(2)} (goal <= 0.6); most memory ` +
    `${(Math.max(...peaks) / 1e6).toFixed(0)} MB (goal < 600)`,
)
console.log(
  `of a processor: rebuild ${seconds(best(cpu.rebuild))}, bare scan ` +
    `${seconds(best(cpu.scan))}, ratio ${(best(cpu.rebuild) / best(cpu.scan)).toFixed(1)}; ` +
    `SQLite's sums ${seconds(best(cpu.sqlite))}, ratio ` +
    `${(best(cpu.rebuild) / best(cpu.sqlite)).toFixed(2)}`,
)
const spent = new Map<string, number>()
for (const [words, ms] of steps) spent.set(words, (spent.get(words) ?? 0) + ms)
console.log(
  `the last one: ${[...spent].map(([words, ms]) => `${words} ${(ms / 1_000).toFixed(2)}`).join(', ')} s`,
)
const folder = join(dir, 'analytics', app.ctx.analytics.status()!.build)
console.log(
  `files: ${readdirSync(folder)
    .map((name) => `${name} ${(statSync(join(folder, name)).size / 1e6).toFixed(1)}`)
    .join(', ')} MB`,
)

const idle = await searches(
  shop,
  new Promise((done) => {
    setTimeout(done, 5_000)
  }),
)
const busy = await searches(shop, rebuild())
console.log(
  `search during a rebuild: p50 ${(at(busy, 0.5) / at(idle, 0.5)).toFixed(2)} x, p99 ` +
    `${(at(busy, 0.99) / at(idle, 0.99)).toFixed(2)} x of ${at(idle, 0.5).toFixed(2)} and ` +
    `${at(idle, 0.99).toFixed(2)} ms without one (${busy.length} searches)`,
)

for (const { slug } of METRICS) {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const first = await timed(() => shop.analytics({ metric: slug, window: '30d' }))
  delay.disable()
  const another = await timed(() =>
    shop.analytics({ metric: slug, window: '30d', product_class: 'KN', limit: 200 }),
  )
  const cached: number[] = []
  for (let i = 0; i < 2_000; i++)
    cached.push(await timed(() => shop.analytics({ metric: slug, window: '30d' })))
  cached.sort((a, b) => a - b)
  console.log(
    `${slug}: first ${first.toFixed(0)} ms (loop p99 ` +
      `${(delay.percentile(99) / 1e6).toFixed(1)}, worst ${(delay.max / 1e6).toFixed(1)} ms), ` +
      `another filter ${another.toFixed(1)} ms, from the cache p50 ` +
      `${at(cached, 0.5).toFixed(3)}, p99 ${at(cached, 0.99).toFixed(3)} ms`,
  )
}
console.log(`${SLUGS.length} metrics kept: ${JSON.stringify(app.ctx.analytics.kept())}`)
await app.close()
instance.closeSync()
rmSync(dir, { recursive: true, force: true })
