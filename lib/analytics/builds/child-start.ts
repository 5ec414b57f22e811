/** Starts analytics work in a process of its own. */
import { runChild } from '../../core/async/child.js'
import type { ChildProgress } from '../../core/async/child.js'
import { MINUTE } from '../../core/clock.js'
import type { AnalyticsCtx } from '../ctx.js'
import type { AnalyticsResults } from './child-job.js'
import type { AnalyticsJob } from './job.js'

/** Milliseconds after which it is killed. */
const LIMIT = 10 * MINUTE
/** Megabytes of JavaScript that it may hold. */
const HEAP = 128

export interface StartOptions {
  signal: AbortSignal
  limit?: number | undefined
  /** The file of the process; `duckdb.mjs` beside this package by default. */
  file?: string | undefined
  onProgress?: ((...progress: ChildProgress) => void) | undefined
}

/**
 * Does one task over the state folder, after any other analytics work there. Rejects when it fails
 * or takes too long.
 */
export function startAnalytics<T extends AnalyticsJob['task']>(
  { engine, now }: Pick<AnalyticsCtx, 'engine' | 'now'>,
  job: Omit<Extract<AnalyticsJob, { task: T }>, 'kind' | 'dir' | 'now'> & { task: T },
  { limit = LIMIT, ...options }: StartOptions,
): Promise<AnalyticsResults[T]> {
  const told = { ...job, kind: 'analytics', dir: engine.dir, now: now() }
  return runChild<AnalyticsResults[T]>(told, {
    ...options,
    limit,
    heap: HEAP,
    failure: `the ${job.task} of analytics was not done`,
  })
}
