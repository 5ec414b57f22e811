/**
 * How an installation grows with its catalog: each number of offers in a process of its own, with
 * the worker of its own, over the library.
 *   npx tsx scripts/bench/growth.ts [offers,offers...] [rounds]     100000,1000000,10000000 by default
 * Tells for each: the first snapshot; a start to the first search with the kept one; p50 and p99 of
 * the 46 shapes of the search benchmark; 5 % of the offers (50,000 at most) with a new price and
 * stock, from their commit to a search that sees them, and searches meanwhile; memory after
 * collecting garbage, and the folder on the disk. Prints the rows of the table in
 * data/guide/performance.md.
 */
import { fork } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { open } from '../../lib/app/open.js'
import type { App } from '../../lib/app/open.js'
import { keptFolder } from '../../lib/catalog/kept/kept.js'
import { pause } from '../../lib/core/async/wait.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import type { Raw } from '../../lib/db/sqlite/sqlite.js'
import { writeState } from '../../lib/feeds/ingest/queries.js'
import { BENCH_DISTIDS, randomFrom, writeOffers } from './offers.js'
import { folderOnDisk, percentile } from './order-shop.js'
import { queriesOf, samplesOf } from './queries.js'
import { benchDistributors, benchDocument } from './shop.js'
import { bundleWorker } from './worker.js'

const SHOP = 'Bench'
/** Offers that an update changes at most. */
const MOST_CHANGED = 50_000
const UPDATES = 3
/** Rounds of searches before the clock counts. */
const WARM = 3

interface Step {
  step: 'fill' | 'serve'
  dir: string
  worker: string
  offers: number
  rounds: number
}

interface Told {
  /** Milliseconds. */
  first: number
  search: readonly number[]
  meanwhile: readonly number[]
  visible: readonly number[]
  /** Bytes. */
  memory: number
}

const openIn = ({ dir, worker }: Step): Promise<App> =>
  open({ dir, worker, distributors: benchDistributors() })

/** Writes the offers and the shop, and has the snapshot made for the first time. */
async function fill(step: Step): Promise<number> {
  const app = await openIn(step)
  const catalog = openFile(filesIn(step.dir).catalog, { synchronous: 'NORMAL' })
  writeOffers(catalog, step.offers)
  catalog.close()
  await app.operator.subscribers.create({ name: SHOP, email: 'bench@shop.example' })
  await app.operator.configurations.put(SHOP, { document: benchDocument(BENCH_DISTIDS) })
  for (const distid of BENCH_DISTIDS)
    await app.operator.configurations.recordCheck(SHOP, distid, true)
  const begun = performance.now()
  await app.ctx.catalog.refresh()
  await app.as(SHOP).products.search({})
  const first = performance.now() - begun
  // The next start has it from the disk.
  await kept(step.dir)
  await app.close()
  return first
}

/** Resolves once the snapshot is on the disk, and has been for a second. */
async function kept(dir: string): Promise<void> {
  const folder = keptFolder(dir)
  const bytes = () => (existsSync(folder) ? folderBytes(folder) : 0)
  for (let [last, now] = [-1, bytes()]; now === 0 || now !== last;) {
    await pause(1_000)
    ;[last, now] = [now, bytes()]
  }
}

async function serve(step: Step): Promise<Told> {
  const begun = performance.now()
  const app = await openIn(step)
  await app.ctx.catalog.first()
  const { search: ask } = app.as(SHOP).products
  await ask({})
  const first = performance.now() - begun

  const catalog = openFile(filesIn(step.dir).catalog, { synchronous: 'NORMAL' })
  const samples = samplesOf(catalog)
  const timed = async (query: ReturnType<typeof queriesOf>[number]) => {
    const since = performance.now()
    await ask(query as never)
    return performance.now() - since
  }
  const search: number[] = []
  for (let round = 0; round < WARM + step.rounds; round++)
    for (const query of queriesOf(samples, round)) {
      const ms = await timed(query)
      if (round >= WARM) search.push(ms)
    }

  const visible: number[] = []
  const meanwhile: number[] = []
  for (let round = 1; round <= UPDATES; round++) {
    const revision = update(catalog, { offers: step.offers, round })
    const since = performance.now()
    const queries = queriesOf(samples, 1_000 + round)
    for (let at = 0; (app.ctx.catalog.current()?.revision ?? 0) < revision; at++) {
      meanwhile.push(await timed(queries[at % queries.length]!))
      await pause(5)
    }
    visible.push(performance.now() - since)
  }
  catalog.close()
  await pause(1_000)
  globalThis.gc?.()
  await pause(1_000)
  const memory = process.memoryUsage().rss
  await app.close()
  return { first, search, meanwhile, visible, memory }
}

/** New price and stock of offers spread over the catalog; returns the revision after it. */
function update(raw: Raw, { offers, round }: { offers: number; round: number }): number {
  const random = randomFrom(round)
  const changed = Math.min(offers / 20, MOST_CHANGED)
  const set = raw.prepare(
    'UPDATE offer SET price = price + ?, qty = ?, revision = ? WHERE id = ? AND price > 100',
  )
  return raw
    .transaction(() => {
      const { revision } = raw.prepare('SELECT revision FROM state').get() as { revision: number }
      for (let n = 0; n < changed; n++)
        set.run(
          random.below(90) - 45,
          random.below(60),
          revision + 1,
          1 + Math.floor((n * offers) / changed),
        )
      writeState(raw, revision + 1, false, Date.now())
      return revision + 1
    })
    .immediate()
}

const folderBytes = (dir: string): number =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' }).reduce(
    (sum, name) => sum + (statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )

/** Runs a step in a process of its own, which has nothing in memory of the one before. */
function run<T>(step: Step): Promise<T> {
  const child = fork(fileURLToPath(import.meta.url), ['step'], {
    execArgv: ['--import', 'tsx', '--expose-gc'],
  })
  child.send(step)
  return new Promise((done, fail) => {
    child.once('message', (told: T) => {
      done(told)
      child.disconnect()
    })
    child.once('exit', (code) => fail(new Error(`${step.step} ended with ${code}`)))
  })
}

const count = new Intl.NumberFormat('en-US')
const ms = (value: number) => (value < 10 ? value.toFixed(2) : value.toFixed(0))

async function measure(sizes: readonly number[], rounds: number): Promise<void> {
  const root = folderOnDisk()
  try {
    const program = join(root, 'program')
    mkdirSync(program)
    const worker = await bundleWorker(program)
    for (const offers of sizes) {
      const dir = join(root, String(offers))
      const step = { dir, worker, offers, rounds }
      const { first } = await run<{ first: number }>({ ...step, step: 'fill' })
      const told = await run<Told>({ ...step, step: 'serve' })
      const cells = [
        count.format(offers),
        `${(first / 1_000).toFixed(1)} s`,
        `${(told.first / 1_000).toFixed(2)} s`,
        `${ms(percentile(told.search, 0.5))} ms`,
        `${ms(percentile(told.search, 0.99))} ms`,
        `${(Math.max(...told.visible) / 1_000).toFixed(2)} s`,
        `${ms(percentile(told.meanwhile, 0.99))} ms`,
        `${(told.memory / 1e9).toFixed(2)} GB`,
        `${(folderBytes(dir) / 1e9).toFixed(2)} GB`,
      ]
      console.log(`| ${cells.join(' | ')} |`)
      rmSync(dir, { recursive: true })
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

if (process.argv[2] === 'step')
  process.once('message', (step: Step) => {
    void (step.step === 'fill' ? fill(step).then((first) => ({ first })) : serve(step)).then(
      (told) => process.send!(told),
    )
  })
else
  await measure(
    (process.argv[2] ?? '100000,1000000,10000000').split(',').map(Number),
    Number(process.argv[3] ?? 10),
  )
