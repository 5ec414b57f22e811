/**
 * A server under a steady load for an hour, with what an hour can bring: a feed of a million rows
 * that changes every 20 minutes, a restart in the middle, a full disk for a minute.
 *
 *   npx tsx scripts/soak/run.ts [--minutes 60] [--rate 300] [--rows 1000000] [--page]
 *
 * Prints a line a minute and the figures at the end; exits with 1 where an answer was wrong, an
 * order was lost or the journal does not verify. `--page` draws the plot and writes the figures
 * into the guide.
 */
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
// Bundles are built by a script without types.
// @ts-expect-error no declaration
import { build } from '../../build.mjs'
import { makeDisk } from './disk.js'
import { Load } from './load.js'
import { verdictOf, writePage } from './page.js'
import type { Happening, SoakResult } from './page.js'
import { Record } from './record.js'
import { SoakServer, command } from './server.js'
import { prepareShop, writeFeed } from './shop.js'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '300' },
    rows: { type: 'string', default: '1000000' },
    page: { type: 'boolean', default: false },
  },
})
const minutes = Number(values.minutes)
const rate = Number(values.rate)
const rows = Number(values.rows)
/** Between two updates of the feed. */
const everyMinutes = Math.max(1, Math.round(minutes / 3))
const FULL_SECONDS = 60

const disk = makeDisk()
mkdirSync('dist', { recursive: true })
const bundle = mkdtempSync(resolve('dist', 'soak-'))
const log = createWriteStream(resolve('dist', 'soak.log'))
const feed = { file: join(bundle, 'davidsons.csv'), rows, everyMinutes }
const place = { launcher: join(bundle, 'quartermaster', 'quartermaster.mjs'), dir: disk.dir }
const errors: string[] = []
const server = new SoakServer(place, (line) => {
  log.write(`${line}\n`)
  if (line.includes('"level":50') || line.includes('"level":60')) errors.push(line)
})
const happenings: Happening[] = []

try {
  await build(bundle, { quick: true })
  await writeFeed(feed.file, rows, 0)
  await server.start('demo')
  const shop = await prepareShop(place, server, feed)
  console.log(`${shop.upcs.length} UPCs and ${shop.items.length} items are asked for`)
  const result = await soak(shop)
  for (const line of verdictOf(result).lines) console.log(line)
  writeFileSync(resolve('dist', 'soak.json'), JSON.stringify(result))
  if (values.page) writePage(result)
  if (!verdictOf(result).ok) process.exitCode = 1
} finally {
  server.kill()
  await sleep(500)
  disk.remove()
  rmSync(bundle, { recursive: true, force: true })
}

async function soak(shop: Awaited<ReturnType<typeof prepareShop>>): Promise<SoakResult> {
  const record = new Record(server)
  const load = new Load(shop, {
    url: () => server.url,
    minutes,
    onAnswer: (answer) => record.add(answer),
  })
  const begun = performance.now()
  const at = () => (performance.now() - begun) / 1_000
  const reach = (minute: number) => sleep(Math.max(0, (minute * 60 - at()) * 1_000))
  const happen = async (what: string, act: () => Promise<unknown>) => {
    const from = at()
    await act()
    happenings.push({ what, from, to: at() })
    console.log(`${what}: ${from.toFixed(0)} s to ${at().toFixed(0)} s`)
  }
  record.start()
  load.start(rate)
  await Promise.all([
    (async () => {
      // The schedule began before the run: a feed that lies there for half of its interval is taken.
      for (let update = 1; update * everyMinutes <= minutes; update++) {
        await reach((update - 0.5) * everyMinutes)
        await happen('feed changes', () => writeFeed(feed.file, rows, update))
      }
    })(),
    (async () => {
      await reach(minutes / 2 + 1)
      await happen('restart', async () => {
        const code = await server.stop()
        if (code !== 0) errors.push(`SIGTERM ended the server with ${code}`)
        await server.start('serve')
      })
    })(),
    (async () => {
      const { fill } = disk
      if (!fill) return
      await reach(minutes * 0.8)
      await happen('full disk', async () => {
        fill()
        await sleep(FULL_SECONDS * 1_000)
        disk.empty()
      })
    })(),
    (async () => {
      for (let minute = 1; minute <= minutes; minute++) {
        await reach(minute)
        console.log(record.line(minute))
      }
    })(),
  ])
  await load.stop()
  record.stop()
  const journal = await command(place, 'orders', 'journal', 'verify')
  return {
    minutes,
    rate,
    rows,
    machine: { cores: cpus().length, gigabytes: Math.round(totalmem() / 2 ** 30) },
    node: process.version,
    happenings,
    samples: record.samples,
    kinds: record.kinds(),
    lost: await lostOrders(shop.keys[0]!, load.placed),
    placed: load.placed.length,
    journalOk: journal['sound'] === true,
    errors,
  }
}

/** Orders that were answered with 200 and that the server does not know. */
async function lostOrders(key: string, placed: readonly string[]): Promise<string[]> {
  const lost: string[] = []
  for (const id of placed) {
    const { status } = await fetch(`${server.url}/v1/orders/${id}`, {
      headers: { 'x-api-key': key },
    })
    if (status === 404) lost.push(id)
    // The limit of a key holds here too.
    await sleep(70)
  }
  return lost
}
