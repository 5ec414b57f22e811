/**
 * Bundles the fuzzer with everything that it runs, as it is or with a bug planted in it: what is
 * edited later changes no run.
 */
import { cpSync, mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import * as esbuild from 'esbuild'
import { planting } from '../plants/seam.js'
import type { Planted } from '../plants/seam.js'

const PLANTS = join('scripts', 'fuzz', 'plants', 'plants.ts')
const UNCHANGED: Planted = { name: 'without a bug', seams: [] }

/**
 * Bundles `worker.ts` into `fuzz/worker.mjs` of a new temporary folder, which the caller removes,
 * with the process that has DuckDB and the files of the documentation where a build has them. Run
 * from the root of the repository. Throws when a seam of the bug is in none of it.
 */
export async function bundleWorker(plant: Planted = UNCHANGED): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'qm-fuzz-bundle-'))
  const outdir = join(root, 'fuzz')
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'))
  cpSync('data', join(root, 'data'), { recursive: true })
  cpSync('server/docs/assets', join(root, 'docs'), { recursive: true })
  cpSync('console/style/tokens.css', join(root, 'docs/tokens.css'))
  const { plugin, missing } = planting(plant, PLANTS)
  await esbuild.build({
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    legalComments: 'none',
    logLevel: 'warning',
    sourcemap: true,
    external: ['better-sqlite3', '@duckdb/node-api'],
    entryPoints: {
      worker: join('scripts', 'fuzz', 'worker.ts'),
      duckdb: join('lib', 'app', 'duckdb.ts'),
    },
    outdir,
    outExtension: { '.js': '.mjs' },
    banner: {
      js:
        "import { createRequire as __createRequire } from 'node:module'; const require = " +
        '__createRequire(import.meta.url);',
    },
    plugins: [plugin],
  })
  if (missing().length > 0) throw new Error(`not planted: ${missing().join(', ')}`)
  return root
}
