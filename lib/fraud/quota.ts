/** Checks, reports and removals of a key within any 24 hours (contract "Limits", decisions 9.5). */
import { DAY, MINUTE, SECOND } from '../core/clock.js'
import type { OperatorCtx } from '../core/ctx.js'
import { ApiError } from '../core/errors.js'
import type { RawHandle } from '../db/engine.js'

export const FRAUD_QUOTAS = { check: 1_000, report: 25, removal: 25 } as const
export type FraudUse = keyof typeof FRAUD_QUOTAS

/** Counts a check, or throws 429 `rate_limited`. One transaction, so that two processes together count right. */
export function countCheck({ engine: { meter }, now }: OperatorCtx, keyId: string): void {
  meter.raw.transaction(() => {
    const at = now()
    meter.prepare('UPDATE fraud_check SET at = ? WHERE key_id = ? AND at > ?').run(at, keyId, at + MINUTE)
    meter.prepare('DELETE FROM fraud_check WHERE key_id = ? AND at <= ?').run(keyId, at - DAY)
    refuseOver('check', timesIn(meter, keyId), at)
    meter.prepare('INSERT INTO fraud_check (key_id, at) VALUES (?, ?)').run(keyId, at)
  }).immediate()
}

function timesIn({ prepare }: RawHandle, keyId: string): number[] {
  return prepare('SELECT at FROM fraud_check WHERE key_id = ? ORDER BY at').pluck().all(keyId) as number[]
}

/** Counts a report or a removal in the transaction that makes it, or throws 429 `rate_limited`. */
export async function countUse(tx: OperatorCtx, use: Exclude<FraudUse, 'check'>, keyId: string): Promise<void> {
  const at = tx.now()
  // Rows from the future come from a clock that was wrong: taken as now, they count no longer than the window.
  await tx.db.updateTable('fraud_use').set({ at }).where('key_id', '=', keyId).where('at', '>', at + MINUTE).execute()
  await tx.db.deleteFrom('fraud_use').where('key_id', '=', keyId).where('at', '<=', at - DAY).execute()
  const rows = await tx.db.selectFrom('fraud_use').select('at').where('key_id', '=', keyId).where('kind', '=', use).orderBy('at').execute()
  refuseOver(use, rows.map(({ at: then }) => then), at)
  await tx.db.insertInto('fraud_use').values({ key_id: keyId, kind: use, at }).execute()
}

/** `times` of the last 24 hours, oldest first. */
function refuseOver(use: FraudUse, times: readonly number[], now: number): void {
  const limit = FRAUD_QUOTAS[use]
  if (times.length < limit) return
  const seconds = Math.max(1, Math.ceil((times[times.length - limit]! + DAY - now) / SECOND))
  throw new ApiError('rate_limited', {
    message: `This key may send ${limit} fraud ${use}s in any 24 hours. Wait as long as Retry-After says.`,
    details: { limit, window_seconds: DAY / SECOND, retry_after_seconds: seconds }, headers: { 'retry-after': String(seconds) },
  })
}
