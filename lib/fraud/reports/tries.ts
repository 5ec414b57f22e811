/**
 * Guessing at what an order held that somebody else has reported must lead nowhere (reliability 7):
 * with each signal that it has matched, a caller may try its own basket and ten more items within a
 * day; from then on the first answer is repeated.
 */
import { DAY } from '../../core/clock.js'
import type { FraudCtx } from '../ctx.js'
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

interface Tried {
  at: number
  overlap: number
  similar: number
  /** JSON: digests of what the first basket held, and of what came after it. */
  free: string
  later: string
}

/** The answer, as far as the caller may still have it; notes what was tried. */
export function boundGuessing(
  ctx: FraudCtx,
  keys: FraudKeys,
  { asker, matched, values, answer }: Try,
): Corroboration {
  const { prepare, raw } = ctx.engine.meter
  const signals = matched.map((hash) => keys.current.digest('tried', String(hash)))
  const digests = [
    ...new Set(values.map((value) => keys.current.digest('weak', value).slice(0, 16))),
  ]
  return raw
    .transaction(() => {
      forgetOld(ctx)
      const find = prepare(
        'SELECT at, overlap, similar, free, later FROM fraud_try WHERE asker = ? AND signal = ?',
      )
      const known = signals.map((signal) => {
        const before = find.get(asker, signal) as Tried | undefined
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
      if (spent)
        return { items_overlap: spent.before!.overlap, items_similar: spent.before!.similar === 1 }
      for (const { signal, before, later } of known) {
        if (before)
          prepare('UPDATE fraud_try SET later = ? WHERE asker = ? AND signal = ?').run(
            JSON.stringify(later),
            asker,
            signal,
          )
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
  meter
    .prepare(
      "INSERT INTO fraud_try (asker, signal, at, overlap, similar, free, later) VALUES (?, ?, ?, ?, ?, ?, '[]')",
    )
    .run(
      asker,
      signal,
      now(),
      answer.items_overlap,
      answer.items_similar ? 1 : 0,
      JSON.stringify(digests),
    )
  fraudCounts.tries.set(`${asker} ${signal}`, monotonic())
}

/** A day after the first try it begins anew: by both clocks, as far as this process has seen it. */
function forgetOld({ engine: { meter }, now, monotonic, fraudCounts: { tries } }: FraudCtx): void {
  const old = meter
    .prepare('SELECT asker, signal FROM fraud_try WHERE at <= ? OR at > ?')
    .all(now() - DAY, now() + DAY) as { asker: string; signal: string }[]
  for (const { asker, signal } of old) {
    const place = `${asker} ${signal}`
    if ((tries.get(place) ?? -Infinity) > monotonic() - DAY) continue
    tries.delete(place)
    meter.prepare('DELETE FROM fraud_try WHERE asker = ? AND signal = ?').run(asker, signal)
  }
}
