/**
 * How long the commit of an order takes while the worker of the same app takes in a feed of a
 * million rows, against an idle worker: they have files of their own, so nobody waits for anybody.
 * Goal: max <= 50 ms.
 *   npx tsx scripts/bench/order-commit.ts [rows]
 */
import { closeSync, openSync, rmSync, symlinkSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as esbuild from 'esbuild'
import { builtin } from '../../lib/distributors/builtin/index.js'
import { open } from '../../lib/app/open.js'
import type { App } from '../../lib/app/open.js'
import {
  SHOP,
  folderOnDisk,
  makeOrderShop,
  orderBody,
  percentile,
  wholesale,
} from './order-shop.js'

const ROWS = Number(process.argv[2] ?? 1_000_000)

/** A feed in Sports South's four columns; each edition changes one row in twenty. */
function writeFeed(path: string, edition: number): void {
  const file = openSync(path, 'w')
  let block = 'I,Q,P,UPC\n'
  for (let i = 0; i < ROWS; i++) {
    const touched = edition > 0 && (i + edition) % 20 === 0 ? edition : 0
    block += `${100_000 + i},${(i * 13 + touched) % 50},${10 + (i % 900) + touched}.50,\n`
    if (block.length > 1 << 20) {
      writeSync(file, block)
      block = ''
    }
  }
  writeSync(file, block)
  closeSync(file)
}

async function bundleWorker(dir: string): Promise<string> {
  symlinkSync(resolve('node_modules'), join(dir, 'node_modules'))
  const outfile = join(dir, 'worker.mjs')
  await esbuild.build({
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    external: ['better-sqlite3'],
    entryPoints: ['lib/app/background/worker.ts'],
    outfile,
    logLevel: 'warning',
    banner: {
      js:
        "import { createRequire as __createRequire } from 'node:module'; const require = " +
        '__createRequire(import.meta.url);',
    },
  })
  return outfile
}

interface Times {
  /** Transactions of the system of record, from the wish to begin to the end of the commit. */
  commits: number[]
  orders: number[]
}

/** Every transaction of the system of record is timed. */
function watchCommits({ ctx: { engine } }: App): { into: Times } {
  const watch = { into: { commits: [], orders: [] } as Times }
  const { atomic } = engine
  engine.atomic = async (ctx, fn) => {
    if (ctx.db.isTransaction) return atomic(ctx, fn)
    const begin = performance.now()
    const result = await atomic(ctx, fn)
    watch.into.commits.push(performance.now() - begin)
    return result
  }
  return watch
}

let placed = 0

/** Orders, one after the other, as long as `isGoing`. */
async function orderWhile(
  app: App,
  watch: { into: Times },
  isGoing: () => boolean,
): Promise<Times> {
  const times: Times = { commits: [], orders: [] }
  watch.into = times
  const shop = app.as(SHOP)
  while (isGoing()) {
    const begin = performance.now()
    await shop.orders.place(orderBody(`C-${++placed}`))
    times.orders.push(performance.now() - begin)
    await new Promise((resolve) => {
      setTimeout(resolve, 5)
    })
  }
  return times
}

function tell(name: string, { commits, orders }: Times): void {
  const ms = (value: number) => `${value.toFixed(1)} ms`.padStart(9)
  console.log(
    `${name.padEnd(24)} ${String(commits.length).padStart(5)} commits: p50 ` +
      `${ms(percentile(commits, 0.5))}, p99 ${ms(percentile(commits, 0.99))}, max ` +
      `${ms(Math.max(...commits))}; whole orders: p50 ${ms(percentile(orders, 0.5))}, p99 ` +
      `${ms(percentile(orders, 0.99))}, max ${ms(Math.max(...orders))}`,
  )
}

const dir = folderOnDisk()
try {
  const feeds = [0, 1, 2].map((edition) => join(dir, `feed-${edition}.csv`))
  feeds.forEach(writeFeed)
  await using app = await open({
    dir: join(dir, 'state'),
    worker: await bundleWorker(dir),
    distributors: [...builtin, wholesale(0)],
  })
  await makeOrderShop(app, 0)
  app.orders.start()
  const watch = watchCommits(app)
  await orderWhile(app, watch, () => placed < 50)
  const idleUntil = performance.now() + 10_000
  tell('idle', await orderWhile(app, watch, () => performance.now() < idleUntil))
  let max = 0
  for (const [edition, file] of feeds.entries()) {
    let isGoing = true
    const begin = performance.now()
    const importing = app.operator.feeds
      .import({ distid: 'TSW', file }, { asOf: edition + 1 })
      .finally(() => {
        isGoing = false
      })
    const times = await orderWhile(app, watch, () => isGoing)
    const { outcome } = await importing
    tell(
      `${edition === 0 ? 'a first feed' : '5 % changed'}, ${outcome} in ` +
        `${((performance.now() - begin) / 1_000).toFixed(1)} s`,
      times,
    )
    max = Math.max(max, ...times.commits)
  }
  console.log(
    `${ROWS.toLocaleString('en-US')} rows: the longest commit of an order beside a feed took ` +
      `${max.toFixed(1)} ms (goal <= 50)`,
  )
} finally {
  rmSync(dir, { recursive: true, force: true })
}
