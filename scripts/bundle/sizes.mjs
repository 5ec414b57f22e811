/** How large an artefact is, for the build's output. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** `  76.3 MB  dist/quartermaster`, of a file or of all in a folder. */
export function sizeOf(path) {
  const files = statSync(path).isFile()
    ? [path]
    : readdirSync(path, { recursive: true }).map((name) => join(path, name))
  const bytes = files
    .map((file) => statSync(file))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0)
  return `${(bytes / 1_048_576).toFixed(1).padStart(6)} MB  ${path}`
}
