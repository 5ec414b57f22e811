/** The launcher. It looks at Node before it loads the rest, which an older one cannot even read. */
import * as nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'
import { nodeFault } from './cli/node-version.js'

const fault = nodeFault(process.versions.node)
if (fault === null) {
  // Node 20 has none. Elsewhere it is written where the program itself lies, which nobody else may
  // write either; where that cannot be written, everything is compiled at each start.
  const { enableCompileCache } = nodeModule as {
    enableCompileCache?: (folder: string) => unknown
  }
  enableCompileCache?.(fileURLToPath(new URL('./compiled', import.meta.url)))
  const { launch } = await import('./cli/launch.js')
  process.exitCode = await launch()
} else {
  process.stderr.write(`${fault}\n`)
  process.exitCode = 2
}
