/**
 * Proves the order journal: the chain of the database's lines, the file's lines against them, and
 * the present state of every purchase order against what its lines say. It reads one snapshot, in
 * steps that hold nobody up.
 */
import { nextTurn } from '../../core/async/wait.js'
import type { OrdersCtx } from '../ctx.js'
import type { Reading, Snapshot } from '../../db/query.js'
import { all, first, value } from '../../db/reading.js'
import type { ObjectStore } from '../../objects/store.js'
import { ChainReader, ChainWalk, isFault, journalSealer, readLine } from './chain.js'
import { proveCopy } from './copy.js'
import type { CopyReach } from './copy.js'
import { openJournalLines } from './file.js'
import type { JournalLines } from './file.js'
import { journalReach, lineAt, linesAfter } from './queries.js'
import { openStateCheck } from './state-check.js'
import type { StateCheck } from './state-check.js'
import { present } from '../../core/present.js'

export interface JournalFault {
  /** The line; null where the fault is not in one. */
  seq: number | null
  where: 'database' | 'orders.journal' | 'purchase orders' | 'copy'
  fault: string
}

export interface Verification {
  sound: boolean
  /** Lines of the database that were proved. */
  lines: number
  /**
   * The last of them: kept elsewhere, it is an anchor that later finds every line up to here. Null
   * where there is none.
   */
  head: { seq: number; mac: string } | null
  file: {
    lines: number
    /** Lines that the database has and the file not yet: it gets them from whoever sends next. */
    pending: number
  }
  purchase_orders: number
  /**
   * The copy outside of the machine; null where none is kept, where it has no line of ours, or
   * where it cannot be asked.
   */
  copy: CopyReach | null
  /** Empty where all is as it was written; at most 100. */
  faults: JournalFault[]
}

export interface VerifyOptions {
  /** A head that was noted before: the line must still be there, with this digest. */
  anchor?: { seq: number; mac: string } | undefined
  /** Where a copy outside of the machine is kept: it is compared, too. */
  copy?: ObjectStore | undefined
  onProgress?: ((done: number, total: number, rows: number) => void) | undefined
  /**
   * The file was copied after the database, as in a backup: it may go on from the database's last
   * line.
   */
  isBackup?: boolean
  /**
   * Waits between two steps; the next turn of the event loop by default. What it throws ends the
   * verification.
   */
  rest?: (() => Promise<unknown>) | undefined
}

const MAX_FAULTS = 100
/** Lines that are proved in one turn of the event loop: a few milliseconds. */
const STEP = 500

/** What a proof without the copy needs: a folder that nobody has opened will do. */
export interface ProofCtx {
  readonly engine: Pick<OrdersCtx['engine'], 'dir' | 'openSnapshot'> &
    Partial<Pick<OrdersCtx['engine'], 'lead'>>
  readonly secrets: Pick<OrdersCtx['secrets'], 'of'>
}

/** Verifies the whole journal. Nothing is written, and a server may run meanwhile. */
export async function verifyJournal(
  ctx: OrdersCtx,
  options: VerifyOptions = {},
): Promise<Verification> {
  const found = await proveJournal(ctx, options)
  return options.copy ? withCopy(ctx, options.copy, found) : found
}

/** As `verifyJournal`, of database and file alone. */
export async function proveJournal(
  ctx: ProofCtx,
  options: VerifyOptions = {},
): Promise<Verification> {
  const file = await openJournalLines(ctx.engine.dir)
  const snapshot = await ctx.engine.openSnapshot()
  try {
    return await new Verifier(ctx, snapshot, file, openStateCheck()).run(options)
  } finally {
    await snapshot.close()
    await file.close()
  }
}

/** A copy that cannot be asked proves nothing: that is a fault, too. */
async function withCopy(
  ctx: OrdersCtx,
  store: ObjectStore,
  found: Verification,
): Promise<Verification> {
  const { reach, faults } = await proveCopy(ctx, store).catch((error: unknown) => ({
    reach: null,
    faults: [
      {
        seq: null,
        fault: `it cannot be compared: ${error instanceof Error ? error.message : String(error)}`,
      },
    ],
  }))
  const all = [
    ...found.faults,
    ...faults.map(({ seq, fault }) => ({ seq, where: 'copy' as const, fault })),
  ]
  return { ...found, sound: all.length === 0, copy: reach, faults: all.slice(0, MAX_FAULTS) }
}

class Verifier {
  readonly #ctx: ProofCtx
  readonly #snapshot: Snapshot
  readonly #file: JournalLines
  readonly #states: StateCheck
  readonly #faults: JournalFault[] = []
  /** The file is compared no further than its first fault. */
  #fileIsSound = true
  #fileLines = 0

  constructor(ctx: ProofCtx, snapshot: Snapshot, file: JournalLines, states: StateCheck) {
    this.#ctx = ctx
    this.#snapshot = snapshot
    this.#file = file
    this.#states = states
  }

  async run(options: VerifyOptions): Promise<Verification> {
    const { anchor } = options
    const { last, marked } = (await this.#snapshot.look(() => first(journalReach))) ?? {
      last: 0,
      marked: 0,
    }
    const head = await this.#proveDatabase(last, options)
    // What follows a broken line is nobody's word any more.
    if (head.seq === last) {
      if (last < marked)
        this.#add(
          last + 1,
          'database',
          `the line is missing: the journal ends at ${last}, and orders.journal had ${marked}`,
        )
      if (anchor && anchor.seq > last)
        this.#add(
          anchor.seq,
          'database',
          `the line of the anchor is missing: the journal ends at ${last}`,
        )
      for (const fault of await this.#snapshot.look(() => this.#states.end()))
        this.#faults.push({ seq: null, where: 'purchase orders', fault })
      if (this.#fileIsSound) await this.#proveRestOfFile(head, marked, options.isBackup === true)
    }
    return {
      sound: this.#faults.length === 0,
      lines: head.seq,
      head: head.seq === 0 ? null : head,
      file: {
        lines: this.#fileLines,
        // Over several nodes the table is the journal, and no file waits for its lines.
        pending: this.#ctx.engine.lead ? 0 : Math.max(0, last - this.#fileLines),
      },
      purchase_orders: this.#states.count,
      copy: null,
      faults: this.#faults.slice(0, MAX_FAULTS),
    }
  }

  #add(seq: number, where: JournalFault['where'], fault: string): void {
    this.#faults.push({ seq, where, fault })
  }

  /**
   * Every line of the database, with the file's line beside it. Returns the last one that is right.
   */
  async #proveDatabase(
    last: number,
    { anchor, onProgress, rest = nextTurn }: VerifyOptions,
  ): Promise<{ seq: number; mac: string }> {
    const chain = new ChainWalk(journalSealer(this.#ctx))
    for (let at = 0; at < last;) {
      const step = { seq: at, limit: STEP }
      const rows = await this.#snapshot.look(() => all(linesAfter, step))
      if (this.#fileIsSound) await this.#file.have(rows.length)
      const isSound = await this.#snapshot.look(() => this.#proveLines(chain, rows, anchor))
      if (!isSound) return chain.head
      at = present(rows.at(-1), 'the last line').seq
      onProgress?.(at, last, at)
      await rest()
    }
    return chain.head
  }

  /** False behind a line that is broken. */
  *#proveLines(
    chain: ChainWalk,
    rows: readonly { seq: number; line: string }[],
    anchor: VerifyOptions['anchor'],
  ): Reading<boolean> {
    for (const { seq, line: text } of rows) {
      const line = chain.next(text)
      if ('fault' in line) {
        this.#add(
          line.seq,
          'database',
          this.#fileHas(line.seq, chain.head.mac)
            ? `${line.fault}; orders.journal has it as it was written`
            : line.fault,
        )
        return false
      }
      if (this.#fileIsSound) this.#compare(seq, text)
      if (anchor?.seq === seq && anchor.mac !== line.mac)
        this.#add(seq, 'database', 'the line is not the one of the anchor')
      yield* this.#states.take(line)
    }
    return true
  }

  /** Whether the file has the line that the database should have next. */
  #fileHas(seq: number, prev: string): boolean {
    const line =
      this.#fileIsSound && this.#fileLines === seq - 1
        ? readLine(this.#file.next() ?? '', journalSealer(this.#ctx))
        : null
    return line !== null && line.seq === seq && line.prev === prev
  }

  /** The same line of the file: it may end early, but not differ. */
  #compare(seq: number, text: string): void {
    const other = this.#file.next()
    if (other === undefined) return
    if (other === text) {
      this.#fileLines = seq
      return
    }
    this.#fileIsSound = false
    const found = readLine(other, journalSealer(this.#ctx))
    this.#add(
      seq,
      'orders.journal',
      !found
        ? 'the line was changed: its digest does not fit'
        : found.seq === seq
          ? "the line differs from the database's"
          : `the line is missing: ${found.seq} stands in its place`,
    )
  }

  /**
   * What the file has behind the snapshot must have come into the database since; and it must reach
   * as far as it once did.
   */
  async #proveRestOfFile(
    { seq: last, mac }: { seq: number; mac: string },
    marked: number,
    isBackup: boolean,
  ): Promise<void> {
    if (this.#fileLines < Math.min(marked, last))
      return this.#add(
        this.#fileLines + 1,
        'orders.journal',
        `the line is missing: the file ends at ${this.#fileLines}, and had ${marked}`,
      )
    if (isBackup) return this.#followFile(last, mac)
    await this.#snapshot.release()
    for (let seq = last + 1; ; seq++) {
      await this.#file.have(1)
      const text = this.#file.next()
      if (text === undefined) return
      const known = await this.#snapshot.look(() => value(lineAt, { seq }))
      if (known !== text)
        return this.#add(
          seq,
          'orders.journal',
          known === undefined
            ? 'the database does not have this line: it has lost some, or is older than the file'
            : "the line differs from the database's",
        )
      this.#fileLines = seq
    }
  }

  /** What the file has more than the database has to go on from its last line. */
  async #followFile(last: number, mac: string): Promise<void> {
    if (this.#fileLines < last) return
    const chain = new ChainReader(journalSealer(this.#ctx), last, mac)
    for (;;) {
      await this.#file.have(1)
      const text = this.#file.next()
      if (text === undefined) return
      const line = chain.next(text)
      if (isFault(line)) return this.#add(line.seq, 'orders.journal', line.fault)
      this.#fileLines = line.seq
    }
  }
}
