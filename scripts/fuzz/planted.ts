/**
 * Does the fuzzer notice? Plants each bug in turn and fuzzes until it is found:
 *
 *   npx tsx scripts/fuzz/planted.ts [words of a name]
 *
 * Ends with 1 where a bug is not found, or where its seam is no longer there.
 */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { bundleWorker } from './bundle.js'
import type { EpochResult } from './epoch.js'
import { PLANTS } from './plants/plants.js'

const REQUESTS = 20_000
/** What one epoch leaves out the next may ask; on a busy machine one may end by slowness alone. */
const SEEDS = ['1', '2', '3']

interface Outcome {
  after: number
  signs: string[]
}

function run(root: string, seed: string): Promise<Outcome> {
  const args = [join(root, 'fuzz', 'worker.mjs'), seed, '1', '1', String(REQUESTS), '2', 'stop']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const outcome: Outcome = { after: 0, signs: [] }
  let wrong = ''
  child.stderr.on('data', (chunk) => {
    wrong += String(chunk)
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = JSON.parse(line) as { result?: EpochResult; done?: boolean; left?: string[] }
    if (said.result) {
      outcome.after = Math.min(
        ...said.result.failures.map((failure) => failure.at),
        said.result.requests,
      )
      outcome.signs.push(...said.result.failures.map(({ sign }) => sign))
    }
    if (said.done) {
      if (said.left!.length > 0) outcome.signs.push(`LEFT ${said.left!.length} timers`)
      child.kill()
    }
  })
  return new Promise((resolve) =>
    child.once('close', () => {
      if (outcome.after === 0) outcome.signs.push(`the worker ended: ${wrong.slice(0, 300)}`)
      resolve(outcome)
    }),
  )
}

const wanted = process.argv.slice(2).join(' ')
let missed = 0
for (const plant of PLANTS.filter(({ name }) => name.includes(wanted))) {
  const { name, found } = plant
  const begun = Date.now()
  const root = await bundleWorker(plant)
  try {
    const signs: string[] = []
    let sign: string | undefined
    let after = 0
    for (const seed of SEEDS) {
      const outcome = await run(root, seed)
      signs.push(...outcome.signs)
      after += outcome.after
      sign = outcome.signs.find((text) => found.test(text))
      if (sign !== undefined) break
    }
    if (sign === undefined) missed++
    console.log(
      `${sign === undefined ? 'MISSED' : 'found '} ${name.padEnd(44)} ` +
        `${String(after).padStart(6)} requests ` +
        `${((Date.now() - begun) / 1_000).toFixed(0).padStart(4)} s  ` +
        `${sign ?? signs.slice(0, 3).join(' | ')}`,
    )
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}
console.log(missed === 0 ? 'all were found' : `${missed} were missed`)
process.exit(missed === 0 ? 0 : 1)
