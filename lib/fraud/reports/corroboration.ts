/**
 * Items that an order shares with reports that match it: the one answer that depends on more than
 * what matched.
 */
import type { FraudCtx } from '../ctx.js'
import type { FraudKeys } from '../keys/keys.js'
import type { Signals } from '../signals/signals.js'
import type { Reading } from '../../db/query.js'
import { column } from '../../db/reading.js'
import { itemsShared } from './queries.js'
import { limitGuessing } from './guess-limit.js'
import type { Corroboration, Try } from './guess-limit.js'

/** The items of an order that reports of these ids have as well. */
export function* itemsInCommon(
  keys: FraudKeys,
  { items }: Signals,
  reports: readonly number[],
): Reading<Corroboration> {
  const hashes = (field: string, values: readonly string[]) =>
    keys.all.flatMap((key) => values.map((value) => key.hash(field, value)))
  const wanted = items.map(({ identity, keys: of, name }) => ({
    identity,
    keys: hashes('item key', of),
    names: hashes('item name', name === null ? [] : [name]),
  }))
  const shared = new Set(
    yield* column(itemsShared, {
      reports,
      hashes: wanted.flatMap(({ keys: of, names }) => [...of, ...names]),
    }),
  )
  const isShared = (of: readonly bigint[]) => of.some((hash) => shared.has(String(hash)))
  return {
    items_overlap: new Set(
      wanted.filter(({ keys: of }) => isShared(of)).map(({ identity }) => identity),
    ).size,
    items_similar: wanted.some(({ names }) => isShared(names)),
  }
}

/**
 * Items are the one weak signal that an answer depends on: guessing at what somebody else's order
 * held must lead nowhere. `matched` are the hashes by which reports were found.
 */
export async function corroboration(
  ctx: FraudCtx,
  keys: FraudKeys,
  { items }: Signals,
  { asker, matched, answer }: Pick<Try, 'asker' | 'matched' | 'answer'>,
): Promise<Corroboration> {
  if (matched.length === 0 || items.length === 0) return answer
  return limitGuessing(ctx, keys, {
    asker,
    matched,
    values: items.flatMap(({ keys: of, name }) => (name === null ? of : [...of, name])),
    answer,
  })
}
