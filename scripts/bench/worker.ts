/** The worker of the benchmarks, which run from source: bundled as the package has it. */
import { symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'

/** Puts it into a folder that is there, with all that it needs. Returns its path. */
export async function bundleWorker(folder: string): Promise<string> {
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const outfile = join(folder, 'worker.mjs')
  await build({
    entryPoints: ['lib/app/background/worker.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    packages: 'external',
    logLevel: 'warning',
  })
  return outfile
}
