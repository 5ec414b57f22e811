/**
 * Which of several nodes leads. Leadership is a row: who has it, in which epoch, and until when by
 * the database's clock. It is renewed every third of its life. A leader that was away for longer
 * finds its epoch over in the transaction of each write (`fence`), and by a clock that never steps
 * it knows beforehand when it must not begin anything that cannot be undone (`mayBegin`).
 */
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { pause } from '../../core/async/wait.js'
import { SECOND } from '../../core/clock.js'
import type { Log } from '../../core/log.js'
import type { Tables } from '../tables/tables.js'
import type { Postgres } from './connect.js'

/** Milliseconds that a lease lives unless it is renewed. */
const LIFE = 15 * SECOND
/** Milliseconds after which who does not lead looks whether it can. */
const LOOK = SECOND

export interface Leadership {
  /** The epoch in which this node leads now; null where it does not, or cannot be sure. */
  readonly epoch: number | null
  /**
   * In the transaction of every write that only a leader may make. Throws `LeadLost` where this
   * node does not lead; where it does, nobody else can before that transaction has ended.
   */
  fence(tx: Kysely<Tables>): Promise<void>
  /**
   * Whether something may begin that nobody can undo: less than half of the lease has passed since
   * the last renewal that was confirmed.
   */
  mayBegin(): boolean
  /** Gives it back, so that another node need not wait for its end. */
  close(): Promise<void>
}

export interface Candidate {
  postgres: Pick<Postgres, 'db' | 'atomic'>
  /** What is led. */
  name: string
  /** This life of this process: no other one has ever had it. */
  owner: string
  /** Milliseconds by a clock that never steps. */
  monotonic: () => number
  log: Pick<Log, 'info' | 'warn'>
  /** Told when it begins to lead. */
  gained?: (epoch: number) => void
  /** Told when it does so no more; a process that froze is told when it goes on. */
  lost?: (epoch: number) => void
  /** Milliseconds. */
  life?: number
}

/** Thrown inside a transaction: another node leads by now. */
export class LeadLost extends Error {
  override readonly name = 'LeadLost'
  constructor() {
    super('another node leads by now: this one writes nothing more in its name')
  }
}

/** Stands for the lead until it is closed. */
export function standForLead(candidate: Candidate): Leadership {
  return new Standing(candidate)
}

/** A lead that is held: `confirmedAt` is when it was asked for, since the answer comes later. */
interface Held {
  epoch: number
  confirmedAt: number
}

class Standing implements Leadership {
  readonly #given: Candidate
  readonly #life: number
  readonly #closing = new AbortController()
  readonly #running: Promise<void>
  #held: Held | null = null
  #expiry: NodeJS.Timeout | undefined
  #isAway = false

  constructor(given: Candidate) {
    this.#given = given
    this.#life = given.life ?? LIFE
    this.#running = this.#run()
  }

  get epoch(): number | null {
    const held = this.#held
    return held && this.#given.monotonic() - held.confirmedAt < this.#life ? held.epoch : null
  }

  mayBegin(): boolean {
    const held = this.#held
    return held !== null && this.#given.monotonic() - held.confirmedAt < this.#life / 2
  }

  async fence(tx: Kysely<Tables>): Promise<void> {
    const { epoch } = this
    if (epoch === null) throw new LeadLost()
    // Held until the transaction ends: who takes the lead over waits for it.
    const { rows } = await sql`
      select 1 from leadership where name = ${this.#given.name} and epoch = ${epoch} for share
    `.execute(tx)
    if (rows.length === 0) throw new LeadLost()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
    const held = this.#held
    this.#drop()
    // Whoever cannot say so lets the others wait for the end of the lease.
    if (held)
      await sql`
        update lease set expires_at = clock_timestamp()
        where name = ${this.#given.name} and epoch = ${held.epoch}
      `
        .execute(this.#given.postgres.db)
        .catch(() => {})
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      await this.#turn()
      if (signal.aborted) return
      await pause(this.#held ? this.#life / 3 : Math.min(LOOK, this.#life / 3), signal)
    }
  }

  /** Renews what it has, or takes what nobody has. */
  async #turn(): Promise<void> {
    const { monotonic, log } = this.#given
    const confirmedAt = monotonic()
    try {
      const before = this.#held
      const epoch = before ? await this.#renew(before.epoch) : await this.#take()
      // It may have run out while the database was asked: then that epoch is over.
      if (before && this.#held !== before) return
      if (epoch === null) this.#drop()
      else this.#hold({ epoch, confirmedAt })
      if (this.#isAway) log.info({}, 'the lead can be asked for again')
      this.#isAway = false
    } catch (error) {
      if (!this.#isAway)
        log.warn({ err: error }, 'who leads cannot be asked at the moment; it is tried again')
      this.#isAway = true
    }
  }

  async #renew(epoch: number): Promise<number | null> {
    const { postgres, name } = this.#given
    const { rows } = await sql`
      update lease set expires_at = clock_timestamp() + ${this.#interval()}
      where name = ${name} and epoch = ${epoch} returning 1
    `.execute(postgres.db)
    return rows.length === 0 ? null : epoch
  }

  /** The epoch of a lease that nobody has any more; null where somebody has it. */
  async #take(): Promise<number | null> {
    const { postgres, name, owner } = this.#given
    const ctx = { db: postgres.db, read: postgres.db }
    return postgres.atomic(ctx, async ({ db }) => {
      const known = await sql<{ epoch: number; is_over: number }>`
        select l.epoch, (e.expires_at < clock_timestamp() or l.owner = ${owner}) as is_over
        from leadership as l join lease as e using (name) where name = ${name}
      `.execute(db)
      const [row] = known.rows
      if (row?.is_over === 0) return null
      const epoch = (row?.epoch ?? 0) + 1
      await sql`
        insert into leadership (name, owner, epoch) values (${name}, ${owner}, ${epoch})
        on conflict (name) do update set owner = excluded.owner, epoch = excluded.epoch
      `.execute(db)
      await sql`
        insert into lease (name, epoch, expires_at)
        values (${name}, ${epoch}, clock_timestamp() + ${this.#interval()})
        on conflict (name) do update set epoch = excluded.epoch, expires_at = excluded.expires_at
      `.execute(db)
      return epoch
    })
  }

  #interval() {
    return sql`make_interval(secs => ${this.#life / SECOND})`
  }

  #hold(held: Held): void {
    const { monotonic, gained } = this.#given
    const left = held.confirmedAt + this.#life - monotonic()
    if (left <= 0) return this.#drop()
    const isNew = this.#held === null
    this.#held = held
    clearTimeout(this.#expiry)
    this.#expiry = setTimeout(() => this.#drop(), left)
    this.#expiry.unref()
    if (isNew) gained?.(held.epoch)
  }

  #drop(): void {
    clearTimeout(this.#expiry)
    const held = this.#held
    this.#held = null
    if (held) this.#given.lost?.(held.epoch)
  }
}
