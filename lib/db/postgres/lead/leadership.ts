/**
 * Which of several nodes leads. Who does has a lease, which it renews every third of its life; who
 * wants to takes one that it has seen unchanged for a whole life by a clock of its own. A leader
 * that was away for longer finds its epoch over in the transaction of each write (`fence`), and by
 * its own clocks it knows beforehand when it must not begin anything that cannot be undone
 * (`mayBegin`).
 */
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { pause } from '../../../core/async/wait.js'
import { SECOND } from '../../../core/clock.js'
import type { Log } from '../../../core/log.js'
import { LeadLost } from '../../lead.js'
import { pipelined } from '../../together.js'
import type { Lead } from '../../lead.js'
import type { Tables } from '../../tables/tables.js'
import type { Postgres } from '../connect.js'
import { openLeaseRows } from './lease.js'
import type { Lease, LeaseRows } from './lease.js'

/** Milliseconds that a lease lives unless it is renewed. */
const LIFE = 15 * SECOND
/** Milliseconds after which who does not lead looks whether it can. */
const LOOK = SECOND

export interface Leadership extends Omit<Lead, 'node' | 'stand' | 'tell' | 'onTold'> {
  /** Tells what a look of somebody else has shown: who does not lead need not ask for it again. */
  shown(lease: Lease | undefined): void
  /** Gives it back, so that another node need not wait for its end. */
  close(): Promise<void>
}

export interface Candidate {
  postgres: Pick<Postgres, 'newClient'>
  /** What is led. */
  name: string
  /** This life of this process: no other one has ever had it. */
  owner: string
  /** Milliseconds by a clock that never steps, but may stand still while the machine is suspended. */
  monotonic: () => number
  /** Milliseconds by a clock that may step, but goes on meanwhile. */
  now: () => number
  log: Pick<Log, 'info' | 'warn'>
  /** Told when it begins to lead. Where it throws, the lead is given back. */
  gained?: (epoch: number) => void
  /** Told when it does so no more; a process that froze is told when it goes on. */
  lost?: (epoch: number) => void
  /** Milliseconds. */
  life?: number
}

/** Stands for the lead until it is closed. */
export function standForLead(candidate: Candidate): Leadership {
  return new Standing(candidate)
}

/** One moment by both clocks. */
interface Moment {
  monotonic: number
  now: number
}

/** A lead that is held: `confirmedAt` is when it was asked for, since the answer comes later. */
interface Held {
  epoch: number
  confirmedAt: Moment
}

class Standing implements Leadership {
  readonly #given: Candidate
  readonly #life: number
  readonly #rows: LeaseRows
  readonly #closing = new AbortController()
  readonly #running: Promise<void>
  #held: Held | null = null
  /** The lease of another node, and since when it is as it is, by the clock that never steps. */
  #seen: { mark: string; since: number } | undefined
  #expiry: NodeJS.Timeout | undefined
  #isAway = false
  /** What was shown last, and when by the clock that never steps. */
  #shown: { lease: Lease | undefined; at: number } | undefined
  /** Ends the pause between two looks. */
  #wake = new AbortController()

  constructor(given: Candidate) {
    this.#given = given
    this.#life = given.life ?? LIFE
    this.#rows = openLeaseRows(given.postgres, given)
    this.#running = this.#run()
  }

  get epoch(): number | null {
    const held = this.#held
    return held && this.#since(held.confirmedAt) < this.#life ? held.epoch : null
  }

  mayBegin(epoch: number): boolean {
    const held = this.#held
    return held?.epoch === epoch && this.#since(held.confirmedAt) < this.#life / 2
  }

  async fence(tx: Kysely<Tables>, epoch: number): Promise<void> {
    if (!tx.isTransaction) throw new Error('a write is fenced in its transaction, and this is none')
    if (this.epoch !== epoch) throw new LeadLost()
    const { name, owner } = this.#given
    await pipelined(tx, [sql`select hold_lead(${name}, ${owner}, ${epoch})`], (error) => {
      // It is known now, and need not be heard of by the next renewal.
      if (error instanceof LeadLost && this.#held?.epoch === epoch) this.#drop()
    })
  }

  shown(lease: Lease | undefined): void {
    this.#shown = { lease, at: this.#given.monotonic() }
    if (!this.#held) this.#wake.abort()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#wake.abort()
    await this.#running
    const held = this.#held
    this.#drop()
    // Whoever cannot say so lets the others wait for the end of the lease.
    if (held) await this.#rows.giveBack(held.epoch).catch(() => {})
    await this.#rows.close()
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      // What is shown during the turn is looked at in the next one.
      this.#wake = new AbortController()
      await this.#turn()
      if (signal.aborted) return
      const third = this.#life / 3
      const ms = this.#held && !this.#isAway ? third : Math.min(LOOK, third)
      await pause(ms, this.#wake.signal)
    }
  }

  async #turn(): Promise<void> {
    const { log } = this.#given
    try {
      if (this.#held) await this.#renew(this.#held)
      else await this.#stand()
      if (this.#isAway) log.info({}, 'the lead can be asked for again')
      this.#isAway = false
    } catch (error) {
      if (!this.#isAway)
        log.warn({ err: error }, 'who leads cannot be asked at the moment; it is tried again')
      this.#isAway = true
    }
  }

  async #renew(held: Held): Promise<void> {
    const confirmedAt = this.#moment()
    const isRenewed = await this.#rows.renew(held.epoch)
    // It may have run out while the database was asked: then that epoch is over.
    if (this.#held !== held) return
    if (isRenewed) this.#hold({ epoch: held.epoch, confirmedAt })
    else this.#drop()
  }

  /** Takes what nobody has any more, or what this life of this process lost track of. */
  async #stand(): Promise<void> {
    const lease = await this.#look()
    if (lease && lease.owner !== this.#given.owner && !this.#isOver(lease.mark)) return
    const confirmedAt = this.#moment()
    const epoch = await this.#rows.take(lease)
    if (epoch === null) return
    if (!this.#hold({ epoch, confirmedAt })) return
    if (this.#call('gained', epoch)) return
    this.#drop()
    await this.#rows.giveBack(epoch)
  }

  /** As it was shown a moment ago; whoever takes it makes sure that it still is so. */
  async #look(): Promise<Lease | undefined> {
    const shown = this.#shown
    const isFresh = shown !== undefined && this.#given.monotonic() - shown.at < 2 * LOOK
    return isFresh ? shown.lease : this.#rows.look()
  }

  /**
   * Whether a lease was not renewed for a whole life. That is counted from after it was first seen,
   * and its holder counts from before it asked for it: so the holder is the first to give up.
   */
  #isOver(mark: string): boolean {
    const now = this.#given.monotonic()
    if (this.#seen?.mark !== mark) this.#seen = { mark, since: now }
    return now - this.#seen.since >= this.#life
  }

  /** False where it has run out before it was known. */
  #hold(held: Held): boolean {
    // By this clock alone: after a step of the other one, a renewal tells whether it still is ours.
    const left = held.confirmedAt.monotonic + this.#life - this.#given.monotonic()
    if (left <= 0) {
      this.#drop()
      return false
    }
    this.#held = held
    clearTimeout(this.#expiry)
    this.#expiry = setTimeout(() => this.#drop(), left)
    this.#expiry.unref()
    return true
  }

  #drop(): void {
    clearTimeout(this.#expiry)
    const held = this.#held
    this.#held = null
    if (held) this.#call('lost', held.epoch)
  }

  /** False where whoever is told could not do with it. */
  #call(what: 'gained' | 'lost', epoch: number): boolean {
    try {
      this.#given[what]?.(epoch)
      return true
    } catch (error) {
      this.#given.log.warn(
        { err: error, epoch },
        `what was to be done when the lead was ${what} failed`,
      )
      return false
    }
  }

  #moment(): Moment {
    return { monotonic: this.#given.monotonic(), now: this.#given.now() }
  }

  /** Milliseconds since then: at least so many, by whichever clock went on. */
  #since(then: Moment): number {
    const { monotonic, now } = this.#moment()
    return Math.max(monotonic - then.monotonic, now - then.now)
  }
}
