/** The launcher. It looks at Node before it loads the rest, which an older one cannot even read. */
import { nodeFault } from './cli/node-version.js'

const fault = nodeFault(process.versions.node)
if (fault === null) {
  const { launch } = await import('./cli/launch.js')
  process.exitCode = await launch()
} else {
  process.stderr.write(`${fault}\n`)
  process.exitCode = 2
}
