/**
 * Two processes on one folder, a server and one with the library, both placing orders:
 *   npx tsx scripts/crash/two.ts [--cycles 300] [--posts 1000] [--rounds 3]
 * One order posted a thousand times at once over both; the quota of one key over both; who of them
 * sends; and then either is killed again and again while both place orders, also the same ones at
 * the same moment. `--seed` and `--dir` as for kill.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { PAIRS, faultText, runEpoch } from './rig/epoch.js'
import { herd, limits, takingTurns } from './rig/pairs.js'
import { newTotals, totalsText } from './rig/totals.js'
import { openWorkshop } from './rig/workshop.js'

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '300' },
    epoch: { type: 'string', default: '150' },
    posts: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
    seed: { type: 'string' },
    dir: { type: 'string' },
  },
})
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)
const workshop = await openWorkshop({ dir: values.dir, entries: ['server', 'library'] })
console.log(`seed ${seed}, folder ${workshop.root}`)
let failed = false

function tell(name: string, faults: readonly string[]): void {
  failed ||= faults.length > 0
  console.log(`${faults.length === 0 ? 'ok  ' : 'FAIL'} ${name}`)
  for (const fault of faults.slice(0, 40)) console.log(`  ${fault.slice(0, 1_000)}`)
}

try {
  const options = { ...workshop, seed }
  tell(
    `${values.posts} posts of one order at once, ${values.rounds} times: one intent, all others 409 with its records`,
    await herd(options, { posts: Number(values.posts), rounds: Number(values.rounds) }),
  )
  tell('200 orders of one key at both: 60 in the hour', await limits(options, { posts: 200 }))
  tell(
    'the server sends, without one the library process, and each waits for the other',
    await takingTurns(options),
  )
  const totals = newTotals()
  const begun = performance.now()
  for (let left = Number(values.cycles), next = 0; left > 0 && !failed; next++) {
    const result = await runEpoch(
      {
        ...options,
        seed: seed + next,
        name: `two-${process.pid}-${next}`,
        cycles: Math.min(left, Number(values.epoch)),
        kind: PAIRS,
      },
      totals,
    )
    left -= result.cycles
    totals.seconds = (performance.now() - begun) / 1_000
    tell(
      `${totals.cycles} kills of either`,
      result.faults.map(({ kind, text }) => `${kind}: ${text}`),
    )
    if (result.faults.length > 0) console.log(faultText(result, { seed: seed + next }))
  }
  console.log(totalsText(totals))
} finally {
  workshop.close()
}
process.exit(failed ? 1 : 0)
