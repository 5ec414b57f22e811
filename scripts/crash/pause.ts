/**
 * Stops the sender (SIGSTOP) in the middle of its work, for minutes, while another process takes
 * orders on the same folder:
 *   npx tsx scripts/crash/pause.ts [--minutes 1]
 * Nobody takes its place, orders taken in meanwhile are answered `pending`, and when it goes on
 * everything ends right. The minutes are real; the shop's clock runs 600 times as fast, so that
 * every settle window and timeout of it passes.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { STOPS, pauseAt } from './rig/pause.js'
import { count } from './rig/totals.js'
import { openWorkshop } from './rig/workshop.js'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    dir: { type: 'string' },
  },
})
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)
const workshop = await openWorkshop({ dir: values.dir, entries: ['server', 'library'] })
console.log(
  `seed ${seed}, folder ${workshop.root}, ${values.minutes} minutes at each place, ` +
    `${Number(values.minutes) * 10} hours of the shop's clock`,
)
let failed = false
try {
  for (const step of STOPS) {
    const { faults, answers } = await pauseAt(workshop, step, Number(values.minutes) * 60_000, seed)
    const counts: Record<string, number> = {}
    for (const answer of answers) count(counts, answer)
    failed ||= faults.length > 0
    console.log(
      `${faults.length === 0 ? 'ok  ' : 'FAIL'} stopped at "${step}"; the other process answered ${
        Object.entries(counts)
          .map(([told, many]) => `${many} x ${told}`)
          .join(', ') || 'nothing yet'
      }`,
    )
    for (const fault of faults.slice(0, 30)) console.log(`  ${fault.slice(0, 500)}`)
  }
} finally {
  workshop.close()
}
process.exit(failed ? 1 : 0)
