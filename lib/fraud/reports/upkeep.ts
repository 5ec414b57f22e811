/** How long reports are kept, and what the operator can see and remove of them. */
import { audit } from '../../accounts/audit.js'
import type { Subscriber } from '../../accounts/caller.js'
import { DAY, HOUR } from '../../core/clock.js'
import type { FraudCtx } from '../ctx.js'
import type { Job } from '../../core/async/job.js'
import { localKeys } from '../keys/keys.js'
import { settleReports } from '../keys/rotate.js'
import { SEEN, removeReports } from './store.js'

/** Milliseconds after its last update that a report is kept: 24 months. */
export const RETENTION = 730 * DAY
/** Reports that one transaction removes. */
const AT_ONCE = 100

/**
 * Forgets what is old, and ends what a rotation, a lost key or a restored backup left half done.
 */
export const fraudJob: Job<FraudCtx> = {
  name: 'fraud',
  every: HOUR,
  async run(ctx, signal) {
    await settleReports(ctx, signal)
    while (
      !signal.aborted &&
      (await removeSome(ctx, (query) => query.where('updated_at', '<=', ctx.now() - RETENTION))) > 0
    );
  },
}

type Reports = ReturnType<typeof reportsIn>
const reportsIn = ({ read }: FraudCtx) => read.selectFrom('fraud_report').select('id')

async function removeSome(ctx: FraudCtx, which: (query: Reports) => Reports): Promise<number> {
  return ctx.engine.atomic(ctx, async (tx) => {
    const rows = await which(reportsIn(tx)).orderBy('id').limit(AT_ONCE).execute()
    await removeReports(
      tx,
      rows.map(({ id }) => id),
    )
    return rows.length
  })
}

/** Removes every report of a subscriber, as it may ask for when it leaves. Returns how many. */
export async function eraseReports(
  ctx: FraudCtx,
  { id, name }: Subscriber,
): Promise<{ removed: number }> {
  let removed = 0
  for (
    let some;
    (some = await removeSome(ctx, (query) => query.where('subscriber_id', '=', id))) > 0;
  )
    removed += some
  await ctx.engine.atomic(ctx, (tx) => audit(tx, 'fraud erase', { subscriber: name, removed }))
  return { removed }
}

export interface FraudStats {
  reports: number
  /** Subscribers of this installation that have reported, and dealers of partners. */
  dealers: number
  signals: number
  /** `YYYY-MM-DD`, null where there are no reports. */
  first_reported: string | null
  last_reported: string | null
  by_subscriber: { subscriber: string; reports: number }[]
  partners: { partner: string; reports: number; made_at: string }[]
  /** Reports that wait to be brought under the key of now. */
  under_old_keys: number
  /** Reports that could not be opened for that: they stay under an old one. */
  unreadable: number
}

/** Counts alone; nothing of what was reported. Makes no key where there is none. */
export async function fraudStats(ctx: FraudCtx): Promise<FraudStats> {
  const { prepare } = ctx.engine.reader
  const all = prepare(
    `SELECT count(*) AS reports, count(DISTINCT dealer) AS dealers, min(reported_at) AS first, max(updated_at) AS last FROM fraud_report WHERE ${SEEN}`,
  ).get() as { reports: number; dealers: number; first: number | null; last: number | null }
  const day = (at: number | null) => (at === null ? null : new Date(at).toISOString().slice(0, 10))
  const current = localKeys(ctx.engine.dir).at(-1)?.name ?? ''
  const old = prepare(
    'SELECT count(CASE WHEN unreadable = 0 THEN 1 END) AS waiting, count(CASE WHEN unreadable = 1 THEN 1 END) AS unreadable FROM fraud_report WHERE partner IS NULL AND key <> ?',
  ).get(current) as { waiting: number; unreadable: number }
  return {
    reports: all.reports,
    dealers: all.dealers,
    first_reported: day(all.first),
    last_reported: day(all.last),
    signals: prepare(
      `SELECT count(DISTINCT hash) FROM fraud_signal JOIN fraud_report ON id = report WHERE ${SEEN}`,
    )
      .pluck()
      .get() as number,
    by_subscriber: prepare(
      'SELECT name AS subscriber, count(*) AS reports FROM fraud_report JOIN subscriber ON subscriber.id = subscriber_id GROUP BY subscriber_id ORDER BY name',
    ).all() as FraudStats['by_subscriber'],
    partners: (
      await ctx.read
        .selectFrom('fraud_partner')
        .select(['name', 'reports', 'made_at'])
        .orderBy('name')
        .execute()
    ).map(({ name, reports, made_at: at }) => ({
      partner: name,
      reports,
      made_at: new Date(at).toISOString(),
    })),
    under_old_keys: old.waiting,
    unreadable: old.unreadable,
  }
}
