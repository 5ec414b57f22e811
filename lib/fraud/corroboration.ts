/** Items that an order shares with reports that match it: the one answer that depends on more than what matched (decisions 9.2, reliability 7). */
import { DAY } from '../core/clock.js'
import type { OperatorCtx } from '../core/ctx.js'
import type { FraudKeys } from './keys.js'
import type { FraudSummary } from './shapes.js'
import type { Signals } from './signals.js'
import { KINDS, MATCHED, jsonOf } from './store.js'

type Corroboration = Pick<FraudSummary, 'items_overlap' | 'items_similar'>

/** Baskets that one caller may try against one strong signal within a day; from then on the first answer is repeated. */
const TRIES = 10

/** Items are the one weak signal that an answer depends on: guessing at what somebody else's order held must lead nowhere. */
export function corroboration(ctx: OperatorCtx, keys: FraudKeys, { items }: Signals, { asker, all, matched }: { asker: string; all: string; matched: readonly bigint[] }): Corroboration {
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
