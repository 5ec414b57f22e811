/** Callers that place orders, and repeat what they were not told, as the contract says; and readers. */
import { pause } from '../../lib/core/async/wait.js'
import { CUSTOMER } from '../../test/orders/shop.js'
import { DISTIDS, orderOf } from './ground.js'
import type { ClusterNode } from './nodes.js'

/** What a caller heard of an order in the end. */
export interface Told {
  id: string
  /** The status of the last answer; 0 where none came. */
  status: number
  code: string | null
  tries: number
}

export interface Reads {
  asked: number
  failed: number
  /** While the database was away, or out of the node's reach. */
  failedAway: number
  /** Milliseconds of the slowest. */
  slowest: number
  /** How those failed that a node owed: how often each. */
  faults: Map<string, number>
}

/** Milliseconds that a caller waits for an answer, and goes on repeating. */
const PATIENCE = 20_000
const GIVES_UP = 120_000

const aliveOf = (nodes: readonly ClusterNode[]) => nodes.filter(({ url }) => url !== null)

async function post(url: string, key: string, body: object) {
  const response = await fetch(`${url}/v1/orders`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(PATIENCE),
  })
  const { error } = (await response.json()) as { error?: { code: string } }
  return { status: response.status, code: error?.code ?? null }
}

/** Places one order until somebody says what became of it. */
export async function placeOne(
  nodes: readonly ClusterNode[],
  { id, key, random }: { id: string; key: string; random: () => number },
): Promise<Told> {
  const distid = DISTIDS[Math.floor(random() * DISTIDS.length)]!
  const body = orderOf(id, distid, { ...CUSTOMER, name: `Pat ${id.replace(/\W/g, ' ')}` })
  const told: Told = { id, status: 0, code: null, tries: 0 }
  for (const begun = performance.now(); performance.now() - begun < GIVES_UP;) {
    const alive = aliveOf(nodes)
    const node = alive[Math.floor(random() * alive.length)]
    if (node?.url) {
      told.tries++
      const answer = await post(node.url, key, body).catch(() => ({ status: 0, code: null }))
      Object.assign(told, answer)
      // What was not told, or not done for the moment, is repeated under the same id.
      if (answer.status !== 0 && answer.status < 500 && answer.status !== 429) return told
    }
    await pause(200 + random() * 300)
  }
  return told
}

/** Searches again and again at whoever answers, until it is told to stop. */
export async function readOn(
  nodes: readonly ClusterNode[],
  { key, isAway, stop }: { key: string; isAway: (node: ClusterNode) => boolean; stop: AbortSignal },
): Promise<Reads> {
  const reads: Reads = { asked: 0, failed: 0, failedAway: 0, slowest: 0, faults: new Map() }
  for (let turn = 0; !stop.aborted; turn++) {
    const node = nodes[turn % nodes.length]!
    const { url } = node
    if (url === null || !node.isReady || node.isFrozen) {
      await pause(20)
      continue
    }
    const [begun, wasAway] = [performance.now(), isAway(node)]
    reads.asked++
    const said = await search(url, key)
    // One that was killed or frozen meanwhile owes no answer.
    const isOwed = node.owes(url, said) && !node.hasFrozen(begun)
    if (isOwed) reads.slowest = Math.max(reads.slowest, performance.now() - begun)
    if (said !== '200' && isOwed) {
      if (wasAway || isAway(node)) reads.failedAway++
      else reads.failed++
      const fault = `${said} ${node.trouble()}${wasAway || isAway(node) ? ', the database away' : ''}`
      reads.faults.set(fault, (reads.faults.get(fault) ?? 0) + 1)
    }
    // A key has 1,000 requests a minute.
    await pause(70)
  }
  return reads
}

/** The status of a search, with what was said of a failure. */
async function search(url: string, key: string): Promise<string> {
  try {
    const response = await fetch(`${url}/v1/products/search?page_size=1`, {
      headers: { 'x-api-key': key, connection: 'close' },
      signal: AbortSignal.timeout(10_000),
    })
    const { error } = (await response.json()) as { error?: { code: string; message: string } }
    return error ? `${response.status} ${error.code} (${error.message})` : String(response.status)
  } catch (error) {
    const { cause, message } = error as Error
    return `no answer: ${cause instanceof Error ? cause.message : message}`
  }
}
