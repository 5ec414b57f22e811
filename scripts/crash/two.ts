/**
 * Two processes on one folder, a server and one with the library, both placing orders:
 *   npx tsx scripts/crash/two.ts [--cycles 300] [--posts 1000] [--rounds 3]
 * One order posted a thousand times at once over both; the quota of one key over both; who of them sends; and then either is
 * killed again and again while both place orders, also the same ones at the same moment. `--seed` and `--dir` as for kill.
 */
import { randomInt } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { bundleEntries } from './lib-bundle.js'
import { BEGINNING, PAIRS, faultText, runEpoch } from './lib-epoch.js'
import { herd, limits, takingTurns } from './lib-pairs.js'
import { PROBES } from './lib-plants.js'
import { makeShopFolder } from './lib-shop.js'
import { newTotals, totalsText } from './lib-totals.js'

const { values } = parseArgs({ options: {
  cycles: { type: 'string', default: '300' }, epoch: { type: 'string', default: '150' }, posts: { type: 'string', default: '1000' }, rounds: { type: 'string', default: '3' },
  seed: { type: 'string' }, dir: { type: 'string' },
} })
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)
const root = values.dir === undefined ? mkdtempSync(join(tmpdir(), 'qm-two-')) : resolve(values.dir)
mkdirSync(root, { recursive: true })
const bundle = await bundleEntries(['server', 'library'], PROBES)
console.log(`seed ${seed}, folder ${root}`)
let failed = false

function tell(name: string, faults: readonly string[]): void {
  failed ||= faults.length > 0
  console.log(`${faults.length === 0 ? 'ok  ' : 'FAIL'} ${name}`)
  for (const fault of faults.slice(0, 40)) console.log(`  ${fault.slice(0, 1_000)}`)
}

try {
  rmSync(join(root, 'template'), { recursive: true, force: true })
  const shop = await makeShopFolder(join(root, 'template'), () => BEGINNING)
  const options = { root, bundle, shop, seed }
  tell(`${values.posts} posts of one order at once, ${values.rounds} times: one intent, all others 409 with its records`, await herd(options, { posts: Number(values.posts), rounds: Number(values.rounds) }))
  tell('200 orders of one key at both: 60 in the hour', await limits(options, { posts: 200 }))
  tell('the server sends, without one the library process, and each waits for the other', await takingTurns(options))
  const totals = newTotals()
  const begun = performance.now()
  for (let left = Number(values.cycles), next = 0; left > 0 && !failed; next++) {
    const result = await runEpoch({ ...options, seed: seed + next, name: `two-${process.pid}-${next}`, cycles: Math.min(left, Number(values.epoch)), kind: PAIRS }, totals)
    left -= result.cycles
    totals.seconds = (performance.now() - begun) / 1_000
    tell(`${totals.cycles} kills of either`, result.faults.map(({ kind, text }) => `${kind}: ${text}`))
    if (result.faults.length > 0) console.log(faultText(result, { seed: seed + next }))
  }
  console.log(totalsText(totals))
} finally {
  rmSync(bundle, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)
