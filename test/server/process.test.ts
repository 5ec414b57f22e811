/** What holds for a whole process: its worker, its death, its second copy. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { demoStories } from '../../lib/simulator/market/stories.js'
import { openForTest as open } from '../../server/testing/open.js'
import { FRESH, runProcess } from './launcher.js'
import { expectProcessErrors, hearStream } from './process-errors.js'

const LAUNCHER = fileURLToPath(new URL('./quartermaster.mjs', import.meta.url))

function folder(): { dir: string; [Symbol.dispose](): void } {
  const dir = mkdtempSync(join(tmpdir(), 'qm-process-'))
  return { dir, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) }
}

/** A feed of many rows in Sports South's four columns. */
function feedOf(rows: number, price: number): string {
  const lines = ['I,Q,P,UPC']
  for (let i = 0; i < rows; i++) lines.push(`${100_000 + i},${i % 30},${price + (i % 97)}.50,`)
  return `${lines.join('\n')}\n`
}

async function demo(dir: string) {
  const child = spawn(process.execPath, [LAUNCHER, 'demo', '--dir', dir, '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  hearStream(child.stderr)
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`ended with ${code}`)))
  })
  const { url, key } = JSON.parse(line) as { url: string; key: string }
  const post = (path: string, body: unknown) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const get = async (path: string) =>
    (await fetch(`${url}${path}`, { headers: { ...FRESH, 'x-api-key': key } })).json() as Promise<{
      data: { today: number; total: number }
    }>
  const kill = (signal: NodeJS.Signals) =>
    new Promise((resolve) => {
      child.once('exit', resolve)
      child.kill(signal)
    })
  return { get, post, kill }
}

describe('the worker', () => {
  test('takes in a feed and builds the snapshot while the main thread goes on answering', async () => {
    using scratch = folder()
    const file = join(scratch.dir, 'feed.csv')
    writeFileSync(file, feedOf(30_000, 10))
    await using app = await open({ dir: join(scratch.dir, 'state') })
    await app.operator.subscribers.create({ name: 'Shop', email: 'a@shop.example' })
    await app.operator.configurations.put('Shop', {
      document: {
        targets: {},
        notification_email: 'a@shop.example',
        pricing: {},
        product_restrictions: {},
        distributors: {
          'Sports South': {
            active: true,
            distid: 'TSW',
            drop_ship_only_items: false,
            shipping: { flat_rate: { cost: 1, shipping_class: 'a' } },
            product_restrictions: { purchase_limit: 100 },
          },
        },
      },
    })
    const shop = app.as('Shop')
    const seen: number[] = []
    const importing = app.operator.feeds.import(
      { distid: 'TSW', file },
      { asOf: 1, onProgress: (done, total) => seen.push(done / total) },
    )
    let answered = 0
    let going = true
    const asking = (async () => {
      while (going) {
        await shop.ping()
        answered++
        await new Promise(setImmediate)
      }
    })()
    const result = await importing
    going = false
    await asking
    assert.deepEqual([result.outcome, result.added], ['taken', 30_000])
    assert.ok(answered > 10, `${answered} calls were answered meanwhile`)
    assert.ok(
      seen.length > 0 && seen.every((share, i) => share <= 1 && share >= (seen[i - 1] ?? 0)),
    )
    const first = await shop.products.search({ sort: 'price', page_size: 1 })
    assert.deepEqual([first.total, first.products[0]!.unit_price], [30_000, 10.5])

    writeFileSync(file, feedOf(30_000, 11))
    const second = await app.operator.feeds.import({ distid: 'TSW', file }, { asOf: 2 })
    assert.deepEqual([second.outcome, second.price_changes], ['taken', 30_000])
    assert.equal(
      (await shop.products.search({ sort: 'price', page_size: 1 })).products[0]!.unit_price,
      11.5,
      'a tick beside the same text',
    )
  })

  test('a task that fails says why and leaves the worker fit for the next', async () => {
    using scratch = folder()
    await using app = await open({ dir: scratch.dir })
    await assert.rejects(
      app.operator.feeds.import({ distid: 'TSW', file: join(scratch.dir, 'missing.csv') }),
      { code: 'invalid_parameter' },
    )
    await assert.rejects(
      app.operator.feeds.import({ distid: 'TSW', file: scratch.dir }, { asOf: 1 }),
      /is a folder: name the file in it/,
    )
    const file = join(scratch.dir, 'feed.csv')
    writeFileSync(file, feedOf(10, 10))
    assert.equal(
      (await app.operator.feeds.import({ distid: 'TSW', file }, { asOf: 1 })).outcome,
      'taken',
    )
  })
})

describe('a killed server', () => {
  test('forgets one second of usage at most, and nothing else', async () => {
    using scratch = folder()
    const first = await demo(scratch.dir)
    const { total } = (await first.get('/v1/products/search')).data
    for (let i = 0; i < 20; i++) await first.get('/v1/ping')
    await new Promise((resolve) => setTimeout(resolve, 1_300))
    await first.get('/v1/ping')
    await first.kill('SIGKILL')
    const again = await demo(scratch.dir)
    const { today } = (await again.get('/v1/usage')).data
    // Twenty pings and a search before the pause, this call after the restart; the ping before the
    // kill may be lost.
    assert.ok(today === 22 || today === 23, `${today} requests`)
    assert.equal((await again.get('/v1/products/search')).data.total, total)
    await again.kill('SIGTERM')
  })
})

describe('a running server', () => {
  test('whose journal of orders is moved away takes no order until it is told to go on', async () => {
    expectProcessErrors(/^orders are paused/)
    using scratch = folder()
    const server = await demo(scratch.dir)
    const { accessory } = demoStories()
    const order = (id: string) =>
      server.post('/v1/orders', {
        order_id: id,
        customer: {
          name: 'Pat Doe',
          email: 'pat@customer.example',
          phone: '602-555-0100',
          address1: '12 Main St',
          city: 'Phoenix',
          state: 'AZ',
          zip: '85001',
        },
        items: [
          {
            distid: accessory.offers[0]!.distid,
            distsku: accessory.offers[0]!.distsku,
            upc: accessory.upc,
            qty: 1,
          },
        ],
      })
    try {
      assert.equal((await order('W-1')).status, 200)
      const path = join(scratch.dir, 'orders.journal')
      const before = readFileSync(path, 'utf8')
      renameSync(path, `${path}.1`)
      const moved = performance.now()
      // Orders that come in the first second may still be taken; each has its line on the disk
      // before it is sent. On a busy machine that second is long, and the item may be sold out.
      let refused: Response
      for (let n = 2; [200, 409].includes((refused = await order(`W-${n}`)).status); n++) {
        assert.ok(performance.now() - moved < 30_000, 'orders go on')
        await new Promise((resolve) => {
          setTimeout(resolve, 100)
        })
      }
      assert.equal(refused.status, 503)
      assert.match(
        ((await refused.json()) as { error: { message: string } }).error.message,
        /Orders are paused/,
      )
      for (
        let waited = 0;
        !existsSync(path) || !readFileSync(path, 'utf8').startsWith(before);
        waited += 100
      ) {
        assert.ok(waited < 10_000, 'the journal is not made anew')
        await new Promise((resolve) => {
          setTimeout(resolve, 100)
        })
      }
      const done = await runProcess(scratch.dir, 'orders', 'reconcile', '--resume')
      assert.deepEqual([done.status, done.err], [0, ''])
      assert.equal((await order('W-100')).status, 200)
    } finally {
      await server.kill('SIGTERM')
    }
  })
})
