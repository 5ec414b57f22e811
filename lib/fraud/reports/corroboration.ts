/**
 * Items that an order shares with reports that match it: the one answer that depends on more than
 * what matched (decisions 9.2, reliability 7).
 */
import type { FraudCtx } from '../ctx.js'
import type { FraudKeys } from '../keys/keys.js'
import type { Signals } from '../signals/signals.js'
import { KINDS, jsonOf } from './store.js'
import { boundGuessing } from './tries.js'
import type { Corroboration } from './tries.js'

/**
 * What an order matched: reports, as a JSON list of their ids, and the hashes by which they were
 * found.
 */
export interface Matched {
  reports: string
  hashes: readonly bigint[]
}

/**
 * Items are the one weak signal that an answer depends on: guessing at what somebody else's order
 * held must lead nowhere.
 */
export function corroboration(
  ctx: FraudCtx,
  keys: FraudKeys,
  { items }: Signals,
  { asker, matched }: { asker: string; matched: Matched },
): Corroboration {
  const hashes = (field: string, values: readonly string[]) =>
    keys.all.flatMap((key) => values.map((value) => key.hash(field, value)))
  const wanted = items.map(({ identity, keys: of, name }) => ({
    identity,
    keys: hashes('item key', of),
    names: hashes('item name', name === null ? [] : [name]),
  }))
  const shared = sharedOf(
    ctx,
    matched.reports,
    wanted.flatMap(({ keys: of, names }) => [...of, ...names]),
  )
  const isShared = (of: readonly bigint[]) => of.some((hash) => shared.has(String(hash)))
  const answer: Corroboration = {
    items_overlap: new Set(
      wanted.filter(({ keys: of }) => isShared(of)).map(({ identity }) => identity),
    ).size,
    items_similar: wanted.some(({ names }) => isShared(names)),
  }
  if (matched.hashes.length === 0 || items.length === 0) return answer
  return boundGuessing(ctx, keys, {
    asker,
    matched: matched.hashes,
    values: items.flatMap(({ keys: of, name }) => (name === null ? of : [...of, name])),
    answer,
  })
}

/**
 * Which of these hashes of items the reports hold. One pass over what they hold: to look each hash
 * up in each report takes six times as long.
 */
function sharedOf({ engine }: FraudCtx, reports: string, hashes: readonly bigint[]): Set<string> {
  const found = engine.reader
    .prepare(
      'SELECT DISTINCT CAST(hash AS TEXT) FROM fraud_evidence WHERE report IN (SELECT value FROM json_each(?)) AND own = 1 AND kind >= ? AND +hash IN (SELECT value FROM json_each(?))',
    )
    .pluck()
  return new Set(found.all(reports, KINDS.itemKey, jsonOf(hashes)) as string[])
}
