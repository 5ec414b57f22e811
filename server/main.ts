/** The launcher. It looks at Node before it loads the rest, which an older one cannot even read. */
import { fileURLToPath } from 'node:url'
import { nodeFault } from './cli/node-version.js'
import { runCompiled } from './compiled.js'

const fault = nodeFault(process.versions.node)
if (fault === null) {
  const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url))
  // systemd's, or where the program itself lies, which nobody else may write either.
  runCompiled(beside('./program.cjs'), process.env['CACHE_DIRECTORY'] ?? beside('.'))
} else {
  process.stderr.write(`${fault}\n`)
  process.exitCode = 2
}
