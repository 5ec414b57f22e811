/**
 * The copy of the order journal outside of the machine: what a snapshot of the machine that is put
 * back cannot take with it.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { Client } from 'minio'
import { DAY, SECOND } from '../../../lib/core/clock.js'
import { builtin } from '../../../lib/distributors/builtin/index.js'
import { diskStore } from '../../../lib/objects/disk.js'
import { memoryStore } from '../../../lib/objects/memory.js'
import type { MemoryStore } from '../../../lib/objects/memory.js'
import { s3Store } from '../../../lib/objects/s3.js'
import type { ObjectStore } from '../../../lib/objects/store.js'
import { open } from '../../../lib/app/open.js'
import type { App } from '../../../lib/app/open.js'
import { appendJournal, journalSealer } from '../../../lib/orders/journal/chain.js'
import { sealedAs } from '../../../lib/orders/journal/segments.js'
import { readPause, resumeOrders } from '../../../lib/orders/engine/pause.js'
import type { Examination } from '../../../lib/app/look/doctor.js'
import type { DoctorInput } from '../../../lib/app/look/input.js'
import { lookAtJournalCopy } from '../../../lib/app/look/journal-copy.js'
import { restoreBackup } from '../../../lib/app/backup/restore.js'
import { demoStories } from '../../../lib/simulator/market/stories.js'
import { LAUNCHER, startProcess } from '../../server/launcher.js'
import { orderShop } from '../shop.js'
import type { OrderShop } from '../shop.js'
import { scripted } from '../scripted-distributor.js'
import { startS3Server, whyNoS3Server } from '../../objects/s3-server.js'
import type { S3Server } from '../../objects/s3-server.js'

const scratch = mkdtempSync(join(tmpdir(), 'qm-copy-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

/**
 * Waits for what a server does by itself, while `pass` lets its clock go on; fails after a while.
 */
async function until(
  isSo: () => Promise<boolean> | boolean,
  what: string,
  pass = () => {},
): Promise<void> {
  for (let waited = 0; !(await isSo()); waited += 250) {
    if (waited > 20_000) assert.fail(what)
    pass()
    await new Promise((resolve) => {
      setTimeout(resolve, 250)
    })
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
  const log = {
    debug: nothing,
    info: nothing,
    warn: (_: object, message: string) => {
      warnings.push(message)
    },
    error: nothing,
  }
  const t = await orderShop([tst], { journalCopy: copy, log })
  now = () => t.clock.ms
  const lastLine = async () =>
    (
      await t.app.ctx.read
        .selectFrom('journal')
        .select((query) => query.fn.max<number>('seq').as('last'))
        .executeTakeFirstOrThrow()
    ).last
  return {
    t,
    store,
    warnings,
    snapshot() {
      const dir = mkdtempSync(join(scratch, 'machine-'))
      // By another process, since a copy by this one would drop the database's locks.
      execFileSync('cp', ['-r', `${t.app.dir}/.`, dir])
      return dir
    },
    openAt: (dir) =>
      open({
        dir,
        worker: false,
        now: () => t.clock.ms,
        log,
        journalCopy: copy,
        distributors: [...builtin, tst.distributor],
      }),
    async copied() {
      const last = await lastLine()
      await until(
        () =>
          [...store.objects.keys()].some((key) =>
            key.includes(`.${String(last).padStart(12, '0')}.`),
          ),
        'the copy does not get the lines',
        () => t.clock.advance(6 * SECOND),
      )
    },
    [Symbol.asyncDispose]: () => t.app.close(),
  }
}

const pauseOf = async (app: App) => {
  const lease = await app.orders.lease()
  lease?.release()
  return readPause(app.ctx)
}

describe('the copy of the journal', () => {
  test('gets every line within seconds, in sealed objects that open into the lines', async () => {
    await using r = await rig()
    r.t.app.orders.start()
    await r.t.place(r.t.body({ order_id: 'W-1' }))
    await r.copied()
    await r.t.place(r.t.body({ order_id: 'W-2' }))
    await r.copied()
    const lines = await r.t.app.ctx.read
      .selectFrom('journal')
      .select('line')
      .orderBy('seq')
      .execute()
    const objects = [...r.store.objects].sort(([a], [b]) => (a < b ? -1 : 1))
    const opened = objects.map(([key, { bytes }]) => {
      const text = Buffer.from(bytes).toString('utf8')
      for (const secret of ['W-1', 'W-2', 'A1', 'TST'])
        assert.ok(!text.includes(`"${secret}"`), 'what leaves the machine is sealed')
      const [, first, last] = /\/(\d+)\.(\d+)\.\d+\.[\w-]{43}$/.exec(key)!
      return journalSealer(r.t.app.ctx).open(
        text,
        sealedAs({ first: Number(first), last: Number(last) }),
      )
    })
    assert.ok(objects.length >= 2)
    assert.equal(opened.join(''), lines.map(({ line }) => `${line}\n`).join(''))
  })

  test('of a machine that was not set back is no reason to pause', async () => {
    await using r = await rig()
    r.t.app.orders.start()
    await r.t.place(r.t.body({ order_id: 'W-1' }))
    await r.copied()
    await r.t.place(r.t.body({ order_id: 'W-2' }))
    const dir = r.snapshot()
    const before = r.store.objects.size
    const again = await r.openAt(dir)
    assert.equal(
      await pauseOf(again),
      null,
      'lines that the copy does not have yet are none that were forgotten',
    )
    again.orders.start()
    await until(
      () => r.store.objects.size > before,
      'the copy does not go on',
      () => r.t.clock.advance(6 * SECOND),
    )
    await again.close()
  })

  test('pauses a machine that was set back, until its orders are resumed', async () => {
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
    assert.match(
      pause!.reason,
      new RegExp(
        '^the copy of the journal outside of this machine has lines up to \\d+, written until ' +
          '2026-11-24T.*, that the database does not have: the machine was set back',
      ),
    )
    assert.ok(pause!.reason.includes(`orders reconcile --since ${known}`), pause!.reason)
    assert.equal(pause!.lookBackTo, Date.parse(known))
    await assert.rejects(
      back.operator.orders.lookBack({ since: Date.parse(known) + 1, resume: true }),
      /look back as far as that/,
    )
    const report = await back.operator.orders.lookBack({ resume: true, acknowledged: true })
    assert.deepEqual([report.since, report.resumed], [known, true])
    back.orders.start()
    const before = r.store.objects.size
    await back.ctx.engine.atomic(back.ctx, (tx) =>
      appendJournal(tx, 'note', { text: 'it goes on' }),
    )
    await until(
      () => r.store.objects.size > before,
      'the copy does not go on',
      () => r.t.clock.advance(6 * SECOND),
    )
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
    for (let n = 0; n < 5; n++)
      await twin.ctx.engine.atomic(twin.ctx, (tx) => appendJournal(tx, 'note', { n }))
    const before = r.store.objects.size
    await until(
      () => r.store.objects.size > before,
      'the twin sends nothing',
      () => r.t.clock.advance(6 * SECOND),
    )
    await twin.close()
    const dir = r.snapshot()
    await r.t.app.close()
    const original = await r.openAt(dir)
    assert.match((await pauseOf(original))!.reason, /or a copy of it placed orders/)
    await resumeOrders(original.ctx)
    await original.close()
  })

  test('that cannot be reached holds nobody up, and gets the lines later', async () => {
    let dead = true
    const gone = () => Promise.reject(new Error('no route to host'))
    await using r = await rig((store) => ({
      ...store,
      list: (prefix) => (dead ? gone() : store.list(prefix)),
      put: (...args) => (dead ? gone() : store.put(...args)),
    }))
    r.t.app.orders.start()
    assert.equal((await r.t.place(r.t.body({ order_id: 'W-1' }))).status, 200)
    await until(
      () =>
        r.warnings.some((line) =>
          line.startsWith('the copy of the journal outside of the machine cannot be reached'),
        ),
      'nothing is said',
    )
    r.t.clock.advance(20 * SECOND)
    assert.equal((await r.t.place(r.t.body({ order_id: 'W-2' }))).status, 200)
    assert.equal(r.warnings.filter((line) => line.startsWith('the copy')).length, 1)
    dead = false
    await r.copied()
    assert.equal(await readPause(r.t.app.ctx), null)
  })

  test('is refused in a folder of this machine', async () => {
    const folder = diskStore({
      dir: join(scratch, 'store'),
      now: Date.now,
      random: (n) => Buffer.alloc(n, 1),
      publicUrl: () => 'http://shop.test',
      signingKey: () => 'k',
    })
    await assert.rejects(
      open({ dir: join(scratch, 'none'), worker: false, journalCopy: folder }),
      /journalCopy: a folder of this machine is rolled back together with it/,
    )
    const { status, err } = await startProcess(
      ['serve', '--dir', join(scratch, 'none'), '--port', '0', '--journal-copy'],
      { env: { QUARTERMASTER_S3_ENDPOINT: '' } },
    )
    assert.deepEqual(
      [
        status,
        err.startsWith(
          'the copy of the journal (--journal-copy) needs a bucket outside of this machine: ' +
            'set QUARTERMASTER_S3_*',
        ),
      ],
      [2, true],
      err,
    )
    const wrong = await startProcess(['serve', '--dir', join(scratch, 'none'), '--port', '0'], {
      env: { QUARTERMASTER_JOURNAL_COPY: 'yes' },
    })
    assert.match(wrong.err, /QUARTERMASTER_JOURNAL_COPY must be 1/)
  })
})

/**
 * An order, a machine as it was then, and one more order that the copy knows; the shop is closed.
 */
async function setBack(): Promise<{ r: Rig; dir: string; backup: string }> {
  const r = await rig()
  r.t.app.orders.start()
  await r.t.place(r.t.body({ order_id: 'W-1' }))
  await r.copied()
  const dir = r.snapshot()
  const backup = mkdtempSync(join(scratch, 'backup-'))
  await r.t.app.operator.backup({ to: backup })
  r.t.clock.advance(DAY)
  await r.t.place(r.t.body({ order_id: 'W-2' }))
  await r.copied()
  await r.t.app.close()
  return { r, dir, backup }
}

const linesOf = async ({ ctx }: App) =>
  (await ctx.read.selectFrom('journal').select('line').orderBy('seq').execute())
    .map(({ line }) => `${line}\n`)
    .join('')
const orderIds = async ({ ctx }: App) =>
  (await ctx.read.selectFrom('fulfillment_order').select('order_id').orderBy('id').execute()).map(
    ({ order_id: id }) => id,
  )
let files = 0
const newFile = () => join(scratch, `fetched-${++files}.journal`)

describe('a verification of the journal', () => {
  test('tells how far the copy reaches; lines that are still to come are no fault', async () => {
    await using r = await rig()
    assert.equal((await r.t.app.operator.orders.verifyJournal()).copy, null)
    r.t.app.orders.start()
    await r.t.place(r.t.body({ order_id: 'W-1' }))
    await r.copied()
    const whole = await r.t.app.operator.orders.verifyJournal()
    assert.deepEqual(
      [whole.sound, whole.copy],
      [true, { from: 1, to: whole.lines, written_until: whole.copy!.written_until, pending: 0 }],
    )
    assert.ok(Date.parse(whole.copy!.written_until) <= r.t.clock.ms)
    await r.t.app.orders.stop()
    await r.t.app.ctx.engine.atomic(r.t.app.ctx, (tx) =>
      appendJournal(tx, 'note', { text: 'later' }),
    )
    const later = await r.t.app.operator.orders.verifyJournal()
    assert.deepEqual([later.sound, later.copy!.to, later.copy!.pending], [true, whole.lines, 1])
  })

  test('finds what only the copy has, until an operator has let orders go on with it', async () => {
    const { r, dir } = await setBack()
    const app = await r.openAt(dir)
    const { sound, faults, copy } = await app.operator.orders.verifyJournal()
    assert.equal(sound, false)
    assert.deepEqual(
      faults.map(({ where }) => where),
      ['copy'],
    )
    assert.match(
      faults[0]!.fault,
      new RegExp(
        `^the copy has lines ${copy!.to + 1} to \\d+, written until 2026-11-22T.*, that the ` +
          'database does not have$',
      ),
    )
    await pauseOf(app)
    await resumeOrders(app.ctx)
    assert.deepEqual((await app.operator.orders.verifyJournal()).faults, [])
    await app.close()
  })

  test('finds lines that its middle lacks, and no fault in oldest ones removed', async () => {
    await using r = await rig()
    r.t.app.orders.start()
    for (let n = 0; n < 3; n++) {
      await r.t.place(r.t.body())
      await r.copied()
    }
    const keys = [...r.store.objects.keys()].sort()
    assert.ok(keys.length >= 3)
    const [, first, last] = /\/0*(\d+)\.0*(\d+)\./.exec(keys[1]!)!
    const middle = r.store.objects.get(keys[1]!)!
    await r.store.remove(keys[1]!)
    const { faults } = await r.t.app.operator.orders.verifyJournal()
    assert.deepEqual(faults, [
      { seq: Number(first), where: 'copy', fault: `the copy lacks lines ${first} to ${last}` },
    ])
    await r.store.put(keys[1]!, middle.bytes, middle)
    await r.store.remove(keys[0]!)
    const trimmed = await r.t.app.operator.orders.verifyJournal()
    assert.deepEqual([trimmed.faults, trimmed.copy!.from], [[], Number(first)])
  })

  test('says so where the store cannot be asked', async () => {
    let dead = false
    await using r = await rig((store) => ({
      ...store,
      list: (prefix) => (dead ? Promise.reject(new Error('no route to host')) : store.list(prefix)),
    }))
    dead = true
    const { sound, faults, copy } = await r.t.app.operator.orders.verifyJournal()
    assert.deepEqual(
      [sound, copy, faults],
      [
        false,
        null,
        [{ seq: null, where: 'copy', fault: 'it cannot be compared: no route to host' }],
      ],
    )
  })
})

describe('the doctor', () => {
  const looked = async (dir: string, now: number, more: Partial<DoctorInput>) =>
    (
      await lookAtJournalCopy({
        dir,
        program: '0.0.0',
        now: () => now,
        monotonic: () => now,
        distributors: [],
        egress: {},
        offline: false,
        ...more,
      })
    ).map(({ check, severity, message }) => `${check} ${severity}: ${message}`)

  test('compares the copy, also beside a server, and tells what is not there yet', async () => {
    await using r = await rig()
    const { dir } = r.t.app
    const now = r.t.clock.ms
    assert.deepEqual(await looked(dir, now, { journalCopy: r.store }), [
      'journal_copy ok: the copy of the order journal has no line yet',
    ])
    r.t.app.orders.start()
    await r.t.place(r.t.body({ order_id: 'W-1' }))
    await r.copied()
    const [whole] = await looked(dir, now, { journalCopy: r.store })
    assert.match(
      whole!,
      /^journal_copy ok: .* has lines 1 to \d+, as the database has them; 0 are not there yet$/,
    )
    assert.deepEqual(await looked(dir, now, { journalCopy: r.store, offline: true }), [])
    assert.deepEqual(await looked(dir, now, {}), [])
    const dead = { ...r.store, list: () => Promise.reject(new Error('no route to host')) }
    assert.deepEqual(await looked(dir, now, { journalCopy: dead }), [
      'journal_copy warn: the copy of the order journal cannot be compared: no route to host',
    ])
  })

  test('finds lines that only the copy has', async () => {
    const { r, dir } = await setBack()
    const [found] = await looked(dir, r.t.clock.ms, { journalCopy: r.store })
    assert.match(
      found!,
      /^journal_copy bad: the copy has lines \d+ to \d+, written until .*, that the database does not/,
    )
  })
})

describe('a journal that is brought back from the copy', () => {
  test('is the very journal, and a start with it takes in what was forgotten', async () => {
    const { r, dir } = await setBack()
    const app = await r.openAt(dir)
    const [to, before] = [newFile(), (await linesOf(app)).length]
    const trial = await app.operator.orders.fetchJournal({ to, dryRun: true })
    assert.deepEqual([existsSync(to), existsSync(`${to}.part`)], [false, false])
    const fetched = await app.operator.orders.fetchJournal({ to })
    assert.deepEqual(fetched, trial)
    assert.deepEqual(
      [fetched.file, fetched.from_database, fetched.missing_here! > 0],
      [to, 0, true],
    )
    assert.ok(
      readFileSync(to, 'utf8').startsWith(await linesOf(app)) && readFileSync(to).length > before,
    )
    await assert.rejects(
      app.operator.orders.fetchJournal({ to }),
      /is there already; name a new file/,
    )
    await app.close()
    renameSync(to, join(dir, 'orders.journal'))
    const back = await r.openAt(dir)
    assert.match(
      (await pauseOf(back))!.reason,
      new RegExp(`^the database had lost ${fetched.missing_here} lines of the order journal`),
    )
    assert.deepEqual(await orderIds(back), ['W-1', 'W-2'])
    assert.equal((await back.operator.orders.verifyJournal({ anchor: fetched.head })).sound, true)
    await back.close()
  })

  test('serves a restore of a backup on another machine', async () => {
    const { r, backup } = await setBack()
    const dir = mkdtempSync(join(scratch, 'new-machine-'))
    const keys = join(r.t.app.dir, 'keys')
    const own = { now: () => r.t.clock.ms }
    await restoreBackup({ backup, dir, keys, ...own })
    const app = await r.openAt(dir)
    const to = newFile()
    const { missing_here: missing } = await app.operator.orders.fetchJournal({ to })
    // The restore wrote lines of its own or none: either way the backup comes before they part.
    assert.ok(missing === null || missing > 0)
    await app.close()
    renameSync(to, join(dir, 'orders.journal'))
    const restored = await restoreBackup({ backup, dir, ...own })
    assert.deepEqual([restored.journal_kept, restored.replayed > 0], [true, true])
    const back = await r.openAt(dir)
    assert.deepEqual(await orderIds(back), ['W-1', 'W-2'])
    await back.close()
  })

  test('is refused where an object was changed; what it lacks the database gives', async () => {
    const { r, dir } = await setBack()
    const app = await r.openAt(dir)
    const [oldest, ...later] = [...r.store.objects.keys()].sort()
    const newest = later.at(-1)!
    const to = newFile()
    const { bytes, contentType } = r.store.objects.get(newest)!
    const changed = Uint8Array.from(bytes)
    changed[changed.length - 3]! ^= 1
    await r.store.put(newest, changed, { contentType })
    await assert.rejects(
      app.operator.orders.fetchJournal({ to }),
      /^Error: the copy's lines \d+ to \d+ cannot be opened: they were changed/,
    )
    await r.store.put(newest, bytes, { contentType })

    const whole = await app.operator.orders.fetchJournal({ to: newFile() })
    await r.store.remove(oldest!)
    const filled = await app.operator.orders.fetchJournal({ to: newFile() })
    assert.deepEqual(
      [filled.lines, filled.head, filled.from_database > 0],
      [whole.lines, whole.head, true],
    )
    assert.equal(readFileSync(filled.file, 'utf8'), readFileSync(whole.file, 'utf8'))

    const gone = later.find(
      (key) =>
        key !== newest &&
        Number(/\/\d+\.0*(\d+)\./.exec(key)![1]) > whole.lines - whole.missing_here!,
    )
    if (gone) {
      await r.store.remove(gone)
      await assert.rejects(
        app.operator.orders.fetchJournal({ to }),
        /are neither in the copy nor in the database/,
      )
    }
    assert.deepEqual(
      readdirSync(scratch).filter((name) => name.startsWith(to.slice(scratch.length + 1))),
      [],
    )
    await app.close()
  })

  test('is asked for by its head where the copy has several', async () => {
    const { r, dir } = await setBack()
    const twin = await r.openAt(dir)
    await pauseOf(twin)
    await resumeOrders(twin.ctx)
    twin.orders.start()
    const before = r.store.objects.size
    await twin.ctx.engine.atomic(twin.ctx, (tx) =>
      appendJournal(tx, 'note', { text: 'it goes on' }),
    )
    await until(
      () => r.store.objects.size > before,
      'the copy does not go on',
      () => r.t.clock.advance(6 * SECOND),
    )
    await twin.orders.stop()
    const refusal = await twin.operator.orders.fetchJournal({ to: newFile() }).then(
      () => assert.fail('it was taken'),
      (error: unknown) => error as Error,
    )
    const heads = [...refusal.message.matchAll(/--head (\d+):([\w-]{43}), written until/g)].map(
      ([, seq, mac]) => ({ seq: Number(seq), mac: mac! }),
    )
    assert.equal(heads.length, 2, refusal.message)
    const own = (await twin.operator.orders.verifyJournal()).head!
    const forgotten = heads.find(({ mac }) => mac !== own.mac)!
    const [mine, theirs] = [newFile(), newFile()]
    assert.deepEqual(
      (await twin.operator.orders.fetchJournal({ to: mine, head: own })).missing_here,
      0,
    )
    assert.equal(readFileSync(mine, 'utf8'), await linesOf(twin))
    assert.deepEqual(
      (await twin.operator.orders.fetchJournal({ to: theirs, head: forgotten })).missing_here,
      null,
    )
    assert.match(readFileSync(theirs, 'utf8'), new RegExp(`"mac":"${forgotten.mac}"\\}\n$`))
    await assert.rejects(
      twin.operator.orders.fetchJournal({ to: newFile(), head: { seq: 1, mac: 'x'.repeat(43) } }),
      /no object of the copy ends with line 1 of this digest/,
    )
    await twin.close()
  })

  test('needs a store that can be read, a folder to write to, and a copy', async () => {
    await using r = await rig(({ get: _, ...store }) => store)
    await assert.rejects(r.t.app.operator.orders.fetchJournal({ to: newFile() }), /has no `get`/)
    await using empty = await rig()
    await assert.rejects(
      empty.t.app.operator.orders.fetchJournal({ to: newFile() }),
      /the store has no copy of this installation's journal/,
    )
    await assert.rejects(
      empty.t.app.operator.orders.fetchJournal({ to: join(scratch, 'no', 'where') }),
      /is not a folder/,
    )
    await using without = await orderShop([scripted()])
    await assert.rejects(
      without.app.operator.orders.fetchJournal({ to: newFile() }),
      /no copy of the journal is kept/,
    )
    const { status, err } = await startProcess(
      ['orders', 'journal', 'fetch', '--to', newFile(), '--dir', without.app.dir],
      { env: { QUARTERMASTER_S3_ENDPOINT: '' } },
    )
    assert.deepEqual([status, /needs a bucket outside of this machine/.test(err)], [2, true], err)
  })
})

const reason = whyNoS3Server()
describe('a server that keeps the copy in S3', { skip: reason ?? false }, () => {
  let s3: S3Server
  before(async () => {
    s3 = await startS3Server()
    const { hostname, port } = new URL(s3.endpoint)
    await new Client({
      endPoint: hostname,
      port: Number(port),
      useSSL: false,
      region: s3.region,
      ...s3.owner,
      pathStyle: true,
    }).makeBucket('copies')
    env = {
      QUARTERMASTER_S3_ENDPOINT: s3.endpoint,
      QUARTERMASTER_S3_BUCKET: 'copies',
      QUARTERMASTER_S3_REGION: s3.region,
      QUARTERMASTER_S3_ACCESS_KEY: s3.owner.accessKey,
      QUARTERMASTER_S3_SECRET_KEY: s3.owner.secretKey,
      QUARTERMASTER_JOURNAL_COPY: '1',
    }
  })
  after(() => s3.stop())

  let env: Record<string, string>
  async function demo(dir: string) {
    const child = spawn(
      process.execPath,
      [LAUNCHER, 'demo', '--dir', dir, '--port', '0', '--json'],
      { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } },
    )
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', resolve)
      child.once('exit', (code) => reject(new Error(`ended with ${code}`)))
    })
    const { url, key } = JSON.parse(line) as { url: string; key: string }
    const { accessory } = demoStories()
    return {
      place: (id: string) =>
        fetch(`${url}/v1/orders`, {
          method: 'POST',
          headers: { 'x-api-key': key, 'content-type': 'application/json' },
          body: JSON.stringify({
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
          }),
        }),
      stop: () =>
        new Promise((resolve) => {
          child.once('exit', resolve)
          child.kill('SIGTERM')
        }),
    }
  }

  test('finds after a snapshot was put back that orders are missing', async () => {
    const store = s3Store({
      endpoint: s3.endpoint,
      bucket: 'copies',
      region: s3.region,
      ...s3.owner,
      pathStyle: true,
      now: Date.now,
    })
    const lastCopied = async () =>
      Math.max(
        0,
        ...(await store.list('journal/')).map(({ key }) =>
          Number(/\.(\d+)\.\d+\.[\w-]{43}$/.exec(key)![1]),
        ),
      )
    const [dir, snapshot] = [join(scratch, 'live'), join(scratch, 'snapshot')]
    const first = await demo(dir)
    assert.equal((await first.place('W-1')).status, 200)
    for (let waited = 0; (await lastCopied()) < 2; waited += 200) {
      assert.ok(waited < 30_000, 'nothing is copied')
      await new Promise((resolve) => {
        setTimeout(resolve, 200)
      })
    }
    await first.stop()
    execFileSync('cp', ['-r', dir, snapshot])
    const second = await demo(dir)
    const before = await lastCopied()
    assert.equal((await second.place('W-2')).status, 200)
    for (let waited = 0; (await lastCopied()) <= before; waited += 200) {
      assert.ok(waited < 30_000, 'nothing more is copied')
      await new Promise((resolve) => {
        setTimeout(resolve, 200)
      })
    }
    await second.stop()
    rmSync(dir, { recursive: true })
    execFileSync('cp', ['-r', snapshot, dir])
    const told = await startProcess(['orders', 'journal', 'verify', '--dir', dir], { env })
    assert.deepEqual(
      [
        told.status,
        /^copy, line \d+: the copy has lines .* that the database does not have$/m.test(told.out),
      ],
      [1, true],
      told.out,
    )
    const doctor = async () => {
      const { status, out } = await startProcess(['doctor', '--json', '--dir', dir], { env })
      const { findings } = JSON.parse(out) as Examination
      return [status, findings.find(({ check }) => check === 'journal_copy')?.severity]
    }
    assert.deepEqual(await doctor(), [3, 'bad'])
    const file = join(scratch, 'from-s3.journal')
    const fetched = await startProcess(['orders', 'journal', 'fetch', '--to', file, '--dir', dir], {
      env,
    })
    assert.deepEqual(
      [fetched.status, /^The database lacks the last \d+ of them\.$/m.test(fetched.out)],
      [0, true],
      fetched.out + fetched.err,
    )
    const back = await demo(dir)
    const refused = await back.place('W-2')
    assert.deepEqual([refused.status, /Orders are paused/.test(await refused.text())], [503, true])
    await back.stop()
    renameSync(file, join(dir, 'orders.journal'))
    assert.equal(
      (await startProcess(['orders', 'reconcile', '--resume', '--yes', '--dir', dir], { env }))
        .status,
      0,
    )
    const known = await startProcess(['orders', 'show', 'W-2', '--dir', dir], { env })
    assert.equal(known.status, 0, known.err)
    const sound = await startProcess(['orders', 'journal', 'verify', '--dir', dir], { env })
    assert.equal((await doctor())[1], 'ok')
    assert.deepEqual(
      [
        sound.status,
        /^The copy outside of this machine has lines 1 to \d+, written until /m.test(sound.out),
      ],
      [0, true],
      sound.out,
    )
  })
})
