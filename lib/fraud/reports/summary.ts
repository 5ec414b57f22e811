/**
 * What a dealer is told of reports that share a strong signal with an order: a function of counts
 * alone. The same statements run whether anything matches or not, so that the time
 * tells nothing either.
 */
import { dayOf } from '../../core/clock.js'
import type { FraudCtx } from '../ctx.js'
import { corroboration } from './corroboration.js'
import { keysOfNow } from '../keys/keyring.js'
import { STRONG } from '../shapes.js'
import type { FraudSummary } from '../shapes.js'
import type { Signals } from '../signals/signals.js'
import type { RowOf } from '../../db/query.js'
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
export function summarize(ctx: FraudCtx, signals: Signals, asker: Asker): FraudSummary {
  // One transaction: a report that goes, or gets another key, while its counts are made would leave
  // a match of nobody.
  return ctx.engine.reader.snapshot(() => summarizeNow(ctx, signals, asker))
}

function summarizeNow(
  ctx: FraudCtx,
  signals: Signals,
  { subscriberId, asker }: Asker,
): FraudSummary {
  const keys = keysOfNow(ctx)
  const asked = [...signals.strong].flatMap(([name, value]) =>
    keys.all.map((key) => ({ name, hash: key.hash(name, value) })),
  )
  const { at, hits } = hitsOf(
    ctx,
    asked.map(({ hash }) => hash),
    subscriberId,
  )
  const matched = asked.filter((_, place) => at.has(place))
  const matchedOn = STRONG.filter((name) => matched.some((each) => each.name === name))
  const newest = hits.slice(0, MOST_REPORTS).map(({ id }) => id)
  const used = countValues(
    ctx,
    newest,
    asked.map(({ hash }) => hash),
  )
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
    ...corroboration(ctx, keys, signals, {
      asker,
      matched: { reports: newest, hashes: matched.map(({ hash }) => hash) },
    }),
    reported_by_you: hits.some(({ mine }) => mine === 1),
    first_reported: day(
      hits.map(({ first }) => first),
      (a, b) => Math.min(a, b),
    ),
    last_reported: day(
      hits.map(({ last }) => last),
      (a, b) => Math.max(a, b),
    ),
    notes: notesOf(ctx, subscriberId, hits),
  }
}

/** Reports that match, the newest first, and the places of the hashes by which they do. */
function hitsOf(
  { engine }: FraudCtx,
  hashes: readonly bigint[],
  subscriberId: string,
): { at: ReadonlySet<number>; hits: Hit[] } {
  const rows = engine.reader.all(reportsWith, { hashes, subscriber: subscriberId })
  const hits = new Map(rows.map((row) => [row.id, row]))
  return {
    at: new Set(rows.map(({ at }) => at)),
    hits: [...hits.values()].sort((a, b) => b.last - a.last || b.id - a.id),
  }
}

/** How many different values the reports have of each kind. */
function countValues(
  { engine }: FraudCtx,
  reports: readonly number[],
  asked: readonly bigint[],
): (kind: number) => number {
  const rows = engine.reader.all(valuesOfKinds, { reports, asked })
  const counts = new Map(rows.map(({ kind, count }) => [kind, count]))
  return (kind) => counts.get(kind) ?? 0
}
