/** The program of a node: of the sources as they are, with a bug, or of another revision. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as esbuild from 'esbuild'
import { planting } from '../plants/seam.js'
import type { Planted } from '../plants/seam.js'
import type { Pace } from './pace.js'

export interface NodeBuild {
  root: string
  pace: Pick<Pace, 'lease' | 'settle' | 'apart'>
  /** One of plants.ts. */
  bug: Planted | null
}

/** A program that does not wait for the ten minutes after which an order counts as not sent. */
const impatient = ({ lease, settle, apart }: NodeBuild['pace']): esbuild.Plugin => ({
  name: 'impatient',
  setup({ onLoad }) {
    const have = (filter: RegExp, waits: string, instead: string) =>
      onLoad({ filter, namespace: 'file' }, ({ path }) => {
        const parts = readFileSync(path, 'utf8').split(waits)
        if (parts.length !== 2) throw new Error(`${path} has not one "${waits}"`)
        return { contents: parts.join(instead), loader: 'ts' }
      })
    have(/[\\/]rules[\\/]timing\.ts$/, 'const SETTLE = 10 * MINUTE', `const SETTLE = ${settle}`)
    have(
      /[\\/]rules[\\/]after-search\.ts$/,
      'const LOOKS_APART = MINUTE',
      `const LOOKS_APART = ${apart}`,
    )
    have(/[\\/]lead[\\/]leadership\.ts$/, 'const LIFE = 15 * SECOND', `const LIFE = ${lease}`)
  },
})

/** Resolves with the file to run. */
export async function bundleNode({ root, pace, bug }: NodeBuild): Promise<string> {
  const planted = bug && planting(bug, join('scripts', 'cluster', 'plants.ts'))
  const plugins = [...(planted ? [planted.plugin] : []), impatient(pace)]
  const program = await bundle(resolve('.'), { folder: join(root, 'program'), plugins })
  const missing = planted?.missing() ?? []
  if (missing.length > 0) throw new Error(`not part of the node: ${missing.join(', ')}`)
  return program
}

/** What a node says to this run, and hears of it, and the warehouses that it reaches. */
const OURS = ['node.ts', 'warehouse.ts']

/** The same of another revision of this repository. */
export async function bundleRevision(
  { root, pace }: Omit<NodeBuild, 'bug'>,
  revision: string,
): Promise<string> {
  const tree = join(root, 'revision')
  mkdirSync(tree)
  const archive = `${tree}.tar`
  execFileSync('git', ['archive', '--output', archive, revision])
  execFileSync('tar', ['-xf', archive, '-C', tree])
  for (const name of OURS)
    cpSync(join('scripts', 'cluster', name), join(tree, 'scripts', 'cluster', name))
  symlinkSync(resolve('node_modules'), join(tree, 'node_modules'))
  return bundle(tree, { folder: join(root, 'program-before'), plugins: [impatient(pace)] })
}

async function bundle(
  tree: string,
  { folder, plugins }: { folder: string; plugins: esbuild.Plugin[] },
): Promise<string> {
  mkdirSync(folder)
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  await esbuild.build({
    absWorkingDir: tree,
    entryPoints: {
      node: join('scripts', 'cluster', 'node.ts'),
      duckdb: join('lib', 'app', 'background', 'duckdb.ts'),
    },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    packages: 'external',
    logLevel: 'warning',
    plugins,
  })
  return join(folder, 'node.mjs')
}
