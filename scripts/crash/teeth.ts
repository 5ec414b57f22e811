/**
 * Does the harness find what it is there for? Each fault of rig/plants.ts is planted in turn, and
 * `kill` or `two` must fail:
 *   npx tsx scripts/crash/teeth.ts [--cycles 300] [--only 'no engine lock']
 * Prints a table: after how many kills the first folder was wrong, and what was found there.
 */
import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { KINDS } from './rig/check.js'
import { CHAOS, PAIRS, runEpoch } from './rig/epoch.js'
import { limits } from './rig/pairs.js'
import { PLANTS } from './rig/plants.js'
import type { CrashPlant } from './rig/plants.js'
import { newTotals } from './rig/totals.js'
import { openWorkshop } from './rig/workshop.js'

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '300' },
    epoch: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
})

/** How it was found; null when it was not, within so many kills. */
async function findPlant(bug: CrashPlant): Promise<string | null> {
  const { by } = bug
  const workshop = await openWorkshop({
    entries: by === 'two' ? ['server', 'library'] : ['server'],
    bug,
  })
  const totals = newTotals()
  const seed = Number(values.seed)
  try {
    if (by === 'two') {
      const faults = await limits({ ...workshop, seed }, { posts: 150 })
      if (faults.length > 0) return `before any kill: ${faults[0]!.slice(0, 90)}`
    }
    for (let next = 0; totals.cycles < Number(values.cycles); next++) {
      const { faults } = await runEpoch(
        {
          ...workshop,
          seed: seed + next,
          name: `planted-${process.pid}-${next}`,
          cycles: Number(values.epoch),
          kind: by === 'two' ? PAIRS : CHAOS,
        },
        totals,
      )
      if (faults.length === 0) continue
      return `after ${String(totals.cycles).padStart(3)} kills: ${KINDS.map(
        (kind) => [kind, faults.filter((fault) => fault.kind === kind).length] as const,
      )
        .filter(([, many]) => many > 0)
        .map(([kind, many]) => `${many} ${kind}`)
        .join(', ')}`
    }
    return null
  } finally {
    workshop.close()
    rmSync(workshop.root, { recursive: true, force: true })
  }
}

let missed = 0
for (const plant of PLANTS) {
  const { name, by } = plant
  if (by === 'powercut' || (values.only !== undefined && values.only !== name)) continue
  const found = await findPlant(plant)
  if (found === null) missed++
  console.log(
    `${found === null ? 'MISSED' : 'found '} ${name.padEnd(40)} ${by.padEnd(5)} ` +
      `${found ?? `not within ${values.cycles} kills`}`,
  )
}
process.exit(missed === 0 ? 0 : 1)
