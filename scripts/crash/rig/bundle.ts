/** Bundles the entries of the crash harness, as they are or with a fault planted in them. */
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import * as esbuild from 'esbuild'
import { planting } from '../../plants/seam.js'
import type { Planted } from '../../plants/seam.js'
import { PROBES } from './probes.js'

/**
 * Bundles entries of `scripts/crash` into a new temporary folder, which the caller removes, with
 * the probes of the harness and a bug of rig/plants.ts. Run from the root of the repository. Throws
 * when a seam of them is gone.
 */
export async function bundleEntries(names: readonly string[], bug?: Planted): Promise<string> {
  const outdir = mkdtempSync(join(tmpdir(), 'qm-bundle-'))
  symlinkSync(resolve('node_modules'), join(outdir, 'node_modules'))
  const planted = [planting(PROBES, fileOf('rig/probes'))]
  if (bug) planted.push(planting(bug, fileOf('rig/plants')))
  await esbuild.build({
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    legalComments: 'none',
    logLevel: 'warning',
    external: ['better-sqlite3'],
    entryPoints: Object.fromEntries(names.map((name) => [`${name}.bundle`, fileOf(name)])),
    outdir,
    outExtension: { '.js': '.cjs' },
    define: { 'import.meta.url': '__importMetaUrl' },
    banner: { js: "const __importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
    plugins: planted.map(({ plugin }) => plugin),
  })
  for (const name of names)
    writeFileSync(join(outdir, `${name}.cjs`), STARTER.replaceAll('NAME', name))
  const missing = planted.flatMap((each) => each.missing())
  if (missing.length > 0) throw new Error(`not part of the bundle: ${missing.join(', ')}`)
  return outdir
}

const fileOf = (name: string) => join('scripts', 'crash', `${name}.ts`)

/**
 * Starts a bundle with the code that V8 made of it in an earlier life, where there is such: a third
 * of the time that a life takes to begin is compiling. `{ keepCode: true }` has a process that has
 * done some work leave its own behind.
 */
const STARTER = `
const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs')
const { Script } = require('node:vm')
const file = __dirname + '/NAME.bundle.cjs'
const code = existsSync(file + '.code') ? readFileSync(file + '.code') : undefined
const script = new Script(require('node:module').wrap(readFileSync(file, 'utf8')), { filename: file, cachedData: code })
script.runInThisContext().call(exports, exports, require, module, file, __dirname)
process.on('message', ({ keepCode }) => {
  if (!keepCode) return
  writeFileSync(file + '.code.new', script.createCachedData())
  renameSync(file + '.code.new', file + '.code')
})
`
