/**
 * Guessing at what an order held that somebody else has reported must lead nowhere:
 * with each signal that it has matched, a caller may try its own basket and ten more items within a
 * day; from then on the first answer is repeated.
 */
import { DAY } from '../../core/clock.js'
import type { FraudCtx } from '../ctx.js'
import { deleteTry, insertTry, saveLater, triedWith, triesOutside } from './meter-queries.js'
import type { FraudKeys } from '../keys/keys.js'
import type { FraudSummary } from '../shapes.js'

export type Corroboration = Pick<FraudSummary, 'items_overlap' | 'items_similar'>

export interface Try {
  /** Whose tries are counted together: a key, or a subscriber without one. */
  asker: string
  /** Hashes of the signals that matched. */
  matched: readonly bigint[]
  /** What the items of the call are known by: UPCs, SKUs, names. */
  values: readonly string[]
  answer: Corroboration
}

/** Further items that may be tried. */
const TRIES = 10

/** The answer, as far as the caller may still have it; notes what was tried. */
export function limitGuessing(
  ctx: FraudCtx,
  keys: FraudKeys,
  { asker, matched, values, answer }: Try,
): Corroboration {
  const { meter } = ctx.engine
  const signals = matched.map((hash) => keys.current.digest('tried', String(hash)))
  const digests = [
    ...new Set(values.map((value) => keys.current.digest('weak', value).slice(0, 16))),
  ]
  return meter.raw
    .transaction(() => {
      forgetOld(ctx)
      const known = signals.map((signal) => {
        const before = triedWith(meter, asker, signal)
        const [free, later] = before
          ? ([before.free, before.later].map((list) => JSON.parse(list) as string[]) as [
              string[],
              string[],
            ])
          : [digests, []]
        return {
          signal,
          before,
          later: [
            ...later,
            ...digests.filter((digest) => !free.includes(digest) && !later.includes(digest)),
          ],
        }
      })
      const spent = known.find(({ later }) => later.length > TRIES)
      if (spent?.before)
        return { items_overlap: spent.before.overlap, items_similar: spent.before.similar === 1 }
      for (const { signal, before, later } of known) {
        if (before) saveLater(meter, asker, signal, JSON.stringify(later))
        else begin(ctx, { asker, signal, digests, answer })
      }
      return answer
    })
    .immediate()
}

function begin(
  { engine: { meter }, now, monotonic, fraudCounts }: FraudCtx,
  {
    asker,
    signal,
    digests,
    answer,
  }: { asker: string; signal: string; digests: readonly string[]; answer: Corroboration },
): void {
  insertTry(meter, {
    asker,
    signal,
    at: now(),
    overlap: answer.items_overlap,
    similar: answer.items_similar ? 1 : 0,
    free: JSON.stringify(digests),
  })
  fraudCounts.tries.set(`${asker} ${signal}`, monotonic())
}

/** A day after the first try it begins anew: by both clocks, as far as this process has seen it. */
function forgetOld({ engine: { meter }, now, monotonic, fraudCounts: { tries } }: FraudCtx): void {
  const old = triesOutside(meter, now() - DAY, now() + DAY)
  for (const { asker, signal } of old) {
    const place = `${asker} ${signal}`
    if ((tries.get(place) ?? -Infinity) > monotonic() - DAY) continue
    tries.delete(place)
    deleteTry(meter, asker, signal)
  }
}
