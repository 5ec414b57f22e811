/** How long reports are kept, and what the operator can see and remove of them. */
import { localKeys } from '../keys/keys.js'
import { audit } from '../../accounts/audit.js'
import type { Subscriber } from '../../accounts/caller.js'
import { DAY, HOUR, dayOf } from '../../core/clock.js'
import type { FraudCtx } from '../ctx.js'
import type { Job } from '../../core/async/job.js'
import { settleReports } from '../keys/rotate.js'
import { forgetTries } from './guess-limit.js'
import { isSeen, reporter } from './queries.js'
import { removeReports, writeReports } from './store.js'

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
    await forgetTries(ctx)
    while (
      !signal.aborted &&
      (await removeSome(ctx, (query) => query.where('updated_at', '<=', ctx.now() - RETENTION))) > 0
    );
  },
}

type Reports = ReturnType<typeof reportsIn>
const reportsIn = ({ read }: FraudCtx) => read.selectFrom('fraud_report').select('id')

async function removeSome(ctx: FraudCtx, which: (query: Reports) => Reports): Promise<number> {
  return writeReports(ctx, async (tx) => {
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
  const all = await ctx.read
    .selectFrom('fraud_report')
    .where(isSeen)
    .select(({ fn }) => [
      fn.countAll<number>().as('reports'),
      fn.count<number>('dealer').distinct().as('dealers'),
      fn.min<number | null>('reported_at').as('first'),
      fn.max<number | null>('updated_at').as('last'),
    ])
    .executeTakeFirstOrThrow()
  const { signals } = await ctx.read
    .selectFrom('fraud_signal')
    .innerJoin('fraud_report', 'id', 'report')
    .where(isSeen)
    .select(({ fn }) => fn.count<number>('hash').distinct().as('signals'))
    .executeTakeFirstOrThrow()
  const day = (at: number | null) => (at === null ? null : dayOf(at))
  const texts = await ctx.engine.look(() => ctx.fraudKeyStore.texts())
  const current = localKeys(texts).at(-1)?.name ?? ''
  const underOldKeys = ctx.read
    .selectFrom('fraud_report')
    .where('partner', 'is', null)
    .where('key', '<>', current)
    .select(({ fn }) => fn.countAll<number>().as('reports'))
  const waiting = await underOldKeys.where('unreadable', '=', 0).executeTakeFirstOrThrow()
  const unreadable = await underOldKeys.where('unreadable', '=', 1).executeTakeFirstOrThrow()
  return {
    reports: all.reports,
    dealers: all.dealers,
    first_reported: day(all.first),
    last_reported: day(all.last),
    signals,
    by_subscriber: await ctx.read
      .selectFrom('fraud_report')
      .innerJoin('subscriber', 'subscriber.id', 'subscriber_id')
      .groupBy(reporter.id)
      .orderBy(reporter.name)
      .select(({ fn }) => ['name as subscriber', fn.countAll<number>().as('reports')])
      .execute(),
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
    under_old_keys: waiting.reports,
    unreadable: unreadable.reports,
  }
}
