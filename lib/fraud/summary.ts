/**
 * What a dealer is told of reports that share a strong signal with an order: a function of counts alone (decisions 9.2). The
 * same statements run whether anything matches or not, so that the time tells nothing either.
 */
import { DAY, dayOf } from '../core/clock.js'
import type { OperatorCtx } from '../core/ctx.js'
import type { FraudKeys } from './keys.js'
import { STRONG } from './shapes.js'
import type { FraudSummary, Strong } from './shapes.js'
import type { Signals } from './signals.js'
import { KINDS, openReport } from './store.js'

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

const MATCHED = 'SELECT DISTINCT report FROM fraud_signal WHERE hash IN (SELECT value FROM json_each(?))'

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

/** As JSON writes them: 64 bits do not fit into its numbers, but SQLite reads them as what they are. */
const jsonOf = (hashes: readonly bigint[]) => `[${hashes.join()}]`

type Corroboration = Pick<FraudSummary, 'items_overlap' | 'items_similar'>

/** Baskets that one caller may try against one strong signal within a day; from then on the first answer is repeated. */
const TRIES = 10

/** Items are the one weak signal that an answer depends on: guessing at what somebody else's order held must lead nowhere. */
function corroboration(ctx: OperatorCtx, keys: FraudKeys, { items }: Signals, { asker, all, matched }: { asker: string; all: string; matched: readonly bigint[] }): Corroboration {
  const { prepare } = ctx.engine.reader
  const has = prepare(`SELECT EXISTS (SELECT 1 FROM fraud_evidence WHERE kind = ? AND hash IN (SELECT value FROM json_each(?)) AND report IN (${MATCHED}))`).pluck()
  const isShared = (kind: number, field: string, values: readonly string[]) => has.get(kind, jsonOf(keys.all.flatMap((key) => values.map((value) => key.hash(field, value)))), all) === 1
  const answer: Corroboration = {
    items_overlap: new Set(items.filter(({ keys: of }) => isShared(KINDS.itemKey, 'item key', of)).map(({ identity }) => identity)).size,
    items_similar: isShared(KINDS.itemName, 'item name', items.flatMap(({ name }) => name ?? [])),
  }
  if (matched.length === 0 || items.length === 0) return answer
  return frozen(ctx, keys, { asker, matched, basket: keys.current.digest('basket', JSON.stringify(items)), answer })
}

/** Notes the try; the answer itself while there were few, the first one's afterwards. */
function frozen({ engine, now }: OperatorCtx, keys: FraudKeys, { asker, matched, basket, answer }: { asker: string; matched: readonly bigint[]; basket: string; answer: Corroboration }): Corroboration {
  const { prepare, raw } = engine.meter
  const at = now()
  return raw.transaction(() => {
    prepare('DELETE FROM fraud_try WHERE at <= ? OR at > ?').run(at - DAY, at + DAY)
    for (const hash of matched) {
      const signal = keys.current.digest('tried', String(hash))
      const known = prepare('SELECT basket, overlap, similar FROM fraud_try WHERE asker = ? AND signal = ? ORDER BY seq').all(asker, signal) as { basket: string; overlap: number; similar: number }[]
      if (known.some((each) => each.basket === basket)) continue
      const first = known[0]
      if (first && known.length >= TRIES) return { items_overlap: first.overlap, items_similar: first.similar === 1 }
      prepare('INSERT INTO fraud_try (asker, signal, basket, at, overlap, similar) VALUES (?, ?, ?, ?, ?, ?)').run(asker, signal, basket, at, answer.items_overlap, answer.items_similar ? 1 : 0)
    }
    return answer
  }).immediate()
}
