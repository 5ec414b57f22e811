/** The launcher. */
import { runLine } from './cli/run-line.js'

// SQLite makes its files as the mask allows, and the state folder may be one that others can look
// into.
process.umask(0o077)
// Whoever read what is written here may be gone, as after Ctrl-C in `serve | tee`: what is under
// way ends as it should.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
process.exitCode = await runLine(process.argv.slice(2), process)
