/** What goes wrong between nodes that share a catalog, and how they come to one again. */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { pause } from '../../../lib/core/async/wait.js'
import { LeadLost } from '../../../lib/db/lead.js'
import { bytesOf, keyOf } from '../../../lib/feeds/shared/publication.js'
import type { Published } from '../../../lib/feeds/shared/publication.js'
import type { ObjectStore } from '../../../lib/objects/store.js'
import { missing, startServer } from '../../harness/postgres.js'
import type { TestServer } from '../../harness/postgres.js'
import { until } from '../../harness/until.js'
import { ACME, HEADER, acmeFeed, acmeRow } from '../../feeds/bench.js'
import { follows, openCluster } from './nodes.js'
import type { Cluster, TestNode } from './nodes.js'

const priced = (price: string, count = 60) => acmeFeed(count, (i) => acmeRow(i, price))

describe('nodes that share a catalog', { skip: missing }, () => {
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
    await one.take(ACME, acmeFeed(60))
    two = await cluster.node('two')
    await follows(cluster, two, one)
  })
  afterEach(() => cluster?.close())

  /** By force: the guard would not have all prices rise by a tenth. */
  const takes = (node: TestNode, feed: string) => node.take(ACME, feed, { force: true })
  const takesAlone = (node: TestNode, feed: string) => node.takeAlone(ACME, feed, { force: true })
  const last = async () => (await cluster.published()).at(-1)!
  const state = (node: TestNode) =>
    node.raw((raw) => raw.prepare('SELECT made, revision FROM state').get()) as {
      made: string
      revision: number
    }
  const damage = (
    { parts: [part] }: Published,
    how: (bytes: Uint8Array) => Uint8Array | undefined,
  ): void => {
    const key = keyOf('catalog', part!)
    const object = cluster.objects.get(key)!
    const bytes = how(Uint8Array.from(object.bytes))
    if (bytes) cluster.objects.set(key, { ...object, bytes })
    else cluster.objects.delete(key)
  }
  const damages: Record<string, (bytes: Uint8Array) => Uint8Array | undefined> = {
    'is missing': () => undefined,
    'is cut off': (bytes) => bytes.subarray(0, bytes.length - 5),
    'has one other byte': (bytes) => {
      bytes[bytes.length >> 1]! ^= 4
      return bytes
    },
  }

  test('one that cannot read the bucket has nothing made anew, and follows once it can', async () => {
    await two.close()
    let isBlind = true
    const { store } = cluster
    two = await cluster.node('two', {
      store: {
        ...store,
        get: async (key) => {
          if (isBlind) throw new Error('access denied')
          return store.get!(key)
        },
        has: async (key) => !isBlind && store.has(key),
      },
    })
    await takes(one, priced('11.00'))
    const ofCatalog = () => one.warnings.filter((text) => /shared catalog/.test(text))
    await until(() => ofCatalog().length > 0, 'the leader has looked itself')
    assert.match(ofCatalog()[0]!, /could not read the shared catalog in the bucket, and this one/)
    const published = (await cluster.published()).length
    await pause(2_500)
    assert.equal((await cluster.published()).length, published)
    assert.deepEqual(ofCatalog().length, 1)
    assert.ok((await cluster.published()).every(({ isBroken }) => !isBroken))
    isBlind = false
    await follows(cluster, two, one)
  })

  for (const [what, how] of Object.entries(damages)) {
    test(`get a whole catalog where the object of a change ${what}`, async () => {
      await two.close()
      await takes(one, priced('11.00'))
      const change = await last()
      assert.equal(change.kind, 'change')
      damage(change, how)
      two = await cluster.node('two')
      await until(() => two.warnings.length > 0, 'it is noticed')
      assert.match(two.warnings[0]!, /missing or damaged; the leader is told/)
      await until(() => state(two).revision === change.revision, 'two has the change')
      await follows(cluster, two, one)
      assert.deepEqual(await two.search('item'), await one.search('item'))
    })

    test(`get another one where the object of a whole catalog ${what}`, async () => {
      damage(await last(), how)
      const three = await cluster.node('three')
      await until(() => three.warnings.length > 0, 'it is noticed')
      await until(() => state(three).revision > 0, 'three has it')
      await follows(cluster, three, one)
      assert.deepEqual(
        (await cluster.published()).map(({ kind, isBroken }) => [kind, isBroken]),
        [
          ['base', true],
          ['base', false],
        ],
      )
    })
  }

  test('notice a change although no notification comes', async () => {
    await cluster.run('drop trigger state_told on quartermaster.state')
    await takes(one, priced('12.00'))
    await follows(cluster, two, one)
  })

  test('drop what a leader that died had committed and not published', async () => {
    await takesAlone(one, priced('66.00', 65).replaceAll('Item', 'Ghost'))
    const ghost = state(one)
    await one.search('ghost')
    await one.close()
    await two.lead()
    await takes(two, priced('13.00', 64))
    one = await cluster.node('one')
    await follows(cluster, one, two)
    assert.equal(state(one).made, ghost.made)
    assert.ok(state(two).revision > ghost.revision, 'no revision stands for two contents')
    assert.equal((await one.search('ghost')).total, 0)
    assert.deepEqual(await one.search('item'), await two.search('item'))
    assert.equal(one.live.status().version, two.live.status().version)
  })

  test('drop it also where the process lives on, and serve nothing of two files', async () => {
    // It has it in memory, and is the leader no more.
    let isAway = true
    const away = unreachable(cluster.store, () => isAway)
    await one.close()
    one = await cluster.node('one', { store: away })
    await one.lead()
    await takes(one, priced('66.00', 65).replaceAll('Item', 'Ghost'))
    assert.equal((await one.search('ghost')).total, 65)
    await one.yieldLead()
    await two.lead()
    await takes(two, priced('13.00', 64))
    isAway = false
    await until(() => state(one).revision === state(two).revision, 'one has what two published')
    await follows(cluster, one, two)
    assert.deepEqual(await one.search('item'), await two.search('item'))
    assert.equal((await one.search('ghost')).total, 0)
  })

  test('answer from the catalog of before until the one that they adopt can be searched', async () => {
    let isAway = true
    const away = unreachable(cluster.store, () => isAway)
    await two.close()
    // So many that a snapshot is built in the worker.
    const many = 3_000
    await takes(one, priced('10.00', many))
    two = await cluster.node('two', {
      store: away,
      worker: fileURLToPath(new URL('./worker.mjs', import.meta.url)),
    })
    isAway = false
    await follows(cluster, two, one)
    const before = await two.search('item')
    // What it takes in itself nobody publishes: it has to adopt what another leader does.
    await one.yieldLead()
    await two.lead()
    isAway = true
    await takes(two, priced('66.00', many))
    const unpublished = await two.search('item')
    assert.notDeepEqual(unpublished, before)
    await two.yieldLead()
    await one.lead()
    await takes(one, priced('13.00', many))
    const after = await one.search('item')
    const seen = new Set<string>()
    isAway = false
    const isThere = async () => seen.add((await two.found('item')).json).has(after.json)
    await until(isThere, 'the other one is there')
    assert.deepEqual([...seen], [unpublished.json, after.json])
    await follows(cluster, two, one)
  })

  test('adopt nothing of a catalog whose changes the store does not give at the moment', async () => {
    await takes(one, priced('12.00'))
    const change = await last()
    assert.equal(change.kind, 'change')
    const ofChange = new Set(change.parts.map((part) => keyOf('catalog', part)))
    let isAway = true
    const answers =
      <T>(work: (key: string) => Promise<T>) =>
      async (key: string) => {
        if (isAway && ofChange.has(key)) throw new Error('the store is away')
        return work(key)
      }
    const { store } = cluster
    const three = await cluster.node('three', {
      store: { ...store, get: answers(store.get!), has: answers(store.has) },
    })
    await until(() => three.warnings.length > 0, 'it has noticed')
    assert.equal(state(three).revision, 0)
    isAway = false
    await follows(cluster, three, one)
    assert.deepEqual(await three.search('item'), await one.search('item'))
  })

  test('have it published where the same node leads again before any other', async () => {
    const { revision } = state(one)
    await takesAlone(one, priced('14.00'))
    await one.close()
    one = await cluster.node('one')
    assert.equal(state(one).revision, revision + 1)
    await one.lead()
    await follows(cluster, two, one)
    const prices = two.raw((raw) => raw.prepare('SELECT DISTINCT price FROM offer').pluck().all())
    assert.deepEqual(prices, [1400])
  })

  test('know what a leader published that died before it noted so', async () => {
    const before = await last()
    await takes(one, priced('15.00'))
    const { number: _, ...change } = await last()
    await one.close()
    const reopened = await cluster.node('one')
    await reopened.sharing.stop()
    reopened.raw((raw) =>
      raw
        .prepare('UPDATE shared_point SET mark = ?, pending = ?')
        .run(before.mark, JSON.stringify(change)),
    )
    await reopened.close()
    one = await cluster.node('one')
    await one.lead()
    await follows(cluster, two, one)
    assert.equal((await cluster.published()).filter(({ kind }) => kind === 'base').length, 1)
  })

  test('take nothing of a leader that froze while another one began to lead', async () => {
    // As if it had not renewed its lease for long: by its own clocks it still leads.
    await cluster.run('delete from quartermaster.lease')
    await two.lead()
    await takes(two, priced('16.00'))
    const published = await cluster.published()
    await assert.rejects(
      takes(one, priced('77.00')),
      (error) => error instanceof LeadLost || /does not have the whole catalog/.test(String(error)),
    )
    assert.deepEqual(await cluster.published(), published)
    await one.yieldLead()
    await one.sharing.look()
    await follows(cluster, one, two)
  })

  test('tell who takes a feed in that another one began to lead meanwhile', async () => {
    // So that it sees so once its work is done, and no earlier.
    await cluster.run('drop trigger state_told on quartermaster.state')
    await assert.rejects(
      one.sharing.write(async () => {
        await cluster.run('delete from quartermaster.lease')
        await two.lead()
        await takes(two, priced('16.00'))
      }),
      LeadLost,
    )
  })

  test('publish nothing that was ready when the lead was lost', async () => {
    let isHeld = true
    const held = unreachable(cluster.store, () => isHeld)
    await one.close()
    one = await cluster.node('one', { store: held })
    await one.lead()
    await takes(one, priced('78.00'))
    await cluster.run('delete from quartermaster.lease')
    await two.lead()
    const { mark } = await last()
    isHeld = false
    await one.sharing.look()
    assert.equal((await last()).mark, mark)
    await one.yieldLead()
    await one.sharing.look()
    await follows(cluster, one, two)
    const prices = one.raw((raw) => raw.prepare('SELECT DISTINCT price FROM offer').pluck().all())
    assert.deepEqual(prices, [1000])
  })

  test('publish later what the store did not take, all at once', async () => {
    let isAway = true
    await one.close()
    one = await cluster.node('one', { store: unreachable(cluster.store, () => isAway) })
    await one.lead()
    for (const price of ['17.00', '18.00', '19.00'])
      assert.equal((await takes(one, priced(price))).outcome, 'taken')
    assert.equal((await cluster.published()).length, 1)
    isAway = false
    await one.sharing.look()
    await until(() => state(two).revision === state(one).revision, 'two has the last one')
    await follows(cluster, two, one)
  })

  test('come back after their folder was deleted, the leader as well', async () => {
    await takes(one, priced('20.00'))
    await two.close()
    rmSync(two.dir, { recursive: true })
    two = await cluster.node('two')
    await follows(cluster, two, one)
    await one.close()
    const before = two.rows()
    rmSync(one.dir, { recursive: true })
    one = await cluster.node('one')
    await follows(cluster, one, two)
    assert.deepEqual(two.rows(), before)
    await one.lead()
    await takes(one, priced('21.00'))
    await follows(cluster, two, one)
  })

  test('begin anew where everything that was published is gone', async () => {
    await one.close()
    await two.close()
    cluster.objects.clear()
    rmSync(one.dir, { recursive: true })
    rmSync(two.dir, { recursive: true })
    await addSource(cluster)
    const before = await last()
    one = await cluster.node('one')
    await one.lead()
    assert.match(one.warnings.join(), /this node begins anew/)
    assert.equal(await lastPull(cluster), null)
    assert.equal((await cluster.published()).length, 1, 'nothing is not published')
    await takes(one, priced('22.00', 10))
    assert.ok((await last()).revision > before.revision)
    two = await cluster.node('two')
    await follows(cluster, two, one)
  })

  test('have sources pulled again whose feed nobody published', async () => {
    await addSource(cluster)
    await takesAlone(one, priced('23.00'))
    await one.close()
    rmSync(one.dir, { recursive: true })
    await two.lead()
    assert.equal(await lastPull(cluster), null)
  })

  test('leave sources as they are where the catalog has their feeds', async () => {
    await addSource(cluster)
    await takes(one, priced('24.00'))
    await one.close()
    await two.lead()
    assert.notEqual(await lastPull(cluster), null)
  })

  test('get a whole catalog after many changes, however small', async () => {
    await one.close()
    one = await cluster.node('one', { baseAfter: { bytes: 1e9, changes: 3 } })
    await one.lead()
    for (let n = 1; n <= 5; n++) await takes(one, priced(`${10 + n}.00`))
    const kinds = (await cluster.published()).map(({ kind }) => kind)
    assert.match(kinds.join(), /base,change,change,change,base/)
    assert.doesNotMatch(kinds.join(), /change,change,change,change/)
    await follows(cluster, two, one)
  })

  test('get a whole catalog now and then, and forget what came before it after a day', async () => {
    await one.close()
    one = await cluster.node('one', { baseAfter: { bytes: 1, changes: 1_000 } })
    await one.lead()
    const wide = (n: number) =>
      acmeFeed(60, (i) => acmeRow(i, `${n}.00`).replace('Item', `Item ${(i * 7919 * n) % 9973}`))
    for (let n = 1; n < 30; n++) await takes(one, wide(n))
    const all = await cluster.published()
    const bases = all.filter(({ kind }) => kind === 'base')
    assert.ok(bases.length > 1, 'there is another base')
    const after = all.slice(all.findLastIndex(({ kind }) => kind === 'base') + 1)
    assert.ok(after.reduce((sum, { parts }) => sum + bytesOf(parts), 0) <= bases.at(-1)!.bytes)
    await follows(cluster, two, one)
    cluster.clock += 2 * 86_400_000
    await one.close()
    one = await cluster.node('one')
    await one.lead()
    await until(() => cluster.objects.size < all.length, 'old objects are gone')
    const left = await cluster.published()
    assert.equal(left[0]!.kind, 'base')
    const named = left.flatMap(({ parts }) => parts.map((part) => keyOf('catalog', part)))
    const ofCatalog = [...cluster.objects.keys()].filter((key) => key.startsWith('catalog/'))
    assert.deepEqual(ofCatalog.toSorted(), named.toSorted())
    const three = await cluster.node('three')
    await follows(cluster, three, one)
  })

  test('refuse what another release has published', async () => {
    await cluster.run('update quartermaster.publication set form = form + 1')
    const three = await cluster.node('three')
    await three.sharing.look()
    assert.equal(state(three).revision, 0)
    await one.close()
    await two.lead()
    await two.take(ACME, `${HEADER}\n${acmeRow(1)}\n`, { force: true })
    await follows(cluster, three, two)
  })
})

function unreachable(store: ObjectStore, isAway: () => boolean): ObjectStore {
  const ask = <T>(work: () => Promise<T>) =>
    isAway() ? Promise.reject(new Error('the store is away')) : work()
  return {
    ...store,
    put: (...args) => ask(() => store.put(...args)),
    has: (key) => ask(() => store.has(key)),
    get: (key) => ask(() => store.get!(key)),
    list: (prefix) => ask(() => store.list(prefix)),
    remove: (key) => ask(() => store.remove(key)),
  }
}

async function addSource(cluster: Cluster): Promise<void> {
  // The last pull began just before the feed of now was taken in.
  const at = cluster.clock + 30_000
  await cluster.postgres.db
    .insertInto('feed_source')
    .values({
      id: 'ACME/acme',
      distid: 'ACME',
      subscriber_id: null,
      preset: 'acme',
      location: 'sealed',
      every_ms: 1_200_000,
      active: 1,
      allow_private: 0,
      last_pull_at: at,
      last_result: '{}',
      created_at: 1,
      mark: null,
      good_at: at,
    })
    .execute()
}

async function lastPull(cluster: Cluster): Promise<number | null> {
  const row = await cluster.postgres.db
    .selectFrom('feed_source')
    .select('last_pull_at')
    .executeTakeFirstOrThrow()
  return row.last_pull_at
}
