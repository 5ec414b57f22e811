/** Runs the line that this process was started with. */
import { codeOf } from '../../lib/core/errors.js'
import { runLine } from './run-line.js'

/** Returns the exit code. */
export async function launch(): Promise<number> {
  // SQLite makes its files as the mask allows, and the state folder may be one that others can look
  // into.
  process.umask(0o077)
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe)
  return runLine(process.argv.slice(2), process)
}

/**
 * Whoever reads (`| head -1`) may leave at any time. What the command does is done all the same: a
 * backup must not end in the middle because nobody listens any more.
 */
function ignoreClosedPipe(error: Error): void {
  if (codeOf(error) !== 'EPIPE') throw error
}
