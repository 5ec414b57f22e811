/**
 * How far a node has seen the journal, in its own folder: a database that was restored from a backup
 * has lost its last lines, and nothing in it shows that. What they told of was sent all the same.
 */
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY, SECOND } from '../../core/clock.js'
import { putInPlace } from '../../core/storage/durable.js'
import { isUnavailable } from '../../db/faults.js'
import { all } from '../../db/reading.js'
import type { Reading } from '../../db/query.js'
import type { OrdersCtx } from '../ctx.js'
import { pauseOrders, readKnownDamage } from '../engine/pause.js'
import { macOf } from './chain.js'
import { lastLineAndAt } from './queries.js'
import { timeOf } from './segments.js'

/** Milliseconds from one look to the next. */
const EVERY = SECOND
const KNOWN = 'what nodes saw of the journal up to '

interface SeenLine {
  seq: number
  mac: string
  /** When it was written, ms since 1970. */
  at: number
}

export interface SeenJournal {
  /**
   * Compares the database with what this node has seen before, and pauses orders where the database
   * does not have it. Throws where the database cannot be asked.
   */
  compare(ctx: OrdersCtx): Promise<void>
  /** The same, once a second; a database that is away is asked again. */
  look(ctx: OrdersCtx): Promise<void>
}

export function openSeenJournal(dir: string): SeenJournal {
  return new SeenInFolder(join(dir, 'journal-seen.json'))
}

class SeenInFolder implements SeenJournal {
  readonly #path: string
  /** Undefined until it was read; null where this node has seen none. */
  #seen: SeenLine | null | undefined
  /** By the steady clock. */
  #comparedAt = -Infinity
  /** Comparisons follow each other. */
  #last: Promise<void> = Promise.resolve()

  constructor(path: string) {
    this.#path = path
  }

  compare(ctx: OrdersCtx): Promise<void> {
    const run = this.#last.then(() => this.#compare(ctx))
    this.#last = run.catch(() => {})
    return run
  }

  async look(ctx: OrdersCtx): Promise<void> {
    if (ctx.monotonic() - this.#comparedAt < EVERY) return
    try {
      await this.compare(ctx)
    } catch (error) {
      if (!isUnavailable(error)) throw error
    }
  }

  async #compare(ctx: OrdersCtx): Promise<void> {
    if (this.#seen === undefined) this.#seen = readSeen(this.#path)
    const seen = this.#seen
    const { head, same } = await ctx.engine.look(() => linesOf(seen?.seq ?? 0))
    if (seen && (same === undefined || macOf(same) !== seen.mac)) await pauseBehind(ctx, seen, head)
    if (head?.mac !== seen?.mac) await this.#keep(ctx, head)
    this.#comparedAt = ctx.monotonic()
  }

  async #keep({ log }: Pick<OrdersCtx, 'log'>, head: SeenLine | null): Promise<void> {
    this.#seen = head
    const draft = `${this.#path}.new`
    try {
      await writeFile(draft, JSON.stringify(head))
      await putInPlace(draft, this.#path)
    } catch (error) {
      // It is a second look at what the database keeps itself: orders go on.
      log.warn({ err: error }, 'how far this node has seen the order journal cannot be kept')
    }
  }
}

/** The database's last line, and the one of that number. */
function* linesOf(seq: number): Reading<{ head: SeenLine | null; same: string | undefined }> {
  const lines = yield* all(lastLineAndAt, { seq })
  const last = lines.at(-1)
  return {
    head: last ? { seq: last.seq, mac: macOf(last.line), at: timeOf(last.line) } : null,
    same: lines.find((one) => one.seq === seq)?.line,
  }
}

/** The folder may be deleted at any time: a file that cannot be read is as good as none. */
function readSeen(path: string): SeenLine | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as SeenLine | null
  } catch {
    return null
  }
}

async function pauseBehind(ctx: OrdersCtx, seen: SeenLine, head: SeenLine | null): Promise<void> {
  // Another node may have come later to where the operator has already let orders go on.
  const known = (await readKnownDamage(ctx))
    .filter((text) => text.startsWith(KNOWN))
    .map((text) => Date.parse(text.slice(KNOWN.length)))
  if (known.some((until) => seen.at <= until)) return
  // Lines that were written since tell nothing of where the lost ones began.
  const isShorter = head === null || head.seq < seen.seq
  const lookBackTo = isShorter ? Math.min(head?.at ?? seen.at - DAY, seen.at) : seen.at - DAY
  const until = new Date(seen.at).toISOString()
  await pauseOrders(ctx, {
    reason:
      `the database does not have line ${seen.seq} of the order journal, written ${until}, which ` +
      'a node has seen: it was set back to an earlier state; look back with `orders reconcile ' +
      `--since ${new Date(lookBackTo).toISOString()}\``,
    lookBackTo,
    damage: [KNOWN + until],
    isForgetful: true,
  })
}
