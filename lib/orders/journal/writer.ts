/** Writes the committed lines of the journal to `orders.journal`, in rounds that many share. */
import type { OrdersCtx } from '../ctx.js'
import { SECOND } from '../../core/clock.js'
import { pauseOrders } from '../engine/pause.js'
import { compareJournal } from './compare.js'
import { layAside, openJournalFile } from './file.js'
import type { JournalFile } from './file.js'

/** How often the end of the file is noted, in milliseconds. */
const NOTE_EVERY = 5 * SECOND
/** Lines that are appended at once. */
const AT_ONCE = 1_000

/** Where the committed lines of the journal go, for who holds the lease. */
export interface JournalKeeper {
  /** How often what was kept was found disturbed, or made anew: who read it meanwhile has read another. */
  readonly remakes: number
  /** Resolves once every line that is committed now is kept. */
  flush(): Promise<void>
  remake(reason: string): Promise<void>
  noteNowAndThen(): Promise<void>
  close(): Promise<void>
}

/** Where the system of record is on PostgreSQL, its table is the journal: a commit keeps a line. */
export const journalInTable: JournalKeeper = {
  remakes: 0,
  flush: async () => {},
  remake: async () => {},
  noteNowAndThen: async () => {},
  close: async () => {},
}

export class JournalWriter implements JournalKeeper {
  readonly #ctx: OrdersCtx
  /** Undefined where it was given up, until the next round makes it anew. */
  #file: JournalFile | undefined
  /** Number of the last line that the file has. */
  #written: number
  /** Number of the last line that the database says that the file has. */
  #noted = 0
  #notedAt = 0
  #remakes = 0
  /** The last round that was asked for. */
  #last: Promise<void> = Promise.resolve()
  /** A round that has not begun: whoever comes now is written by it. */
  #next: Promise<void> | null = null

  private constructor(ctx: OrdersCtx, file: JournalFile, written: number) {
    this.#ctx = ctx
    this.#file = file
    this.#written = written
  }

  /** Opens the file, whose last line is the one of this number. The sender's lock must be held. */
  static async open(ctx: OrdersCtx, written: number): Promise<JournalWriter> {
    const writer = new JournalWriter(ctx, await openJournalFile(ctx.engine.dir), written)
    await writer.#noteEnd()
    return writer
  }

  /**
   * How often the file was found disturbed, or made anew: who read it meanwhile has read another.
   */
  get remakes(): number {
    return this.#remakes
  }

  /** Has the file hold every line that is committed now. */
  flush(): Promise<void> {
    // Who comes while lines are being written waits for the round after it, with all others that
    // came meanwhile.
    if (!this.#next) {
      this.#next = this.#last
        .catch(() => {})
        .then(() => {
          this.#next = null
          return this.#write()
        })
      this.#last = this.#next
    }
    return this.#next
  }

  /**
   * Pauses orders for this reason, keeps the file under another name, and makes it anew from the
   * database.
   */
  remake(reason: string): Promise<void> {
    const { engine, now } = this.#ctx
    return (this.#last = this.#last
      .catch(() => {})
      .then(async () => {
        await this.#giveUpFile(reason)
        layAside(engine.dir, now())
        this.#written = 0
        this.#file = await openJournalFile(engine.dir)
      }))
  }

  /**
   * Notes now and then how far the file surely goes, so that one that ends before it is known to be
   * cut off.
   */
  async noteNowAndThen(): Promise<void> {
    const isTime = this.#ctx.monotonic() - this.#notedAt >= NOTE_EVERY
    if (this.#written > this.#noted && isTime) await this.#noteEnd()
  }

  /** Waits for the last round. */
  async close(): Promise<void> {
    await this.#last.catch(() => {})
    await this.#file?.close()
    await this.#noteEnd().catch(() => {})
  }

  async #noteEnd(): Promise<void> {
    this.#notedAt = this.#ctx.monotonic()
    if (this.#written <= this.#noted) return
    await this.#ctx.engine.atomic(this.#ctx, (tx) =>
      tx.db
        .replaceInto('order_engine')
        .values({ name: 'journaled', value: String(this.#written) })
        .execute(),
    )
    this.#noted = this.#written
  }

  async #write(): Promise<void> {
    const file = await this.#wholeFile()
    for (let isMore = true; isMore;) {
      const rows = await this.#ctx.read
        .selectFrom('journal')
        .select(['seq', 'line'])
        .where('seq', '>', this.#written)
        .orderBy('seq')
        .limit(AT_ONCE)
        .execute()
      isMore = rows.length === AT_ONCE
      const last = rows.at(-1)
      if (!last) return
      await file.append(rows.map(({ line }) => line)).catch((error: unknown) => {
        throw failureOf(this.#ctx, error)
      })
      this.#written = last.seq
    }
  }

  /**
   * Before every write, and five times a second: a line must not go into a file that has lost its
   * name or its lines.
   */
  async #wholeFile(): Promise<JournalFile> {
    if (this.#file) {
      const found = await this.#file.disturbance()
      if (found === null) return this.#file
      await this.#giveUpFile(`orders.journal ${found}`)
    }
    this.#written = await compareJournal(this.#ctx, { isHeld: true })
    this.#file = await openJournalFile(this.#ctx.engine.dir)
    return this.#file
  }

  async #giveUpFile(reason: string): Promise<void> {
    await pauseOrders(this.#ctx, { reason, isForgetful: false })
    this.#remakes++
    await this.#file?.close().catch(() => {})
    this.#file = undefined
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
