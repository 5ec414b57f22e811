/** Nodes over one database and one store, each with a folder of its own. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { historyFilesMoved } from '../../../lib/analytics/shared-files.js'
import { openBackground } from '../../../lib/app/background/background.js'
import type { Tasks } from '../../../lib/app/background/tasks.js'
import type { Background } from '../../../lib/core/async/background.js'
import { openRecords } from '../../../lib/catalog/search/records.js'
import type { Records } from '../../../lib/catalog/search/records.js'
import { searchView } from '../../../lib/catalog/search/search.js'
import { readState } from '../../../lib/catalog/queries.js'
import { LiveSnapshot } from '../../../lib/catalog/snapshot/live.js'
import { makeView } from '../../../lib/catalog/view/view.js'
import type { Engine } from '../../../lib/db/engine.js'
import type { Lead } from '../../../lib/db/lead.js'
import { filesIn } from '../../../lib/db/sqlite/folder.js'
import { openFile } from '../../../lib/db/sqlite/sqlite.js'
import type { Raw } from '../../../lib/db/sqlite/sqlite.js'
import { openPostgres } from '../../../lib/db/postgres/connect.js'
import type { Postgres } from '../../../lib/db/postgres/connect.js'
import { openPostgresEngine } from '../../../lib/db/postgres/engine.js'
import { standForLead } from '../../../lib/db/postgres/lead/leadership.js'
import type { Leadership } from '../../../lib/db/postgres/lead/leadership.js'
import type { Preset } from '../../../lib/distributors/generic/preset.js'
import type { FeedInput, FeedResult } from '../../../lib/feeds/ingest/feed.js'
import { readPoint } from '../../../lib/feeds/shared/queries.js'
import type { Published, SharedName } from '../../../lib/feeds/shared/publication.js'
import { readPublished } from '../../../lib/feeds/shared/record.js'
import { openSharing } from '../../../lib/feeds/shared/sharing.js'
import type { Sharing } from '../../../lib/feeds/shared/sharing.js'
import { memoryStore } from '../../../lib/objects/memory.js'
import type { MemoryObject, MemoryStore } from '../../../lib/objects/memory.js'
import type { ObjectStore } from '../../../lib/objects/store.js'
import type { TestServer } from '../../harness/postgres.js'
import { until } from '../../harness/until.js'
import { NOON } from '../../feeds/bench.js'

/** Milliseconds that a lease lives where nobody gives it back. */
const LIFE = 60_000

export interface Cluster {
  /** Runs SQL as the superuser. */
  run(sql: string): Promise<unknown>
  readonly postgres: Postgres
  readonly store: MemoryStore
  /** Milliseconds of all nodes' clock. */
  clock: number
  /** Objects of the store, to be damaged. */
  readonly objects: Map<string, MemoryObject>
  node(name: string, given?: NodeOptions): Promise<TestNode>
  published(of?: SharedName): Promise<Published[]>
  close(): Promise<void>
}

export interface NodeOptions {
  /** The store as this node sees it. */
  store?: ObjectStore
  baseAfter?: { bytes: number; changes: number }
  address?: string
  /** The worker's file; by default its work is done on the calling thread. */
  worker?: string
}

export interface TestNode {
  readonly name: string
  readonly dir: string
  readonly engine: Engine
  readonly sharing: Sharing
  readonly background: Background<Tasks>
  readonly live: LiveSnapshot
  readonly records: Records
  /** Warnings of its log. */
  readonly warnings: string[]
  lead(): Promise<void>
  /** Gives the lead back. */
  yieldLead(): Promise<void>
  /** Takes a file in, as a pull does. */
  take(preset: Preset, content: string, more?: Partial<FeedInput>): Promise<FeedResult>
  /** The same, but nobody publishes it: as if the node died then. */
  takeAlone(preset: Preset, content: string, more?: Partial<FeedInput>): Promise<FeedResult>
  raw<T>(work: (raw: Raw) => T): T
  rows(): unknown
  search(q: string): Promise<{ total: number; json: string }>
  /** The same with the snapshot that is there, however old. */
  found(q: string): Promise<{ total: number; json: string }>
  close(): Promise<void>
}

/** The server goes on when it is closed. */
export async function openCluster(server: TestServer): Promise<Cluster> {
  const address = await server.database()
  const dir = mkdtempSync(join(tmpdir(), 'qm-shared-'))
  const nodes = new Set<TestNode>()
  const store = memoryStore({ now: () => cluster.clock })
  const postgres = await openPostgres(address)
  const cluster: Cluster = {
    run: (sql) => server.run(address, sql),
    postgres,
    store,
    clock: NOON,
    objects: store.objects as Map<string, MemoryObject>,
    async node(name, given = {}) {
      const node = await openNode(cluster, {
        name,
        dir: join(dir, name),
        address: given.address ?? address,
        store: given.store ?? store,
        ...given,
      })
      nodes.add(node)
      return { ...node, close: () => (nodes.delete(node), node.close()) }
    },
    published: (of = 'catalog') => readPublished({ read: postgres.db }, of),
    async close() {
      for (const node of nodes) await node.close()
      await postgres.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
  return cluster
}

interface OpenNode extends Required<Pick<NodeOptions, 'store' | 'address'>> {
  name: string
  dir: string
  baseAfter?: { bytes: number; changes: number }
  worker?: string
}

async function openNode(
  cluster: Cluster,
  { name, dir, address, store, worker, ...given }: OpenNode,
): Promise<TestNode> {
  const warnings: string[] = []
  const log = {
    info: () => {},
    debug: () => {},
    error: (_: object, message: string) => void warnings.push(`error: ${message}`),
    warn: (facts: { err?: Error }, message: string) =>
      void warnings.push(facts.err ? `${message}: ${facts.err.message}` : message),
  }
  const monotonic = () => performance.now()
  const opened = await openPostgresEngine({
    dir,
    address,
    log,
    now: () => cluster.clock,
    monotonic,
    random: randomBytes,
  })
  const leading = await openPostgres(address)
  const lead = openLead(leading, { owner: name, told: opened.lead!, monotonic })
  const engine = withLead(opened, lead)
  const background = openBackground({
    worker: worker ?? false,
    log: log as never,
  })
  const live = new LiveSnapshot({
    engine,
    background,
    log: log as never,
    now: () => cluster.clock,
    monotonic,
    onSwap: () => {},
  })
  const records = openRecords(engine.catalog)
  const sharing = openSharing({
    engine,
    lead,
    db: engine.db,
    read: engine.read,
    background,
    objects: store,
    log,
    now: () => cluster.clock,
    monotonic,
    leader: async () => null,
    filesMoved: () => historyFilesMoved(dir),
    ...given,
    adopted: () => live.buildAhead(),
    changed(isReplaced) {
      engine.lookAgain()
      if (isReplaced) records.replaced(readState(engine.catalog).revision)
      live.current()
    },
  })
  await engine.ready()
  sharing.start()

  let files = 0
  const ingest = (preset: Preset, content: string, more: Partial<FeedInput>) => {
    const file = join(dir, `feed-${++files}`)
    writeFileSync(file, content)
    cluster.clock += 60_000
    return background.run('ingestFeed', {
      dir,
      feed: {
        now: cluster.clock,
        preset,
        source: [preset.distid, preset.id, ...(more.subscriberId ? [more.subscriberId] : [])].join(
          '/',
        ),
        subscriberId: null,
        file,
        asOf: cluster.clock,
        ...more,
      },
    })
  }
  const node: TestNode = {
    name,
    dir,
    engine,
    sharing,
    background,
    live,
    records,
    warnings,
    async lead() {
      lead.stand()
      await until(() => lead.epoch !== null, `${name} leads`)
      await sharing.look()
    },
    yieldLead: () => lead.yield(),
    take: (preset, content, more = {}) => sharing.write(() => ingest(preset, content, more)),
    async takeAlone(preset, content, more = {}) {
      await sharing.stop()
      return ingest(preset, content, more)
    },
    raw(work) {
      const raw = openFile(filesIn(dir).catalog, { synchronous: 'NORMAL' })
      try {
        return work(raw)
      } finally {
        raw.close()
      }
    },
    rows: () => node.raw(everyRow),
    async search(q) {
      await live.refresh()
      return node.found(q)
    },
    async found(q) {
      const snapshot = live.current()
      assert.ok(snapshot, `${name} has a snapshot`)
      const view = makeView(snapshot, {
        subscriberId: 's_shop',
        document: { pricing: {}, product_restrictions: {} } as never,
        eligible: [{ name: 'Acme', entry: ENTRY }] as never,
        ignoreRestrictions: true,
      })
      const { rows, total } = searchView(view, {
        q,
        page: 1,
        page_size: 100,
        sort: 'name',
        order: 'asc',
      } as never)
      return { total, json: (await records.details(view, rows)).toString() }
    },
    async close() {
      await sharing.stop()
      live.stop()
      await background.close()
      await lead.yield()
      await leading.close()
      await opened.close()
    },
  }
  return node
}

const ENTRY = {
  distid: 'ACME',
  active: true,
  drop_ship_only_items: false,
  shipping: { flat_rate: { cost: 10, shipping_class: 'x' } },
  product_restrictions: {},
}

interface TestLead extends Lead {
  yield(): Promise<void>
}

/** Which can be given back, and taken again. */
function openLead(
  postgres: Postgres,
  { owner, told, monotonic }: { owner: string; told: Lead; monotonic: () => number },
): TestLead {
  let standing: Leadership | null = null
  let lives = 0
  return {
    node: owner,
    tell: (...news) => told.tell(...news),
    onTold: (news, listener, until) => told.onTold(news, listener, until),
    get epoch() {
      return standing?.epoch ?? null
    },
    stand() {
      standing ??= standForLead({
        postgres,
        name: 'installation',
        owner: `${owner} ${++lives} ${randomBytes(6).toString('hex')}`,
        monotonic,
        now: () => Date.now(),
        log: { info: () => {}, warn: () => {} },
        life: LIFE,
      })
    },
    fence: (tx, epoch) => standing!.fence(tx, epoch),
    mayBegin: (epoch) => standing?.mayBegin(epoch) ?? false,
    async yield() {
      const last = standing
      standing = null
      await last?.close()
    },
  }
}

function withLead(engine: Engine, lead: Lead): Engine {
  const changed: Engine = Object.create(engine, {
    lead: { value: lead },
    atomic: {
      value: ((ctx, fn) =>
        engine.atomic(ctx, (tx) => fn({ ...tx, engine: changed }))) as Engine['atomic'],
    },
  }) as Engine
  return changed
}

const TABLES = ['state', 'offer', 'fragment', 'own_price', 'tally', 'rejected_row', 'refusal']

/** Everything but what the leader alone has of a feed. */
export function everyRow(raw: Raw): unknown {
  const columns = raw
    .prepare("SELECT name FROM pragma_table_info('feed') WHERE name <> 'lines'")
    .pluck()
    .all() as string[]
  const all = (table: string, what = '*') =>
    raw.prepare(`SELECT ${what} FROM ${table} ORDER BY 1, 2`).all()
  return {
    ...Object.fromEntries(TABLES.map((table) => [table, all(table)])),
    feed: all('feed', columns.join(', ')),
    sequence: raw.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'fragment'").get(),
  }
}

/** Resolves once a node is at the newest state, and has the rows of the leader. */
export async function follows(cluster: Cluster, node: TestNode, leader: TestNode): Promise<void> {
  const newest = (await cluster.published()).at(-1)?.mark
  const mark = () => node.raw(readPoint)?.mark
  await until(() => mark() === newest, `${node.name} is at the newest state`)
  assert.deepEqual(node.rows(), leader.rows())
}
