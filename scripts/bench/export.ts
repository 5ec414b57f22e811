/**
 * The bulk export of a whole catalog against a bare DuckDB COPY, Parquet to Parquet, of the same
 * rows and columns.
 *   npx tsx scripts/bench/export.ts [offers]
 *
 *   export      the whole call: numbers of the view, process, join, reading back, storing; goal <= 1.3 x, <= 500 MB
 *   attributes  the feed alone, against DuckDB's COPY to csv.gz; goal <= 0.3 x
 *   loop        delay of the main loop during a build; goal p99 <= 20 ms
 *   search      how long a search takes during a build, against the same search without one
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import duckdb from '@duckdb/node-api'
import * as esbuild from 'esbuild'
import { writeAttributes } from '../../lib/exports/attributes.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { PARQUET } from '../../lib/exports/texts.js'
import { open } from '../../lib/app/open.js'
import { BENCH_DISTIDS, writeOffers } from './offers.js'
import { benchDistributors, benchDocument, searches } from './shop.js'

const OFFERS = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = 3

const dir = mkdtempSync(join(tmpdir(), 'qm-bench-'))
const peaks: number[] = []
const stages: string[] = []
const log = {
  info({
    peak,
    build_ms: build,
    store_ms: store,
  }: {
    peak?: number
    build_ms?: number
    store_ms?: number
  }) {
    if (peak === undefined) return
    peaks.push(peak)
    stages.push(`${build} ms process, ${store} ms storing`)
  },
  warn() {},
  error: console.error,
  debug() {},
}
// As it is shipped: a loader of source texts would take longer to start than the build itself.
await esbuild.build({
  entryPoints: { duckdb: 'lib/app/background/duckdb.ts' },
  outdir: join('dist', 'bench'),
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  external: ['better-sqlite3', '@duckdb/node-api'],
  outExtension: { '.js': '.mjs' },
})
const app = await open({
  dir,
  distributors: benchDistributors(),
  worker: false,
  log: log as never,
  faults: { exports: { file: resolve('dist/bench/duckdb.mjs') } },
})
const subscriber = await app.operator.subscribers.create({
  name: 'Bench',
  email: 'bench@shop.example',
})
describe(openFile(filesIn(dir).catalog, { synchronous: 'NORMAL' }))
await app.operator.configurations.put(subscriber.name, { document: benchDocument(BENCH_DISTIDS) })
for (const distid of BENCH_DISTIDS)
  await app.operator.configurations.recordCheck(subscriber.name, distid, true)
await app.ctx.catalog.refresh()
// All of them: the whole catalog is the longest build.
const view = await app.ctx.catalog.view(subscriber, true)
console.log(
  `${OFFERS.toLocaleString('en-US')} offers, ${view.total.toLocaleString('en-US')} of them visible`,
)

/**
 * Descriptions of some hundred characters and eight attributes an offer, as distributors have them.
 */
function describe(catalog: ReturnType<typeof openFile>): void {
  writeOffers(catalog, OFFERS)
  const words = (
    'barrel stainless threaded optic ready polymer frame steel slide match trigger night ' +
    'sight rail walnut stock synthetic bolt action finish black capacity magazine grip ' +
    'texture ambidextrous safety'
  ).split(' ')
  const state = { seed: 7 }
  const below = (n: number) =>
    (state.seed = (state.seed * 1_103_515_245 + 12_345) % 2_147_483_648) % n
  const text = catalog.prepare('UPDATE fragment SET description = ?, attributes = ? WHERE id = ?')
  catalog.transaction(() => {
    for (let id = 1; id <= OFFERS; id++) {
      const sentence = Array.from(
        { length: 45 + below(60) },
        () => words[below(words.length)],
      ).join(' ')
      text.run(
        `${sentence} ${below(100_000)}.`,
        JSON.stringify({
          Model: `M${below(5_000)}`,
          'Caliber/Gauge': `${below(50)} mm`,
          Action: words[below(20)],
          'Barrel Length': `${below(300) / 10}"`,
          Capacity: `${below(40)}+1`,
          Finish: words[below(20)],
          'Weight (oz)': `${below(900) / 10}`,
          Status: 'Regular',
        }),
        id,
      )
    }
  })()
  catalog.close()
}

async function timed(run: () => unknown): Promise<number> {
  const start = performance.now()
  await run()
  return performance.now() - start
}

let version = 0
const build = (attributes: boolean) =>
  app.ctx.exports.files(subscriber, view, `bench ${version++}`, {
    ignoreRestrictions: true,
    attributes,
  })
/** Makes the next build a new one. */
const forget = () => app.ctx.engine.meter.file!.raw.exec('DELETE FROM export_file')

const shop = app.as(subscriber.name)
const at = (times: number[], share: number) => times[Math.floor(times.length * share)]!

const first = await timed(() => build(true))
const firstPeak = peaks.pop()!
const delay = monitorEventLoopDelay({ resolution: 1 })
const bare = await bareCopies()
const times = {
  export: [] as number[],
  copy: [] as number[],
  feed: [] as number[],
  csv: [] as number[],
}
for (let round = 0; round < ROUNDS; round++) {
  times.copy.push(await timed(bare.parquet))
  forget()
  delay.enable()
  times.export.push(await timed(() => build(false)))
  delay.disable()
  times.csv.push(await timed(bare.csv))
  times.feed.push(await timed(bare.feed))
}
const best = (list: number[]) => Math.min(...list)
const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`
console.log(
  `first build, with texts and attributes made: ${seconds(first)}, most memory ${(firstPeak / 1e6).toFixed(0)} MB`,
)
console.log(
  `export ${seconds(best(times.export))}, bare COPY ${seconds(best(times.copy))}, ratio ` +
    `${(best(times.export) / best(times.copy)).toFixed(2)} (goal <= 1.3); most memory ` +
    `${(Math.max(...peaks) / 1e6).toFixed(0)} MB (goal <= 500); the last one: ${stages.at(-1)}`,
)
console.log(
  `attributes ${seconds(best(times.feed))}, COPY to csv.gz ${seconds(best(times.csv))}, ratio ` +
    `${(best(times.feed) / best(times.csv)).toFixed(2)} (goal <= 0.3)`,
)
console.log(
  `main loop during a build: p50 ${(delay.percentile(50) / 1e6).toFixed(1)} ms, p99 ` +
    `${(delay.percentile(99) / 1e6).toFixed(1)} ms (goal <= 20), worst ` +
    `${(delay.max / 1e6).toFixed(1)} ms`,
)
const idle = await searches(
  shop,
  new Promise((resolve) => {
    setTimeout(resolve, 3_000)
  }),
)
forget()
const busy = await searches(shop, build(false))
console.log(
  `search during a build: p50 ${(at(busy, 0.5) / at(idle, 0.5)).toFixed(2)} x, p99 ` +
    `${(at(busy, 0.99) / at(idle, 0.99)).toFixed(2)} x of ${at(idle, 0.5).toFixed(2)} and ` +
    `${at(idle, 0.99).toFixed(2)} ms without one (${busy.length} searches)`,
)
bare.close()
await app.close()
rmSync(dir, { recursive: true, force: true })

/**
 * The yardsticks: one COPY each, with one thread and the settings of a build, from what the last
 * build wrote.
 */
async function bareCopies() {
  const { parquet_key: key, attributes_key: feed } = await build(true)
  const objects = join(dir, 'objects')
  const instance = await duckdb.DuckDBInstance.create(':memory:', {
    threads: '1',
    memory_limit: '256MB',
    temp_directory: dir,
  })
  const duck = await instance.connect()
  const texts = join(dir, 'exports', 'texts')
  const parts = readdirSync(texts)
    .filter((name) => name.endsWith('.parquet'))
    .map((name) => `'${join(texts, name)}'`)
    .join(', ')
  // The same rows as a filter on what is read, with the same number of columns.
  await duck.run(`CREATE TABLE visible AS SELECT distid, stockid FROM '${join(objects, key)}'`)
  await duck.run(
    'COPY (SELECT t.*, 1 AS a, 2.5::DOUBLE AS b, 3.5::DOUBLE AS c, 4.5::DOUBLE AS d, ' +
      '5.5::DOUBLE AS e, 6.5::DOUBLE AS f, 7 AS g, v.distid IS NOT NULL AS is_visible FROM ' +
      `read_parquet([${parts}]) t LEFT JOIN visible v USING (distid, stockid)) TO ` +
      `'${join(dir, 'flagged.parquet')}' ${PARQUET}`,
  )
  await duck.run('DROP TABLE visible')
  await duck.run(
    `CREATE TABLE feed AS SELECT * FROM read_csv('${join(objects, feed!)}', all_varchar = true)`,
  )
  const flags = new Int32Array(OFFERS).fill(1)
  const lines = readdirSync(texts).filter((name) => name.endsWith('.csv'))
  const rowsOf = (name: string) => statSync(join(texts, `${name}.ends`)).size / 16
  let from = 0
  const sections = lines.map((name) => {
    const section = { distid: name, from, rows: rowsOf(name), attributes: join(texts, name) }
    from += section.rows
    return section
  })
  return {
    parquet: () =>
      duck.run(
        `COPY (SELECT * EXCLUDE is_visible FROM '${join(dir, 'flagged.parquet')}' WHERE ` +
          `is_visible) TO '${join(dir, 'copy.parquet')}' ${PARQUET}`,
      ),
    csv: () =>
      duck.run(`COPY feed TO '${join(dir, 'copy.csv.gz')}' (FORMAT csv, HEADER, COMPRESSION gzip)`),
    feed: () => writeAttributes({ sections, flags, path: join(dir, 'feed.csv.gz') }),
    close: () => instance.closeSync(),
  }
}
