/** Runs the suites that must find a bug, with the bug in them. */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
// Bundles are made by a script without types.
// @ts-expect-error no declaration
import { bundleLauncher, bundleTree } from '../../build.mjs'
import { planting } from './seam.js'
import type { Plant } from './seam.js'

/** Milliseconds that a suite may take; one that a bug holds up has found it, too. */
const LIMIT = 5 * 60_000

export type Tried =
  /** By the first test that failed. */
  | { outcome: 'found'; suite: string; test: string }
  /** All passed. */
  | { outcome: 'missed' }
  /** No bundle has these seams. */
  | { outcome: 'not planted'; seams: string[] }

/**
 * Bundles the suites of a plant with it and runs one after the other until one fails. `file` is the
 * module that exports the plant in its `PLANTS`. Run from the root of the repository.
 */
export async function trySuites(plant: Plant, file: string): Promise<Tried> {
  mkdirSync('dist', { recursive: true })
  const outdir = mkdtempSync(join('dist', 'plant-'))
  try {
    const { plugin, missing } = planting(plant, file)
    const suites = Object.fromEntries(
      plant.suites.map((suite) => [nameOf(suite), join('test', `${suite}.test.ts`)]),
    )
    await bundleTree(outdir, { index: 'lib/index.ts', ...suites }, { plugins: [plugin] })
    await bundleLauncher(outdir, { plugins: [plugin] })
    const seams = missing()
    if (seams.length > 0) return { outcome: 'not planted', seams }
    for (const suite of plant.suites) {
      const test = await firstFailure(join(outdir, `${nameOf(suite)}.mjs`))
      if (test !== null) return { outcome: 'found', suite, test }
    }
    return { outcome: 'missed' }
  } finally {
    rmSync(outdir, { recursive: true, force: true })
  }
}

const nameOf = (suite: string) => `${suite.replaceAll('/', '-')}.test`

/** The name of the first test of a suite that fails; null where all pass. */
function firstFailure(file: string): Promise<string | null> {
  return new Promise((resolve) => {
    // A test that failed may leave open what it would have closed.
    const given = ['--test', '--test-force-exit', '--test-reporter=tap', file]
    const child = spawn(process.execPath, given, { stdio: ['ignore', 'pipe', 'pipe'] })
    const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT)
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += String(chunk)
    })
    child.on('close', (code) => {
      clearTimeout(limit)
      const names = [...out.matchAll(/^ *not ok \d+ - (.*)$/gm)].map(([, name]) => name!)
      resolve(
        code === 0
          ? null
          : (names.find((name) => !name.endsWith('.mjs')) ??
              (code === null ? 'it came to no end' : 'it broke down')),
      )
    })
  })
}
