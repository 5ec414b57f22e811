/**
 * Do the suites notice? Plants each bug in turn and runs the suites that must find it.
 *
 *   npx tsx scripts/plants/run.mjs [words of a name] [--workers 2]
 *
 * Ends with 1 where a bug is not found, where its seam is no longer there, or where a suite fails
 * without any bug.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { PLANTS } from './plants.ts'
import { trySuites } from './suites.ts'

const LISTS = join('scripts', 'plants', 'plants.ts')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { workers: { type: 'string', default: '2' } },
})
const wanted = positionals.join(' ')

/** Plants a bug, and tells the first test that failed: `{ isRight, line }`. */
async function tryOne(plant) {
  const { name, seams, suites } = plant
  const isPlain = seams.length === 0
  const tried = await trySuites(plant, LISTS)
  switch (tried.outcome) {
    case 'not planted':
      return { isRight: false, line: `NOT PLANTED ${name}: ${tried.seams.join(', ')}` }
    case 'found':
      return {
        isRight: !isPlain,
        line: `${isPlain ? 'FAILS ' : 'found '} ${name}: ${tried.suite}: ${tried.test}`,
      }
    default:
      return isPlain
        ? { isRight: true, line: `passes ${name}` }
        : { isRight: false, line: `MISSED ${name} (${suites.join(', ')})` }
  }
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
