/**
 * Items that an order shares with reports that match it: the one answer that depends on more than
 * what matched.
 */
import type { FraudCtx } from '../ctx.js'
import type { FraudKeys } from '../keys/keys.js'
import type { Signals } from '../signals/signals.js'
import { itemsShared } from './queries.js'
import { limitGuessing } from './guess-limit.js'
import type { Corroboration } from './guess-limit.js'

/** What an order matched: ids of reports, and the hashes by which they were found. */
export interface Matched {
  reports: readonly number[]
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
  const shared = new Set(
    ctx.engine.reader.column(itemsShared, {
      reports: matched.reports,
      hashes: wanted.flatMap(({ keys: of, names }) => [...of, ...names]),
    }),
  )
  const isShared = (of: readonly bigint[]) => of.some((hash) => shared.has(String(hash)))
  const answer: Corroboration = {
    items_overlap: new Set(
      wanted.filter(({ keys: of }) => isShared(of)).map(({ identity }) => identity),
    ).size,
    items_similar: wanted.some(({ names }) => isShared(names)),
  }
  if (matched.hashes.length === 0 || items.length === 0) return answer
  return limitGuessing(ctx, keys, {
    asker,
    matched: matched.hashes,
    values: items.flatMap(({ keys: of, name }) => (name === null ? of : [...of, name])),
    answer,
  })
}
