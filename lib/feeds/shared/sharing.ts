/**
 * One catalog on several nodes. The one that leads takes feeds in, and publishes what they changed:
 * as objects of the store, and as a row of the system of record that names them. The others bring
 * their own catalog.db to that state. A state is known by a mark that no other has: a file that is
 * at none that was published is thrown away, as soon as somebody else has published more.
 */
import pLimit from 'p-limit'
import { inTime, pause } from '../../core/async/wait.js'
import { HOUR, SECOND } from '../../core/clock.js'
import { ApiError } from '../../core/errors.js'
import { LeadLost } from '../../db/lead.js'
import { changesOf } from '../../db/state.js'
import type { SharingParts } from './ctx.js'
import { follow } from './follow.js'
import { publishAll, standing, sweep, takeOver } from './lead.js'
import { openTransfer } from './objects.js'
import type { Transfer } from './objects.js'

export interface Sharing {
  /** Takes part until it is stopped: a server does, a command does not. */
  start(): void
  /** Whether this node may take feeds in: it leads, and has all that was published. */
  mayWrite(): Promise<boolean>
  /** Throws 503 where it may not. */
  check(): Promise<void>
  /**
   * Runs what writes to catalog.db, and publishes it. Throws 503 where this node may not, and
   * `LeadLost` where it may no more when the work is done.
   */
  write<T>(work: () => Promise<T>): Promise<T>
  /** Resolves once the node has done what can be done now. */
  look(): Promise<void>
  stop(): Promise<void>
}

/** Milliseconds between two looks at what is known in memory. */
const LOOK = 100
/** Milliseconds until what failed is tried again: at first, and at most. */
const RETRY = { first: SECOND, most: 15 * SECOND } as const
/** Milliseconds for which whoever took a feed in waits until it is published. */
const PATIENCE = 10 * SECOND
const SWEEP = HOUR

export function openSharing(parts: SharingParts): Sharing {
  return new Node(parts)
}

class Node implements Sharing {
  readonly #parts: SharingParts
  readonly #transfer: Transfer
  /** Moves with each publication. */
  readonly #moves: () => number
  /** One after the other: each step begins where the one before has ended. */
  readonly #inTurn = pLimit(1)
  readonly #closing = new AbortController()
  #running: Promise<void> | undefined
  /** The epoch for which this node has all that was published, and may take feeds in. */
  #ready: number | null = null
  /** What was looked at last: nothing has to be done while all of it is as it was. */
  #seen = ''
  /** In a row. */
  #failures = 0
  #retryAt = -Infinity
  #sweptAt = -Infinity

  constructor(parts: SharingParts) {
    this.#parts = parts
    this.#transfer = openTransfer({
      objects: parts.objects,
      dir: parts.engine.dir,
      monotonic: parts.monotonic,
    })
    this.#moves = changesOf(parts.engine, 'catalog')
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async mayWrite(): Promise<boolean> {
    const { lead } = this.#parts
    // A command writes where the leader's server finds it, and publishes it.
    if (!this.#running) return (await this.#parts.leader())?.isHere === true
    if (lead.epoch !== null && this.#ready !== lead.epoch) await this.look()
    return lead.epoch !== null && this.#ready === lead.epoch
  }

  async check(): Promise<void> {
    if (await this.mayWrite()) return
    if (!this.#running) {
      const leader = await this.#parts.leader()
      throw new ApiError('service_unavailable', {
        message: leader
          ? `feeds are taken in by the node that leads: run this on ${leader.host}, with --dir ${leader.dir}`
          : 'feeds are taken in by the node that leads, and at the moment none does',
      })
    }
    throw new ApiError('service_unavailable', {
      message: 'another node takes feeds in, or this one does not have the whole catalog yet',
    })
  }

  async write<T>(work: () => Promise<T>): Promise<T> {
    await this.check()
    if (!this.#running) return work()
    const epoch = this.#ready
    const result = await work()
    // What cannot be published now is tried again by itself.
    await inTime(() => this.look(), { ms: PATIENCE, closing: this.#closing.signal, late: () => {} })
    // The record may know that another node leads while this one's clocks still say that it does.
    if (this.#parts.lead.epoch !== epoch || this.#ready !== epoch) throw new LeadLost()
    return result
  }

  look(): Promise<void> {
    return this.#inTurn(() => this.#tried())
  }

  async stop(): Promise<void> {
    this.#closing.abort()
    await this.#running
    await this.#inTurn(() => {})
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      if (this.#isDue()) await this.look()
      await pause(LOOK, signal)
    }
  }

  /** Where that cannot be told either, the look says why. */
  #isDue(): boolean {
    if (this.#failures > 0) return this.#parts.monotonic() >= this.#retryAt
    try {
      return this.#now() !== this.#seen
    } catch {
      return true
    }
  }

  /** Everything by which this node sees that there may be something to do. */
  #now(): string {
    const { lead, engine } = this.#parts
    // Who follows writes nothing but what it was given.
    return [this.#moves(), lead.epoch, lead.epoch === null ? '' : engine.catalogVersion()].join()
  }

  async #tried(): Promise<void> {
    const { log, monotonic } = this.#parts
    if (this.#closing.signal.aborted) return
    try {
      const seen = this.#now()
      // What it leaves to be done has moved something by then.
      this.#seen = (await this.#step()) ? seen : ''
      if (this.#failures > 0) log.info({}, 'the catalog is shared again')
      this.#failures = 0
    } catch (error) {
      this.#retryAt = monotonic() + Math.min(RETRY.first * 2 ** this.#failures, RETRY.most)
      if (this.#closing.signal.aborted) return
      if (this.#failures === 0 && !(error instanceof LeadLost))
        log.warn({ err: error }, 'the catalog cannot be shared at the moment; it is tried again')
      this.#failures++
    }
  }

  async #step(): Promise<boolean> {
    const { epoch } = this.#parts.lead
    if (epoch === null) {
      this.#ready = null
      const followed = await follow(this.#parts, this.#transfer, await standing(this.#parts))
      return followed !== 'again'
    }
    if (this.#ready !== epoch) {
      this.#ready = null
      if (!(await takeOver(this.#parts, this.#transfer, epoch))) return false
      this.#ready = epoch
    }
    try {
      await publishAll(this.#parts, this.#transfer, epoch)
    } catch (error) {
      if (error instanceof LeadLost) this.#ready = null
      throw error
    }
    await this.#sweep(epoch)
    return true
  }

  async #sweep(epoch: number): Promise<void> {
    const at = this.#parts.monotonic()
    if (at - this.#sweptAt < SWEEP) return
    this.#sweptAt = at
    await sweep(this.#parts, this.#transfer, epoch)
  }
}
