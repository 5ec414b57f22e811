/**
 * Are bugs of several nodes noticed? Plants each in turn, and runs the suites that must find it:
 *   npx tsx scripts/cluster/planted.ts [words of a name]
 *   --cluster       has run.ts find those that it must find, instead of a suite
 * Prints a table: what found it, and after how long. Ends with 1 where a bug is not found, where its
 * seam is no longer there, or where a suite fails without any bug.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { SECOND } from '../../lib/core/clock.js'
import { trySuites } from '../plants/suites.js'
import { PLANTS } from './plants.js'
import type { NodesPlant } from './plants.js'

const LISTS = join('scripts', 'cluster', 'plants.ts')
/** By which the cluster finds what it must find. */
const SEED = '1'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { cluster: { type: 'boolean', default: false } },
})

/** What found it; null where nothing did. Throws where it cannot be planted. */
async function findInSuites(plant: NodesPlant): Promise<string | null> {
  const tried = await trySuites(plant, LISTS)
  if (tried.outcome === 'not planted') throw new Error(`NOT PLANTED: ${tried.seams.join(', ')}`)
  return tried.outcome === 'found' ? `${tried.suite}: ${tried.test}` : null
}

async function findInCluster({ name, epochs = 1 }: NodesPlant): Promise<string | null> {
  const given = ['--plant', name, '--epochs', String(epochs), '--seed', SEED]
  const { stdout } = spawnSync('npx', ['tsx', join('scripts', 'cluster', 'run.ts'), ...given], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const faults = stdout
    .split('\n')
    .filter((line) => /^ {2}(doubled|lost|wrong|unfinished)/.test(line))
  const epoch = stdout.split('\n').filter((line) => / epoch \d+: /.test(line)).length
  return faults.length > 0 ? `the cluster, epoch ${epoch}: ${faults[0]!.trim()}` : null
}

const chosen = PLANTS.filter(({ name }) => name.includes(positionals.join(' '))).filter(
  ({ epochs }) => !values.cluster || epochs !== undefined,
)
const find = values.cluster ? findInCluster : findInSuites
let wrong = 0

async function note(plant: NodesPlant, isBug: boolean): Promise<void> {
  const begun = performance.now()
  const found = await find(plant)
  const seconds = ((performance.now() - begun) / SECOND).toFixed(0)
  if ((found !== null) !== isBug) wrong++
  const verdict = isBug
    ? (found ?? 'MISSED')
    : found === null
      ? 'nothing, as it must be'
      : `FAILS ${found}`
  console.log(`| ${plant.name} | ${verdict} | ${seconds} |`)
}

console.log('| Bug | Found by | Seconds |\n|---|---|---|')
if (!values.cluster)
  await note(
    {
      name: 'none',
      seams: [],
      suites: [...new Set(chosen.flatMap(({ suites }) => suites))],
    },
    false,
  )
for (const plant of chosen) await note(plant, true)
console.log(wrong === 0 ? 'all were found' : `${wrong} are wrong`)
process.exit(wrong === 0 ? 0 : 1)
