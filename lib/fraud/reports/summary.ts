/**
 * What a dealer is told of reports that share a strong signal with an order: a function of counts
 * alone. The same statements run whether anything matches or not, so that the time
 * tells nothing either.
 */
import { dayOf } from '../../core/clock.js'
import type { FraudCtx } from '../ctx.js'
import { corroboration, itemsInCommon } from './corroboration.js'
import type { Corroboration } from './guess-limit.js'
import { keysOfNow } from '../keys/keyring.js'
import { STRONG } from '../shapes.js'
import type { FraudSummary, Strong } from '../shapes.js'
import type { Signals } from '../signals/signals.js'
import type { Reading, RowOf } from '../../db/query.js'
import { all } from '../../db/reading.js'
import type { FraudKeys } from '../keys/keys.js'
import { KINDS } from './kinds.js'
import { reportsWith, valuesOfKinds } from './queries.js'
import { notesOf } from './store.js'

/** The caller's side of a summary. */
export interface Asker {
  subscriberId: string
  /** Whose tries are counted together: a key, or a subscriber without one. */
  asker: string
}

/** A report that matched. */
type Hit = RowOf<typeof reportsWith>

/**
 * Reports whose values and items are looked at, the newest of those that match: what one check may
 * cost everybody else.
 */
const MOST_REPORTS = 500

/**
 * The summary of these signals, as of now. Reads only, but for the note of what a caller has tried.
 * Throws 503 while reports are there that it would miss.
 */
export async function summarize(
  ctx: FraudCtx,
  signals: Signals,
  { subscriberId, asker }: Asker,
): Promise<FraudSummary> {
  // Over one state: a report that goes, or gets another key, while its counts are made would leave
  // a match of nobody.
  const { keys, matched, hits, used, inCommon, notes } = await ctx.engine.look(() =>
    findReports(ctx, signals, subscriberId),
  )
  const matchedOn = STRONG.filter((name) => matched.some((each) => each.name === name))
  const day = (times: number[], pick: (a: number, b: number) => number) =>
    times.length === 0 ? null : dayOf(times.reduce(pick))
  return {
    matched: matchedOn.length > 0,
    matched_on: matchedOn,
    report_count: new Set(hits.map(({ dealer }) => dealer)).size,
    names_used: used(KINDS.name),
    emails_used: used(KINDS.email),
    phones_used: used(KINDS.phone),
    ips_used: used(KINDS.ip),
    addresses_used: used(KINDS.shipping_address_1),
    billing_used: used(KINDS.billing_address_1),
    items_used: used(KINDS.item),
    ...(await corroboration(ctx, keys, signals, {
      asker,
      matched: matched.map(({ hash }) => hash),
      answer: inCommon,
    })),
    reported_by_you: hits.some(({ mine }) => mine === 1),
    first_reported: day(
      hits.map(({ first }) => first),
      (a, b) => Math.min(a, b),
    ),
    last_reported: day(
      hits.map(({ last }) => last),
      (a, b) => Math.max(a, b),
    ),
    notes,
  }
}

interface Found {
  keys: FraudKeys
  /** Signals by which reports were found. */
  matched: { name: Strong; hash: bigint }[]
  /** The newest first. */
  hits: Hit[]
  /** How many different values the reports have of a kind. */
  used: (kind: number) => number
  inCommon: Corroboration
  /** The caller's own. */
  notes: string[]
}

/** All that the database knows of these signals. */
function* findReports(ctx: FraudCtx, signals: Signals, subscriberId: string): Reading<Found> {
  const keys = yield* keysOfNow(ctx)
  const asked = [...signals.strong].flatMap(([name, value]) =>
    keys.all.map((key) => ({ name, hash: key.hash(name, value) })),
  )
  const hashes = asked.map(({ hash }) => hash)
  const { at, hits } = yield* hitsOf(hashes, subscriberId)
  const newest = hits.slice(0, MOST_REPORTS).map(({ id }) => id)
  return {
    keys,
    matched: asked.filter((_, place) => at.has(place)),
    hits,
    used: yield* countValues(newest, hashes),
    inCommon: yield* itemsInCommon(keys, signals, newest),
    notes: yield* notesOf(ctx, subscriberId, hits),
  }
}

/** Reports that match, the newest first, and the places of the hashes by which they do. */
function* hitsOf(
  hashes: readonly bigint[],
  subscriber: string,
): Reading<{ at: ReadonlySet<number>; hits: Hit[] }> {
  const rows = yield* all(reportsWith, { hashes, subscriber })
  const hits = new Map(rows.map((row) => [row.id, row]))
  return {
    at: new Set(rows.map(({ at }) => at)),
    hits: [...hits.values()].sort((a, b) => b.last - a.last || b.id - a.id),
  }
}

/** How many different values the reports have of each kind. */
function* countValues(
  reports: readonly number[],
  asked: readonly bigint[],
): Reading<(kind: number) => number> {
  const rows = yield* all(valuesOfKinds, { reports, asked })
  const counts = new Map(rows.map(({ kind, count }) => [kind, count]))
  return (kind) => counts.get(kind) ?? 0
}
