/**
 * What goes wrong around a whole process: nobody reads its log, the log's disk is full, it has few
 * descriptors, the disk fails, it is told to stop.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { demoStories } from '../../lib/simulator/market/stories.js'
import { FRESH, LAUNCHER, json } from './launcher.js'
import { hearStream } from './process-errors.js'

const scratch = mkdtempSync(join(tmpdir(), 'qm-faults-'))
const dir = join(scratch, 'demo')

const started: ChildProcess[] = []

interface Shop {
  child: ChildProcess
  url: string
  /** Where its health can be asked for. */
  admin: string
  key: string
  ended: Promise<number | null>
}

/** The demo on one folder, from a shell that may set limits first. */
async function begin({ limits = '', log }: { limits?: string; log?: number } = {}): Promise<Shop> {
  const child = spawn(
    'sh',
    [
      '-c',
      `${limits} exec "$0" "$1" demo --dir "$2" --port 0 --admin 127.0.0.1:0 --json`,
      process.execPath,
      LAUNCHER,
      dir,
    ],
    { stdio: ['ignore', 'pipe', log ?? 'pipe'] },
  )
  started.push(child)
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  if (child.stderr) hearStream(child.stderr)
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`ended with ${code}`)))
  })
  const said = JSON.parse(line) as Pick<Shop, 'url' | 'admin' | 'key'>
  assert.ok(said.url, `it does not serve: ${line}`)
  return { child, ended, ...said }
}

async function ask({ url, key }: Shop, path: string, body?: object): Promise<[number, Answer]> {
  const response = await fetch(`${url}${path}`, {
    headers: { ...FRESH, 'x-api-key': key },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  return [response.status, (await response.json()) as Answer]
}

interface Answer {
  data: { status: string; fulfillment_orders: { status: string }[] }
  error: { code: string; message: string }
}

const ping = async (shop: Shop) => (await ask(shop, '/v1/ping'))[0]

let orders = 0
/** An order for the accessory of the demo; `scenario` is what the distributor then does. */
function orderOf(scenario?: string): { order_id: string } {
  const { accessory } = demoStories()
  const { distid, distsku } = accessory.offers[0]!
  const order_id = `W-${++orders}`
  return {
    order_id,
    ...(scenario && { po_number: `${order_id}-SIM-${scenario}` }),
    items: [{ distid, distsku, upc: accessory.upc, qty: 1 }],
    customer: {
      name: 'Pat Doe',
      email: 'pat@customer.example',
      phone: '602-555-0100',
      address1: '12 Main St',
      city: 'Phoenix',
      state: 'AZ',
      zip: '85001',
    },
  } as { order_id: string }
}

async function until(isSo: () => Promise<boolean> | boolean, what: string): Promise<void> {
  for (const end = performance.now() + 60_000; !(await isSo());) {
    assert.ok(performance.now() < end, what)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Makes the server write an error line: the journal of orders is taken away under it. */
async function provoke(shop: Shop): Promise<void> {
  const path = join(dir, 'orders.journal')
  assert.equal((await ask(shop, '/v1/orders', orderOf()))[0], 200)
  renameSync(path, `${path}.${orders}`)
  await until(() => existsSync(path), 'the journal is not made anew')
  await until(async () => {
    const [status, { error }] = await ask(shop, '/v1/orders', orderOf())
    return status === 503 && error.message.includes('paused')
  }, 'orders go on without their journal')
}

const resume = () => json(dir, 'orders', 'reconcile', '--resume')

async function end(shop: Shop): Promise<void> {
  shop.child.kill('SIGTERM')
  assert.equal(await shop.ended, 0)
}

before(async () => end(await begin()))
after(() => {
  for (const child of started) child.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true })
})

describe('a log that cannot be written', () => {
  test('since its disk is full ends nothing', async () => {
    const full = openSync('/dev/full', 'w')
    const shop = await begin({ log: full })
    closeSync(full)
    await provoke(shop)
    assert.equal(await ping(shop), 200)
    await resume()
    assert.equal((await ask(shop, '/v1/orders', orderOf()))[0], 200)
    await end(shop)
  })

  test('since its reader is gone ends nothing, and says how much was lost to the next reader', async () => {
    const path = join(scratch, 'log')
    execFileSync('mkfifo', [path])
    const reader = () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const first = reader()
    const log = openSync(path, 'w')
    const shop = await begin({ log })
    closeSync(log)
    closeSync(first)
    shop.child.stdout!.destroy()
    await provoke(shop)
    assert.equal(await ping(shop), 200)
    await resume()
    const lines: { msg: string; lines?: number }[] = []
    const second = spawn('cat', [path], { stdio: ['ignore', 'pipe', 'ignore'] })
    createInterface({ input: second.stdout }).on('line', (line) =>
      lines.push(JSON.parse(line) as never),
    )
    await provoke(shop)
    await until(() => lines.length >= 2, 'nothing is written to the new reader')
    assert.match(lines[0]!.msg, /lines of the log were lost/)
    assert.ok(lines[0]!.lines! >= 1)
    assert.ok(lines.some(({ msg }) => msg.startsWith('orders are paused')))
    await resume()
    await end(shop)
    second.kill()
  })
})

describe('a process with few descriptors', () => {
  test('turns calls away before they take its own, and goes on once it has room', async () => {
    const most = 100
    const shop = await begin({ limits: `ulimit -n ${most};` })
    // From the address of the shop, which may have many connections; while it still loads.
    const crowd = Array.from({ length: 300 }, () =>
      connect({ port: Number(new URL(shop.url).port), host: '127.0.0.1' }).on('error', () => {}),
    )
    for (const socket of crowd) socket.resume()
    await until(async () => (await ping(shop).catch(() => 0)) === 0, 'nobody was turned away')
    await until(
      async () => (await fetch(`${shop.admin}/readyz`)).status === 200,
      'the crowd keeps it from getting ready',
    )
    assert.ok(readdirSync(`/proc/${shop.child.pid}/fd`).length < most)
    for (const socket of crowd) socket.destroy()
    await until(async () => (await ping(shop).catch(() => 0)) === 200, 'it does not recover')
    const [status, { data }] = await ask(shop, '/v1/orders', orderOf())
    assert.deepEqual([status, data.status], [200, 'placed'])
    await end(shop)
  })
})

describe('a server that is told to stop', () => {
  test('finishes the orders that are under way, and ends with 0', async () => {
    const shop = await begin()
    const slow = Array.from({ length: 4 }, () => orderOf('SLOW'))
    const answers = slow.map((order) => ask(shop, '/v1/orders', order))
    await until(async () => {
      const found = await Promise.all(
        slow.map(({ order_id }) => ask(shop, `/v1/orders/${order_id}`)),
      )
      return found.every(([status]) => status === 200)
    }, 'the orders were not taken in')
    shop.child.kill('SIGTERM')
    for (const [status, { data }] of await Promise.all(answers))
      assert.deepEqual([status, data.status], [200, 'placed'])
    assert.equal(await shop.ended, 0)
    assert.equal(existsSync(join(dir, 'quartermaster.db-wal')), false)
  })

  test('twice ends at once, and the next start finds out what became of its orders', async () => {
    const shop = await begin()
    const order = orderOf('SLOW')
    const answer = ask(shop, '/v1/orders', order).then(
      () => 'answered',
      () => 'cut off',
    )
    const path = `/v1/orders/${order.order_id}`
    await until(async () => (await ask(shop, path))[0] === 200, 'the order was not taken in')
    shop.child.kill('SIGTERM')
    await until(async () => (await ping(shop).catch(() => 0)) === 0, 'it takes calls')
    shop.child.kill('SIGTERM')
    assert.deepEqual([await shop.ended, await answer], [1, 'cut off'])
    const next = await begin()
    const [status, { error }] = await ask(next, '/v1/orders', order)
    assert.deepEqual([status, error.code], [409, 'duplicate_order'])
    await until(async () => {
      const [, { data }] = await ask(next, path)
      return data.fulfillment_orders.every((one) => one.status !== 'Pending')
    }, 'the order stays Pending')
    await end(next)
  })
})

const hasStrace = spawnSync('strace', ['-qq', 'true']).status === 0

describe(
  'a disk that fails',
  { skip: hasStrace ? false : 'no strace here, or it may not trace' },
  () => {
    test('while an order is written down ends the process with 70, and the next one goes on', async () => {
      const path = join(scratch, 'log-of-failure')
      const log = openSync(path, 'w')
      const shop = await begin({ log })
      closeSync(log)
      const tracer = spawn(
        'strace',
        [
          '-f',
          '-o',
          '/dev/null',
          '-e',
          'trace=fdatasync,fsync',
          '-e',
          'inject=fdatasync,fsync:error=EIO',
          '-p',
          String(shop.child.pid),
        ],
        { stdio: ['ignore', 'ignore', 'pipe'] },
      )
      const attached = new Promise<void>((resolve, reject) => {
        createInterface({ input: tracer.stderr }).on('line', (line) => {
          if (/attached/.test(line)) resolve()
        })
        tracer.once('exit', (code) => reject(new Error(`strace ended with ${code}`)))
      })
      await attached
      const order = orderOf()
      const answer = ask(shop, '/v1/orders', order).then(
        ([status]) => status >= 500,
        () => true,
      )
      assert.deepEqual([await shop.ended, await answer], [70, true])
      assert.match(readFileSync(path, 'utf8'), /the disk failed under the system of record/)
      const next = await begin()
      // The same order again: nobody knows whether it was written down, so both are right.
      const [status, { error }] = await ask(next, '/v1/orders', order)
      assert.ok(status === 200 || error.code === 'duplicate_order', `${status}`)
      assert.equal((await ask(next, `/v1/orders/${order.order_id}`))[0], 200)
      await end(next)
    })
  },
)
