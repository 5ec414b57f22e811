/**
 * Whatever feeds bring, and whoever leads: every node has the rows of the leader after each, and
 * the leader has what one folder would have that took in the same feeds.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Raw } from '../../../lib/db/sqlite/sqlite.js'
import type { Preset } from '../../../lib/distributors/generic/preset.js'
import { missing, startServer } from '../../harness/postgres.js'
import type { TestServer } from '../../harness/postgres.js'
import { Rng } from '../../harness/random.js'
import { ACME, ACME_STOCK, HEADER, feedBench } from '../../feeds/bench.js'
import type { FeedBench } from '../../feeds/bench.js'
import { follows, openCluster } from './nodes.js'
import type { Cluster, TestNode } from './nodes.js'

const SEEDS = [1, 2, 3, 4]
const STEPS = 24
const ITEMS = 40
const NAMES = ['one', 'two', 'three']
/** A second catalog of the same distributor, whose offers the first has, too. */
const OTHER = { ...ACME, id: 'acme-more' }

interface Feed {
  preset: Preset
  content: string
  subscriberId: string | null
}

function feedOf(
  random: Rng,
  kind = random.weighted({ catalog: 5, more: 3, stock: 4, own: 3 }),
): Feed {
  const items = Array.from({ length: ITEMS }, (_, i) => i + 1).filter(() => random.chance(0.8))
  if (kind === 'stock') {
    const lines = items.map((i) => `SKU${i},${random.int(0, 9)}\n`)
    return { preset: ACME_STOCK, content: lines.join(''), subscriberId: null }
  }
  const rows = items.map((i) => {
    const [price, qty] = [random.pick(['9.00', '10.00', '11.99']), random.int(0, 5)]
    const type = random.pick(['part', 'part', 'part', 'gun', 'held', ''])
    const word = random.chance(0.1) ? 'Better' : 'Item'
    // Some meet in one UPC, and lend each other what they are.
    return `SKU${i},${700_000_000_000 + (i % 30)},${word} ${i},Brand ${i % 4},${price},,${qty},${type}`
  })
  if (random.chance(0.2)) rows.push('SKU1,,twice,,1.00,,1,part', 'broken')
  return {
    preset: kind === 'more' ? OTHER : ACME,
    content: `${[HEADER, ...rows].join('\n')}\n`,
    subscriberId: kind === 'own' ? random.pick(['s_a', 's_b']) : null,
  }
}

/** What one folder and a leader must agree on: everything but the numbers of rows. */
function contentOf(raw: Raw): unknown {
  const all = (sql: string) => raw.prepare(sql).all()
  return {
    offers: all(`SELECT o.distid, o.stockid, o.price, o.map, o.qty, o.ffl_req, o.drop_ship, o.held,
        o.gtin, o.kind, o.lent_ffl, o.lent IS NULL AS own, o.first_seen, f.name, f.upc, f.mfg_name,
        f.product_class, f.images, f.attributes
      FROM offer o JOIN fragment f ON f.id = coalesce(o.lent, o.fragment) ORDER BY 1, 2`),
    own: all(`SELECT p.subscriber_id, o.stockid, p.price, p.kind
      FROM own_price p JOIN offer o ON o.id = p.offer ORDER BY 1, 2`),
    tally: all('SELECT * FROM tally'),
    feed: all('SELECT source, as_of, taken_at, rows, rejected, offers, shape FROM feed'),
    rejected: all('SELECT * FROM rejected_row'),
  }
}

describe('a sequence of feeds', { skip: missing }, () => {
  let server: TestServer

  before(async () => {
    server = await startServer()
  })
  after(() => server?.close())

  for (const seed of SEEDS)
    test(`brings all nodes to one catalog, whoever leads (${seed})`, () => run(server, seed))
})

async function run(server: TestServer, seed: number): Promise<void> {
  const random = new Rng(seed)
  const cluster = await openCluster(server)
  const folder = feedBench()
  try {
    await new Course(cluster, folder, random).run()
  } finally {
    folder.close()
    await cluster.close()
  }
}

class Course {
  readonly #nodes = new Map<string, TestNode>()
  #leader = NAMES[0]!

  constructor(
    readonly cluster: Cluster,
    readonly folder: FeedBench,
    readonly random: Rng,
  ) {}

  async run(): Promise<void> {
    for (const name of NAMES)
      this.#nodes.set(
        name,
        await this.cluster.node(name, { baseAfter: { bytes: 4_000, changes: 1_000 } }),
      )
    await this.#lead.lead()
    // Before the first offers nothing is published.
    await this.#take(feedOf(this.random, 'catalog'))
    for (let step = 0; step < STEPS; step++) {
      const act = this.random.weighted({ take: 6, switch: 2, reopen: 1, die: 1 })
      if (act === 'take') await this.#take()
      else if (act === 'switch') await this.#switch()
      else if (act === 'reopen') await this.#reopen(this.random.pick(NAMES))
      else await this.#die()
      await this.#agree(`step ${step}: ${act}`)
    }
    for (const node of this.#nodes.values()) assert.deepEqual(node.warnings, [])
  }

  get #lead(): TestNode {
    return this.#nodes.get(this.#leader)!
  }

  async #take({ preset, content, subscriberId } = feedOf(this.random)): Promise<void> {
    const more = { subscriberId, force: true }
    const taken = await this.#lead.take(preset, content, more)
    const now = this.cluster.clock
    const alone = await this.folder.take(preset, content, {
      ...more,
      now,
      asOf: now,
      source: taken.source,
    })
    assert.equal(taken.outcome, alone.outcome)
  }

  async #switch(): Promise<void> {
    await this.#lead.yieldLead()
    this.#leader = this.random.pick(NAMES)
    await this.#lead.lead()
  }

  async #reopen(name: string): Promise<void> {
    await this.#nodes.get(name)!.close()
    this.#nodes.set(
      name,
      await this.cluster.node(name, { baseAfter: { bytes: 4_000, changes: 1_000 } }),
    )
    if (name === this.#leader) await this.#lead.lead()
  }

  /** The leader dies after it committed a feed, and another one takes its place. */
  async #die(): Promise<void> {
    const dead = this.#leader
    const { preset, content, subscriberId } = feedOf(this.random)
    await this.#lead.takeAlone(preset, content, { subscriberId, force: true })
    await this.#lead.close()
    this.#leader = this.random.pick(NAMES.filter((name) => name !== dead))
    await this.#lead.lead()
    this.#nodes.set(
      dead,
      await this.cluster.node(dead, { baseAfter: { bytes: 4_000, changes: 1_000 } }),
    )
  }

  async #agree(what: string): Promise<void> {
    for (const node of this.#nodes.values())
      if (node !== this.#lead) await follows(this.cluster, node, this.#lead)
    const [ours, theirs] = [this.#lead.raw(contentOf), contentOf(this.folder.catalog)]
    assert.deepEqual(ours, theirs, what)
    const found = await this.#lead.search('item')
    for (const node of this.#nodes.values())
      assert.deepEqual(await node.search('item'), found, what)
  }
}
