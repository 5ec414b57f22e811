/** One state folder with its callers, and the server that lives and dies on it. */
import { join } from 'node:path'
import { openLedger, placeUntilFinal } from './lib-caller.js'
import type { Caller, Found, Ledger, Target } from './lib-caller.js'
import type { FastClock } from './lib-clock.js'
import { ask, keepAlive } from './lib-http.js'
import { OTHERS, makeOrder, plainOrder } from './lib-orders.js'
import { startProcess } from './lib-process.js'
import type { Process } from './lib-process.js'
import { streamOf } from './lib-random.js'
import type { Random } from './lib-random.js'
import { OTHER_SHOP, SHOP } from './lib-shop.js'
import type { CrashShop } from './lib-shop.js'

export interface ArenaOptions {
  dir: string
  /** The folder with the bundled entries. */
  bundle: string
  shop: CrashShop
  clock: FastClock
  seed: number
  /** Callers that order with chaos, and the probability with which each call of a distributor then fails, in percent. */
  callers: number
  chaos: number
  /** Callers that share the key whose quotas are watched. */
  watched: number
}

export interface Arena extends Target {
  readonly ledger: Ledger
  readonly log: string
  /** Orders that callers began. */
  readonly orders: number
  setClock(clock: FastClock): void
  /** A server that waits for its life; another one is loaded behind it. */
  nextProcess(): Process
  /** What callers find from now on. */
  serve(url: string | null): void
  startCallers(): void
  /** Callers bring what they are at to its end and begin nothing new. */
  stopCallers(): Promise<void>
  /** Ends what is left. */
  close(): Promise<void>
}

export function openArena(options: ArenaOptions): Arena {
  const { dir, bundle, shop, seed } = options
  const log = join(dir, '..', `${dir.split('/').at(-1)}.log`)
  const ledger = openLedger()
  let { clock } = options
  let current: Found | null = null
  let waiting: ((server: Found | null) => void)[] = []
  let standby: Process | undefined
  let stopping = false
  let closed = false
  let orders = 0
  const callers: Promise<void>[] = []

  const arena: Arena = {
    ledger, log,
    get orders() { return orders },
    get isEnding() { return stopping },
    clock: () => clock,
    setClock: (next) => { clock = next },
    server: () => current || closed ? Promise.resolve(current) : new Promise((resolve) => waiting.push(resolve)),
    lost: (server) => { if (server === current) arena.serve(null) },
    nextProcess() {
      const process = standby ?? startProcess(join(bundle, 'server.mjs'), log)
      standby = startProcess(join(bundle, 'server.mjs'), log)
      return process
    },
    serve(url) {
      current?.agent.destroy()
      current = url === null ? null : { url, agent: keepAlive() }
      if (current) for (const resolve of waiting.splice(0)) resolve(current)
    },
    startCallers() {
      for (let i = 0; i < options.watched; i++) callers.push(orderPlainly(`Q${i}`, streamOf(seed, `watched caller ${i}`)))
      for (let i = 0; i < options.callers; i++) callers.push(orderOn(`C${i}`, streamOf(seed, `caller ${i}`), i === 0 ? { shop: OTHER_SHOP, key: shop.otherKey } : { shop: SHOP, key: shop.keys[i % shop.keys.length]! }))
    },
    async stopCallers() {
      stopping = true
      await Promise.all(callers)
    },
    async close() {
      stopping = true
      closed = true
      for (const resolve of waiting) resolve(null)
      waiting = []
      arena.serve(null)
      standby?.kill('SIGKILL')
      await standby?.ended
      await Promise.all(callers)
    },
  }

  async function orderOn(name: string, random: Random, caller: Caller): Promise<void> {
    for (let i = 0; !stopping; i++) {
      orders++
      const body = makeOrder(random, `${name}-${i}`, { percent: options.chaos + random.int(0, 10), ...caller.shop === OTHER_SHOP && { distids: OTHERS } })
      const first = await placeUntilFinal(arena, ledger, caller, body)
      if (first === 'gave up') return
      if (first === 'held' && random.chance(0.2)) await look(caller, body.order_id)
      // Asked for again: what is held stays held, what was refused may be placed anew.
      if (random.chance(first === 'held' ? 0.15 : 0.5)) await placeUntilFinal(arena, ledger, caller, body)
    }
  }

  async function orderPlainly(name: string, random: Random): Promise<void> {
    for (let i = 0; !stopping; i++) {
      orders++
      if (await placeUntilFinal(arena, ledger, { shop: SHOP, key: shop.quotaKey }, plainOrder(random, `${name}-${i}`)) === 'gave up') return
    }
  }

  async function look({ key }: Caller, orderId: string): Promise<void> {
    const server = await arena.server()
    const answer = server && await ask(server.agent, server.url, { method: 'GET', path: `/v1/orders/${orderId}`, key })
    if (answer && answer.status !== 200 && answer.status !== 404) ledger.faults.push(`GET of ${orderId}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
  return arena
}
