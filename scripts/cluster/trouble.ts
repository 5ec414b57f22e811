/** What fails, and comes back: one thing after the other, and the store beside them. */
import { pause } from '../../lib/core/async/wait.js'
import { SECOND } from '../../lib/core/clock.js'
import { ROOM } from './ground.js'
import type { Ground } from './ground.js'
import type { ClusterNode } from './nodes.js'
import type { Pace } from './pace.js'

/** Milliseconds after which nodes have their connections to a database again that was started. */
const RECOVERS = 5 * SECOND

export interface TroubleParts {
  ground: Ground
  nodes: readonly ClusterNode[]
  pace: Pace
  random: () => number
  /** Undefined where nobody leads. */
  leader: () => Promise<ClusterNode | undefined>
}

export class Trouble {
  /** How often what was done. */
  readonly done = new Map<string, number>()
  /** What was done when, and to which node. */
  readonly timeline: string[] = []
  readonly #parts: TroubleParts
  #isAway = false
  /** Connections have to be made anew. */
  #awayUntil = 0

  constructor(parts: TroubleParts) {
    this.#parts = parts
  }

  /** The database cannot be reached by anybody, or could not a moment ago. */
  get isDatabaseAway(): boolean {
    return this.#isAway || performance.now() < this.#awayUntil
  }

  #count(name: string, node?: ClusterNode): void {
    this.timeline.push(`${new Date().toISOString()} ${name}${node ? `: ${node.name}` : ''}`)
    this.done.set(name, (this.done.get(name) ?? 0) + 1)
  }

  /** One thing that fails, and comes back. */
  async disturb(): Promise<void> {
    const { ground, nodes, pace, random } = this.#parts
    const any = nodes[Math.floor(random() * nodes.length)]!
    const leader = this.#isAway ? undefined : await this.#parts.leader().catch(() => undefined)
    const target = leader && random() < 0.6 ? leader : any
    const [draw, share] = [random(), random()]
    const who = target === leader ? 'leader' : 'node'
    if (draw < 0.35) {
      this.#count(`${who} killed`, target)
      await target.kill()
      await pause(share * pace.away)
      void target.keepStarted()
    } else if (draw < 0.6) {
      this.#count(`${who} frozen`, target)
      target.freeze()
      await pause(SECOND + share * pace.freeze)
      target.thaw()
    } else if (draw < 0.75) {
      this.#count('connections cut', target)
      target.cut()
      await pause(share * 2 * SECOND)
    } else if (draw < 0.88) {
      this.#count('connections stalled', target)
      target.stall()
      await pause(SECOND + share * pace.stall)
      target.goOn()
    } else {
      this.#count('database crashed')
      this.#isAway = true
      await ground.server.crash()
      await pause(share * pace.away)
      await ground.server.start(ROOM)
      this.#isAway = false
      this.#awayUntil = performance.now() + RECOVERS
    }
  }

  /** The store is away for a while: it refuses, or says nothing. */
  async loseStore(): Promise<void> {
    const {
      ground: { store },
      pace,
      random,
    } = this.#parts
    const isSilent = random() < 0.5
    this.#count(isSilent ? 'store stalled' : 'store cut off')
    if (isSilent) store.isStalled = true
    else store.judge = () => 'cut'
    if (!isSilent) store.cutAll()
    // Short more often than long.
    await pause(SECOND + random() ** 2 * pace.storeAway)
    store.isStalled = false
    store.judge = () => 'pass'
    // What was swallowed comes no more.
    store.cutAll()
  }
}
