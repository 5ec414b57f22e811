/** The copy of the order journal outside of the machine: what a snapshot of the machine that is put back cannot take with it. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { Client } from 'minio'
import { DAY, SECOND } from '../lib/core/clock.js'
import { builtin } from '../lib/distributors/index.js'
import { diskStore } from '../lib/objects/disk.js'
import { memoryStore } from '../lib/objects/memory.js'
import type { MemoryStore } from '../lib/objects/memory.js'
import { s3Store } from '../lib/objects/s3.js'
import type { ObjectStore } from '../lib/objects/store.js'
import { open } from '../lib/open.js'
import type { App } from '../lib/open.js'
import { journalSealer } from '../lib/orders/journal.js'
import { placeOf } from '../lib/orders/journal-copy.js'
import { readPause, resumeOrders } from '../lib/orders/pause.js'
import { demoStories } from '../lib/simulator/stories.js'
import { LAUNCHER, startProcess } from './launcher.js'
import { orderShop } from './order-shop.js'
import type { OrderShop } from './order-shop.js'
import { scripted } from './scripted-distributor.js'
import { startS3Server, whyNoS3Server } from './s3-server.js'
import type { S3Server } from './s3-server.js'

const scratch = mkdtempSync(join(tmpdir(), 'qm-copy-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

/** Waits for what a server does by itself, while `pass` lets its clock go on; fails after a while. */
async function until(isSo: () => Promise<boolean> | boolean, what: string, pass = () => {}): Promise<void> {
  for (let waited = 0; !await isSo(); waited += 250) {
    if (waited > 20_000) assert.fail(what)
    pass()
    await new Promise((resolve) => { setTimeout(resolve, 250) })
  }
}

interface Rig {
  t: OrderShop
  store: MemoryStore
  warnings: string[]
  /** The machine as it is now, to be put back later. */
  snapshot(): string
  /** Opens such a machine. */
  openAt(dir: string): Promise<App>
  /** Waits until the copy has all lines. */
  copied(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

async function rig(wrap: (store: MemoryStore) => ObjectStore = (store) => store): Promise<Rig> {
  const tst = scripted()
  let now = () => 0
  const store = memoryStore({ now: () => now() })
  const copy = wrap(store)
  const warnings: string[] = []
  const nothing = () => {}
  const log = { debug: nothing, info: nothing, warn: (_: object, message: string) => { warnings.push(message) }, error: nothing }
  const t = await orderShop([tst], { journalCopy: copy, log })
  now = () => t.clock.ms
  const lastLine = async () => (await t.app.ctx.read.selectFrom('journal').select((query) => query.fn.max<number>('seq').as('last')).executeTakeFirstOrThrow()).last
  return {
    t, store, warnings,
    snapshot() {
      const dir = mkdtempSync(join(scratch, 'machine-'))
      // By another process, since a copy by this one would drop the database's locks.
      execFileSync('cp', ['-r', `${t.app.dir}/.`, dir])
      return dir
    },
    openAt: (dir) => open({ dir, worker: false, now: () => t.clock.ms, log, journalCopy: copy, distributors: [...builtin, tst.distributor] }),
    async copied() {
      const last = await lastLine()
      await until(() => [...store.objects.keys()].some((key) => key.includes(`.${String(last).padStart(12, '0')}.`)), 'the copy does not get the lines', () => t.clock.advance(6 * SECOND))
    },
    [Symbol.asyncDispose]: () => t.app.close(),
  }
}

const pauseOf = async (app: App) => {
  const release = await app.orders.lease()
  release?.()
  return readPause(app.ctx)
}

describe('the copy of the journal', () => {
  test('gets every line within seconds, sealed, in objects that open into the very lines', async () => {
    await using r = await rig()
    r.t.app.orders.start()
    await r.t.place(r.t.body({ order_id: 'W-1' }))
    await r.copied()
    await r.t.place(r.t.body({ order_id: 'W-2' }))
    await r.copied()
    const lines = await r.t.app.ctx.read.selectFrom('journal').select('line').orderBy('seq').execute()
    const objects = [...r.store.objects].sort(([a], [b]) => a < b ? -1 : 1)
    const opened = objects.map(([key, { bytes }]) => {
      const text = Buffer.from(bytes).toString('utf8')
      for (const secret of ['W-1', 'W-2', 'A1', 'TST']) assert.ok(!text.includes(`"${secret}"`), 'what leaves the machine is sealed')
      const [, first, last] = /\/(\d+)\.(\d+)\.\d+\.[\w-]{43}$/.exec(key)!
      return journalSealer(r.t.app.ctx).open(text, placeOf({ first: Number(first), last: Number(last) }))
    })
    assert.ok(objects.length >= 2)
    assert.equal(opened.join(''), lines.map(({ line }) => `${line}\n`).join(''))
  })

  test('of a machine that was not set back is no reason to pause, and is gone on with', async () => {
    await using r = await rig()
    r.t.app.orders.start()
    await r.t.place(r.t.body({ order_id: 'W-1' }))
    await r.copied()
    await r.t.place(r.t.body({ order_id: 'W-2' }))
    const dir = r.snapshot()
    const before = r.store.objects.size
    const again = await r.openAt(dir)
    assert.equal(await pauseOf(again), null, 'lines that the copy does not have yet are none that were forgotten')
    again.orders.start()
    await until(() => r.store.objects.size > before, 'the copy does not go on', () => r.t.clock.advance(6 * SECOND))
    await again.close()
  })

  test('pauses the orders of a machine that was set back, with the time to look back to; once they are resumed it does so no more', async () => {
    await using r = await rig()
    r.t.app.orders.start()
    await r.t.place(r.t.body({ order_id: 'W-1' }))
    const known = new Date(r.t.clock.ms).toISOString()
    await r.copied()
    const dir = r.snapshot()
    r.t.clock.advance(3 * DAY)
    await r.t.place(r.t.body({ order_id: 'W-2' }))
    await r.copied()
    await r.t.app.close()

    const back = await r.openAt(dir)
    const pause = await pauseOf(back)
    assert.match(pause!.reason, /^the copy of the journal outside of this machine has lines up to \d+, written until 2026-11-24T.*, that the database does not have: the machine was set back/)
    assert.ok(pause!.reason.includes(`orders reconcile --since ${known}`), pause!.reason)
    assert.equal(pause!.lookBackTo, Date.parse(known))
    await assert.rejects(back.operator.orders.lookBack({ since: Date.parse(known) + 1, resume: true }), /look back as far as that/)
    const report = await back.operator.orders.lookBack({ resume: true, acknowledged: true })
    assert.deepEqual([report.since, report.resumed], [known, true])
    back.orders.start()
    const before = r.store.objects.size
    await back.ctx.engine.atomic(back.ctx, (tx) => tx.orders.journal(tx, 'note', { text: 'it goes on' }))
    await until(() => r.store.objects.size > before, 'the copy does not go on', () => r.t.clock.advance(6 * SECOND))
    await back.close()

    const again = await r.openAt(dir)
    assert.equal(await pauseOf(again), null)
    await again.close()
  })

  test('finds out that a copy of the machine placed orders, too', async () => {
    await using r = await rig()
    r.t.app.orders.start()
    await r.t.place(r.t.body({ order_id: 'W-1' }))
    await r.copied()
    const twin = await r.openAt(r.snapshot())
    twin.orders.start()
    for (let n = 0; n < 5; n++) await twin.ctx.engine.atomic(twin.ctx, (tx) => tx.orders.journal(tx, 'note', { n }))
    const before = r.store.objects.size
    await until(() => r.store.objects.size > before, 'the twin sends nothing', () => r.t.clock.advance(6 * SECOND))
    await twin.close()
    const dir = r.snapshot()
    await r.t.app.close()
    const original = await r.openAt(dir)
    assert.match((await pauseOf(original))!.reason, /or a copy of it placed orders/)
    await resumeOrders(original.ctx)
    await original.close()
  })

  test('that cannot be reached holds nobody up: orders go on, the log says so once a minute, and the lines follow', async () => {
    let dead = true
    const gone = () => Promise.reject(new Error('no route to host'))
    await using r = await rig((store) => ({ ...store, list: (prefix) => dead ? gone() : store.list(prefix), put: (...args) => dead ? gone() : store.put(...args) }))
    r.t.app.orders.start()
    assert.equal((await r.t.place(r.t.body({ order_id: 'W-1' }))).status, 200)
    await until(() => r.warnings.some((line) => line.startsWith('the copy of the journal outside of the machine cannot be reached')), 'nothing is said')
    r.t.clock.advance(20 * SECOND)
    assert.equal((await r.t.place(r.t.body({ order_id: 'W-2' }))).status, 200)
    assert.equal(r.warnings.filter((line) => line.startsWith('the copy')).length, 1)
    dead = false
    await r.copied()
    assert.equal(await readPause(r.t.app.ctx), null)
  })

  test('is refused in a folder of this machine', async () => {
    const folder = diskStore({ dir: join(scratch, 'store'), now: Date.now, random: (n) => Buffer.alloc(n, 1), publicUrl: () => 'http://shop.test', signingKey: () => 'k' })
    await assert.rejects(open({ dir: join(scratch, 'none'), worker: false, journalCopy: folder }), /journalCopy: a folder of this machine is rolled back together with it/)
    const { status, err } = await startProcess(['serve', '--dir', join(scratch, 'none'), '--port', '0', '--journal-copy'], { env: { QUARTERMASTER_S3_ENDPOINT: '' } })
    assert.deepEqual([status, err.startsWith('--journal-copy needs a bucket outside of this machine: set QUARTERMASTER_S3_*')], [2, true], err)
    const wrong = await startProcess(['serve', '--dir', join(scratch, 'none'), '--port', '0'], { env: { QUARTERMASTER_JOURNAL_COPY: 'yes' } })
    assert.match(wrong.err, /QUARTERMASTER_JOURNAL_COPY must be 1/)
  })
})

const reason = whyNoS3Server()
describe('a server that keeps the copy in S3', { skip: reason ?? false }, () => {
  let s3: S3Server
  before(async () => {
    s3 = await startS3Server()
    const { hostname, port } = new URL(s3.endpoint)
    await new Client({ endPoint: hostname, port: Number(port), useSSL: false, region: s3.region, ...s3.owner, pathStyle: true }).makeBucket('copies')
  })
  after(() => s3.stop())

  async function demo(dir: string) {
    const env = {
      ...process.env, QUARTERMASTER_S3_ENDPOINT: s3.endpoint, QUARTERMASTER_S3_BUCKET: 'copies', QUARTERMASTER_S3_REGION: s3.region,
      QUARTERMASTER_S3_ACCESS_KEY: s3.owner.accessKey, QUARTERMASTER_S3_SECRET_KEY: s3.owner.secretKey, QUARTERMASTER_JOURNAL_COPY: '1',
    }
    const child = spawn(process.execPath, [LAUNCHER, 'demo', '--dir', dir, '--port', '0', '--json'], { stdio: ['ignore', 'pipe', 'inherit'], env })
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', resolve)
      child.once('exit', (code) => reject(new Error(`ended with ${code}`)))
    })
    const { url, key } = JSON.parse(line) as { url: string; key: string }
    const { accessory } = demoStories()
    return {
      place: (id: string) => fetch(`${url}/v1/orders`, { method: 'POST', headers: { 'x-api-key': key, 'content-type': 'application/json' }, body: JSON.stringify({
        order_id: id, customer: { name: 'Pat Doe', email: 'pat@customer.example', phone: '602-555-0100', address1: '12 Main St', city: 'Phoenix', state: 'AZ', zip: '85001' },
        items: [{ distid: accessory.offers[0]!.distid, distsku: accessory.offers[0]!.distsku, upc: accessory.upc, qty: 1 }],
      }) }),
      stop: () => new Promise((resolve) => {
        child.once('exit', resolve)
        child.kill('SIGTERM')
      }),
    }
  }

  test('finds after a snapshot was put back that orders are missing', async () => {
    const store = s3Store({ endpoint: s3.endpoint, bucket: 'copies', region: s3.region, ...s3.owner, pathStyle: true, now: Date.now })
    const lastCopied = async () => Math.max(0, ...(await store.list('journal/')).map(({ key }) => Number(/\.(\d+)\.\d+\.[\w-]{43}$/.exec(key)![1])))
    const [dir, snapshot] = [join(scratch, 'live'), join(scratch, 'snapshot')]
    const first = await demo(dir)
    assert.equal((await first.place('W-1')).status, 200)
    for (let waited = 0; await lastCopied() < 2; waited += 200) {
      assert.ok(waited < 30_000, 'nothing is copied')
      await new Promise((resolve) => { setTimeout(resolve, 200) })
    }
    await first.stop()
    execFileSync('cp', ['-r', dir, snapshot])
    const second = await demo(dir)
    const before = await lastCopied()
    assert.equal((await second.place('W-2')).status, 200)
    for (let waited = 0; await lastCopied() <= before; waited += 200) {
      assert.ok(waited < 30_000, 'nothing more is copied')
      await new Promise((resolve) => { setTimeout(resolve, 200) })
    }
    await second.stop()
    rmSync(dir, { recursive: true })
    execFileSync('cp', ['-r', snapshot, dir])
    const back = await demo(dir)
    const refused = await back.place('W-2')
    assert.deepEqual([refused.status, /Orders are paused/.test(await refused.text())], [503, true])
    await back.stop()
  })
})
