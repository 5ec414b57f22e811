/** Every node comes to the catalog of the one that leads. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { missing, startServer } from '../../harness/postgres.js'
import type { TestServer } from '../../harness/postgres.js'
import { ACME, ACME_STOCK, HEADER, acmeFeed, acmeRow } from '../../feeds/bench.js'
import { follows, openCluster } from './nodes.js'
import type { Cluster, TestNode } from './nodes.js'

describe('a catalog that nodes share', { skip: missing }, () => {
  let server: TestServer
  let cluster: Cluster
  let one: TestNode
  let two: TestNode
  let three: TestNode

  before(async () => {
    server = await startServer()
    cluster = await openCluster(server)
    one = await cluster.node('one')
    two = await cluster.node('two')
    three = await cluster.node('three')
    await one.lead()
  })
  after(async () => {
    await cluster?.close()
    await server?.close()
  })

  const all = async () => {
    for (const node of [two, three]) await follows(cluster, node, one)
  }

  test('is published whole with the first feed', async () => {
    assert.deepEqual(await cluster.published(), [])
    await one.take(ACME, acmeFeed(60))
    const [first, ...more] = await cluster.published()
    assert.deepEqual([first!.kind, more.length], ['base', 0])
    await all()
    const theirs = await two.search('item')
    assert.equal(theirs.total, 60)
    assert.deepEqual(theirs, await one.search('item'))
    assert.equal(two.live.status().version, one.live.status().version)
  })

  test('takes new prices and stock as a change', async () => {
    const feed = acmeFeed(60, (i) => acmeRow(i, i % 3 === 0 ? '11.50' : '10.00', String(i % 7)))
    await one.take(ACME, feed)
    assert.equal((await cluster.published()).at(-1)!.kind, 'change')
    await all()
    await one.take(ACME_STOCK, Array.from({ length: 50 }, (_, i) => `SKU${i + 1},${i}\n`).join(''))
    await all()
    assert.deepEqual(await three.search('item'), await one.search('item'))
  })

  test('takes offers that came, went or are worded otherwise', async () => {
    const feed = acmeFeed(70, (i) => acmeRow(i).replace('Item', i % 5 === 0 ? 'Better' : 'Item'))
    const lines = feed.split('\n').filter((_, i) => i === 0 || i > 6)
    await one.take(ACME, lines.join('\n'))
    await all()
    const found = await two.search('better')
    assert.equal(found.total, 13)
    assert.deepEqual(found, await one.search('better'))
  })

  test("takes subscribers' own prices, and rows that could not be read", async () => {
    const own = acmeFeed(40, (i) => acmeRow(i, '9.00')) + 'SKU1,,Again,,1.00,,1,part\n'
    await one.take(ACME, own, { subscriberId: 's_own' })
    await all()
    const dearer = acmeFeed(40, (i) => acmeRow(i, i < 3 ? '9.50' : '9.00'))
    await one.take(ACME, dearer, { subscriberId: 's_own' })
    await all()
    const prices = two.raw((raw) =>
      raw.prepare('SELECT price, count(*) AS n FROM own_price GROUP BY price').all(),
    )
    assert.deepEqual(prices, [
      { price: 900, n: 38 },
      { price: 950, n: 2 },
    ])
    await one.take(
      ACME,
      acmeFeed(30, (i) => acmeRow(i, '9.00')),
      { subscriberId: 's_own' },
    )
    await all()
  })

  test('tells of a feed that was refused, and of one that was the same', async () => {
    const refused = await one.take(ACME, `${HEADER}\n`)
    assert.equal(refused.outcome, 'refused')
    await all()
    const feed = acmeFeed(70)
    await one.take(ACME, feed)
    await all()
    const before = (await cluster.published()).at(-1)!
    assert.equal((await one.take(ACME, feed)).outcome, 'unchanged')
    await all()
    const last = (await cluster.published()).at(-1)!
    assert.equal(last.number, before.number + 1)
    assert.equal(last.revision, before.revision)
  })

  test('is written by nobody but the leader', async () => {
    await assert.rejects(two.take(ACME, acmeFeed(5)), /another node leads/)
    await all()
  })

  test('goes on under another leader, which knows what each feed had named', async () => {
    await one.yieldLead()
    await two.lead()
    for (const node of [one, three]) await follows(cluster, node, two)
    const result = await two.take(ACME, acmeFeed(65))
    assert.equal(result.removed, 5)
    for (const node of [one, three]) await follows(cluster, node, two)
    await two.yieldLead()
    await one.lead()
    await one.take(ACME, acmeFeed(66))
    await all()
    assert.deepEqual(await three.search('item'), await one.search('item'))
    assert.equal(three.live.status().version, one.live.status().version)
    for (const node of [one, two, three]) assert.deepEqual(node.warnings, [])
  })

  test('tells what is as it was before a base, and not as in it', async () => {
    // One of its rows cannot be read.
    const feed = (name: string) => `${acmeFeed(200)}SKU900,,${name},,free,,1,part\n`
    await one.take(ACME, feed('Again'))
    await all()
    cluster.objects.clear()
    await cluster.run('update quartermaster.publication set is_broken = 1')
    await one.take(ACME, feed('Otherwise'))
    await all()
    assert.equal((await cluster.published()).at(-1)!.kind, 'base')
    await one.take(ACME, feed('Again'))
    await all()
    assert.equal((await cluster.published()).at(-1)!.kind, 'change')
  })
})
