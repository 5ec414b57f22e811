/** Who may send: one process of a folder at a time (reliability 3.7). */
import type { OrdersCtx } from '../ctx.js'
import type { JournalCopy } from '../journal/copy.js'
import { layAside, openJournalFile } from '../journal/file.js'
import type { JournalFile } from '../journal/file.js'
import { pauseOrders } from './pause.js'
import { compareJournal, takeOver } from './recover.js'

/** How often the end of the journal's file is noted, in milliseconds. */
const NOTE_EVERY = 5_000
/** Lines that are appended at once. */
const AT_ONCE = 1_000

/**
 * The seat of the folder's one sender: the lock, what a dead sender left behind put right, and the
 * journal's file.
 */
export interface Seat {
  holders: number
  /** False where another process has it. */
  readonly ready: Promise<boolean>
  readonly closed: Promise<void>
  /** Has the journal's file hold every line that is committed now. */
  flush(ctx: OrdersCtx): Promise<void>
  /**
   * How often the journal's file was found disturbed, or made anew: who read it meanwhile has read
   * another.
   */
  readonly remakes: number
  /**
   * Pauses orders for this reason, keeps the journal's file under another name, and makes it anew
   * from the database.
   */
  remake(ctx: OrdersCtx, reason: string): Promise<void>
  /**
   * Notes now and then how far the file surely goes, so that one that ends before it is known to be
   * cut off.
   */
  note(ctx: OrdersCtx): Promise<void>
  close(): Promise<void>
}

/** Takes the seat once `before` is over: the one before this was being given back. */
export function openSeat(
  ctx: OrdersCtx,
  { owner, before, copy }: { owner: string; before: Promise<void>; copy?: JournalCopy | undefined },
): Seat {
  const { engine } = ctx
  let file: JournalFile | undefined
  let written = 0
  let marked = 0
  let notedAt = 0
  let remakes = 0
  let settle!: () => void
  const closed = new Promise<void>((resolve) => {
    settle = resolve
  })

  async function open(): Promise<boolean> {
    await before
    if (!engine.lock('engine')) return false
    try {
      written = await compareJournal(ctx)
      await takeOver(ctx, owner)
      await copy?.compareOnce(ctx)
      file = await openJournalFile(engine.dir)
      await mark(ctx)
      return true
    } catch (error) {
      engine.unlock('engine')
      throw error
    }
  }

  async function mark(from: OrdersCtx): Promise<void> {
    notedAt = from.monotonic()
    if (written <= marked) return
    await from.engine.atomic(from, (tx) =>
      tx.db
        .replaceInto('order_engine')
        .values({ name: 'journaled', value: String(written) })
        .execute(),
    )
    marked = written
  }

  const ready = open()
  let last: Promise<void> = Promise.resolve()
  /** A round that has not begun: whoever comes now is written by it. */
  let next: Promise<void> | null = null
  async function write(from: OrdersCtx): Promise<void> {
    await keepWhole(from)
    for (let isMore = true; isMore;) {
      const rows = await from.read
        .selectFrom('journal')
        .select(['seq', 'line'])
        .where('seq', '>', written)
        .orderBy('seq')
        .limit(AT_ONCE)
        .execute()
      isMore = rows.length === AT_ONCE
      if (rows.length === 0) return
      await file!.append(rows.map(({ line }) => line)).catch((error: unknown) => {
        throw failureOf(from, error)
      })
      written = rows.at(-1)!.seq
    }
  }

  /**
   * Before every write, and five times a second: a line must not go into a file that has lost its
   * name or its lines.
   */
  async function keepWhole(from: OrdersCtx): Promise<void> {
    const found = await file?.disturbance()
    if (found === null) return
    if (found !== undefined) await giveUpFile(from, `orders.journal ${found}`)
    written = await compareJournal(from, { isHeld: true })
    file = await openJournalFile(engine.dir)
  }

  async function giveUpFile(from: OrdersCtx, reason: string): Promise<void> {
    await pauseOrders(from, { reason, isForgetful: false })
    remakes++
    await file?.close().catch(() => {})
    file = undefined
  }

  return {
    holders: 0,
    ready,
    closed,
    get remakes() {
      return remakes
    },
    flush(from) {
      // Who comes while lines are being written waits for the round after it, with all others that
      // came meanwhile.
      if (!next) {
        next = last
          .catch(() => {})
          .then(() => {
            next = null
            return write(from)
          })
        last = next
      }
      return next
    },
    remake(from, reason) {
      return (last = last
        .catch(() => {})
        .then(async () => {
          await giveUpFile(from, reason)
          layAside(engine.dir, from.now())
          written = 0
          file = await openJournalFile(engine.dir)
        }))
    },
    async note(from) {
      if (written > marked && from.monotonic() - notedAt >= NOTE_EVERY) await mark(from)
    },
    async close() {
      try {
        if (!(await ready.catch(() => false))) return
        await last.catch(() => {})
        await file?.close()
        await mark(ctx).catch(() => {})
        engine.unlock('engine')
      } finally {
        settle()
      }
    },
  }
}

/**
 * A full disk is waited for; whatever else goes wrong with the journal's file leaves open what the
 * disk has.
 */
function failureOf(ctx: OrdersCtx, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    ctx.space.giveUpReserve()
    return Object.assign(new Error('the disk is full: the journal of orders cannot be written'), {
      code: 'SQLITE_FULL',
      cause: error,
    })
  }
  const failure = Object.assign(
    new Error('the journal of orders cannot be written', { cause: error }),
    { code: 'SQLITE_IOERR_JOURNAL' },
  )
  ctx.engine.fatal(failure)
  return failure
}
