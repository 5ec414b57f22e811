/**
 * Three nodes over one database and one bucket, which are killed, frozen, cut off and stalled, and
 * lose the database and the bucket, while callers place orders through all of them and a feed moves;
 * then all comes back, and what callers were told, the orders and the books of the distributors must
 * agree, and all nodes show the newest feed:
 *   npx tsx scripts/cluster/run.ts --epochs 20 --seed 7
 *   --seconds N     of each epoch in which orders come in and things fail, 20 by default
 *   --callers N     at once, 5 by default
 *   --pace quick    a lease of 6 s in place of the product's own, and all else as short as that allows
 *   --from REV      instead of trouble, each epoch has all nodes replaced by those of another revision
 *                   of this repository, one after the other, and back again
 *   --plant NAME    with a bug of plants.ts in the nodes
 * Real processes, PostgreSQL, S3 and sockets. Exits with 1 where something is wrong, and keeps the
 * logs.
 */
import { randomInt } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { SECOND } from '../../lib/core/clock.js'
import { Cluster } from './cluster.js'
import type { Epoch } from './cluster.js'
import { PACES } from './pace.js'
import type { Pace } from './pace.js'
import { PLANTS } from './plants.js'
import { bundleRevision } from './program.js'

const { values } = parseArgs({
  options: {
    epochs: { type: 'string', default: '5' },
    seed: { type: 'string' },
    seconds: { type: 'string', default: '20' },
    callers: { type: 'string', default: '5' },
    pace: { type: 'string', default: 'real' },
    from: { type: 'string' },
    plant: { type: 'string' },
  },
})
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)
const [epochs, seconds, callers] = [values.epochs, values.seconds, values.callers].map(Number) as [
  number,
  number,
  number,
]
const pace = PACES[values.pace]
if (!pace) throw new Error(`--pace must be one of ${Object.keys(PACES).join(', ')}`)
const bug = PLANTS.find(({ name }) => name === values.plant) ?? null
if (values.plant !== undefined && !bug) throw new Error(`there is no plant "${values.plant}"`)

const root = mkdtempSync(join(tmpdir(), 'qm-cluster-'))
console.log(`seed ${seed}, folder ${root}, ${epochs} epochs of ${seconds} s`)

const totals = { epochs: 0, orders: 0, bought: 0, asked: 0, failed: 0, failedAway: 0, slowest: 0 }
let [isWrong, leaderless] = [false, 0]
const cluster = await Cluster.open({ root, seed, seconds, callers, pace, bug })
try {
  const work = await workOf(values.from, pace)
  for (let number = 1; number <= epochs && !isWrong; number++) {
    const epoch = await cluster.epoch(work)
    tell(number, epoch)
    isWrong = Object.values(epoch.faults).some((list) => list.length > 0)
  }
} catch (error) {
  isWrong = true
  console.log(error)
} finally {
  await cluster.close().catch((error: unknown) => console.log(error))
}
console.log(totals, Object.fromEntries(cluster.trouble.done))
console.log(`longest without a lead: ${(leaderless / SECOND).toFixed(1)} s`)
console.log('pulls:', counted(cluster.ground.pulls))
console.log('errors in the logs:', counted(cluster.nodes.flatMap(({ log }) => errorsIn(log))))
if (isWrong)
  console.log(`${cluster.trouble.timeline.slice(-40).join('\n')}\nthe logs are kept in ${root}`)
else rmSync(root, { recursive: true, force: true })
process.exit(isWrong ? 1 : 0)

/** What is done in an epoch; undefined for trouble. */
async function workOf(
  revision: string | undefined,
  pace: Pace,
): Promise<(() => Promise<void>) | undefined> {
  if (revision === undefined) return undefined
  const before = await bundleRevision({ root, pace }, revision)
  return () => cluster.roll([before, cluster.ground.program])
}

function tell(number: number, { orders, bought, reads, faults, ...epoch }: Epoch): void {
  totals.epochs++
  totals.orders += orders
  totals.bought += bought
  totals.asked += reads.asked
  totals.failed += reads.failed
  totals.failedAway += reads.failedAway
  totals.slowest = Math.max(totals.slowest, Math.round(reads.slowest))
  leaderless = Math.max(leaderless, epoch.leaderless)
  const kinds = Object.entries(faults)
  console.log(
    `${new Date().toISOString()} epoch ${number}: ${orders} orders, ` +
      kinds.map(([name, list]) => `${list.length} ${name}`).join(', ') +
      `; reads ${reads.asked}, failed ${reads.failed}, while the database was away ${reads.failedAway}`,
  )
  for (const [name, list] of kinds)
    for (const text of list.slice(0, 20)) console.log(`  ${name}: ${text}`)
  for (const [fault, times] of reads.faults) console.log(`  ${times} reads: ${fault}`)
}

function counted(texts: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1
  return counts
}

/** What a node has logged as an error. */
function errorsIn(log: string): string[] {
  return (
    readFileSync(log, { encoding: 'utf8', flag: 'a+' })
      .split('\n')
      // The last line of a life may have been cut off.
      .filter((line) => /^\{"level":[56]0.*\}$/.test(line))
      .map((line) => {
        const { msg, name, err } = JSON.parse(line) as {
          msg: string
          name?: string
          err?: { message: string }
        }
        return [msg, name, err?.message].filter((part) => part !== undefined).join(': ')
      })
  )
}
