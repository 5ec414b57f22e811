/** Three nodes over one database and one bucket, and epochs of trouble after which all must agree. */
import { pause } from '../../lib/core/async/wait.js'
import { SECOND } from '../../lib/core/clock.js'
import { listNodes } from '../../lib/app/nodes/list.js'
import { isOpenPurchase } from '../../lib/orders/queries.js'
import { until } from '../../test/harness/until.js'
import { streamOf } from '../crash/rig/random.js'
import type { Planted } from '../plants/seam.js'
import { placeOne, readOn } from './callers.js'
import type { Reads, Told } from './callers.js'
import { check } from './check.js'
import type { Purchase } from './check.js'
import { movingFeed } from './feed.js'
import type { MovingFeed } from './feed.js'
import { openGround } from './ground.js'
import type { Ground } from './ground.js'
import { ClusterNode } from './nodes.js'
import type { Pace } from './pace.js'
import { Trouble } from './trouble.js'

const NAMES = ['a', 'b', 'c']
/** In how many epochs the store goes away. */
const STORE_FAILS = 0.6

export interface ClusterOptions {
  /** A folder for all of it. */
  root: string
  seed: number
  /** Of an epoch, in which orders come in and things fail. */
  seconds: number
  /** At once. */
  callers: number
  pace: Pace
  /** A bug in the nodes. */
  bug: Planted | null
}

export interface Epoch {
  orders: number
  bought: number
  reads: Reads
  /** What is wrong, by its kind. */
  faults: Record<string, string[]>
  /** Milliseconds for which nobody led although a node could have: the longest time. */
  leaderless: number
}

export class Cluster {
  readonly ground: Ground
  readonly nodes: readonly ClusterNode[]
  readonly trouble: Trouble
  readonly #options: ClusterOptions
  readonly #random: () => number
  readonly #feed: MovingFeed
  readonly #told: Told[] = []
  #epochs = 0
  #leaderless = 0

  private constructor(options: ClusterOptions, ground: Ground, nodes: readonly ClusterNode[]) {
    const { seed, pace } = options
    const random = streamOf(seed, 'cluster')
    this.#options = options
    this.#random = () => random.next()
    this.ground = ground
    this.nodes = nodes
    this.#feed = movingFeed(ground, nodes, this.#random)
    this.trouble = new Trouble({
      ground,
      nodes,
      pace,
      random: this.#random,
      leader: () => this.#leader(),
    })
  }

  /** Resolves once somebody leads. */
  static async open(options: ClusterOptions): Promise<Cluster> {
    const random = streamOf(options.seed, 'warehouse')
    const ground = await openGround({ ...options, random: () => random.next() })
    const nodes = await Promise.all(NAMES.map((name) => ClusterNode.open(ground, name)))
    const cluster = new Cluster(options, ground, nodes)
    try {
      await Promise.all(nodes.map((node) => node.keepStarted()))
      await until(async () => (await cluster.#leader()) !== undefined, 'somebody leads', 60)
    } catch (error) {
      await cluster.close()
      throw error
    }
    return cluster
  }

  async close(): Promise<void> {
    for (const node of this.nodes) node.thaw()
    await Promise.all(this.nodes.map((node) => node.end()))
    await this.ground.close()
  }

  /**
   * Has things fail for a while, or whatever else is done while orders come in; lets all come back,
   * and tells what is wrong then.
   */
  async epoch(work = () => this.#fail()): Promise<Epoch> {
    this.#epochs++
    this.#leaderless = 0
    const { books } = this.ground.warehouse
    const [told, bought] = [this.#told.length, books.length]
    const reads = await this.#serve(work)
    await this.#settle()
    const { pace } = this.#options
    return {
      orders: this.#told.length - told,
      bought: books.length - bought,
      reads,
      leaderless: this.#leaderless,
      faults: {
        ...check(await this.#purchases(), books, this.#told),
        apart: await this.#feed.apart(await this.ground.newKey()),
        leaderless:
          this.#leaderless > pace.leaderless
            ? [`nobody led for ${(this.#leaderless / SECOND).toFixed(1)} s`]
            : [],
      },
    }
  }

  async #leader(): Promise<ClusterNode | undefined> {
    const { nodes } = await listNodes(this.ground.shop.app.ctx)
    const leader = nodes.find(({ isLeader }) => isLeader)
    return this.nodes.find(({ pid }) => pid !== undefined && pid === leader?.pid)
  }

  /** One node after the other goes on with each of these programs in turn. */
  async roll(programs: readonly string[]): Promise<void> {
    for (const program of programs)
      for (const node of this.nodes) {
        await node.replace(program)
        await pause(this.#random() * 2_000)
      }
  }

  async #fail(): Promise<void> {
    const { nodes, trouble } = this
    const { seconds } = this.#options
    const length = seconds * SECOND
    const losing =
      this.#random() < STORE_FAILS
        ? pause(this.#random() * length).then(() => trouble.loseStore())
        : undefined
    for (const begun = performance.now(); performance.now() - begun < length;) {
      await trouble.disturb()
      await pause(this.#random() * 2_000)
    }
    await losing
    for (const node of nodes) node.thaw()
    await Promise.all(nodes.map((node) => node.keepStarted()))
  }

  /** Has orders, searches and feeds come until the work is done. */
  async #serve(work: () => Promise<void>): Promise<Reads> {
    const { nodes, trouble } = this
    const { callers } = this.#options
    const random = this.#random
    const keys = await Promise.all(Array.from({ length: 6 }, () => this.ground.newKey()))
    const stop = new AbortController()
    const { signal } = stop
    let placed = 0
    const place = async () => {
      while (!signal.aborted) {
        const id = `E${this.#epochs}-${++placed}`
        const key = keys[placed % keys.length]!
        this.#told.push(await placeOne(nodes, { id, key, random }))
        await pause(random() * 150)
      }
    }
    const isAway = (node: ClusterNode) => trouble.isDatabaseAway || node.isCutOff
    const reading = readOn(nodes, { key: await this.ground.newKey(), isAway, stop: signal })
    const beside = [
      this.#watchLead(signal),
      this.#feed.move(signal),
      ...Array.from({ length: callers }, place),
    ]
    await work().finally(() => stop.abort())
    await Promise.all(beside)
    return reading
  }

  /** Watches for how long nobody leads although the database is there, and a node that could. */
  async #watchLead(stop: AbortSignal): Promise<void> {
    // Renewed every third of its life.
    const fresh = this.#options.pace.lease / 3 + SECOND
    let since: number | null = null
    while (!stop.aborted) {
      await pause(200)
      const age = this.trouble.isDatabaseAway
        ? null
        : await listNodes(this.ground.shop.app.ctx).then(
            ({ leaseAge }) => leaseAge ?? Infinity,
            () => null,
          )
      const now = performance.now()
      const fit = Math.min(...this.nodes.map(({ fitSince }) => fitSince ?? Infinity))
      if (age === null || age < fresh || fit > now) {
        since = null
        continue
      }
      // One that was given back tells no time.
      since ??= age === Infinity ? now : now - age
      // Nobody could lead before that.
      this.#leaderless = Math.max(this.#leaderless, now - Math.max(since, fit))
    }
  }

  async #purchases(): Promise<Purchase[]> {
    const rows = await this.ground.shop.app.ctx.read
      .selectFrom('purchase_order')
      .innerJoin('placement', 'placement.id', 'purchase_order.placement_id')
      .select(['order_id', 'client_ref', 'distid', 'po_number', 'purchase_order.state'])
      .select(['distributor_order_id', 'refusal'])
      .execute()
    return rows.map((row) => ({
      orderId: row.order_id,
      ref: row.client_ref,
      distid: row.distid,
      po: row.po_number,
      state: row.state,
      refusal: row.refusal,
      number: row.distributor_order_id,
    }))
  }

  /** Lets everything come to its end: what is not known is looked up. */
  async #settle(): Promise<void> {
    const { warehouse, shop } = this.ground
    const openIn = async (states: readonly string[]) =>
      (
        await shop.app.ctx.read
          .selectFrom('purchase_order')
          .select('state')
          .where(isOpenPurchase)
          .execute()
      ).filter((row) => states.includes(row.state)).length
    warehouse.isCalm = true
    await until(async () => (await this.#leader()) !== undefined, 'somebody leads', 60)
    await until(
      async () =>
        (await openIn(['planned', 'sending', 'unknown'])) === 0 && warehouse.underWay === 0,
      'all is sent, and what was not known was found out',
      300,
    )
    warehouse.isCalm = false
  }
}
