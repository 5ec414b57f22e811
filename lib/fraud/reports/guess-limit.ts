/**
 * Guessing at what an order held that somebody else has reported must lead nowhere:
 * with each signal that it has matched, a caller may try its own basket and ten more items within a
 * day; from then on the first answer is repeated.
 */
import { DAY } from '../../core/clock.js'
import type { FraudCtx } from '../ctx.js'
import {
  deleteTries,
  deleteTry,
  insertTry,
  setLater,
  triedWith,
  triesOutside,
} from './meter-queries.js'
import type { Tried } from './meter-queries.js'
import type { Work } from '../../db/query.js'
import { change, first } from '../../db/reading.js'
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
): Promise<Corroboration> {
  const signals = matched.map((hash) => keys.current.digest('tried', String(hash)))
  const digests = [
    ...new Set(values.map((value) => keys.current.digest('weak', value).slice(0, 16))),
  ]
  return ctx.engine.meter.alone(ctx, `fraud tries ${asker}`, function* (at) {
    yield* forgetOld(ctx, { asker, at })
    const known = []
    for (const signal of signals) known.push(yield* knownOf({ asker, signal, digests }))
    const spent = known.find(({ later }) => later.length > TRIES)
    if (spent?.before)
      return { items_overlap: spent.before.overlap, items_similar: spent.before.similar === 1 }
    for (const { signal, before, later } of known) {
      if (before) yield* change(setLater, { asker, signal, later: JSON.stringify(later) })
      else yield* begin(ctx, { asker, signal, at, digests, answer })
    }
    return answer
  })
}

/** What was tried with a signal before, and what came later, this time among it. */
function* knownOf({
  asker,
  signal,
  digests,
}: {
  asker: string
  signal: string
  digests: readonly string[]
}): Work<{ signal: string; before: Tried | undefined; later: string[] }> {
  const before = yield* first(triedWith, { asker, signal })
  if (!before) return { signal, before, later: [] }
  const [free, later] = [before.free, before.later].map((list) => JSON.parse(list) as string[]) as [
    string[],
    string[],
  ]
  const isNew = (digest: string) => !free.includes(digest) && !later.includes(digest)
  return { signal, before, later: [...later, ...digests.filter(isNew)] }
}

function* begin(
  { monotonic, fraudCounts }: FraudCtx,
  {
    asker,
    signal,
    at,
    digests,
    answer,
  }: {
    asker: string
    signal: string
    at: number
    digests: readonly string[]
    answer: Corroboration
  },
): Work<void> {
  yield* change(insertTry, {
    asker,
    signal,
    at,
    overlap: answer.items_overlap,
    similar: answer.items_similar ? 1 : 0,
    free: JSON.stringify(digests),
  })
  fraudCounts.tries.set(`${asker} ${signal}`, monotonic())
}

/** A day after the first try it begins anew: by both clocks, as far as this process has seen it. */
function* forgetOld(
  { monotonic, fraudCounts: { tries } }: FraudCtx,
  { asker, at }: { asker: string; at: number },
): Work<void> {
  for (const signal of yield* triesOutside(asker, { since: at - DAY, latest: at + DAY })) {
    const place = `${asker} ${signal}`
    if ((tries.get(place) ?? -Infinity) > monotonic() - DAY) continue
    tries.delete(place)
    yield* change(deleteTry, { asker, signal })
  }
}

/** Removes what whoever tried it has not come back to. */
export async function forgetTries(ctx: FraudCtx): Promise<void> {
  const { engine, monotonic, fraudCounts } = ctx
  const at = await engine.time(ctx)
  for (const [place, began] of fraudCounts.tries)
    if (began <= monotonic() - DAY) fraudCounts.tries.delete(place)
  // What a clock that was set ahead makes old, and this process has seen to begin, is not.
  await deleteTries(engine.meter.db, {
    since: at - 2 * DAY,
    except: ({ asker, signal }) => fraudCounts.tries.has(`${asker} ${signal}`),
  })
}
