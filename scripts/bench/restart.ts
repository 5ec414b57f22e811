/**
 * From the death of a server (SIGKILL, while it takes orders) to the first 200 of GET /v1/ping of
 * the next one, to the first page of a search, and to the moment at which it is ready; with the
 * kept snapshot, and then without:
 *   npx tsx scripts/bench/restart.ts [offers] [restarts]        goal: ping 300 ms, search 1 s
 * The command as it is delivered, on a demo shop with so many offers more. The yardstick is a Node
 * that starts and does nothing, between the restarts.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { open } from '../../lib/app/open.js'
// Bundles are built by a script without types.
// @ts-expect-error no declaration
import { bundleProgram } from '../../build.mjs'
import { launch } from './launched.js'
import type { Launched } from './launched.js'
import { folderOnDisk, percentile } from './order-shop.js'
import { writeOffers } from './offers.js'

const OFFERS = Number(process.argv[2] ?? 1_000_000)
const RESTARTS = Number(process.argv[3] ?? 30)

async function kill({ child }: Launched): Promise<void> {
  const ended = new Promise((done) => child.once('exit', done))
  child.kill('SIGKILL')
  await ended
}

const pause = (ms: number) =>
  new Promise((done) => {
    setTimeout(done, ms)
  })

async function ask(url: string, path: string, key: string): Promise<number> {
  const response = await fetch(`${url}${path}`, { headers: headers(key) })
  await response.text()
  return response.status
}

const headers = (key: string) => ({ 'x-api-key': key, 'content-type': 'application/json' })

/** Orders of which nobody waits for the answer. */
function orderBlindly({ url, key }: Launched, item: unknown, name: string): void {
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
let server: Launched | undefined
try {
  await bundleProgram(bundle)
  const launcher = join(bundle, 'quartermaster')
  await (await open({ dir, worker: false })).close()
  const catalog = openFile(filesIn(dir).catalog, { synchronous: 'NORMAL' })
  writeOffers(catalog, OFFERS)
  catalog.close()
  server = await launch(launcher, { command: 'demo', dir })
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
  const kept = join(dir, 'snapshot', 'current.json')
  const isCompiled = () => readdirSync(bundle).some((name) => /^compiled-.*-\w+$/.test(name))
  while (!existsSync(kept) || !isCompiled()) await pause(50)
  await kill(server)
  for (const [name, isKept, restarts] of [
    ['with the kept snapshot', true, RESTARTS],
    ['without it', false, Math.max(1, Math.round(RESTARTS / 10))],
  ] as const) {
    const times = { ping: [] as number[], search: [] as number[], ready: [] as number[] }
    const bare: number[] = []
    // The first one warms the disk's cache up.
    for (let i = isKept ? 0 : 1; i <= restarts; i++) {
      if (!isKept) rmSync(join(dir, 'snapshot'), { recursive: true, force: true })
      const idle = performance.now()
      spawnSync(process.execPath, ['-e', '0'])
      const begin = performance.now()
      server = await launch(launcher, { command: 'serve', dir })
      while ((await ask(server.url, '/v1/ping', key)) !== 200);
      const ping = performance.now() - begin
      orderBlindly(server, item, `R-${isKept ? 'kept' : 'built'}-${i}`)
      while ((await ask(server.url, '/v1/products/search?q=glock&page_size=5', key)) !== 200);
      const search = performance.now() - begin
      const ready = (await server.ready) - begin
      await pause((i % 7) * 10)
      await kill(server)
      if (i === 0) continue
      bare.push(begin - idle)
      times.ping.push(ping)
      times.search.push(search)
      times.ready.push(ready)
    }
    const told = Object.entries(times).map(
      ([what, ms]) =>
        `${what} p50 ${percentile(ms, 0.5).toFixed(0)} ms, p95 ${percentile(ms, 0.95).toFixed(0)} ms ` +
        `(${(percentile(ms, 0.5) / percentile(bare, 0.5)).toFixed(1)} bare starts of Node)`,
    )
    console.log(
      `${OFFERS.toLocaleString('en-US')} offers more, ${restarts} restarts ${name}: ` +
        `${told.join('; ')}; a bare start p50 ${percentile(bare, 0.5).toFixed(0)} ms`,
    )
  }
} finally {
  server?.child.kill('SIGKILL')
  for (const path of [dir, bundle]) rmSync(path, { recursive: true, force: true })
}
