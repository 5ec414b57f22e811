/**
 * The right to send: one process of a folder has it at a time, or one node of several. With it come
 * the takeover of what a dead sender left, and the journal.
 */
import { connectorOf } from '../../distributors/modes.js'
import { isCommitUnknown } from '../../db/faults.js'
import { LeadLost } from '../../db/lead.js'
import type { HeldLease } from '../ctx.js'
import { compareJournal } from '../journal/compare.js'
import type { JournalCopy } from '../journal/copy.js'
import type { SeenJournal } from '../journal/seen.js'
import { JournalWriter, journalInTable } from '../journal/writer.js'
import type { JournalKeeper } from '../journal/writer.js'
import type { StoredPo } from '../stored.js'
import type { AccountSlots } from './account-limits.js'
import { takeOver } from './recover.js'
import { settleTime } from './rules/timing.js'
import type { SenderCtx } from './sender/ctx.js'

const LOCK = 'engine'

/** Shared by all who send in this process. */
export interface SenderLease {
  /** Null where another process has it. */
  take(): Promise<HeldLease | null>
  /** The journal, for who holds the lease. */
  journal(): JournalKeeper
  /** Waits until nobody in this process holds it, and the lock is given back. */
  ended(): Promise<void>
}

export interface LeaseOptions {
  copy: JournalCopy | undefined
  /** Null where there is one folder: its journal's file tells. */
  seen: SeenJournal | null
  slots: AccountSlots
  /** Whether this process is at work on an order. */
  isUnderWay: (id: number) => boolean
}

export function openLease(ctx: SenderCtx, options: LeaseOptions): SenderLease {
  const { lead } = ctx.engine
  let held: HeldRight | null = null
  /** That one, and those of earlier epochs that somebody still holds. */
  const open = new Set<HeldRight>()
  /** Resolves once the lock that was held before is given back. */
  let givenBack: Promise<void> = Promise.resolve()
  /** Who waits until nobody holds one any more. */
  const waiting: (() => void)[] = []
  const epochNow = () => lead?.epoch ?? null

  function leave(right: HeldRight): void {
    if (--right.holders > 0) return
    if (held === right) held = null
    open.delete(right)
    givenBack = right.close()
    if (open.size === 0) for (const goOn of waiting.splice(0)) goOn()
  }

  return {
    async take() {
      const epoch = epochNow()
      if (lead && epoch === null) return null
      // Who holds an earlier epoch goes on with what it had begun, and nothing of it is needed here.
      if (held && held.epoch !== epoch) held = null
      held ??=
        epoch === null ? new FolderLock(ctx, options, givenBack) : new Term(ctx, options, epoch)
      const right = held
      open.add(right)
      right.holders++
      const isOurs = await right.opened.catch((error: unknown) => {
        leave(right)
        throw error
      })
      if (isOurs)
        return {
          epoch,
          get isHeld() {
            return epoch === epochNow()
          },
          release: () => leave(right),
        }
      leave(right)
      return null
    },
    journal() {
      if (lead) return journalInTable
      if (!held?.journal) throw new Error('the journal is written by who holds the lease')
      return held.journal
    },
    async ended() {
      if (open.size > 0)
        await new Promise<void>((resolve) => {
          waiting.push(resolve)
        })
      await givenBack
    },
  }
}

/** A right to send, from when it is asked for until it is given back. */
interface HeldRight {
  readonly epoch: number | null
  holders: number
  /** The file, once it is held. */
  readonly journal: JournalKeeper | null
  /** False where another process has it. */
  readonly opened: Promise<boolean>
  close(): Promise<void>
}

/** The lock of the folder's sender. */
class FolderLock implements HeldRight {
  readonly epoch = null
  holders = 0
  journal: JournalKeeper | null = null
  readonly opened: Promise<boolean>
  readonly #ctx: SenderCtx

  constructor(ctx: SenderCtx, { copy }: LeaseOptions, after: Promise<void>) {
    this.#ctx = ctx
    this.opened = this.#open(copy, after)
  }

  async #open(copy: JournalCopy | undefined, after: Promise<void>): Promise<boolean> {
    const ctx = this.#ctx
    await after
    if (!ctx.engine.lock(LOCK)) return false
    try {
      const written = await compareJournal(ctx)
      await takeOver(ctx, { isLeft: ({ owner }) => owner !== ctx.owner })
      await copy?.compareOnce(ctx)
      this.journal = await JournalWriter.open(ctx, written)
      return true
    } catch (error) {
      ctx.engine.unlock(LOCK)
      throw error
    }
  }

  async close(): Promise<void> {
    await this.opened.catch(() => {})
    if (!this.journal) return
    await this.journal.close()
    this.#ctx.engine.unlock(LOCK)
  }
}

/** The lead of several nodes in one epoch. It ends by itself, and nobody needs to give it back. */
class Term implements HeldRight {
  readonly epoch: number
  holders = 0
  readonly journal = null
  readonly opened: Promise<boolean>

  constructor(ctx: SenderCtx, options: LeaseOptions, epoch: number) {
    this.epoch = epoch
    this.opened = begin({ ...ctx, epoch }, options).catch((error: unknown) => {
      if (error instanceof LeadLost) return false
      throw error
    })
  }

  async close(): Promise<void> {}
}

async function begin(
  ctx: SenderCtx,
  { copy, seen, slots, isUnderWay }: LeaseOptions,
): Promise<boolean> {
  await seen?.compare(ctx)
  // The node before may only have been cut off, or frozen: where an account has one cart, it may
  // still be filling it.
  function hold({ distid, mode, account }: StoredPo): void {
    const connector = connectorOf(ctx, distid, mode)
    if (connector?.limits.concurrency !== 1 || account === null || !slots.tryTake(account, 1))
      return
    setTimeout(() => slots.free(account), settleTime(connector)).unref()
  }
  // What this life itself is at work on is left to it: it may have led before.
  const isLeft = ({ id, owner }: StoredPo) => owner !== ctx.owner || !isUnderWay(id)
  for (let isDone = false; !isDone;)
    try {
      await takeOver(ctx, { isLeft, hold })
      isDone = true
    } catch (error) {
      // What was taken over is found so, and not again.
      if (!isCommitUnknown(error)) throw error
    }
  // Other nodes have led since, and have written to it.
  await copy?.compareAnew(ctx)
  return true
}
