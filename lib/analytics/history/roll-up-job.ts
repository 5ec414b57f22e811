/** Rolls the history up, soon after a day is over. */
import { HOUR, startOfDay } from '../../core/clock.js'
import type { AnalyticsCtx } from '../ctx.js'
import type { Job } from '../../core/async/job.js'
import { ROOM_FOR_FEEDS } from '../../core/storage/disk-space.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { openFile } from '../../db/sqlite/sqlite.js'
import { firstChange } from './queries.js'
import { startAnalytics } from '../builds/child-start.js'
import type { StartOptions } from '../builds/child-start.js'

/** Every hour, so that a server that was off at midnight is not a day late. */
export const historyJob: Job<AnalyticsCtx> = {
  name: 'history',
  every: HOUR,
  async run(ctx, signal) {
    await rollUpHistory(ctx, { signal }).catch((error: unknown) => {
      // Its process was ended with the app: the next start does it.
      if (!signal.aborted) throw error
    })
  },
}

/**
 * Rolls up the days that are over. Tells which, none where none is; rejects when it fails, and the
 * next run does it.
 */
export async function rollUpHistory(ctx: AnalyticsCtx, options: StartOptions): Promise<string[]> {
  if (!hasClosedDay(ctx) || !((await ctx.sharing?.mayWrite()) ?? true)) return []
  if (ctx.space.free() < ROOM_FOR_FEEDS) {
    ctx.log.warn({}, 'the history is not rolled up: the disk is nearly full')
    return []
  }
  const begunAt = ctx.monotonic()
  const { days, peak } = await startAnalytics(ctx, { task: 'roll-up' }, options)
  ctx.log.info(
    { days, peak, ms: Math.round(ctx.monotonic() - begunAt) },
    'the history was rolled up',
  )
  return days
}

/** Whether there is anything to do: most hours there is not, and no process is started. */
function hasClosedDay({ engine, now }: AnalyticsCtx): boolean {
  const history = openFile(filesIn(engine.dir).history, { synchronous: 'NORMAL', readonly: true })
  try {
    const first = firstChange(history)(0)
    return first !== null && startOfDay(first) < startOfDay(now())
  } finally {
    history.close()
  }
}
