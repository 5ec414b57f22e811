/**
 * One catalog on several nodes, and one history of it. The node that leads takes feeds in, and
 * publishes what they changed: as objects of the store, and as a row of the system of record that
 * names them. The others bring their own catalog.db and history.db to that state. A state is known by
 * a mark that no other has: a file that is at none that was published is thrown away, as soon as
 * somebody else has published more. With the history go the days that were rolled up, and the build
 * of the analytics.
 */
import pLimit from 'p-limit'
import { inTime, pause } from '../../core/async/wait.js'
import { HOUR, SECOND } from '../../core/clock.js'
import { ApiError } from '../../core/errors.js'
import { LeadLost } from '../../db/lead.js'
import { changesOf } from '../../db/state.js'
import type { LineParts, SharingParts } from './ctx.js'
import { follow } from './follow.js'
import { publishAll, standing, sweep, takeOver } from './lead.js'
import { openTransfer } from './objects.js'
import type { Transfer } from './objects.js'
import type { SharedName } from './publication.js'

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

/** One of the databases, with what moves its objects. */
interface Line {
  parts: LineParts
  transfer: Transfer
}

class Node implements Sharing {
  readonly #parts: SharingParts
  readonly #catalog: Line
  readonly #history: Line
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
    this.#catalog = openLine(parts, 'catalog')
    this.#history = openLine(parts, 'history')
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
          ? `only the node that leads does this: run it on ${leader.host}, with --dir ${leader.dir}`
          : 'only the node that leads does this, and at the moment none does',
      })
    }
    throw new ApiError('service_unavailable', {
      message: 'another node leads and does this, or this one does not have the whole catalog yet',
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
    if (this.#parts.monotonic() < this.#retryAt) return false
    if (this.#failures > 0) return true
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
    const own = lead.epoch === null ? [] : [engine.catalogVersion(), this.#parts.filesMoved()]
    return [this.#moves(), lead.epoch, ...own].join()
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
      const isThere = await this.#follow(this.#catalog)
      return (await this.#follow(this.#history)) && isThere
    }
    if (this.#ready !== epoch) {
      this.#ready = null
      for (const { parts, transfer } of [this.#history, this.#catalog])
        if (!(await takeOver(parts, transfer, epoch))) return false
      this.#ready = epoch
    }
    try {
      const isDone = await this.#publish(epoch)
      await this.#sweep(epoch)
      return isDone
    } catch (error) {
      if (error instanceof LeadLost) this.#ready = null
      throw error
    }
  }

  async #follow({ parts, transfer }: Line): Promise<boolean> {
    return (await follow(parts, transfer, await standing(parts))) !== 'again'
  }

  /**
   * The history first: a feed that is in it and not in the catalog is taken in once more, one that
   * is in the catalog alone would never be in it. False where that has to be tried again.
   */
  async #publish(epoch: number): Promise<boolean> {
    let [isDone, failure]: [boolean, unknown] = [false, null]
    try {
      isDone = await publishAll(this.#history.parts, this.#history.transfer, epoch)
    } catch (error) {
      if (error instanceof LeadLost) throw error
      failure = error
    }
    // Whatever keeps the history, the catalog does not wait for it.
    const { parts, transfer } = this.#catalog
    if (!(await publishAll(parts, transfer, epoch))) isDone = false
    if (failure !== null) throw failure
    if (!isDone) this.#retryAt = this.#parts.monotonic() + RETRY.first
    return isDone
  }

  async #sweep(epoch: number): Promise<void> {
    const at = this.#parts.monotonic()
    if (at - this.#sweptAt < SWEEP) return
    this.#sweptAt = at
    for (const { parts, transfer } of [this.#history, this.#catalog])
      await sweep(parts, transfer, epoch)
  }
}

function openLine({ changed, ...parts }: SharingParts, name: SharedName): Line {
  const { objects, engine, monotonic } = parts
  return {
    parts: { ...parts, name, changed: name === 'catalog' ? changed : undefined },
    transfer: openTransfer({ name, objects, dir: engine.dir, monotonic }),
  }
}
