/** Runs the line that this process was started with. */
import { codeOf } from '../../lib/core/errors.js'
import { runLine } from './run-line.js'

/** Returns the exit code. */
export async function launch(): Promise<number> {
  // SQLite makes its files as the mask allows, and the state folder may be one that others can look
  // into.
  process.umask(0o077)
  let isLost = false
  process.stdout.on('error', (error) => {
    // Whoever reads (`| head -1`, `serve | tee`) may leave at any time. What is under way ends as it
    // should: a backup must not stop in the middle because nobody listens any more.
    isLost ||= codeOf(error) !== 'EPIPE'
  })
  process.stderr.on('error', () => {})
  const status = await runLine(process.argv.slice(2), process)
  // What was printed into a file is not there as a whole: the disk may be full.
  return isLost && status === 0 ? 1 : status
}
