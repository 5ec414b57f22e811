/**
 * The process that has DuckDB, and reads what may fill the memory: it does one job, says what came
 * of it, and ends. It is started by core/child.ts.
 */
import { setPriority } from 'node:os'
import type { AnalyticsJob } from '../../analytics/builds/job.js'
import type { ChildProgress, FromChild } from '../../core/async/child.js'
import type { BuildJob } from '../../exports/build-job.js'
import type { WorkbookJob } from '../../ffls/lists/workbook.js'

type Job = BuildJob | AnalyticsJob | WorkbookJob

/** As `nice 10`: it waits for whoever answers a caller. */
const PRIORITY = 10

/**
 * Each domain's code is loaded only where its job asks for it, and so is DuckDB by those that need
 * it: a static import would be hoisted to the top of the one bundled file, and where DuckDB is not
 * installed, no workbook could be read.
 */
async function run(job: Job, onProgress: (...progress: ChildProgress) => void): Promise<unknown> {
  if (job.kind === 'export') return (await import('../../exports/build.js')).build(job)
  if (job.kind === 'workbook') return (await import('../../ffls/lists/workbook.js')).tablesOf(job)
  return (await import('../../analytics/builds/child-job.js')).runAnalytics(job, onProgress)
}

process.once('message', (job: Job) => {
  // Nobody waits for it any more; whatever it has begun lies in its own folder.
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  const tell = (message: FromChild<unknown>) => process.send!(message, () => process.exit())
  const onProgress = (...progress: ChildProgress) => {
    process.send!({ progress } satisfies FromChild<unknown>)
  }
  run(job, onProgress).then(
    (result) => tell({ result }),
    (error: unknown) => tell({ error: error instanceof Error ? error.message : String(error) }),
  )
})

try {
  setPriority(PRIORITY)
} catch {
  // Where a system does not allow it, the work is only less polite.
}
