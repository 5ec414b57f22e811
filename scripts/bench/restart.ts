/**
 * From the death of a server (SIGKILL, while it takes orders) to the first 200 of GET /v1/ping of
 * the next one:
 *   npx tsx scripts/bench/restart.ts [offers] [restarts]        goal: p95 <= 300 ms
 * The command as it is delivered, on a demo shop with so many offers more.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { filesIn } from '../../lib/db/engine.js'
import { openFile } from '../../lib/db/sqlite.js'
import { open } from '../../lib/app/open.js'
// Bundles are built by a script without types.
// @ts-expect-error no declaration
import { bundleLauncher, bundleTree } from '../../build.mjs'
import { folderOnDisk, percentile } from './order-shop.js'
import { writeOffers } from './offers.js'

const OFFERS = Number(process.argv[2] ?? 1_000_000)
const RESTARTS = Number(process.argv[3] ?? 30)

interface Server {
  child: ChildProcess
  url: string
  key: string
}

async function start(launcher: string, dir: string, command: 'demo' | 'serve'): Promise<Server> {
  const child = spawn(
    process.execPath,
    [launcher, command, '--dir', dir, '--port', '0', '--json'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const line = await new Promise<string>((done, fail) => {
    createInterface({ input: child.stdout }).once('line', done)
    child.once('exit', (code) => fail(new Error(`ended with ${code}`)))
  })
  return { child, ...(JSON.parse(line) as Omit<Server, 'child'>) }
}

async function kill({ child }: Server): Promise<void> {
  const ended = new Promise((done) => child.once('exit', done))
  child.kill('SIGKILL')
  await ended
}

const headers = (key: string) => ({ 'x-api-key': key, 'content-type': 'application/json' })

/** Orders of which nobody waits for the answer. */
function orderBlindly({ url, key }: Server, item: unknown, name: string): void {
  const customer = {
    name: 'Pat Doe',
    email: 'pat@customer.example',
    phone: '602-555-0100',
    address1: '12 Main St',
    city: 'Phoenix',
    state: 'AZ',
    zip: '85001',
  }
  for (let i = 0; i < 2; i++)
    fetch(`${url}/v1/orders`, {
      method: 'POST',
      headers: headers(key),
      body: JSON.stringify({ order_id: `${name}-${i}`, customer, items: [item] }),
    }).catch(() => {})
}

const dir = folderOnDisk()
mkdirSync('dist', { recursive: true })
const bundle = mkdtempSync(resolve('dist', 'bench-'))
let server: Server | undefined
try {
  await bundleTree(bundle, {})
  await bundleLauncher(bundle)
  const launcher = join(bundle, 'quartermaster.mjs')
  await (await open({ dir, worker: false })).close()
  const catalog = openFile(filesIn(dir).catalog, { synchronous: 'NORMAL' })
  writeOffers(catalog, OFFERS)
  catalog.close()
  server = await start(launcher, dir, 'demo')
  const { key } = server
  const found = (await (
    await fetch(`${server.url}/v1/products/search?in_stock=true&product_class=AO&page_size=1`, {
      headers: headers(key),
    })
  ).json()) as { data: { products: { upc: string }[] } }
  const quote = (await (
    await fetch(`${server.url}/v1/orders/quote`, {
      method: 'POST',
      headers: headers(key),
      body: JSON.stringify({ items: [{ upc: found.data.products[0]!.upc, qty: 1 }] }),
    })
  ).json()) as { data: { items: { best: { distid: string; distsku: string } }[] } }
  const { distid, distsku } = quote.data.items[0]!.best
  const item = { distid, distsku, upc: found.data.products[0]!.upc, qty: 1, ffl_req: false }
  await kill(server)
  const times: number[] = []
  for (let i = 0; i <= RESTARTS; i++) {
    const begin = performance.now()
    server = await start(launcher, dir, 'serve')
    while ((await fetch(`${server.url}/v1/ping`, { headers: headers(key) })).status !== 200);
    if (i > 0) times.push(performance.now() - begin)
    orderBlindly(server, item, `R-${i}`)
    await new Promise((done) => {
      setTimeout(done, 60 + (i % 7) * 10)
    })
    await kill(server)
  }
  console.log(
    `${OFFERS.toLocaleString('en-US')} offers more, ${RESTARTS} restarts: p50 ` +
      `${percentile(times, 0.5).toFixed(0)} ms, p95 ${percentile(times, 0.95).toFixed(0)} ms ` +
      '(goal p95 <= 300)',
  )
} finally {
  server?.child.kill('SIGKILL')
  for (const path of [dir, bundle]) rmSync(path, { recursive: true, force: true })
}
