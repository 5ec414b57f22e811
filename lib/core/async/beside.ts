/** Finds the files of threads and processes that this one starts. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Where a bundled file lies: beside the bundle that starts it. In the npm package the command and
 * the library have one of each, which is the library's.
 */
export const bundledFile = (name: string): string[] => [`./${name}`, `../lib/${name}`]

/** The first of these files that there is, by paths from a module; undefined where none is. */
export function fileBeside(module: string, names: readonly string[]): string | undefined {
  return names.map((name) => fileURLToPath(new URL(name, module))).find((path) => existsSync(path))
}
