/** Bundles the fuzzer with everything that it runs, as it is or with a fault planted in it: what is edited later changes no run. */
import { cpSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import * as esbuild from 'esbuild'
import type { Patch } from '../crash/lib-bundle.js'

/**
 * Bundles `worker.ts` into `fuzz/worker.mjs` of a new temporary folder, which the caller removes, with the process that has DuckDB
 * and the files of the documentation where a build has them. Run from the root of the repository. Throws when a text that is to
 * be replaced does not stand there exactly once.
 */
export async function bundleWorker(patches: readonly Patch[] = []): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'qm-fuzz-bundle-'))
  const outdir = join(root, 'fuzz')
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'))
  cpSync('data', join(root, 'data'), { recursive: true })
  cpSync('server/docs/assets', join(root, 'docs'), { recursive: true })
  cpSync('node_modules/swagger-ui-dist', join(root, 'docs/swagger-ui'), { recursive: true })
  const waiting = new Set(patches)
  await esbuild.build({
    bundle: true, platform: 'node', target: 'node20.19', format: 'esm', legalComments: 'none', logLevel: 'warning', sourcemap: true, external: ['better-sqlite3', '@duckdb/node-api'],
    entryPoints: { worker: join('scripts', 'fuzz', 'worker.ts'), duckdb: join('lib', 'duckdb.ts') }, outdir, outExtension: { '.js': '.mjs' },
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
    plugins: [{
      name: 'patches',
      setup(build) {
        build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
          const mine = patches.filter(({ file }) => file === relative('.', path))
          if (mine.length === 0) return undefined
          for (const patch of mine) waiting.delete(patch)
          return { contents: mine.reduce(apply, readFileSync(path, 'utf8')), loader: 'ts' }
        })
      },
    }],
  })
  if (waiting.size > 0) throw new Error(`not part of the bundle: ${[...waiting].map(({ file }) => file).join(', ')}`)
  return root
}

function apply(text: string, { file, find, replace }: Patch): string {
  const parts = text.split(find)
  if (parts.length !== 2) throw new Error(`${file} has this text ${parts.length - 1} times, not once: ${find}`)
  return parts.join(replace)
}
