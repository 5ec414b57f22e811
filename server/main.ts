/** The launcher. */
import { runLine } from './cli/run-line.js'

// SQLite makes its files as the mask allows, and the state folder may be one that others can look
// into.
process.umask(0o077)
process.exitCode = await runLine(process.argv.slice(2), process)
