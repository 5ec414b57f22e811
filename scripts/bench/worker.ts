/**
 * The worker and the servers of the benchmarks, which run from source: bundled as the package has
 * them. From source each function is given its name anew whenever it is made, which the package
 * does not do.
 */
import { symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'

/** Puts it into a folder that is there, with all that it needs. Returns its path. */
export async function bundleWorker(folder: string): Promise<string> {
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  return bundle('lib/app/background/worker.ts', join(folder, 'worker.mjs'))
}

/** Puts the servers of the HTTP benchmarks beside the worker. Returns their path. */
export async function bundleServers(folder: string): Promise<string> {
  return bundle('scripts/bench/serve.ts', join(folder, 'serve.mjs'))
}

async function bundle(entry: string, outfile: string): Promise<string> {
  await build({
    entryPoints: [entry],
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
