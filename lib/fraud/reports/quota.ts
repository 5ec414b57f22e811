/** Checks, reports and removals of a key within any 24 hours (contract "Limits"). */
import { quotaExceeded, waitFor } from '../../core/quota.js'
import type { FraudCounts, FraudCtx } from '../ctx.js'
import { DAY, MINUTE } from '../../core/clock.js'
import { CHECK_QUOTA, addCheck, checkBefore, checksByKey } from './meter-queries.js'

export const FRAUD_QUOTAS = { check: CHECK_QUOTA, report: 25, removal: 25 } as const
export type FraudUse = keyof typeof FRAUD_QUOTAS

export function openFraudCounts(): FraudCounts {
  return { times: new Map(), checks: new Map(), tries: new Map() }
}

/**
 * Counts a check, or throws 429 `rate_limited`. One at a time of a key, so that all processes
 * together count right.
 */
export async function countCheck(ctx: FraudCtx, keyId: string): Promise<void> {
  await ctx.engine.meter.alone(ctx, `fraud checks ${keyId}`, function* (at) {
    // Rows from the future come from a clock that was wrong.
    const [since, latest] = [at - DAY, at + MINUTE]
    const first = yield* checkBefore(keyId, { at, since, latest })
    refuseOver(ctx, 'check', keyId, first === undefined ? 0 : first - since)
    yield* addCheck(keyId, at)
  })
  rememberUse(ctx, 'check', keyId)
}

/**
 * Counts a report or a removal in the transaction that makes it, or throws 429 `rate_limited`;
 * `rememberUse` is called once that is committed.
 */
export async function countUse(
  tx: FraudCtx,
  use: Exclude<FraudUse, 'check'>,
  keyId: string,
): Promise<void> {
  const at = await tx.engine.time(tx)
  // Rows from the future come from a clock that was wrong: taken as now, they count no longer than
  // the window.
  await tx.db
    .updateTable('fraud_use')
    .set({ at })
    .where('key_id', '=', keyId)
    .where('at', '>', at + MINUTE)
    .execute()
  await tx.db
    .deleteFrom('fraud_use')
    .where('key_id', '=', keyId)
    .where('at', '<=', at - DAY)
    .execute()
  const rows = await tx.db
    .selectFrom('fraud_use')
    .select('at')
    .where('key_id', '=', keyId)
    .where('kind', '=', use)
    .orderBy('at')
    .execute()
  const times = rows.map(({ at: then }) => then)
  refuseOver(tx, use, keyId, waitFor(times, at, quotaOf(use)))
  await tx.db.insertInto('fraud_use').values({ key_id: keyId, kind: use, at }).execute()
}

/** What a key has used of its quotas, in the last 24 hours. */
export interface FraudQuota {
  key: string
  name: string
  subscriber: string
  checks: number
  reports: number
  removals: number
}

/** What a key may, and what each has used of it in the last 24 hours. */
export async function fraudQuotas(ctx: FraudCtx): Promise<{
  limits: Pick<FraudQuota, 'checks' | 'reports' | 'removals'>
  keys: FraudQuota[]
}> {
  const { check: checks, report: reports, removal: removals } = FRAUD_QUOTAS
  return { limits: { checks, reports, removals }, keys: await usedQuotas(ctx) }
}

/** Of keys that used none nothing. Whoever used most comes first. */
async function usedQuotas(ctx: FraudCtx): Promise<FraudQuota[]> {
  const since = (await ctx.engine.time(ctx)) - DAY
  const checks = await checksByKey(ctx.engine.meter.db, since)
  const uses = await ctx.read
    .selectFrom('fraud_use')
    .select((query) => ['key_id', 'kind', query.fn.countAll<number>().as('uses')])
    .where('at', '>', since)
    .groupBy(['key_id', 'kind'])
    .execute()
  const ids = [...new Set([...checks, ...uses].map(({ key_id: id }) => id))]
  if (ids.length === 0) return []
  const keys = await ctx.read
    .selectFrom('api_key')
    .innerJoin('subscriber', 'subscriber.id', 'api_key.subscriber_id')
    .select(['api_key.id', 'api_key.name', 'subscriber.name as subscriber'])
    .where('api_key.id', 'in', ids)
    .execute()
  const usedOf = (id: string, use: Exclude<FraudUse, 'check'>) =>
    uses.find(({ key_id: key, kind }) => key === id && kind === use)?.uses ?? 0
  return keys
    .map(({ id, name, subscriber }) => ({
      key: id,
      name,
      subscriber,
      checks: checks.find(({ key_id: key }) => key === id)?.uses ?? 0,
      reports: usedOf(id, 'report'),
      removals: usedOf(id, 'removal'),
    }))
    .sort((a, b) => b.checks - a.checks || b.reports - a.reports || (a.key < b.key ? -1 : 1))
}

/** Notes what was counted by the steady clock too. */
export function rememberUse(
  { fraudCounts, monotonic }: FraudCtx,
  use: FraudUse,
  keyId: string,
): void {
  const at = monotonic()
  fraudCounts.times.set(`${use} ${keyId}`, [...timesHere(fraudCounts, use, keyId, at), at])
}

function timesHere({ times }: FraudCounts, use: FraudUse, keyId: string, now: number): number[] {
  return (times.get(`${use} ${keyId}`) ?? []).filter((at) => at > now - DAY)
}

const quotaOf = (use: FraudUse) => ({ limit: FRAUD_QUOTAS[use], window: DAY })

/** `wait` is the time until one more fits, by the database. */
function refuseOver(
  { monotonic, fraudCounts }: FraudCtx,
  use: FraudUse,
  keyId: string,
  wait: number,
): void {
  const quota = quotaOf(use)
  const steady = monotonic()
  const ms = Math.max(wait, waitFor(timesHere(fraudCounts, use, keyId, steady), steady, quota))
  if (ms > 0)
    throw quotaExceeded(
      'rate_limited',
      quota,
      ms,
      `This key may send ${quota.limit} fraud ${use}s in any 24 hours.`,
    )
}

const WATCHED = 100

/**
 * Tells the operator of a key of whose checks more than half match: somebody may be trying out what
 * others have reported.
 */
export function watchMatches(
  { fraudCounts: { checks }, log }: FraudCtx,
  keyId: string,
  matched: boolean,
): void {
  const { made, matched: before } = checks.get(keyId) ?? { made: 0, matched: 0 }
  const rate = { made: made + 1, matched: before + (matched ? 1 : 0) }
  if (rate.made < WATCHED) return void checks.set(keyId, rate)
  if (rate.matched * 2 > WATCHED)
    log.warn(
      { key: keyId, checks: rate.made, matched: rate.matched },
      'more than half of the fraud checks of a key match: it may be trying out what others ' +
        'have reported',
    )
  checks.delete(keyId)
}
