/** Rebuilds the metrics once a day, and when an operator asks for it. */
import { audit } from '../../accounts/audit.js'
import type { ChildProgress } from '../../core/async/child.js'
import { DAY, MINUTE } from '../../core/clock.js'
import type { AnalyticsCtx } from '../ctx.js'
import type { Job } from '../../core/async/job.js'
import { ROOM_FOR_FEEDS } from '../../core/storage/disk-space.js'
import { fedDistributors } from '../../catalog/queries.js'
import { startAnalytics } from './child-start.js'
import type { Rebuilt } from './rebuild.js'

/** After one that failed, milliseconds until the job tries again. */
const PAUSE = 15 * MINUTE

/**
 * A look each minute: the first build is made soon after the first feed, the next ones a day after
 * the one before.
 */
export const analyticsJob: Job<AnalyticsCtx> = { name: 'analytics', every: MINUTE, run: runWhenDue }

/** When the last rebuild of a process failed, on its monotonic clock. */
const failedAt = new WeakMap<AnalyticsCtx['analytics'], number>()

async function runWhenDue(ctx: AnalyticsCtx, signal: AbortSignal): Promise<void> {
  const { analytics, monotonic } = ctx
  if (!isDue(ctx) || monotonic() - (failedAt.get(analytics) ?? -Infinity) < PAUSE) return
  if (!((await ctx.sharing?.mayWrite()) ?? true)) return
  try {
    await rebuildAnalytics(ctx, { signal })
  } catch (error) {
    // The next start finds it due again.
    if (signal.aborted || analytics.closing.aborted) return
    failedAt.set(analytics, monotonic())
    throw error
  }
}

/**
 * Whether there is anything new to read: no build yet and a catalog, one that is a day old, damaged
 * or from a day that has not come (a clock that was set back), or a distributor whose first feed
 * came after it.
 */
export function isDue({
  analytics,
  engine,
  now,
}: Pick<AnalyticsCtx, 'analytics' | 'engine' | 'now'>): boolean {
  const fed = fedDistributors(engine.catalog)
  const status = analytics.status()
  if (!status) return fed.length > 0
  return (
    status.isSecondChoice ||
    status.at + DAY <= now() ||
    status.at > now() + MINUTE ||
    fed.some((distid) => !status.fed.includes(distid))
  )
}

export interface RebuildOptions {
  signal?: AbortSignal
  onProgress?: (...progress: ChildProgress) => void
  /** Says what would be done, and does nothing. */
  dryRun?: boolean
}

export interface RebuiltNow extends Pick<Rebuilt, 'items' | 'rows'> {
  build: string | null
  /** When its data were read, ISO 8601. */
  as_of: string | null
  /** Milliseconds. */
  ms: number
}

/**
 * Builds all seven metrics anew in a process of its own; the build before it serves until then.
 * Rejects when it fails, and that one serves on.
 */
export async function rebuildAnalytics(
  ctx: AnalyticsCtx,
  { signal, onProgress }: Omit<RebuildOptions, 'dryRun'> = {},
): Promise<RebuiltNow> {
  if (ctx.space.free() < ROOM_FOR_FEEDS)
    throw new Error('the metrics are not rebuilt: the disk is nearly full')
  const begunAt = ctx.monotonic()
  const { build, at, items, rows, damaged, peak, cpu } = await startAnalytics(
    ctx,
    { task: 'rebuild' },
    {
      signal: AbortSignal.any([ctx.analytics.closing, ...(signal ? [signal] : [])]),
      onProgress,
      ...ctx.analytics.process,
    },
  )
  const ms = Math.round(ctx.monotonic() - begunAt)
  ctx.log.info({ build, items, rows, peak, cpu, ms }, 'the metrics were rebuilt')
  if (damaged.length > 0)
    ctx.log.warn(
      { days: damaged },
      'days of the history were left out of the metrics: their files in history/days are ' +
        'damaged; bring them back from a backup, or remove them',
    )
  return { build, items, rows, as_of: new Date(at).toISOString(), ms }
}

/**
 * As `rebuildAnalytics`, for an operator: noted in the audit. A dry run tells of the build that
 * serves. Throws 503 on one of several nodes that does not lead, which would build for itself alone.
 */
export async function rebuildForOperator(
  ctx: AnalyticsCtx,
  { dryRun = false, ...options }: RebuildOptions = {},
): Promise<RebuiltNow> {
  if (dryRun) {
    const status = ctx.analytics.status()
    return {
      build: status?.build ?? null,
      items: status?.items ?? 0,
      rows: 0,
      as_of: status ? new Date(status.at).toISOString() : null,
      ms: 0,
    }
  }
  await ctx.sharing?.check()
  const rebuilt = await rebuildAnalytics(ctx, options)
  await audit(ctx, 'analytics.rebuild', { build: rebuilt.build, items: rebuilt.items })
  return rebuilt
}
