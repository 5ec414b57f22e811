/**
 * Do the suites notice? Plants each bug in turn and runs the suites that must find it.
 *
 *   npx tsx scripts/plants/run.mjs [words of a name] [--workers 2]
 *
 * Ends with 1 where a bug is not found, where its seam is no longer there, or where a suite fails
 * without any bug.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundleLauncher, bundleTree } from '../../build.mjs'
import { PLANTS } from './plants.ts'
import { planting } from './seam.ts'

/** Milliseconds that the suites of one bug may take; one that holds them up is found too. */
const LIMIT = 5 * 60_000
const LISTS = join('scripts', 'plants', 'plants.ts')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { workers: { type: 'string', default: '2' } },
})
const wanted = positionals.join(' ')

/**
 * Bundles suites with a bug, runs them until one fails, and tells the first test that did: `{
 * isRight, line }`.
 */
async function tryOne(plant) {
  mkdirSync('dist', { recursive: true })
  const outdir = mkdtempSync(join('dist', 'plant-'))
  try {
    const { plugin, missing } = planting(plant, LISTS)
    const suites = Object.fromEntries(
      plant.suites.map((suite) => [
        `${suite.replaceAll('/', '-')}.test`,
        join('test', `${suite}.test.ts`),
      ]),
    )
    await bundleTree(outdir, { index: 'lib/index.ts', ...suites }, { plugins: [plugin] })
    await bundleLauncher(outdir, { plugins: [plugin] })
    if (missing().length > 0)
      return { isRight: false, line: `NOT PLANTED ${plant.name}: ${missing().join(', ')}` }
    for (const suite of plant.suites) {
      const failed = await firstFailure(join(outdir, `${suite.replaceAll('/', '-')}.test.mjs`))
      if (failed !== null)
        return {
          isRight: plant.seams.length > 0,
          line: `${plant.seams.length > 0 ? 'found ' : 'FAILS '} ${plant.name}: ${suite}: ${failed}`,
        }
    }
    return plant.seams.length === 0
      ? { isRight: true, line: `passes ${plant.name}` }
      : { isRight: false, line: `MISSED ${plant.name} (${plant.suites.join(', ')})` }
  } finally {
    rmSync(outdir, { recursive: true, force: true })
  }
}

/** The name of the first test of a suite that fails; null where all pass. */
function firstFailure(file) {
  return new Promise((done) => {
    const child = spawn(process.execPath, ['--test', '--test-reporter=tap', file], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT)
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += String(chunk)
    })
    child.on('close', (code) => {
      clearTimeout(limit)
      const names = [...out.matchAll(/^ *not ok \d+ - (.*)$/gm)].map(([, name]) => name)
      done(
        code === 0
          ? null
          : (names.find((name) => !name.endsWith('.mjs')) ??
              (code === null ? 'it came to no end' : 'it broke down')),
      )
    })
  })
}

const chosen = PLANTS.filter(({ name }) => name.includes(wanted))
const plain = {
  name: 'without a bug',
  seams: [],
  suites: [...new Set(chosen.flatMap(({ suites }) => suites))],
}
const queue = [plain, ...chosen].values()
let wrong = 0
await Promise.all(
  Array.from({ length: Number(values.workers) }, async () => {
    for (const plant of queue) {
      const { isRight, line } = await tryOne(plant)
      if (!isRight) wrong++
      console.log(line)
    }
  }),
)
console.log(`${chosen.length + 1 - wrong} passed, ${wrong} failed`)
process.exitCode = wrong === 0 ? 0 : 1
