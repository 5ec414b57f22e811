/** Which release this is. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The version in the package that this file came with; `unknown` where it was taken out of it. */
export function ownVersion(): string {
  for (let dir = dirname(fileURLToPath(import.meta.url)); ; dir = dirname(dir)) {
    const file = join(dir, 'package.json')
    if (existsSync(file)) {
      const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
      if (name === 'quartermaster' && version !== undefined) return version
    }
    if (dir === dirname(dir)) return 'unknown'
  }
}
