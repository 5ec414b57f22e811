/**
 * Kills a server with SIGKILL again and again while it takes orders, and checks what came of every
 * one of them:
 *   npx tsx scripts/crash/kill.ts --cycles 10000 --parallel 2
 * Real HTTP, files, fsyncs and processes; distributors that play every scenario, or of which every
 * third call fails; those that documents describe, by file and by mail, on folders of their own; a
 * clock 600 times as fast as ours.
 *   --seed N        orders, faults and deaths again (not the moment of a signal)
 *   --epoch N       cycles on one state folder before it is let settle and checked, 200 by default
 *   --dir PATH      where state folders and totals are kept, a temporary folder by default
 *   --append        adds to the totals of an earlier run in that folder
 * Exits with 1 at the first folder in which something is wrong, and keeps it.
 */
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CHAOS, DOCUMENTS, QUOTA, faultText, runEpoch } from './rig/epoch.js'
import { loadTotals, newTotals, saveTotals, totalsText } from './rig/totals.js'
import { openWorkshop } from './rig/workshop.js'

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '500' },
    parallel: { type: 'string', default: '1' },
    seed: { type: 'string' },
    epoch: { type: 'string', default: '200' },
    dir: { type: 'string' },
    append: { type: 'boolean', default: false },
  },
})
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)
const workshop = await openWorkshop({ dir: values.dir, entries: ['server'] })
const { root } = workshop
const file = join(root, 'totals.json')
const totals = values.append ? loadTotals(file) : newTotals()
console.log(`seed ${seed}, folder ${root}, ${values.cycles} cycles`)

const begun = performance.now()
const before = totals.seconds
let left = Number(values.cycles)
let next = 0
let failed = false
/** Every so many folders one is for the quotas. */
const QUOTA_EVERY = 8
/** And so many for distributors that documents describe. */
const DOCUMENTS_EVERY = 4

/** Takes folder after folder until all cycles are done or something is wrong. */
async function work(): Promise<void> {
  while (left > 0 && !failed) {
    const cycles = Math.min(left, Number(values.epoch))
    left -= cycles
    const mine = seed + next++
    const kind =
      mine % QUOTA_EVERY === QUOTA_EVERY - 1
        ? QUOTA
        : mine % DOCUMENTS_EVERY === 1
          ? DOCUMENTS
          : CHAOS
    const result = await runEpoch(
      { ...workshop, seed: mine, name: `shop-${process.pid}-${mine}`, cycles, kind },
      totals,
    )
    left += cycles - result.cycles
    totals.seconds = before + (performance.now() - begun) / 1_000
    saveTotals(file, totals)
    console.log(
      `${new Date().toISOString()} ${totals.cycles} cycles, ` +
        `${(totals.cycles / totals.seconds).toFixed(2)} a second, ${result.faults.length} faults`,
    )
    if (result.faults.length === 0) continue
    failed = true
    console.log(faultText(result, { seed: mine }))
  }
}

try {
  await Promise.all(Array.from({ length: Number(values.parallel) }, work))
} finally {
  workshop.close()
}
console.log(totalsText(totals))
process.exit(failed ? 1 : 0)
