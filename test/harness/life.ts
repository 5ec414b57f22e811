/**
 * One life of the process: a sender of its own over a folder that stays open. When it dies,
 * whatever it awaits never comes, what was not committed is rolled back, and its lock and its files
 * are given back as a kernel would.
 */
import type { Ctx, OperatorCtx } from '../../lib/app/ctx.js'
import type { Log } from '../../lib/core/log.js'
import type { Engine } from '../../lib/db/engine.js'
import { OrderEngine } from '../../lib/orders/engine/engine.js'
import type { OrderSender } from '../../lib/orders/ctx.js'
import { turn } from './time.js'
import type { VirtualTime } from './time.js'
import { forever } from './world.js'
import type { Process } from './world.js'

/**
 * How a transaction fails: no room, an error of the disk before or after the commit became durable,
 * or a fault of ours.
 */
export type DbFault = 'full' | 'io before' | 'io after' | 'ours'

export interface LifeOptions {
  /**
   * Its clocks are those of every life: with fractions as a machine tells them, and whole once they
   * are opened.
   */
  app: OperatorCtx
  random: (bytes: number) => Buffer
  /** Places that it passes before it ends; none ends it by default. */
  endsAfter?: number
  /** Ends at this place instead, the n-th time that it comes there. */
  endsAt?: { place: string; times: number }
  /** Who holds the folder's locks. */
  locks: Map<string, Life>
  /** A disk that failed does not end it at once. */
  outlivesDisk?: boolean
  /** Told of each place that is passed. */
  passed?: (name: string) => void
  /** Drawn for each transaction. */
  dbFault?: () => DbFault | null
  log: Log
}

class RolledBack extends Error {}

export class Life implements Process {
  readonly ctx: OperatorCtx
  readonly sender: OrderSender
  /** Where it died. */
  deathPlace: string | null = null
  /** The database's disk failed: production ends the process now. */
  fatal: unknown = null
  readonly #options: LifeOptions
  readonly #began: number
  #left: number
  #times = 0
  #running = 0

  constructor(options: LifeOptions) {
    this.#options = options
    this.#left = options.endsAfter ?? Infinity
    const { app } = options
    this.#began = app.monotonic() - 1_000
    const engine = this.#engineOf(app.engine)
    const shared = {
      ...app,
      engine,
      now: () => app.now(),
      monotonic: () => app.monotonic() - this.#began,
      log: options.log,
      space: { free: () => 1e12, keepReserve() {}, giveUpReserve() {} },
    }
    this.sender = new OrderEngine(
      { ...shared, random: options.random },
      { step: (name) => this.point(name) },
    )
    this.ctx = { ...shared, orders: this.sender }
  }

  get outlivesDisk(): boolean {
    return this.#options.outlivesDisk ?? false
  }

  get name(): string {
    return this.sender.owner.slice(0, 4)
  }

  get isDead(): boolean {
    return this.deathPlace !== null
  }

  /** The context of a call of a shop in this life. */
  ctxFor(caller: Pick<Ctx, 'subscriber' | 'key'>): Ctx {
    return { ...this.ctx, orders: this.sender, ...caller }
  }

  point(name: string): Promise<never> | undefined {
    if (this.isDead) return forever()
    this.#options.passed?.(name)
    const { endsAt } = this.#options
    const isThere = endsAt?.place === name && ++this.#times >= endsAt.times
    if (--this.#left > 0 && !isThere) return undefined
    this.die(name)
    return forever()
  }

  die(place: string): void {
    this.deathPlace ??= place
  }

  /**
   * Once it is dead: what it had under way ends without an effect, and others may have what it
   * held.
   */
  async bury(): Promise<void> {
    for (let rounds = 0; rounds < 2 || this.#running > 0; rounds++) {
      if (rounds > 100) throw new Error('a dead process still has a transaction open')
      await turn()
    }
    for (const [name, holder] of this.#options.locks)
      if (holder === this) this.#options.locks.delete(name)
  }

  #engineOf(real: Engine): Engine {
    const { locks } = this.#options
    return {
      ...real,
      fatal: (error) => {
        this.fatal ??= error
      },
      hasFailed: () => this.fatal !== null,
      lock: (name) => {
        if (this.isDead || locks.has(name)) return false
        locks.set(name, this)
        return true
      },
      unlock: (name) => {
        if (locks.get(name) === this) locks.delete(name)
      },
      atomic: (ctx, fn) => (ctx.db.isTransaction ? fn(ctx) : this.#atomic(real, ctx, fn)),
    }
  }

  async #atomic<C extends Pick<OperatorCtx, 'db' | 'read'>, R>(
    real: Engine,
    ctx: C,
    fn: (ctx: C) => Promise<R>,
  ): Promise<R> {
    await this.point('database: before a transaction')
    const fault = this.#options.dbFault?.() ?? null
    let result: R
    this.#running++
    try {
      result = await real.atomic(ctx, async (tx) => {
        if (this.isDead) throw new RolledBack()
        const value = await fn(tx)
        if (this.point('database: before the commit')) throw new RolledBack()
        if (fault !== null && fault !== 'io after') throw dbError(fault)
        return value
      })
    } catch (error) {
      if (this.isDead) return forever()
      if (isIo(error)) this.fatal ??= error
      throw error
    } finally {
      this.#running--
    }
    await this.point('database: after the commit')
    if (fault === 'io after') throw (this.fatal ??= dbError(fault))
    return result
  }
}

const CODES: Readonly<Record<DbFault, string>> = {
  full: 'SQLITE_FULL',
  'io before': 'SQLITE_IOERR_FSYNC',
  'io after': 'SQLITE_IOERR_FSYNC',
  ours: 'SQLITE_ERROR',
}

export function dbError(fault: DbFault): Error {
  return Object.assign(new Error(`simulated: ${fault}`), { code: CODES[fault] })
}

function isIo(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_IOERR')
}

/** Work of one process. */
export interface Work {
  life: Life
  promise: Promise<unknown>
}

/**
 * Goes on until all work is done or its process dead. Time passes where everybody waits for it;
 * `died` is told of each death before anybody else goes on.
 */
export async function settle(
  time: VirtualTime,
  work: readonly Work[],
  died: (life: Life) => Promise<void>,
): Promise<void> {
  const open = new Set(work)
  for (const each of work)
    void each.promise.then(
      () => open.delete(each),
      () => open.delete(each),
    )
  for (let idle = 0; ;) {
    await turn()
    for (const { life } of work) {
      // The app has been told that its disk failed: it ends, as soon as nothing happens any more
      // without time.
      if (life.fatal !== null && !life.outlivesDisk) life.die('the disk failed')
      if (life.isDead) await died(life)
    }
    for (const each of open) if (each.life.isDead) open.delete(each)
    if (open.size === 0) return
    if (time.next()) idle = 0
    else if (++idle > 2_000)
      throw new Error(
        `nothing happens any more, and the work is not done: ${process.getActiveResourcesInfo().join(', ')}`,
      )
  }
}
