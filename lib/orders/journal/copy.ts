/**
 * A copy of the journal outside of the machine: what rolls back a whole machine (a snapshot of it)
 * rolls back database and journal alike, and from inside nothing shows it. Lines go there a few
 * seconds after they were written, in sealed objects that are never changed. The name of each has
 * the digest of its last line, so that a list of names is enough to compare.
 */
import { inTime } from '../../core/async/wait.js'
import { MINUTE, SECOND } from '../../core/clock.js'
import type { OrdersCtx } from '../ctx.js'
import type { ObjectStore } from '../../objects/store.js'
import { journalSealer, macOf } from './chain.js'
import { pauseOrders, readKnownDamage } from '../engine/pause.js'
import { listSegments, nameOf, sealedAs, timeOf } from './segments.js'
import type { CopyCtx, CopySegment } from './segments.js'

export interface CopyComparison {
  /** The newest line that the copy has; null where it has none. */
  head: CopySegment | null
  /**
   * The newest that both have; null where there is none, or none of the time that was looked at.
   */
  common: CopySegment | null
  /** What only the copy has, oldest first: orders of then may be forgotten here. */
  foreign: CopySegment[]
}

export interface JournalCopy {
  /**
   * Compares once, before the first order. Pauses orders where the copy has what the database has
   * not. A store that does not answer is told, and asked again.
   */
  compareOnce(ctx: OrdersCtx): Promise<void>
  /** The same, also where it was compared: another process may have written to it since. */
  compareAnew(ctx: OrdersCtx): Promise<void>
  /** Sends what is new, every few seconds, and returns at once. */
  look(ctx: OrdersCtx): void
  ended(): Promise<void>
}

/**
 * How often lines are sent, how long a store that fails is left alone, and how long it has to
 * answer, in milliseconds.
 */
const EVERY = 5 * SECOND
const AFTER_FAILURE = MINUTE
const LIMIT = 10 * SECOND
const AT_ONCE = 1_000
const KNOWN = 'the copy of the journal up to '

/**
 * Asks nobody until the sender begins. Whether the store lies outside of this machine, `open` has
 * made sure.
 */
export function openJournalCopy(store: ObjectStore, signal: AbortSignal): JournalCopy {
  return new SegmentSender(store, signal)
}

class SegmentSender implements JournalCopy {
  readonly #store: ObjectStore
  readonly #signal: AbortSignal
  /** Lines up to here are in the copy; null until it was compared. */
  #sent: number | null = null
  #notBefore = -Infinity
  #running: Promise<void> | null = null

  constructor(store: ObjectStore, signal: AbortSignal) {
    this.#store = store
    this.#signal = signal
  }

  async compareOnce(ctx: OrdersCtx): Promise<void> {
    if (this.#sent === null && ctx.monotonic() >= this.#notBefore)
      await this.#guarded(ctx, () => this.#compare(ctx))
  }

  async compareAnew(ctx: OrdersCtx): Promise<void> {
    await this.#running
    this.#sent = null
    this.#notBefore = -Infinity
    await this.compareOnce(ctx)
  }

  look(ctx: OrdersCtx): void {
    if (this.#running || this.#signal.aborted || ctx.monotonic() < this.#notBefore) return
    this.#running = this.#guarded(ctx, () => this.#send(ctx)).finally(() => {
      this.#running = null
    })
  }

  async ended(): Promise<void> {
    await this.#running
  }

  async #guarded(ctx: OrdersCtx, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
      this.#notBefore = ctx.monotonic() + EVERY
    } catch (error) {
      this.#notBefore = ctx.monotonic() + AFTER_FAILURE
      if (!this.#signal.aborted)
        ctx.log.warn(
          { err: error, sent: this.#sent },
          'the copy of the journal outside of the machine cannot be reached; orders go on, ' +
            'and it is tried again in a minute',
        )
    }
  }

  /** The last line that both have. */
  async #compare(ctx: OrdersCtx): Promise<number> {
    const { common, foreign } = await inTime(() => compareCopy(ctx, this.#store), {
      ms: LIMIT,
      closing: this.#signal,
      late: () => {
        throw new Error(
          this.#signal.aborted
            ? 'the app closes'
            : `the store did not answer within ${LIMIT / SECOND} s`,
        )
      },
    })
    if (foreign.length > 0) await pauseForgotten(ctx, common, foreign)
    return (this.#sent = common?.last ?? 0)
  }

  async #send(ctx: OrdersCtx): Promise<void> {
    let sent = this.#sent ?? (await this.#compare(ctx))
    for (let isMore = true; isMore && !this.#signal.aborted;) {
      const rows = await ctx.read
        .selectFrom('journal')
        .select(['seq', 'line'])
        .where('seq', '>', sent)
        .orderBy('seq')
        .limit(AT_ONCE)
        .execute()
      isMore = rows.length === AT_ONCE
      const [first, last] = [rows[0], rows.at(-1)]
      if (!first || !last) return
      const segment = {
        first: first.seq,
        last: last.seq,
        at: timeOf(last.line),
        mac: macOf(last.line),
      }
      const text = journalSealer(ctx).seal(
        rows.map(({ line }) => `${line}\n`).join(''),
        sealedAs(segment),
      )
      await this.#store.put(nameOf(ctx, segment), Buffer.from(text), {
        contentType: 'application/octet-stream',
      })
      this.#sent = sent = last.seq
    }
  }
}

/**
 * Which lines the copy and the database have. Asks for the days since the database's last line, and
 * for the day before it.
 */
export async function compareCopy(ctx: CopyCtx, store: ObjectStore): Promise<CopyComparison> {
  const last = await ctx.read
    .selectFrom('journal')
    .select('line')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  const segments = await listSegments(ctx, store, last ? timeOf(last.line) : null)
  const { common, foreign } = await compareSegments(ctx, segments)
  return { head: segments.at(-1) ?? null, common: common.at(-1) ?? null, foreign }
}

/**
 * Which of the segments tell what the database tells. What an operator let orders go on with is not
 * told of again.
 */
async function compareSegments(
  ctx: CopyCtx,
  segments: readonly CopySegment[],
): Promise<{ common: CopySegment[]; foreign: CopySegment[] }> {
  const common: CopySegment[] = []
  const foreign: CopySegment[] = []
  const known = Math.max(
    -Infinity,
    ...(await readKnownDamage(ctx))
      .filter((text) => text.startsWith(KNOWN))
      .map((text) => Date.parse(text.slice(KNOWN.length))),
  )
  for (const segment of segments) {
    const own = await ctx.read
      .selectFrom('journal')
      .select('line')
      .where('seq', '=', segment.last)
      .executeTakeFirst()
    if (own && macOf(own.line) === segment.mac) common.push(segment)
    else if (segment.at > known) foreign.push(segment)
  }
  return { common, foreign }
}

/** How far the copy reaches. */
export interface CopyReach {
  /** Its first line that the database has, too, and the last one. */
  from: number
  to: number
  /** When the last one was written, ISO 8601. */
  written_until: string
  /**
   * Lines that the database has and the copy not yet: it gets them within seconds, while a server
   * runs.
   */
  pending: number
}

/**
 * Compares all of the copy with the database, by the names of its objects. A copy whose oldest
 * lines were removed is whole; one that has lines that the database does not have, or lacks some in
 * its middle, is not.
 */
export async function proveCopy(
  ctx: CopyCtx,
  store: ObjectStore,
): Promise<{ reach: CopyReach | null; faults: { seq: number; fault: string }[] }> {
  const { common, foreign } = await compareSegments(ctx, await listSegments(ctx, store, null))
  const { last } = await ctx.read
    .selectFrom('journal')
    .select((query) => query.fn.max<number | null>('seq').as('last'))
    .executeTakeFirstOrThrow()
  const faults = foreign.map(({ first, last: end, at }) => ({
    seq: first,
    fault:
      `the copy has lines ${first} to ${end}, written until ${new Date(at).toISOString()}, that ` +
      'the database does not have',
  }))
  let to = 0
  for (const { first, last: end } of common.toSorted((a, b) => a.first - b.first)) {
    if (to > 0 && first > to + 1)
      faults.push({ seq: to + 1, fault: `the copy lacks lines ${to + 1} to ${first - 1}` })
    to = Math.max(to, end)
  }
  const [newest] = common.slice(-1)
  const reach = newest
    ? {
        from: common.reduce((least, { first }) => Math.min(least, first), Infinity),
        to,
        written_until: new Date(newest.at).toISOString(),
        pending: (last ?? 0) - to,
      }
    : null
  return { reach, faults: faults.toSorted((a, b) => a.seq - b.seq) }
}

async function pauseForgotten(
  ctx: OrdersCtx,
  common: CopySegment | null,
  foreign: readonly CopySegment[],
): Promise<void> {
  const newest = foreign.reduce((one, other) => (other.at > one.at ? other : one))
  const lookBackTo = common?.at ?? Math.min(...foreign.map(({ at }) => at))
  const since = new Date(lookBackTo).toISOString()
  const fault =
    `the copy of the journal outside of this machine has lines up to ${newest.last}, written ` +
    `until ${new Date(newest.at).toISOString()}, that the database does not have: the machine ` +
    'was set back, or a copy of it placed orders'
  await pauseOrders(ctx, {
    reason: `${fault}; look back with \`orders reconcile --since ${since}\``,
    lookBackTo,
    damage: [KNOWN + new Date(newest.at).toISOString()],
    isForgetful: true,
  })
}
