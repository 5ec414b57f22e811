/** Which packages a bundle is made of, and what has to be said of each. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A package that goes along: `key` as package-lock has it (`node_modules/ajv`), `folder` where its
 * files lie, `integrity` of the archive that it came in.
 *
 * @typedef {{ key: string, folder: string, name: string, version: string, license: string,
 *   integrity?: string, needs: string[] }} Package
 */

/** The folder of the package that a file belongs to; undefined for a file of our own. */
const folderOf = (file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]

const lock = () => JSON.parse(readFileSync('package-lock.json', 'utf8')).packages

/** The packages that files of bundles come from, as esbuild names them. */
export function packagesOf(files) {
  const folders = new Set(files.map(folderOf).filter((folder) => folder !== undefined))
  return [...folders].map((folder) => packageIn(folder))
}

/**
 * The package in a folder. `key` names it where the folder lies elsewhere than the lockfile has it.
 *
 * @returns {Package}
 */
export function packageIn(folder, key = folder.slice(folder.indexOf('node_modules/'))) {
  const own = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const locked = lock()[key]
  if (locked?.version !== own.version)
    throw new Error(
      `${folder} has ${own.name} ${own.version}, and package-lock.json ${locked?.version ?? 'none'}: run npm ci`,
    )
  return {
    key,
    folder,
    name: own.name,
    version: own.version,
    license: own.license,
    integrity: locked.integrity,
    needs: Object.keys({ ...own.dependencies, ...own.optionalDependencies }),
  }
}

/** Each once, in the order of their names. */
export const sorted = (packages) =>
  [...new Map(packages.map((one) => [`${one.name}@${one.version}`, one])).values()].sort((a, b) =>
    `${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1,
  )
