/**
 * Three nodes over one database and one bucket, which are killed, frozen, cut off and stalled, and
 * lose the database and the bucket, while callers place orders through all of them and a feed moves;
 * then all comes back, and what callers were told, the orders and the books of the distributors must
 * agree, and all nodes show the newest feed:
 *   npx tsx scripts/cluster/run.ts --epochs 20 --seed 7
 *   --seconds N     of each epoch in which orders come in and things fail, 20 by default
 *   --callers N     at once, 5 by default
 *   --plant NAME    with a bug of plants.ts in the nodes
 * Real processes, PostgreSQL, S3 and sockets. Exits with 1 where something is wrong, and keeps the
 * logs.
 */
import { randomInt } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pause } from '../../lib/core/async/wait.js'
import { SECOND } from '../../lib/core/clock.js'
import { isOpenPurchase } from '../../lib/orders/queries.js'
import { listNodes } from '../../lib/app/nodes/list.js'
import { until } from '../../test/harness/until.js'
import { streamOf } from '../crash/rig/random.js'
import { placeOne, readOn } from './callers.js'
import type { Reads, Told } from './callers.js'
import { check } from './check.js'
import type { Purchase } from './check.js'
import { movingFeed } from './feed.js'
import type { MovingFeed } from './feed.js'
import { ROOM, openGround } from './ground.js'
import type { Ground } from './ground.js'
import { ClusterNode } from './nodes.js'
import { PLANTS } from './plants.js'

const { values } = parseArgs({
  options: {
    epochs: { type: 'string', default: '5' },
    seed: { type: 'string' },
    seconds: { type: 'string', default: '20' },
    callers: { type: 'string', default: '5' },
    plant: { type: 'string' },
  },
})
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)
const [epochs, length, callers] = [values.epochs, values.seconds, values.callers].map(Number) as [
  number,
  number,
  number,
]

const bug = PLANTS.find(({ name }) => name === values.plant) ?? null
if (values.plant !== undefined && !bug) throw new Error(`there is no plant "${values.plant}"`)

const random = streamOf(seed, 'cluster')
const chance = () => random.next()
const root = mkdtempSync(join(tmpdir(), 'qm-cluster-'))
console.log(`seed ${seed}, folder ${root}, ${epochs} epochs of ${length} s`)

/** What was done, by its name. */
const done = new Map<string, number>()
const count = (name: string) => done.set(name, (done.get(name) ?? 0) + 1)

interface State {
  ground: Ground
  feed: MovingFeed
  nodes: ClusterNode[]
  isAway: boolean
  /** Until when the database counts as away: connections have to be made anew. */
  awayUntil: number
  longestWithoutLead: number
}

async function leaderOf({ ground, nodes }: State): Promise<ClusterNode | undefined> {
  const { nodes: listed } = await listNodes(ground.shop.app.ctx)
  const leader = listed.find(({ isLeader }) => isLeader)
  return nodes.find(({ pid }) => pid !== undefined && pid === leader?.pid)
}

/** One thing that fails, and comes back. */
async function disturb(state: State): Promise<void> {
  const { ground, nodes } = state
  const any = nodes[Math.floor(chance() * nodes.length)]!
  const leader = state.isAway ? undefined : await leaderOf(state).catch(() => undefined)
  const target = leader && chance() < 0.6 ? leader : any
  const [draw, for_] = [chance(), chance()]
  if (draw < 0.35) {
    count(target === leader ? 'leader killed' : 'node killed')
    await target.kill()
    await pause(for_ * 4_000)
    void target.keepStarted()
  } else if (draw < 0.6) {
    count(target === leader ? 'leader frozen' : 'node frozen')
    target.freeze()
    // Over a lease as well as under it.
    await pause(1_000 + for_ * 20_000)
    target.thaw()
  } else if (draw < 0.75) {
    count('connections cut')
    target.cut()
    await pause(for_ * 2_000)
  } else if (draw < 0.88) {
    count('connections stalled')
    target.stall()
    await pause(1_000 + for_ * 18_000)
    target.goOn()
  } else {
    count('database crashed')
    state.isAway = true
    await ground.server.crash()
    await pause(for_ * 5_000)
    await ground.server.start(ROOM)
    state.isAway = false
    state.awayUntil = performance.now() + 5_000
  }
}

/** The store is away for a while: it refuses, or says nothing. */
async function loseStore({ ground: { store } }: State): Promise<void> {
  const isSilent = chance() < 0.5
  await pause(chance() * length * SECOND)
  count(isSilent ? 'store stalled' : 'store cut off')
  if (isSilent) store.isStalled = true
  else {
    store.judge = () => 'cut'
    store.cutAll()
  }
  // Up to a minute, more often for some seconds.
  await pause(1_000 + chance() ** 2 * 59_000)
  if (isSilent) {
    store.isStalled = false
    store.cutAll()
  } else store.judge = () => 'pass'
}

/** Watches for how long nobody leads although the database is there. */
async function watchLead(state: State, stop: AbortSignal): Promise<void> {
  let since: number | null = null
  while (!stop.aborted) {
    await pause(200)
    const isThere = !state.isAway && performance.now() > state.awayUntil
    const age = isThere
      ? await listNodes(state.ground.shop.app.ctx).then(
          ({ leaseAge }) => leaseAge ?? Infinity,
          () => null,
        )
      : null
    if (age === null) since = null
    else if (age < 6 * SECOND) since = null
    else since ??= performance.now() - Math.min(age, 60 * SECOND)
    if (since !== null)
      state.longestWithoutLead = Math.max(state.longestWithoutLead, performance.now() - since)
  }
}

async function epoch(state: State, number: number): Promise<{ told: Told[]; reads: Reads }> {
  const { ground, nodes } = state
  const keys = await Promise.all(Array.from({ length: 6 }, () => ground.newKey()))
  const stop = new AbortController()
  const told: Told[] = []
  let placed = 0
  const place = async () => {
    while (!stop.signal.aborted) {
      const id = `E${number}-${++placed}`
      told.push(await placeOne(nodes, { id, key: keys[placed % keys.length]!, random: chance }))
      await pause(chance() * 150)
    }
  }
  const isAway = (node: ClusterNode) =>
    state.isAway || performance.now() < state.awayUntil || node.isCutOff
  const reading = readOn(nodes, { key: keys[0]!, isAway, stop: stop.signal })
  const watching = watchLead(state, stop.signal)
  const feeding = state.feed.move(stop.signal)
  const losing = chance() < 0.6 ? loseStore(state) : undefined
  const placing = Array.from({ length: callers }, place)
  for (const begun = performance.now(); performance.now() - begun < length * SECOND;) {
    await disturb(state)
    await pause(chance() * 2_000)
  }
  for (const node of nodes) node.thaw()
  await Promise.all(nodes.map((node) => node.keepStarted()))
  stop.abort()
  await Promise.all([...placing, watching, feeding, losing])
  return { told, reads: await reading }
}

const purchases = async ({ ground }: State): Promise<Purchase[]> => {
  const rows = await ground.shop.app.ctx.read
    .selectFrom('purchase_order')
    .innerJoin('placement', 'placement.id', 'purchase_order.placement_id')
    .select(['order_id', 'client_ref', 'distid', 'po_number', 'purchase_order.state'])
    .select('distributor_order_id')
    .execute()
  return rows.map((row) => ({
    orderId: row.order_id,
    ref: row.client_ref,
    distid: row.distid,
    po: row.po_number,
    state: row.state,
    number: row.distributor_order_id,
  }))
}

/** Lets everything come to its end: what is not known is looked up. */
async function settle(state: State): Promise<void> {
  const { ground } = state
  const { read } = ground.shop.app.ctx
  const openIn = async (states: readonly string[]) =>
    (
      await read.selectFrom('purchase_order').select('state').where(isOpenPurchase).execute()
    ).filter((row) => states.includes(row.state)).length
  ground.warehouse.isCalm = true
  await until(async () => (await leaderOf(state)) !== undefined, 'somebody leads', 60)
  await until(
    async () =>
      (await openIn(['planned', 'sending', 'unknown'])) === 0 && ground.warehouse.underWay === 0,
    'all is sent, and what was not known was found out',
    300,
  )
  ground.warehouse.isCalm = false
}

const totals = { orders: 0, bought: 0, asked: 0, failed: 0, failedAway: 0, slowest: 0 }
let isWrong = false
const ground = await openGround(root, { random: chance, bug })
const nodes = await Promise.all(['a', 'b', 'c'].map((name) => ClusterNode.open(ground, name)))
const state: State = {
  ground,
  feed: movingFeed(ground, nodes, chance),
  nodes,
  isAway: false,
  awayUntil: 0,
  longestWithoutLead: 0,
}
try {
  await Promise.all(nodes.map((node) => node.keepStarted()))
  await until(async () => (await leaderOf(state)) !== undefined, 'somebody leads', 30)
  const all: Told[] = []
  for (let number = 1; number <= epochs && !isWrong; number++) {
    const { told, reads } = await epoch(state, number)
    all.push(...told)
    await settle(state)
    const found = {
      ...check(await purchases(state), ground.warehouse.books, all),
      apart: await state.feed.apart(await ground.newKey()),
    }
    totals.orders += told.length
    totals.bought = ground.warehouse.books.length
    totals.asked += reads.asked
    totals.failed += reads.failed
    totals.failedAway += reads.failedAway
    totals.slowest = Math.max(totals.slowest, reads.slowest)
    const faults = Object.entries(found)
    console.log(
      `${new Date().toISOString()} epoch ${number}: ${told.length} orders, ` +
        faults.map(([name, list]) => `${list.length} ${name}`).join(', ') +
        `; reads ${reads.asked}, failed ${reads.failed}, while the database was away ${reads.failedAway}`,
    )
    for (const [name, list] of faults)
      for (const text of list.slice(0, 20)) console.log(`  ${name}: ${text}`)
    for (const [fault, times] of reads.faults) console.log(`  ${times} reads: ${fault}`)
    isWrong = faults.some(([, list]) => list.length > 0)
  }
} catch (error) {
  isWrong = true
  console.log(error)
} finally {
  for (const node of nodes) node.thaw()
  await Promise.all(nodes.map((node) => node.end()))
  await ground.close().catch((error: unknown) => console.log(error))
}
console.log(totals, Object.fromEntries(done))
console.log(`longest without a lead: ${(state.longestWithoutLead / SECOND).toFixed(1)} s`)
const messages = new Map<string, number>()
for (const { log } of nodes)
  for (const line of readFileSync(log, { encoding: 'utf8', flag: 'a+' }).split('\n')) {
    // The last one of a life may have been cut off.
    if (!/^\{"level":[56]0.*\}$/.test(line)) continue
    const { msg, name, err } = JSON.parse(line) as {
      msg: string
      name?: string
      err?: { message: string }
    }
    const said = [msg, name, err?.message].filter((part) => part !== undefined).join(': ')
    messages.set(said, (messages.get(said) ?? 0) + 1)
  }
console.log('errors in the logs:', Object.fromEntries(messages))
if (isWrong) console.log(`the logs are kept in ${root}`)
else rmSync(root, { recursive: true, force: true })
process.exit(isWrong ? 1 : 0)
