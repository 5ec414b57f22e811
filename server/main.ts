/** The launcher. */
import { runLine } from './run-line.js'

process.exitCode = await runLine(process.argv.slice(2), process)
