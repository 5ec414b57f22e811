import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { findSubscriber } from '../../lib/accounts/subscribers.js'
import { openSaved } from '../../lib/configuration/secrets.js'
import type { ApiError } from '../../lib/core/errors.js'
import { loadSecretKey, makeSealer, openVault } from '../../lib/core/storage/secrets.js'
import { loadDriver, openSqlite } from '../../lib/db/sqlite/driver.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { migrate } from '../../lib/db/sqlite/migrate.js'
import { kyselyOver, openFile, transact } from '../../lib/db/sqlite/sqlite.js'
import { touch } from '../../lib/db/state.js'
import { together } from '../../lib/db/together.js'
import { openForTest as open } from '../../server/testing/open.js'
import { createTestApp } from '../../server/testing/index.js'
import { pattern } from '../harness/pattern.js'

function folder(): { dir: string; [Symbol.dispose](): void } {
  const dir = mkdtempSync(join(tmpdir(), 'qm-db-'))
  return { dir, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) }
}

/**
 * What is installed: packages by name, with their versions. `loaded` tells which of them was taken.
 */
function installed(versions: Record<string, string>, native: (path: string) => void = () => {}) {
  const loaded: string[] = []
  const find = (name: string): unknown => {
    const version = versions[name.replace('/package.json', '')]
    if (version === undefined) throw new Error(`Cannot find module '${name}'`)
    if (name.endsWith('/package.json')) return { version }
    loaded.push(version)
    return class {
      constructor(path: string) {
        native(path)
      }
      close() {}
    }
  }
  return { loaded, find }
}

/**
 * Makes a file in a thread of its own, without write-ahead logging, and returns within the
 * transaction that does so; it is committed after so many milliseconds.
 */
async function held(path: string, milliseconds: number): Promise<{ ended: Promise<unknown> }> {
  const load = createRequire(import.meta.url)
  let driver = ''
  loadDriver(process.versions as never, (name) => load((driver = load.resolve(name))))
  const holder = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads')
    const db = require(workerData.driver)(workerData.path)
    db.exec('BEGIN IMMEDIATE; CREATE TABLE made (n); INSERT INTO made VALUES (1)')
    parentPort.postMessage('held')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, workerData.milliseconds)
    db.exec('COMMIT')
    db.close()`,
    { eval: true, workerData: { driver, path, milliseconds } },
  )
  const ended = once(holder, 'exit')
  await once(holder, 'message')
  return { ended }
}

describe('the better-sqlite3 that fits the running Node', () => {
  const NODES = {
    20: { node: '20.19.0', napi: '9' },
    22: { node: '22.14.0', napi: '10' },
    24: { node: '24.21.0', napi: '10' },
  }

  for (const [version, node, packages] of [
    ['12.11.1', NODES[20], { 'better-sqlite3': '12.11.1' }],
    ['12.11.1', NODES[20], { 'better-sqlite3-12': '12.11.1' }],
    ['12.11.1', NODES[20], { 'better-sqlite3': '13.2.0', 'better-sqlite3-12': '12.11.1' }],
    ['13.2.0', NODES[22], { 'better-sqlite3': '13.2.0', 'better-sqlite3-12': '12.11.1' }],
    ['13.2.0', NODES[24], { 'better-sqlite3': '13.2.0' }],
  ] as const) {
    test(
      `is ${version} on Node ${node.node} where ${JSON.stringify(packages)} is installed, ` +
        'and the other is not touched',
      () => {
        const { loaded, find } = installed(packages)
        loadDriver(node, find)
        assert.deepEqual(loaded, [version])
      },
    )
  }

  for (const [node, packages, line] of [
    [
      NODES[20],
      { 'better-sqlite3': '13.2.0' },
      pattern(
        /^better-sqlite3 12, which Node 20\.19\.0 needs, is not installed, but 13\.2\.0 is: /,
        /.*`npm update better-sqlite3`/,
      ),
    ],
    [
      NODES[24],
      { 'better-sqlite3': '12.11.1' },
      /^better-sqlite3 13, which Node 24\.21\.0 needs, is not installed, but 12\.11\.1 is: /,
    ],
    [NODES[22], {}, /^better-sqlite3 13, which Node 22\.14\.0 needs, is not installed: .*`npm ci`/],
    [
      { node: '22.13.1', napi: '9' },
      { 'better-sqlite3': '13.2.0' },
      /^Node 22\.13\.1 is too old for the database: use Node 20\.19, 22\.14 and 24/,
    ],
    [{ node: '21.7.3', napi: '9' }, { 'better-sqlite3': '12.11.1' }, /^Node 21\.7\.3 is too old/],
  ] as const) {
    test(
      `is missing on Node ${node.node} where ${JSON.stringify(packages)} is installed: ` +
        'one line says what to do, and nothing is loaded',
      () => {
        const { loaded, find } = installed(packages)
        assert.throws(
          () => loadDriver(node, find),
          ({ message }: Error) => line.test(message) && !message.includes('\n'),
        )
        assert.deepEqual(loaded, [])
      },
    )
  }

  test('is told apart from one whose native part was never made', () => {
    const { find } = installed({ 'better-sqlite3': '13.2.0' }, () => {
      throw new Error('Could not locate the bindings file. Tried:\n → build/x.node\n → y.node')
    })
    assert.throws(
      () => loadDriver(NODES[24], find),
      pattern(
        /^Error: better-sqlite3 13\.2\.0 is installed, /,
        /but its native part is missing or does not fit Node .*`npm rebuild` \(Could not /,
        /locate the bindings file\. Tried:\)$/,
      ),
    )
  })

  test('is the one that these tests run on', () => {
    const version = openSqlite(':memory:')
      .prepare('SELECT sqlite_version()')
      .pluck()
      .get() as string
    assert.match(version, /^3\.5\d\./)
  })
})

describe('files', () => {
  test('the system of record is at synchronous FULL on every open, also of an existing file', () => {
    using scratch = folder()
    const path = join(scratch.dir, 'a.db')
    openFile(path, { synchronous: 'FULL' }).close()
    const plain = openSqlite(path)
    assert.equal(
      plain.pragma('synchronous', { simple: true }),
      1,
      'better-sqlite3 itself re-opens a WAL file at NORMAL',
    )
    plain.close()
    const ours = openFile(path, { synchronous: 'FULL' })
    assert.equal(ours.pragma('synchronous', { simple: true }), 2)
    assert.equal(ours.pragma('journal_mode', { simple: true }), 'wal')
    assert.equal(ours.pragma('foreign_keys', { simple: true }), 1)
    ours.close()
  })

  test('an app holds its system of record at FULL after a restart too', async () => {
    using scratch = folder()
    await (await open({ dir: scratch.dir, worker: false })).close()
    await using app = await open({ dir: scratch.dir, worker: false })
    assert.equal(
      (await sql<{ synchronous: number }>`PRAGMA synchronous`.execute(app.ctx.db)).rows[0]!
        .synchronous,
      2,
    )
    const { meter } = app.ctx.engine
    assert.equal(meter.file!.raw.pragma('synchronous', { simple: true }), 1)
  })

  test('a file that another process has just made, and is writing to, is waited for', async () => {
    using scratch = folder()
    const path = join(scratch.dir, 'new.db')
    const short = await held(path, 300)
    const raw = openFile(path, { synchronous: 'FULL', patient: true })
    assert.equal(raw.pragma('journal_mode', { simple: true }), 'wal')
    assert.equal(raw.prepare('SELECT n FROM made').pluck().get(), 1)
    raw.close()
    await short.ended
    rmSync(path)
    const long = await held(path, 2_000)
    assert.throws(() => openFile(path, { synchronous: 'FULL' }), /new\.db: database is locked/)
    await long.ended
  })

  test('closing leaves no write-ahead log behind', async () => {
    using scratch = folder()
    const app = await open({ dir: scratch.dir, worker: false })
    await app.operator.subscribers.create({ name: 'a', email: 'a@b.example' })
    await app.close()
    for (const path of Object.values(filesIn(scratch.dir)))
      assert.throws(() => statSync(`${path}-wal`), /ENOENT/, path)
    await assert.rejects(app.as('a').ping(), /closed/)
  })

  test('a file of a newer release is refused and untouched', () => {
    using scratch = folder()
    const raw = openFile(join(scratch.dir, 'a.db'), { synchronous: 'FULL' })
    raw.pragma('user_version = 9')
    assert.throws(() => migrate(raw, 'a.db', ['CREATE TABLE t (a)']), /newer release/)
    raw.close()
  })

  test('a step of a migration that fails leaves the version before it', () => {
    using scratch = folder()
    const raw = openFile(join(scratch.dir, 'a.db'), { synchronous: 'FULL' })
    assert.throws(
      () => migrate(raw, 'a.db', ['CREATE TABLE t (a)', 'CREATE TABLE u (a); CREATE TABLE t (a)']),
      /already exists/,
    )
    assert.equal(raw.pragma('user_version', { simple: true }), 1)
    assert.equal(
      raw.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'u'").pluck().get(),
      0,
    )
    raw.close()
  })

  test('a catalog of another version or a damaged one is thrown away; the system of record is not', async () => {
    using scratch = folder()
    await (await open({ dir: scratch.dir, worker: false })).close()
    writeFileSync(
      filesIn(scratch.dir).catalog,
      'this is not a database, but it has some length to it',
    )
    await using app = await open({ dir: scratch.dir, worker: false })
    assert.equal(app.ctx.engine.catalog.prepare('SELECT revision FROM state').pluck().get(), 0)
  })

  test('after a catalog of another schema is thrown away, every source is due at once', async () => {
    using scratch = folder()
    const app = await open({ dir: scratch.dir, worker: false })
    await app.operator.feeds.set({ distid: 'DAV', location: '/nowhere.csv', every: 86_400_000 })
    await app.operator.feeds.pull({ distid: 'DAV' })
    await app.close()
    const raw = openSqlite(filesIn(scratch.dir).catalog)
    raw.pragma('application_id = 5')
    raw.close()
    await using again = await open({ dir: scratch.dir, worker: false })
    assert.equal((await again.operator.feeds.status())[0]!.last_pull, null)
  })

  test('a catalog that is only held by another process is not thrown away', async () => {
    using scratch = folder()
    await (await open({ dir: scratch.dir, worker: false })).close()
    const holder = openSqlite(filesIn(scratch.dir).catalog)
    holder.pragma('locking_mode = EXCLUSIVE')
    holder.exec('BEGIN EXCLUSIVE; UPDATE state SET revision = 7')
    await assert.rejects(open({ dir: scratch.dir, worker: false }), { code: 'SQLITE_BUSY' })
    holder.exec('COMMIT')
    holder.close()
    await using app = await open({ dir: scratch.dir, worker: false })
    assert.equal(app.ctx.engine.catalog.prepare('SELECT revision FROM state').pluck().get(), 7)
  })

  test('a damaged catalog is not thrown away under a running server', async () => {
    using scratch = folder()
    const serving = await open({ dir: scratch.dir, worker: false })
    serving.ctx.engine.lock('serve')
    writeFileSync(filesIn(scratch.dir).catalog, 'damaged, but there is a server on it')
    await assert.rejects(open({ dir: scratch.dir, worker: false }), /a server is running on it/)
    await serving.close()
  })

  test('a call is counted within its turn of the event loop', async () => {
    await using t = await createTestApp()
    const { limits } = t.app.ctx
    const key = t.app.findKey(t.key)!
    assert.ok(!(limits.admit(key, 'GET /v1/ping') instanceof Promise))
    assert.equal((await limits.usage(t.keyId)).today, 1)
  })

  test('usage that cannot be written is kept, and nothing ends', async () => {
    await using t = await createTestApp()
    await t.request('/v1/ping')
    const holder = openSqlite(filesIn(t.app.dir).meter)
    holder.exec('BEGIN IMMEDIATE')
    t.app.ctx.limits.flush()
    await t.request('/v1/ping')
    holder.exec('COMMIT')
    holder.close()
    assert.equal((await t.app.ctx.limits.usage(t.keyId)).today, 2)
  })

  test('a write outside of a transaction waits for another process, and the loop turns meanwhile', async () => {
    await using t = await createTestApp()
    const { ctx } = t.app
    const other = openFile(filesIn(t.app.dir).record, { synchronous: 'FULL' })
    try {
      other.exec('BEGIN IMMEDIATE')
      let turns = 0
      const turning = setInterval(() => turns++, 1)
      setTimeout(() => other.exec('COMMIT'), 600)
      await ctx.db.updateTable('feed_source').set({ last_pull_at: 1 }).execute()
      clearInterval(turning)
      assert.ok(turns > 10, `${turns} turns`)
    } finally {
      other.close()
    }
  })

  test('one folder has one server: a second lock is refused until the first is gone', async () => {
    using scratch = folder()
    const first = await open({ dir: scratch.dir, worker: false })
    await using second = await open({ dir: scratch.dir, worker: false })
    assert.equal(first.ctx.engine.lock('serve'), true)
    assert.equal(second.ctx.engine.lock('serve'), false)
    await first.close()
    assert.equal(second.ctx.engine.lock('serve'), true)
  })
})

describe('atomic', () => {
  test('a failure undoes everything', async () => {
    await using t = await createTestApp()
    const { ctx } = t.app
    await assert.rejects(
      ctx.engine.atomic(ctx, async (tx) => {
        await touch(tx.db, 'keys')
        await tx.db.deleteFrom('api_key').execute()
        throw new Error('no')
      }),
      /no/,
    )
    assert.equal((await t.request('/v1/ping')).status, 200)
  })

  test('inside another it joins it', async () => {
    await using t = await createTestApp()
    const { ctx } = t.app
    const count = () =>
      ctx.read
        .selectFrom('audit')
        .select((query) => query.fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow()
        .then(({ n }) => n)
    const before = await count()
    await assert.rejects(
      ctx.engine.atomic(ctx, async (tx) => {
        await tx.engine.atomic(tx, (inner) =>
          inner.db
            .insertInto('audit')
            .values({ at: 0, actor: 'a', action: 'b', detail: '{}' })
            .execute(),
        )
        throw new Error('no')
      }),
      /no/,
    )
    assert.equal(await count(), before)
  })

  test('the outer db inside atomic is an error instead of a deadlock', async () => {
    await using t = await createTestApp()
    const { ctx } = t.app
    await assert.rejects(
      ctx.engine.atomic(ctx, () => ctx.db.selectFrom('subscriber').selectAll().execute()),
      /inside atomic, use the context/,
    )
    await assert.rejects(
      ctx.engine.atomic(ctx, () => ctx.engine.atomic(ctx, async () => 1)),
      /already inside atomic/,
    )
    assert.equal(
      await ctx.engine.atomic(ctx, async () => 1),
      1,
      'and the writer is free afterwards',
    )
  })

  test('reads beside a transaction do not wait for it and do not see it', async () => {
    await using t = await createTestApp()
    const { ctx } = t.app
    let release = () => {}
    const waiting = new Promise<void>((resolve) => {
      release = resolve
    })
    const writing = ctx.engine.atomic(ctx, async (tx) => {
      await tx.db.updateTable('subscriber').set({ email: 'new@shop.example' }).execute()
      await waiting
    })
    const seen = await ctx.read.selectFrom('subscriber').select('email').executeTakeFirstOrThrow()
    assert.equal(seen.email, 'owner@shop.example')
    release()
    await writing
    assert.equal(
      (await ctx.read.selectFrom('subscriber').select('email').executeTakeFirstOrThrow()).email,
      'new@shop.example',
    )
  })

  test('a full disk is told as such, nothing is left open, and reads go on', async () => {
    using scratch = folder()
    const raw = openFile(join(scratch.dir, 'a.db'), { synchronous: 'FULL' })
    raw.exec('CREATE TABLE t (a TEXT) STRICT')
    raw.pragma(`max_page_count = ${(raw.pragma('page_count', { simple: true }) as number) + 2}`)
    const owner = {}
    const fatal: unknown[] = []
    const db = kyselyOver<{ t: { a: string } }>(raw, (error) => fatal.push(error), owner)
    await assert.rejects(
      transact(db, owner, async (tx) => {
        for (let i = 0; i < 100; i++)
          await tx
            .insertInto('t')
            .values({ a: 'x'.repeat(1_000) })
            .execute()
      }),
      (error: Error & { code?: string }) => error.code === 'SQLITE_FULL',
    )
    assert.equal(raw.inTransaction, false)
    assert.equal((await db.selectFrom('t').selectAll().execute()).length, 0)
    // What was asked together with it, and would fit, does not stand alone.
    const insert = (tx: typeof db, length: number) =>
      tx
        .insertInto('t')
        .values({ a: 'x'.repeat(length) })
        .execute()
    for (const lengths of [
      [1, 100_000, 1],
      [100_000, 1],
    ])
      await assert.rejects(
        transact(db, owner, (tx) => together(lengths.map((length) => insert(tx, length)))),
        (error: Error & { code?: string }) => error.code === 'SQLITE_FULL',
      )
    assert.equal((await db.selectFrom('t').selectAll().execute()).length, 0)
    await transact(db, owner, (tx) => insert(tx, 1))
    assert.equal((await db.selectFrom('t').selectAll().execute()).length, 1)
    assert.deepEqual(fatal, [])
    raw.close()
  })

  test('a disk error of the system of record is handed to the one who stops the process', async () => {
    using scratch = folder()
    const raw = openFile(join(scratch.dir, 'a.db'), { synchronous: 'FULL' })
    const fatal: unknown[] = []
    const failing = new Proxy(raw, {
      get(target, name) {
        if (name === 'exec') {
          return (text: string) => {
            if (text === 'commit')
              throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC' })
            return target.exec(text)
          }
        }
        const member = Reflect.get(target, name, target) as unknown
        return typeof member === 'function'
          ? (member as (...args: unknown[]) => unknown).bind(target)
          : member
      },
    })
    const owner = {}
    const db = kyselyOver<{ t: { a: string } }>(failing, (error) => fatal.push(error), owner)
    await assert.rejects(
      transact(db, owner, (tx) => sql`CREATE TABLE t (a)`.execute(tx)),
      /disk I\/O error/,
    )
    assert.equal(fatal.length, 1)
    raw.close()
  })
})

describe('secrets', () => {
  const random = (bytes: number) => Buffer.from(Array.from({ length: bytes }, (_, i) => i + bytes))

  test('sealed text opens only with its key and at its place', () => {
    const sealer = makeSealer(Buffer.alloc(32, 1), random)
    const sealed = sealer.seal('p@ss ü', 'shop /a')
    assert.ok(!sealed.includes('p@ss'))
    assert.equal(sealer.open(sealed, 'shop /a'), 'p@ss ü')
    assert.throws(() => sealer.open(sealed, 'shop /b'))
    assert.throws(() => makeSealer(Buffer.alloc(32, 2), random).open(sealed, 'shop /a'))
    assert.throws(() => sealer.open(`${sealed.slice(0, -2)}AA`, 'shop /a'))
    assert.throws(() => sealer.open('s1.AAAA.BBBB', 'shop /a'), /not a sealed text/)
  })

  test('a data key opens only for its owner and with the secret key that wrapped it', () => {
    const vault = openVault(Buffer.alloc(32, 1), random)
    const wrapped = vault.newDataKey('s_1')
    assert.equal(vault.unwrap(wrapped, 's_1').length, 32)
    assert.throws(() => vault.unwrap(wrapped, 's_2'))
    const other = openVault(Buffer.alloc(32, 2), random)
    assert.throws(() => other.unwrap(wrapped, 's_1'), /wrapped by the secret key/)
    assert.deepEqual(
      other.unwrap(vault.rewrap(wrapped, 's_1', other), 's_1'),
      vault.unwrap(wrapped, 's_1'),
    )
  })

  test('a missing key over existing data stops the start, and no new one is made', async () => {
    using scratch = folder()
    await (await open({ dir: scratch.dir, worker: false })).close()
    const path = join(scratch.dir, 'keys', 'secret-key')
    assert.equal(statSync(path).mode & 0o777, 0o600)
    const kept = readFileSync(path)
    rmSync(path)
    await assert.rejects(open({ dir: scratch.dir, worker: false }), /secret-key is missing/)
    assert.throws(() => statSync(path), /ENOENT/)
    writeFileSync(path, 'damaged')
    await assert.rejects(open({ dir: scratch.dir, worker: false }), /is damaged/)
    writeFileSync(path, kept)
    await (await open({ dir: scratch.dir, worker: false })).close()
    assert.throws(
      () => loadSecretKey(scratch.dir, { fresh: false, fromEnvironment: 'abc', random }),
      /64 hex digits/,
    )
  })

  test('a folder that is opened while its key is rotated ends with one key that opens everything', async () => {
    using scratch = folder()
    const app = await open({ dir: scratch.dir, worker: false })
    await app.operator.subscribers.create({ name: 'Shop', email: 'a@shop.example' })
    const document = {
      distributors: {},
      targets: { woo: { active: true, 'consumer-key': 'kept' } },
      notification_email: 'a@shop.example',
      pricing: {},
      product_restrictions: {},
    }
    await app.operator.configurations.put('Shop', { document })
    const [rotated, opened] = await Promise.allSettled([
      app.operator.secrets.rotate(),
      open({ dir: scratch.dir, worker: false }),
    ])
    assert.equal(rotated.status, 'fulfilled')
    if (opened.status === 'fulfilled') await opened.value.close()
    // Whoever comes next, this process or another, can make a subscriber and read what is there.
    await app.operator.subscribers.create({ name: 'Next', email: 'b@shop.example' })
    await app.close()
    await using later = await open({ dir: scratch.dir, worker: false })
    const shop = await findSubscriber(later.ctx, 'Shop')
    assert.deepEqual(
      openSaved(later.ctx, shop, await later.ctx.configurations.of(shop)).targets['woo'],
      document.targets.woo,
    )
    await later.operator.configurations.put('Next', { document })
    assert.ok(!existsSync(join(scratch.dir, 'keys', 'secret-key.next')))
  })

  test('a process that was open while the key was rotated makes no subscriber that nobody could read', async () => {
    using scratch = folder()
    const app = await open({ dir: scratch.dir, worker: false })
    const other = await open({ dir: scratch.dir, worker: false })
    await app.operator.secrets.rotate()
    await assert.rejects(
      other.operator.subscribers.create({ name: 'Shop', email: 'a@shop.example' }),
      /start it again/,
    )
    await app.close()
    await other.close()
  })

  test("a key that was given is not the folder's to rotate", async () => {
    using scratch = folder()
    await using app = await open({ dir: scratch.dir, worker: false, secretKey: 'ab'.repeat(32) })
    await assert.rejects(app.operator.secrets.rotate(), /secret-key is missing|theirs to replace/)
  })

  test('the library takes no text that HTTP would not take', async () => {
    await using t = await createTestApp()
    const document = {
      distributors: {},
      targets: {},
      notification_email: 'a@b.example',
      pricing: {},
      product_restrictions: {},
    }
    const refused = async (bound: unknown, path: string) =>
      assert.rejects(
        t.app.operator.configurations.put(t.subscriber, {
          document: { ...document, bound_book: bound },
        }),
        (error: ApiError) =>
          error.code === 'schema_validation_failed' &&
          (error.details as { path: string }[])[0]!.path === path,
      )
    await refused({ a: '\u0000sealed:x' }, '/bound_book/a')
    await refused({ 'a\u0007': 1 }, '/bound_book/a\u0007')
    let deep: unknown = 1
    for (let i = 0; i < 10_000; i++) deep = [deep]
    await refused(deep, `/bound_book${'/0'.repeat(64)}`)
  })

  test('credentials of a document are sealed in the database and masked when read', async () => {
    await using t = await createTestApp()
    await t.configure({
      distributors: {
        'RSR Group': {
          distid: 'RSR',
          fulfillment: {
            API_USER: '12345',
            API_PASSWORD: 'canary-one',
            ship_to_store: { store_account: '1', password: 'canary-two' },
          },
        },
      },
      targets: {
        woo: { active: true, 'consumer-key': 'canary-three', 'consumer-secret': 'canary-four' },
        gunbroker: { active: true, password: 'canary-five' },
      },
    })
    for (const shop of [t.shop, t.remote]) {
      const { configuration } = (await shop.config.get()) as {
        configuration: { distributors: Record<string, { fulfillment: unknown }>; targets: unknown }
      }
      assert.deepEqual(configuration.distributors['RSR Group']!.fulfillment, {
        API_USER: '12345',
        API_PASSWORD: '********',
        ship_to_store: { store_account: '1', password: '********' },
      })
      assert.deepEqual(configuration.targets, {
        woo: { active: true, 'consumer-key': '********', 'consumer-secret': '********' },
        gunbroker: { active: true, password: '********' },
      })
    }
    const files = Object.values(filesIn(t.app.dir)).flatMap((path) => [path, `${path}-wal`])
    for (const path of files) {
      const bytes = (() => {
        try {
          return readFileSync(path)
        } catch {
          return Buffer.alloc(0)
        }
      })()
      assert.ok(!bytes.includes('canary-'), path)
    }
  })

  test('an entry under a name that nobody knows is sealed and masked all the same', async () => {
    await using t = await createTestApp()
    await t.configure({
      distributors: {
        RSR: { distid: 'RSR', fulfillment: { API_USER: '1', API_PASSWORD: 'canary-six' } },
        Nobody: {
          distid: 'NOB',
          fulfillment: {
            user: 'u',
            api_password: 'canary-seven',
            nested: { API_TOKEN: 'canary-eight' },
          },
        },
      },
    })
    // Such a document is never saved through the API, so its answer is not what the published
    // schema says.
    const text = JSON.stringify(await t.app.as(t.subscriber).config.get())
    assert.ok(!text.includes('canary') && !text.includes('sealed'))
    assert.equal(text.split('********').length - 1, 3)
    await using unaware = await open({ dir: t.app.dir, worker: false, distributors: [] })
    assert.ok(!JSON.stringify(await unaware.as(t.subscriber).config.get()).includes('sealed'))
  })

  test('what is not a credential does not withdraw a validation', async () => {
    await using t = await createTestApp()
    await t.stock([{ distid: '2AW', stockid: 'A' }])
    const entry = (email: string, token: string) => ({
      distributors: {
        '2nd Amendment Wholesale': {
          distid: '2AW',
          active: true,
          drop_ship_only_items: false,
          shipping: { flat_rate: { cost: 1, shipping_class: 'a' } },
          product_restrictions: {},
          fulfillment: { ffl_recipient_emails: [email], API_TOKEN: token },
        },
      },
      targets: {},
      notification_email: 'a@b.example',
      pricing: {},
      product_restrictions: {},
    })
    await t.save(t.subscriber, entry('a@shop.example', 'one'))
    await t.app.operator.configurations.recordCheck(t.subscriber, '2nd Amendment Wholesale', true)
    await t.save(t.subscriber, entry('b@shop.example', 'one'))
    assert.equal((await t.json('/v1/products/search')).status, 200)
    await t.save(t.subscriber, entry('b@shop.example', 'two'))
    assert.equal((await t.json('/v1/products/search')).body.error.code, 'no_validated_distributors')
  })

  test("one subscriber's save leaves the views of the others as they are", async () => {
    await using t = await createTestApp()
    await t.stock([{ distid: 'RSR', stockid: 'A' }])
    await t.configure({ distributors: { 'RSR Group': { distid: 'RSR' } } })
    const other = await t.app.operator.subscribers.create({
      name: 'Other',
      email: 'o@shop.example',
    })
    const subscriber = { id: t.app.findKey(t.key)!.subscriberId, name: '', email: '' }
    const before = await t.app.ctx.catalog.view(subscriber, false)
    await t.save(other.id, {
      distributors: {},
      targets: {},
      notification_email: 'a@b.example',
      pricing: {},
      product_restrictions: {},
    })
    assert.equal(await t.app.ctx.catalog.view(subscriber, false), before)
  })

  test('changing a credential withdraws the validation of its distributor, anything else does not', async () => {
    await using t = await createTestApp()
    await t.stock([{ distid: 'RSR', stockid: 'A' }])
    const save = (entry: object) =>
      t.save(t.subscriber, {
        targets: {},
        notification_email: 'a@b.example',
        pricing: {},
        product_restrictions: {},
        distributors: {
          'RSR Group': {
            active: true,
            distid: 'RSR',
            drop_ship_only_items: false,
            shipping: { flat_rate: { cost: 1, shipping_class: 'a' } },
            product_restrictions: {},
            ...entry,
          },
        },
      })
    await save({ fulfillment: { API_USER: '1', API_PASSWORD: 'a' } })
    assert.equal((await t.json('/v1/products/search')).body.error.code, 'no_validated_distributors')
    await t.app.operator.configurations.recordCheck(t.subscriber, 'RSR Group', true)
    assert.equal((await t.json('/v1/products/search')).body.data.total, 1)
    await save({ fulfillment: { API_USER: '1', API_PASSWORD: 'a' }, drop_ship_only_items: true })
    assert.equal((await t.json('/v1/products/search')).status, 200)
    await save({ fulfillment: { API_USER: '1', API_PASSWORD: 'b' } })
    assert.equal((await t.json('/v1/products/search')).body.error.code, 'no_validated_distributors')
    await save({ active: false })
    assert.equal((await t.json('/v1/products/search')).body.error.code, 'no_active_distributors')
  })
})
