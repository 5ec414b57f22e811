/** The process that builds one export: DuckDB can be stopped only together with the process that it runs in. */
import { setPriority } from 'node:os'
import type { BuildJob, FromBuild } from './build-job.js'
import { build } from './build.js'

/** As `nice 10`: a build waits for whoever answers a caller. */
const PRIORITY = 10

process.once('message', (job: BuildJob) => {
  // Nobody waits for it any more; whatever it has begun lies in its own folder.
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  const tell = (message: FromBuild) => process.send!(message, () => process.exit())
  build(job).then((result) => tell({ result }), (error: unknown) => tell({ error: error instanceof Error ? error.message : String(error) }))
})

try {
  setPriority(PRIORITY)
} catch {
  // Where a system does not allow it, the build is only less polite.
}
