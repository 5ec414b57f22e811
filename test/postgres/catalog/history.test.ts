/** The history and the analytics are one over all nodes, and outlive the node that made them. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { runAnalytics } from '../../../lib/analytics/builds/child-job.js'
import { readCurrent, readMeta } from '../../../lib/analytics/builds/files.js'
import { daysIn } from '../../../lib/analytics/history/files.js'
import { historyFiles } from '../../../lib/analytics/shared-files.js'
import { pause } from '../../../lib/core/async/wait.js'
import { DAY, dayOf } from '../../../lib/core/clock.js'
import { filesIn } from '../../../lib/db/sqlite/folder.js'
import { takeLock } from '../../../lib/db/sqlite/locks.js'
import { openFile } from '../../../lib/db/sqlite/sqlite.js'
import type { Raw } from '../../../lib/db/sqlite/sqlite.js'
import { noteUnchanged } from '../../../lib/feeds/ingest/change-log.js'
import { keyOf } from '../../../lib/feeds/shared/publication.js'
import { readPoint } from '../../../lib/feeds/shared/queries.js'
import { missing, startServer } from '../../harness/postgres.js'
import type { TestServer } from '../../harness/postgres.js'
import { until } from '../../harness/until.js'
import { ACME, ACME_STOCK, acmeFeed, acmeRow } from '../../feeds/bench.js'
import { openCluster } from './nodes.js'
import type { Cluster, TestNode } from './nodes.js'

const priced = (price: string, count = 60) => acmeFeed(count, (i) => acmeRow(i, price))

describe('a history that nodes share', { skip: missing }, () => {
  let server: TestServer
  let cluster: Cluster
  let one: TestNode
  let two: TestNode

  before(async () => {
    server = await startServer()
  })
  after(() => server?.close())
  beforeEach(async () => {
    cluster = await openCluster(server)
    one = await cluster.node('one')
    await one.lead()
    await takes(one, priced('10.00'))
    two = await cluster.node('two')
    await sameHistory()
  })
  afterEach(() => cluster?.close())

  const takes = (node: TestNode, feed: string) => node.take(ACME, feed, { force: true })
  const published = async () => (await cluster.published('history')).at(-1)!
  const kinds = async () => (await cluster.published('history')).map(({ kind }) => kind)
  const work = (node: TestNode, task: 'roll-up' | 'rebuild') =>
    runAnalytics({ kind: 'analytics', dir: node.dir, now: cluster.clock, task }, () => {})
  /** Hands the lead from one node to another, and waits until that one may write. */
  const changes = async (from: TestNode, to: TestNode) => {
    await from.yieldLead()
    await to.lead()
    await until(() => to.sharing.mayWrite(), `${to.name} may write`)
  }

  function raw<T>({ dir }: TestNode, fn: (history: Raw) => T): T {
    const history = openFile(filesIn(dir).history, { synchronous: 'NORMAL' })
    try {
      return fn(history)
    } finally {
      history.close()
    }
  }
  const rows = (node: TestNode) =>
    raw(node, (history) => ({
      change: history.prepare('SELECT * FROM change ORDER BY at, distid, stockid').all(),
      seen: history.prepare('SELECT * FROM seen ORDER BY distid, at').all(),
      begins: history.prepare('SELECT begins FROM open_day').pluck().get(),
    }))
  const digests = ({ dir }: TestNode) =>
    Object.fromEntries(
      historyFiles.list(dir).map((path) => [
        path,
        createHash('sha256')
          .update(readFileSync(join(dir, path)))
          .digest('hex'),
      ]),
    )
  /** Waits until both are at the newest state, and have the same. */
  async function sameHistory(a = two, b = one): Promise<void> {
    await until(async () => {
      const { mark } = await published()
      return [a, b].every((node) => raw(node, readPoint)?.mark === mark)
    }, 'both are at the newest state')
    await until(
      () => JSON.stringify(digests(a)) === JSON.stringify(digests(b)),
      'both have the same files',
    )
    assert.deepEqual(rows(a), rows(b))
  }

  test('has what each feed changed, and when feeds came that changed nothing', async () => {
    assert.equal(rows(two).change.length, 60)
    await takes(one, priced('11.00', 64))
    await sameHistory()
    raw(one, (history) =>
      noteUnchanged(history, 'ACME', { asOf: cluster.clock + 500, now: cluster.clock + 1_000 }),
    )
    await one.take(ACME_STOCK, 'SKU1,3\nSKU2,4\n')
    await sameHistory()
    assert.equal(rows(two).seen.length, 4)
    assert.deepEqual(await kinds(), ['base', 'change', 'change'])
  })

  test('has feeds that got another time, since the clock had been ahead', async () => {
    const noon = cluster.clock
    cluster.clock += 2 * DAY
    await takes(one, priced('12.00'))
    await sameHistory()
    cluster.clock = noon
    await takes(one, priced('13.00'))
    await sameHistory()
    const ahead = rows(two).seen as { at: number }[]
    assert.ok(ahead.every(({ at }) => at < noon + DAY))
  })

  test('is rolled up by the leader alone, and goes on with the next one', async () => {
    const day = dayOf(cluster.clock)
    cluster.clock += DAY
    await takes(one, priced('11.00'))
    await work(one, 'roll-up')
    await until(() => daysIn(two.dir).length === 1, 'the day is there')
    await sameHistory()
    assert.deepEqual(daysIn(two.dir), [day])
    assert.equal(rows(two).change.length, 60, 'the open day alone')
    await changes(one, two)
    cluster.clock += DAY
    await takes(two, priced('12.00'))
    await work(two, 'roll-up')
    await until(() => daysIn(one.dir).length === 2, 'the day is there')
    await sameHistory(one, two)
    assert.ok(existsSync(join(one.dir, 'history/state.parquet')))
    const { prices } = await itemOf(one)
    assert.deepEqual(prices, [1000, 1100, 1200])
  })

  /** What the first item cost at the end of each day, cents. */
  async function itemOf(node: TestNode): Promise<{ prices: number[] }> {
    const { default: duckdb } = await import('@duckdb/node-api')
    const instance = await duckdb.DuckDBInstance.create(':memory:')
    const duck = await instance.connect()
    const files = daysIn(node.dir).map((day) => join(node.dir, 'history/days', `${day}.parquet`))
    const { change } = rows(node) as { change: { stockid: string; price: number }[] }
    const found = await duck.runAndReadAll(
      `SELECT DISTINCT day, low FROM (SELECT day, min(price) OVER (PARTITION BY day) AS low
        FROM read_parquet([${files.map((file) => `'${file}'`).join(', ')}])) ORDER BY day`,
    )
    instance.closeSync()
    const closed = found.getRows().map(([, price]) => Number(price))
    return { prices: [...closed, change.find(({ stockid }) => stockid === 'SKU1')!.price] }
  }

  test('answers the metrics from the build of the leader everywhere, also after it', async () => {
    await work(one, 'rebuild')
    await until(() => readCurrent(two.dir) !== null, 'the build is there')
    await sameHistory()
    const build = (node: TestNode) => readMeta(node.dir, readCurrent(node.dir)!)
    assert.deepEqual(build(two), build(one))
    await changes(one, two)
    cluster.clock += DAY
    await work(two, 'rebuild')
    await until(() => build(one).at === cluster.clock, 'the next build is there')
    await sameHistory(one, two)
  })

  test('of a build alone moves nothing but its files', async () => {
    const { mark } = await published()
    await work(one, 'rebuild')
    await until(() => readCurrent(two.dir) !== null, 'the build is there')
    assert.equal((await published()).mark, mark)
    assert.equal(raw(two, readPoint)?.mark, mark)
  })

  test('drops what a leader rolled up and built that nobody published', async () => {
    await one.sharing.stop()
    cluster.clock += DAY
    await one.takeAlone(ACME, priced('66.00'), { force: true })
    await work(one, 'roll-up')
    await work(one, 'rebuild')
    await one.close()
    await two.lead()
    await takes(two, priced('12.00', 61))
    await work(two, 'rebuild')
    await until(async () => (await published()).files.length > 0, 'the build is published')
    one = await cluster.node('one')
    await sameHistory(one, two)
    assert.deepEqual(daysIn(one.dir), [])
    assert.equal(rows(one).begins, 0)
    assert.ok(!JSON.stringify(rows(one)).includes('6600'))
  })

  test('publishes later what was rolled up before the same node leads again', async () => {
    await one.sharing.stop()
    cluster.clock += DAY
    await one.takeAlone(ACME, priced('14.00'), { force: true })
    await work(one, 'roll-up')
    await one.close()
    one = await cluster.node('one')
    await one.lead()
    await until(() => daysIn(two.dir).length === 1, 'the day is there')
    await sameHistory()
    assert.equal((rows(two).change as { price: number }[])[0]!.price, 1400)
  })

  test('waits while a roll-up is under way, and the catalog does not', async () => {
    mkdirSync(join(one.dir, 'analytics'), { recursive: true })
    const lock = takeLock(join(one.dir, 'analytics/lock'))!
    raw(one, (history) => history.prepare('UPDATE open_day SET begins = 1').run())
    const { mark } = await published()
    await takes(one, priced('15.00'))
    await until(
      () =>
        two.raw(
          (catalog) => catalog.prepare('SELECT min(price) FROM offer').pluck().get() === 1500,
        ),
      'the catalog is there',
    )
    await pause(1_500)
    assert.equal((await published()).mark, mark)
    lock.close()
    await until(async () => (await published()).mark !== mark, 'the history is published')
    await sameHistory()
    assert.equal((await published()).kind, 'base')
  })

  test('gets anew what the bucket lost, and what was changed there', async () => {
    cluster.clock += DAY
    await takes(one, priced('16.00'))
    await work(one, 'roll-up')
    await until(async () => (await published()).files.length > 1, 'it is published')
    await sameHistory()
    const [day] = (await published()).files
    for (const how of ['lost', 'changed']) {
      const key = keyOf('history', day!.parts[0]!)
      const object = cluster.objects.get(key)!
      if (how === 'lost') cluster.objects.delete(key)
      else cluster.objects.set(key, { ...object, bytes: object.bytes.subarray(1) })
      const name = `three-${how}`
      const three = await cluster.node(name)
      await until(() => daysIn(three.dir).length === 1, `${name} has the day`, 20)
      await sameHistory(three, one)
      assert.match(three.warnings.join(), /of the shared history is missing or damaged/)
      await three.close()
    }
  })

  test('is begun anew where everything that was published is gone', async () => {
    cluster.clock += DAY
    await takes(one, priced('16.00'))
    await work(one, 'roll-up')
    await sameHistory()
    await one.close()
    await two.close()
    cluster.objects.clear()
    rmSync(two.dir, { recursive: true })
    one = await cluster.node('one')
    await one.lead()
    two = await cluster.node('two')
    await until(() => daysIn(two.dir).length === 1, 'the day is there', 20)
    await sameHistory()
  })

  test('goes on from the history of a folder that was moved', async () => {
    const fresh = await openCluster(server)
    try {
      const first = await fresh.node('first')
      for (const path of ['history.db', 'days', 'state.parquet'])
        assert.ok(!existsSync(join(first.dir, 'history', path)) || path === 'history.db')
      raw(first, (history) => {
        history.prepare("INSERT INTO change VALUES (1000, 'ACME', 'OLD', '1', 5, 1, 0, 0)").run()
        history.prepare("INSERT INTO seen (distid, at) VALUES ('ACME', 1000)").run()
      })
      await first.lead()
      await until(async () => (await fresh.published('history')).length === 1, 'it is published')
      const second = await fresh.node('second')
      await until(() => rows(second).change.length === 1, 'the other node has it')
    } finally {
      await fresh.close()
    }
  })

  test('tells a file by its content, not by when it was written', async () => {
    cluster.clock += DAY
    await takes(one, priced('16.00'))
    await work(one, 'roll-up')
    await sameHistory()
    const [day] = daysIn(two.dir)
    const path = join(two.dir, 'history/days', `${day}.parquet`)
    utimesSync(path, 1, 1)
    await takes(one, priced('17.00'))
    await sameHistory()
  })
})
