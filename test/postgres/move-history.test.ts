/** The history of prices and stock moves with the record: into the bucket of the nodes, and back. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { Client } from 'minio'
import { runAnalytics } from '../../lib/analytics/builds/child-job.js'
import { daysIn } from '../../lib/analytics/history/files.js'
import { historyFiles } from '../../lib/analytics/shared-files.js'
import { moveFromPostgres, moveToPostgres } from '../../lib/app/move/move.js'
import type { MoveInput } from '../../lib/app/move/move.js'
import { DAY } from '../../lib/core/clock.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { takeLock } from '../../lib/db/sqlite/locks.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import type { Raw } from '../../lib/db/sqlite/sqlite.js'
import type { Published } from '../../lib/feeds/shared/publication.js'
import { readPublished } from '../../lib/feeds/shared/record.js'
import type { MemoryObject } from '../../lib/objects/memory.js'
import { openForTest } from '../../server/testing/open.js'
import { historyBench } from '../analytics/history/bench.js'
import { ACME, NOON, acmeFeed, acmeRow } from '../feeds/bench.js'
import { missing, startServer } from '../harness/postgres.js'
import type { TestServer } from '../harness/postgres.js'
import { until } from '../harness/until.js'
import { startS3Server, whyNoS3Server } from '../objects/s3-server.js'
import { lastLine, startProcess } from '../server/launcher.js'
import { openCluster } from './catalog/nodes.js'
import type { Cluster } from './catalog/nodes.js'

const KEY = '9c'.repeat(32)

describe('a history that moves', { skip: missing }, () => {
  let server: TestServer
  let cluster: Cluster
  let scratch: string
  let dir: string
  let address: string

  before(async () => {
    server = await startServer()
  })
  after(() => server?.close())
  beforeEach(async () => {
    scratch = mkdtempSync(join(tmpdir(), 'qm-move-history-'))
    dir = join(scratch, 'folder')
    address = await server.database()
    cluster = await openCluster(server)
    await makeFolder()
  })
  afterEach(async () => {
    await cluster?.close()
    rmSync(scratch, { recursive: true, force: true })
  })

  /** Two days that are rolled up, one that is open, and metrics of them. */
  async function makeFolder(): Promise<void> {
    const app = await openForTest({ dir, secretKey: KEY, worker: false })
    await app.operator.subscribers.create({ name: 'Shop', email: 'owner@shop.example' })
    await app.close()
    const bench = historyBench(dir)
    for (const [i, price] of [1_000, 1_100, 1_200].entries())
      bench.feed('ACME', NOON - (2 - i) * DAY, [{ stockid: 'SKU1', price, qty: 9 - i }])
    bench.history.close()
    for (const task of ['roll-up', 'rebuild'] as const)
      await runAnalytics({ kind: 'analytics', dir, now: NOON, task }, () => {})
    assert.equal(daysIn(dir).length, 2)
  }

  const input = (more: Partial<MoveInput> = {}): MoveInput => ({
    dir,
    address,
    secretKey: KEY,
    objects: cluster.store,
    now: Date.now,
    monotonic: () => performance.now(),
    random: randomBytes,
    ...more,
  })

  function raw<T>(of: string, fn: (history: Raw) => T): T {
    const history = openFile(filesIn(of).history, { synchronous: 'NORMAL' })
    try {
      return fn(history)
    } finally {
      history.close()
    }
  }
  const rows = (of: string) =>
    raw(of, (history) => ({
      change: history.prepare('SELECT * FROM change ORDER BY at, distid, stockid').all(),
      seen: history.prepare('SELECT * FROM seen ORDER BY distid, at').all(),
      begins: history.prepare('SELECT begins FROM open_day').pluck().get(),
    }))
  const schema = (of: string) =>
    raw(of, (history) => history.prepare('SELECT name FROM sqlite_schema ORDER BY name').all())
  const files = (of: string) =>
    Object.fromEntries(
      historyFiles.list(of).map((path) => [
        path,
        createHash('sha256')
          .update(readFileSync(join(of, path)))
          .digest('hex'),
      ]),
    )
  const all = (of: string) => ({ rows: rows(of), files: files(of) })
  async function published(): Promise<Published[]> {
    const node = await cluster.node('looks on', { address })
    try {
      return await readPublished({ read: node.engine.read }, 'history')
    } finally {
      await node.close()
    }
  }

  test('is what the nodes begin with, and comes back with what they have added', async () => {
    const [before, form] = [all(dir), schema(dir)]
    const tried = await moveToPostgres(input({ dryRun: true }))
    assert.deepEqual([tried.history, cluster.objects.size], [null, 0])
    const there = await moveToPostgres(input())
    assert.deepEqual(all(dir), before, 'the folder has it still')
    assert.equal(there.history?.files, Object.keys(before.files).length + 1)
    for (const [key, { bytes }] of cluster.objects)
      assert.equal(key, `history/${createHash('sha256').update(bytes).digest('hex')}`)
    const [base, ...others] = await published()
    assert.deepEqual([base?.kind, base?.epoch, others], ['base', 0, []])

    // One that follows has it before anybody leads, and so has the one that then leads.
    const one = await cluster.node('one', { address })
    await until(() => JSON.stringify(all(one.dir)) === JSON.stringify(before), 'one has it')
    await one.lead()
    cluster.clock = NOON + DAY
    await one.take(
      ACME,
      acmeFeed(3, (i) => acmeRow(i, '13.00')),
      { force: true },
    )
    await runAnalytics(
      { kind: 'analytics', dir: one.dir, now: cluster.clock, task: 'roll-up' },
      () => {},
    )
    await one.sharing.look()
    await one.take(
      ACME,
      acmeFeed(4, (i) => acmeRow(i, '14.00')),
      { force: true },
    )
    const after = all(one.dir)
    assert.equal(daysIn(one.dir).length, 3)
    await one.close()
    const logs = readdirSync(one.dir, { recursive: true, encoding: 'utf8' })
    assert.deepEqual(
      logs.filter((name) => name.endsWith('-wal')),
      [],
      'a node that ends leaves no log of its files',
    )
    assert.ok((await published()).length > 1)

    const back = await moveFromPostgres(input())
    assert.deepEqual(all(dir), after)
    assert.deepEqual(schema(dir), form, 'nothing is noted for nodes any more')
    assert.equal(back.history?.files, Object.keys(after.files).length + 1)
    const aside = join(
      dir,
      readdirSync(dir).find((name) => name.startsWith('replaced-by-move'))!,
    )
    assert.deepEqual(all(aside), before, 'what was there is laid aside')
    assert.ok(existsSync(join(aside, 'catalog.db')), 'with the catalog, which does not fit it')
    assert.deepEqual(
      readdirSync(dir).filter((name) => name.startsWith('.') || name === 'shared'),
      [],
    )
    await using app = await openForTest({ dir, secretKey: KEY, worker: false })
    assert.equal((await app.operator.subscribers.list()).length, 1)
  })

  test('and is cut off is run again, and stores nothing twice', async () => {
    const puts: string[] = []
    const objects = {
      ...cluster.store,
      put: (...[key, ...rest]: Parameters<typeof cluster.store.put>) => {
        puts.push(key)
        return cluster.store.put(key, ...rest)
      },
    }
    let stored = 0
    await assert.rejects(
      moveToPostgres(
        input({
          objects,
          onProgress({ table }) {
            if (table === 'history' && ++stored === 3) throw new Error('cut off')
          },
        }),
      ),
      /cut off/,
    )
    assert.equal(puts.length, 3)
    await moveToPostgres(input({ objects }))
    assert.deepEqual(puts.toSorted(), [...new Set(puts)].toSorted())
    assert.equal(puts.length, (await moveToPostgres(input())).was_done ? cluster.objects.size : -1)
    const before = all(dir)

    // On its way back it is cut off once the database is marked.
    let marking = 0
    await assert.rejects(
      moveFromPostgres(
        input({
          onProgress({ doing }) {
            if (doing === 'marking' && ++marking === 2) throw new Error('cut off')
          },
        }),
      ),
      /cut off/,
    )
    await moveFromPostgres(input())
    assert.deepEqual(all(dir), before)
    await (await openForTest({ dir, secretKey: KEY, worker: false })).close()
  })

  test('is not left behind by mistake, and is where that is said', async () => {
    const line = /a history of prices and stock, which the nodes have in their bucket/
    await assert.rejects(moveToPostgres(input({ objects: undefined })), line)
    const there = await moveToPostgres(input({ objects: undefined, withoutHistory: true }))
    assert.equal(there.history, null)
    assert.match(there.left.find(({ path }) => path === 'history')!.what, /the nodes do not have/)
    const before = all(dir)
    const one = await cluster.node('one', { address })
    await one.lead()
    await one.take(
      ACME,
      acmeFeed(3, (i) => acmeRow(i, '13.00')),
      { force: true },
    )
    await one.close()
    await assert.rejects(moveFromPostgres(input({ objects: undefined })), line)
    await moveFromPostgres(input({ objects: undefined, withoutHistory: true }))
    assert.deepEqual(all(dir), before, 'the folder goes on with its own')
    assert.ok(existsSync(filesIn(dir).catalog))
  })

  test('is not taken on trust: an object that changes on its way stops the move', async () => {
    const changed = {
      ...cluster.store,
      get: async (key: string) => Buffer.concat([await cluster.store.get!(key), Buffer.from(' ')]),
    }
    await assert.rejects(
      moveToPostgres(input({ objects: changed })),
      /the bucket does not give back what it was given of/,
    )
    // The folder is served as before.
    await (await openForTest({ dir, secretKey: KEY, worker: false })).close()
    await moveToPostgres(input())
    const before = all(dir)
    const [{ files: wanted }] = (await published()) as [Published]
    const key = `history/${wanted[0]!.parts[0]!.digest}`
    const object = cluster.objects.get(key) as MemoryObject
    for (const broken of [undefined, { ...object, bytes: Buffer.from('something else') }]) {
      if (broken) cluster.objects.set(key, broken)
      else cluster.objects.delete(key)
      await assert.rejects(
        moveFromPostgres(input()),
        /an object of the history of prices and stock is missing or damaged/,
      )
      // The database is served as before.
      assert.equal((await published()).length, 1)
    }
    cluster.objects.set(key, object)
    await moveFromPostgres(input())
    assert.deepEqual(all(dir), before)
  })

  test('waits for nobody who works on it', async () => {
    const lock = takeLock(join(dir, 'analytics', 'lock'))!
    await assert.rejects(moveToPostgres(input()), /analytics are at work on .*: run it again/)
    lock.close()
    await moveToPostgres(input())
  })

  test(
    'goes into a bucket of S3 by its command, and out of it',
    { skip: whyNoS3Server() ?? false },
    async () => {
      const s3 = await startS3Server()
      try {
        const { hostname, port } = new URL(s3.endpoint)
        const options = { endPoint: hostname, port: Number(port), useSSL: false, region: s3.region }
        await new Client({ ...options, ...s3.owner, pathStyle: true }).makeBucket('nodes')
        const file = join(scratch, 'database')
        writeFileSync(file, address, { mode: 0o600 })
        const env = {
          QUARTERMASTER_SECRET_KEY: KEY,
          QUARTERMASTER_S3_ENDPOINT: s3.endpoint,
          QUARTERMASTER_S3_REGION: s3.region,
          QUARTERMASTER_S3_ACCESS_KEY: s3.owner.accessKey,
          QUARTERMASTER_S3_SECRET_KEY: s3.owner.secretKey,
        }
        const move = (...words: string[]) => startProcess(['move', ...words, '--dir', dir], { env })
        const before = all(dir)
        const wrong = await move('--preview', '--to-file', file, '--objects', 's3://none')
        assert.equal(wrong.status, 2)
        assert.match(wrong.err, /^QUARTERMASTER_S3_\*: .*"none"/)
        const there = await move('--preview', '--to-file', file, '--objects', 's3://nodes/shop')
        assert.equal(there.status, 0, there.err)
        assert.match(there.out, /\nThe history of prices and stock is in the bucket: \d+ files, /)
        const [from, where] = [
          ['--from-file', file],
          ['--objects', 's3://nodes/shop'],
        ]
        const elsewhere = await move(...from, '--objects', 's3://nodes/other')
        assert.equal(elsewhere.status, 1)
        assert.match(elsewhere.err, /missing or damaged: is it the bucket of the nodes\?/)
        const back = await move(...from, ...where, '--json')
        assert.equal(back.status, 0, back.err)
        const { history } = lastLine(back) as unknown as { history: { files: number } }
        assert.equal(history.files, Object.keys(before.files).length + 1)
        assert.deepEqual(all(dir), before)
      } finally {
        await s3.stop()
      }
    },
  )
})
