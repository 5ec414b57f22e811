/**
 * The right to send: one process of a folder has it at a time. With it come the
 * lock, the takeover of what a dead sender left, and the journal's file.
 */
import { compareJournal } from '../journal/compare.js'
import type { JournalCopy } from '../journal/copy.js'
import { JournalWriter } from '../journal/writer.js'
import { takeOver } from './recover.js'
import type { SenderCtx } from './sender/ctx.js'

const LOCK = 'engine'

/** Shared by all who send in this process. */
export interface SenderLease {
  /** Resolves with what gives it back; with null where another process has it. */
  take(): Promise<(() => void) | null>
  /** The journal's file, for who holds the lease. */
  journal(): JournalWriter
  /** Waits until nobody in this process holds it, and the lock is given back. */
  ended(): Promise<void>
}

export function openLease(ctx: SenderCtx, copy: JournalCopy | undefined): SenderLease {
  let held: HeldLock | null = null
  /** Resolves once the lock that was held before is given back. */
  let givenBack: Promise<void> = Promise.resolve()

  function leave(lock: HeldLock): void {
    if (--lock.holders > 0) return
    if (held === lock) held = null
    givenBack = lock.close()
  }

  return {
    async take() {
      const lock = (held ??= new HeldLock(ctx, { copy, after: givenBack }))
      lock.holders++
      const isOurs = await lock.opened.catch((error: unknown) => {
        leave(lock)
        throw error
      })
      if (isOurs) return () => leave(lock)
      leave(lock)
      return null
    },
    journal() {
      if (!held?.journal) throw new Error('the journal is written by who holds the lease')
      return held.journal
    },
    async ended() {
      await held?.closed
      await givenBack
    },
  }
}

/** The lock of the folder's sender, from when it is asked for until it is given back. */
class HeldLock {
  holders = 0
  /** Set once the lock is held. */
  journal: JournalWriter | null = null
  /** False where another process has the lock. */
  readonly opened: Promise<boolean>
  readonly closed: Promise<void>
  readonly #ctx: SenderCtx
  #settle: () => void = () => {}

  constructor(
    ctx: SenderCtx,
    { copy, after }: { copy: JournalCopy | undefined; after: Promise<void> },
  ) {
    this.#ctx = ctx
    this.closed = new Promise<void>((resolve) => {
      this.#settle = resolve
    })
    this.opened = this.#open(copy, after)
  }

  async #open(copy: JournalCopy | undefined, after: Promise<void>): Promise<boolean> {
    const ctx = this.#ctx
    await after
    if (!ctx.engine.lock(LOCK)) return false
    try {
      const written = await compareJournal(ctx)
      await takeOver(ctx, ctx.owner)
      await copy?.compareOnce(ctx)
      this.journal = await JournalWriter.open(ctx, written)
      return true
    } catch (error) {
      ctx.engine.unlock(LOCK)
      throw error
    }
  }

  async close(): Promise<void> {
    try {
      await this.opened.catch(() => {})
      if (!this.journal) return
      await this.journal.close()
      this.#ctx.engine.unlock(LOCK)
    } finally {
      this.#settle()
    }
  }
}
