/** One state folder with its callers, and the processes that live and die on it. */
import { join } from 'node:path'
import { openLedger, placeUntilFinal } from './caller.js'
import type { Ledger, Target } from './caller.js'
import type { FastClock } from './clock.js'
import type { House } from './documents.js'
import { makeEntrance } from './doors.js'
import type { Caller, Entrance } from './doors.js'
import { PLAYED, SHORTLY, makeOrder, plainOrder } from './orders.js'
import { startProcess } from './process.js'
import type { Process } from './process.js'
import { streamOf } from './random.js'
import type { Random } from './random.js'
import { OTHER_SHOP, SHOP } from './shop.js'
import type { CrashShop } from './shop.js'

export interface ArenaOptions {
  dir: string
  /** The folder with the bundled entries. */
  bundle: string
  shop: CrashShop
  clock: FastClock
  seed: number
  /**
   * Callers that order with chaos, and the probability with which each call of a distributor then
   * fails, in percent.
   */
  callers: number
  chaos: number
  /** Callers that share the key whose quotas are watched. */
  watched: number
  /** Pairs of callers, one at each way in, that place the same orders at the same time. */
  pairs?: number
  /** Whom they order from; all that are simulated by default. */
  distids?: readonly string[]
  /** What stands for distributors that documents describe. */
  house?: House
  /** Where sends are traced. */
  trace?: string
  /** What processes write to standard error; beside the folder by default. */
  log?: string
}

export type Way = 'server' | 'library'

export interface Arena {
  readonly dir: string
  readonly ledger: Ledger
  readonly log: string
  readonly entrances: Record<Way, Entrance>
  /** Orders that callers began. */
  readonly orders: number
  readonly trace: string | undefined
  readonly house: House | undefined
  clock(): FastClock
  setClock(clock: FastClock): void
  /** A process that waits for its life; another one of its kind is loaded behind it. */
  nextProcess(way: Way): Process
  startCallers(): void
  /** Callers bring what they are at to its end and begin nothing new. */
  stopCallers(): Promise<void>
  /** Ends what is left. */
  close(): Promise<void>
}

export function openArena(options: ArenaOptions): Arena {
  const { dir, bundle, shop, seed, trace, house, log = `${dir}.log` } = options
  const ledger = openLedger()
  const entrances = { server: makeEntrance(), library: makeEntrance() }
  const standby = new Map<Way, Process>()
  const callers: Promise<void>[] = []
  // Nobody plays scenarios where no simulator is.
  const scenarios = options.house ? [] : options.pairs ? SHORTLY : PLAYED
  let { clock } = options
  let stopping = false
  let orders = 0

  const targetAt = (way: Way): Target => ({
    door: entrances[way].door,
    lost: entrances[way].lost,
    clock: () => clock,
    get isEnding() {
      return stopping
    },
  })

  async function orderOn(
    name: string,
    random: Random,
    caller: Caller,
    target: Target,
  ): Promise<void> {
    for (let i = 0; !stopping; i++) {
      orders++
      const body = makeOrder(random, `${name}-${i}`, {
        percent: options.chaos + random.int(0, 10),
        scenarios,
        ...(options.distids && { distids: options.distids }),
      })
      const first = await placeUntilFinal(target, ledger, caller, body)
      if (first === 'gave up') return
      if (first === 'held' && random.chance(0.2)) await look(target, caller, body.order_id)
      // Asked for again: what is held stays held, what was refused may be placed anew.
      if (random.chance(first === 'held' ? 0.15 : 0.5))
        await placeUntilFinal(target, ledger, caller, body)
    }
  }

  async function orderPlainly(name: string, random: Random, target: Target): Promise<void> {
    for (let i = 0; !stopping; i++) {
      orders++
      if (
        (await placeUntilFinal(
          target,
          ledger,
          { shop: SHOP, key: shop.quotaKey },
          plainOrder(random, `${name}-${i}`),
        )) === 'gave up'
      )
        return
    }
  }

  /** The same order at both ways in at the same moment, by one key. */
  async function orderTogether(name: string, random: Random, key: string): Promise<void> {
    for (let i = 0; !stopping; i++) {
      orders++
      const body = makeOrder(random, `${name}-${i}`, {
        percent: options.chaos + random.int(0, 10),
        scenarios,
      })
      const place = (way: Way) =>
        placeUntilFinal(targetAt(way), ledger, { shop: SHOP, key }, body, { isShared: true })
      await Promise.all([place('server'), place('library')])
    }
  }

  async function look(target: Target, caller: Caller, orderId: string): Promise<void> {
    const answer = await (await target.door())?.look(caller, orderId)
    if (answer && answer.status !== 200 && answer.status !== 404)
      ledger.faults.push(`GET of ${orderId}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }

  const keyOf = (i: number) => shop.keys[i % shop.keys.length]!
  return {
    dir,
    ledger,
    log,
    entrances,
    trace,
    house,
    get orders() {
      return orders
    },
    clock: () => clock,
    setClock: (next) => {
      clock = next
    },
    nextProcess(way) {
      const load = () => startProcess(join(bundle, `${way}.cjs`), log)
      const process = standby.get(way) ?? load()
      standby.set(way, load())
      return process
    },
    startCallers() {
      const { watched, callers: many, pairs } = options
      for (let i = 0; i < watched; i++)
        callers.push(
          orderPlainly(
            `Q${i}`,
            streamOf(seed, `watched caller ${i}`),
            targetAt(pairs && i % 2 ? 'library' : 'server'),
          ),
        )
      for (let i = 0; i < many; i++)
        callers.push(
          orderOn(
            `C${i}`,
            streamOf(seed, `caller ${i}`),
            i === 0 ? { shop: OTHER_SHOP, key: shop.otherKey } : { shop: SHOP, key: keyOf(i) },
            targetAt('server'),
          ),
        )
      if (!pairs) return
      for (let i = 0; i < pairs; i++)
        callers.push(orderTogether(`P${i}`, streamOf(seed, `pair ${i}`), keyOf(many + i)))
      // One without a key, whom no quota holds up.
      callers.push(
        orderOn(
          'L',
          streamOf(seed, 'library caller'),
          { shop: SHOP, key: null },
          targetAt('library'),
        ),
      )
    },
    async stopCallers() {
      stopping = true
      await Promise.all(callers)
    },
    async close() {
      stopping = true
      for (const entrance of Object.values(entrances)) entrance.close()
      for (const process of standby.values()) process.kill('SIGKILL')
      await Promise.all([...standby.values()].map(({ ended }) => ended))
      await Promise.all(callers)
    },
  }
}
