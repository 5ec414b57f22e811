/** What a new sender does first: it compares the journal's file with the database. */
import { existsSync } from 'node:fs'
import type { OrdersCtx } from '../ctx.js'
import { pauseOrders } from '../engine/pause.js'
import { ChainReader, isFault, journalSealer, readLine } from './chain.js'
import { journalPath, lastJournalLine, layAside, openJournalLines } from './file.js'
import type { JournalLines } from './file.js'
import { replay } from './replay.js'
import type { LostLine } from './replay.js'

/**
 * Compares the file's end with the database's lines, and puts the file right. The database has
 * every line first, so a file that is ahead means that the database has lost some; one that was
 * open all the time (`isHeld`) has not. Returns the number of the last line that the file has.
 */
export async function compareJournal(ctx: OrdersCtx, { isHeld = false } = {}): Promise<number> {
  const head = await lineOf(ctx, 'last')
  const last = await lastJournalLine(ctx.engine.dir)
  const marked = Number(
    (
      await ctx.read
        .selectFrom('order_engine')
        .select('value')
        .where('name', '=', 'journaled')
        .executeTakeFirst()
    )?.value ?? 0,
  )
  if (last === null && marked === 0 && !existsSync(journalPath(ctx.engine.dir))) return 0
  const seq = last === null ? 0 : (readLine(last, journalSealer(ctx))?.seq ?? null)
  // The usual: both end alike, or the file lacks what was committed in the moment of a crash.
  if (
    seq !== null &&
    seq >= marked &&
    seq <= (head?.seq ?? 0) &&
    (seq === 0 || (await lineOf(ctx, seq))?.line === last)
  )
    return seq
  return repair(ctx, { head, marked, isHeld })
}

async function lineOf(
  { read }: OrdersCtx,
  seq: number | 'last',
): Promise<{ seq: number; line: string } | undefined> {
  const lines = read.selectFrom('journal').select(['seq', 'line'])
  return seq === 'last'
    ? lines.orderBy('seq', 'desc').limit(1).executeTakeFirst()
    : lines.where('seq', '=', seq).executeTakeFirst()
}

/**
 * Reads the whole file: what the database lacks is written down again; a file that does not fit is
 * laid aside and made anew.
 */
async function repair(
  ctx: OrdersCtx,
  {
    head,
    marked,
    isHeld,
  }: { head: { seq: number; line: string } | undefined; marked: number; isHeld: boolean },
): Promise<number> {
  const { lost, end, meets, fault } = await readFile(ctx, head)
  const [first] = lost
  if (first && meets) {
    const orders = await replay(ctx, lost)
    await pauseOrders(ctx, {
      reason:
        `the database had lost ${lost.length} lines of the order journal (from ${first.seq} ` +
        `on), which were taken from orders.journal${fault ? `; ${fault}` : ''}`,
      orders,
      isForgetful: fault !== null,
    })
    if (!fault) return end
  } else if (!fault && meets && end >= marked) {
    return end
  } else {
    await pauseOrders(ctx, {
      reason:
        fault ??
        (meets
          ? `orders.journal ends at line ${end}, and had ${marked}`
          : 'orders.journal and the database tell of different orders'),
      isForgetful: !isHeld,
    })
  }
  layAside(ctx.engine.dir, ctx.now())
  return 0
}

interface FileReading {
  /** Lines behind the database's last one. */
  lost: LostLine[]
  /** Number of the last good line. */
  end: number
  /** The line that both have last is the same. */
  meets: boolean
  fault: string | null
}

async function readFile(
  ctx: OrdersCtx,
  head: { seq: number; line: string } | undefined,
): Promise<FileReading> {
  const reader = new ChainReader(journalSealer(ctx))
  const reading: FileReading = { lost: [], end: 0, meets: true, fault: null }
  let last = ''
  const file = await openJournalLines(ctx.engine.dir)
  try {
    for (let text; (text = await nextOf(file)) !== undefined;) {
      const line = reader.next(text)
      if (isFault(line)) {
        reading.fault = `orders.journal, line ${line.seq}: ${line.fault}`
        break
      }
      reading.end = line.seq
      last = text
      if (line.seq === head?.seq && text !== head.line) reading.meets = false
      if (line.seq > (head?.seq ?? 0)) reading.lost.push({ ...line, text })
    }
  } finally {
    await file.close()
  }
  if (
    reading.end > 0 &&
    reading.end < (head?.seq ?? 0) &&
    (await lineOf(ctx, reading.end))?.line !== last
  )
    reading.meets = false
  return reading
}

/** Lines that are read together. */
const WINDOW = 500

async function nextOf(file: JournalLines): Promise<string | undefined> {
  const line = file.next()
  if (line !== undefined) return line
  await file.have(WINDOW)
  return file.next()
}
