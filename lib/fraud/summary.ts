/**
 * What a dealer is told of reports that share a strong signal with an order: a function of counts alone (decisions 9.2). The
 * same statements run whether anything matches or not, so that the time tells nothing either.
 */
import { dayOf } from '../core/clock.js'
import type { OperatorCtx } from '../core/ctx.js'
import { corroboration } from './corroboration.js'
import type { FraudKeys } from './keys.js'
import { STRONG } from './shapes.js'
import type { FraudSummary, Strong } from './shapes.js'
import type { Signals } from './signals.js'
import { KINDS, MATCHED, jsonOf, openReport } from './store.js'

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

/** The summary of these signals, as of now. Reads only, but for the note of what a caller has tried. */
export function summarize(ctx: OperatorCtx, keys: FraudKeys, signals: Signals, { subscriberId, asker }: Asker): FraudSummary {
  const { prepare } = ctx.engine.reader
  const hashes = new Map(STRONG.map((name): [Strong, bigint[]] => [name, keys.all.flatMap((key) => signals.strong.has(name) ? [key.hash(name, signals.strong.get(name)!)] : [])]))
  const all = jsonOf([...hashes.values()].flat())
  const isThere = prepare('SELECT EXISTS (SELECT 1 FROM fraud_signal WHERE hash IN (SELECT value FROM json_each(?)))').pluck()
  const matchedOn = STRONG.filter((name) => isThere.get(jsonOf(hashes.get(name)!)) === 1)
  const counts = prepare(`SELECT count(DISTINCT dealer) AS dealers, count(CASE WHEN subscriber_id = ? THEN 1 END) AS mine, min(reported_at) AS first, max(updated_at) AS last FROM fraud_report WHERE id IN (${MATCHED})`).get(subscriberId, all) as Counts
  const used = new Map(prepare(`SELECT kind, count(DISTINCT hash) FROM fraud_evidence WHERE report IN (${MATCHED}) GROUP BY kind`).raw().all(all) as [number, number][])
  const own = prepare(`SELECT id, subscriber_id, payload FROM fraud_report WHERE id IN (${MATCHED}) AND subscriber_id = ? ORDER BY updated_at DESC, id DESC`).all(all, subscriberId) as { id: number; subscriber_id: string; payload: string }[]
  const day = (at: number | null) => at === null ? null : dayOf(at)
  return {
    matched: matchedOn.length > 0, matched_on: matchedOn, report_count: counts.dealers,
    names_used: used.get(KINDS.name) ?? 0, emails_used: used.get(KINDS.email) ?? 0, phones_used: used.get(KINDS.phone) ?? 0, ips_used: used.get(KINDS.ip) ?? 0,
    addresses_used: used.get(KINDS.shipping_address_1) ?? 0, billing_used: used.get(KINDS.billing_address_1) ?? 0, items_used: used.get(KINDS.item) ?? 0,
    ...corroboration(ctx, keys, signals, { asker, all, matched: matchedOn.flatMap((name) => hashes.get(name)!) }),
    reported_by_you: counts.mine > 0, first_reported: day(counts.first), last_reported: day(counts.last),
    notes: own.flatMap((report) => openReport(ctx, report).notes ?? []),
  }
}
