/**
 * The log of what was decided, and by which rules. On one machine it is decisions.db, which is in
 * every backup.
 */
import type { Subscriber } from '../accounts/caller.js'
import { DAY } from '../core/clock.js'
import type { RestrictionsCtx } from './ctx.js'
import type { Job } from '../core/async/job.js'
import { deleteDecisions, insertDecision } from './queries.js'
import type { Place } from './destination.js'
import type { CheckResult } from './shapes.js'

/** Milliseconds that a decision is kept. */
const KEPT = 400 * DAY

export interface Decision {
  /** Of the active rules. */
  digest: string
  place: Place
  target: string | null
  result: CheckResult
}

/**
 * Writes one line: who asked, where to, which rules decided what. It holds no address beyond the
 * ZIP.
 */
export async function logDecision(
  { engine, now }: RestrictionsCtx,
  subscriber: Subscriber,
  { digest, place, target, result }: Decision,
): Promise<void> {
  const items = result.items.map(
    ({ upc, sku, approved, blocking_rules: blocked, manual_review: held }) => ({
      upc,
      sku,
      approved,
      rules: [...blocked, ...held].map(({ rule_id: id }) => id),
    }),
  )
  await engine.decisions.change(insertDecision, {
    at: now(),
    subscriber_id: subscriber.id,
    digest,
    state: [...place.states.values].join(' '),
    zip: place.zip,
    target,
    approved: result.approved ? 1 : 0,
    items: JSON.stringify(items),
  })
}

/** Removes decisions that are older than 400 days. */
export async function forgetDecisions({ engine, now }: RestrictionsCtx): Promise<void> {
  await deleteDecisions(engine.decisions.db, now() - KEPT)
}

export const decisionJob: Job<RestrictionsCtx> = {
  name: 'restriction decisions',
  every: DAY,
  run: forgetDecisions,
}
