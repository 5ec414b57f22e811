/**
 * What a dealer is told of reports that share a strong signal with an order: a function of counts alone (decisions 9.2). The
 * same statements run whether anything matches or not, so that the time tells nothing either.
 */
import { dayOf } from '../core/clock.js'
import type { OperatorCtx } from '../core/ctx.js'
import { corroboration } from './corroboration.js'
import type { FraudKeys } from './keys.js'
import { STRONG } from './shapes.js'
import type { FraudSummary } from './shapes.js'
import type { Signals } from './signals.js'
import { KINDS, jsonOf, openReport } from './store.js'

/** The caller's side of a summary. */
export interface Asker {
  subscriberId: string
  /** Whose tries are counted together: a key, or a subscriber without one. */
  asker: string
}

interface Counts {
  dealers: number
  mine: number
  first: number | null
  last: number | null
}

/** Reports whose values and items are looked at, the newest of those that match: what one check may cost everybody else. */
const MOST_REPORTS = 500
/** A caller's own notes that it gets back. */
const MOST_NOTES = 50

/** The summary of these signals, as of now. Reads only, but for the note of what a caller has tried. */
export function summarize(ctx: OperatorCtx, keys: FraudKeys, signals: Signals, asker: Asker): FraudSummary {
  // One transaction: a report that goes while its counts are made would leave a match of nobody.
  return ctx.engine.reader.raw.transaction(() => summarizeNow(ctx, keys, signals, asker))()
}

function summarizeNow(ctx: OperatorCtx, keys: FraudKeys, signals: Signals, { subscriberId, asker }: Asker): FraudSummary {
  const { prepare } = ctx.engine.reader
  const asked = [...signals.strong].flatMap(([name, value]) => keys.all.map((key) => ({ name, hash: key.hash(name, value) })))
  const hits = prepare('SELECT at.key AS at, report FROM json_each(?) AS at CROSS JOIN fraud_signal ON hash = at.value').all(jsonOf(asked.map(({ hash }) => hash))) as { at: number; report: number }[]
  const hit = new Set(hits.map(({ at }) => at))
  const matched = asked.filter((_, at) => hit.has(at))
  const matchedOn = STRONG.filter((name) => matched.some((each) => each.name === name))
  const all = JSON.stringify([...new Set(hits.map(({ report }) => report))])
  const among = 'FROM fraud_report WHERE id IN (SELECT value FROM json_each(?))'
  const counts = prepare(`SELECT count(DISTINCT dealer) AS dealers, count(CASE WHEN subscriber_id = ? THEN 1 END) AS mine, min(reported_at) AS first, max(updated_at) AS last ${among}`).get(subscriberId, all) as Counts
  const newest = JSON.stringify(prepare(`SELECT id ${among} ORDER BY updated_at DESC, id DESC LIMIT ?`).pluck().all(all, MOST_REPORTS))
  const used = new Map(prepare('SELECT kind, count(DISTINCT hash) FROM fraud_evidence WHERE report IN (SELECT value FROM json_each(?)) AND kind <= ? GROUP BY kind').raw().all(newest, KINDS.item) as [number, number][])
  const own = prepare(`SELECT id, subscriber_id, payload ${among} AND subscriber_id = ? ORDER BY updated_at DESC, id DESC LIMIT ?`).all(all, subscriberId, MOST_NOTES) as { id: number; subscriber_id: string; payload: string }[]
  const day = (at: number | null) => at === null ? null : dayOf(at)
  return {
    matched: matchedOn.length > 0, matched_on: matchedOn, report_count: counts.dealers,
    names_used: used.get(KINDS.name) ?? 0, emails_used: used.get(KINDS.email) ?? 0, phones_used: used.get(KINDS.phone) ?? 0, ips_used: used.get(KINDS.ip) ?? 0,
    addresses_used: used.get(KINDS.shipping_address_1) ?? 0, billing_used: used.get(KINDS.billing_address_1) ?? 0, items_used: used.get(KINDS.item) ?? 0,
    ...corroboration(ctx, keys, signals, { asker, matched: { reports: newest, hashes: matched.map(({ hash }) => hash) } }),
    reported_by_you: counts.mine > 0, first_reported: day(counts.first), last_reported: day(counts.last),
    notes: own.flatMap((report) => openReport(ctx, report).notes ?? []),
  }
}
