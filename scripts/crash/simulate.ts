/**
 * The long run of the crash simulation.
 *
 *   npx tsx scripts/crash/simulate.ts --crashes 1000000 --seed 1 --workers 2
 *   npx tsx scripts/crash/simulate.ts --folder 123456 --crashes 57 [--order <text>]
 *
 * The second takes one folder again, and tells all that happens in it.
 *
 * Ends with 1 and the failing seed where anything is wrong.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runFolder } from '../../test/harness/folder.js'
import { seedOf } from '../../test/harness/random.js'
import { addTo, failureText, noTotals, runUntil, shrink } from '../../test/harness/run.js'
import type { Failure, Totals } from '../../test/harness/run.js'

const { values } = parseArgs({
  options: {
    crashes: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '1' },
    folder: { type: 'string' },
    order: { type: 'string' },
    'is-worker': { type: 'boolean', default: false },
  },
})

interface Message {
  totals: Omit<Totals, 'places'> & { places: [string, number][] }
  failure: Failure | null
  isOver: boolean
}

const crashes = Number(values.crashes)
const seed = Number(values.seed)
if (values.folder !== undefined) await replay(Number(values.folder))
else if (values['is-worker']) await work()
else await lead(Number(values.workers))

/** One folder again, with its trace. */
async function replay(folder: number): Promise<void> {
  const trace = (text: string) => {
    if (values.order === undefined || text.includes(values.order)) console.log(text)
  }
  const { violations } = await runFolder({ seed: folder, crashes, trace })
  console.log(
    violations.length === 0
      ? 'nothing is wrong'
      : failureText({ seed: folder, crashes, violations }),
  )
  process.exitCode = violations.length === 0 ? 0 : 1
}

async function work(): Promise<void> {
  const send = (totals: Totals, failure: Failure | null, isOver: boolean) =>
    process.send!({
      totals: { ...totals, places: [...totals.places] },
      failure,
      isOver,
    } satisfies Message)
  const { totals, failure } = await runUntil({ seed, crashes }, (sofar) => send(sofar, null, false))
  send(totals, failure && (await shrink(failure)), true)
  process.disconnect()
}

/** Starts the workers, each with a seed of its own, and adds up. */
async function lead(workers: number): Promise<void> {
  const began = performance.now()
  const latest = new Map<number, Message>()
  let told = began
  await Promise.all(
    Array.from(
      { length: workers },
      (_, n) =>
        new Promise<void>((resolve, reject) => {
          const child = fork(
            fileURLToPath(import.meta.url),
            [
              '--is-worker',
              '--crashes',
              String(Math.ceil(crashes / workers)),
              '--seed',
              String(seedOf(seed, n)),
            ],
            { execArgv: process.execArgv },
          )
          child.on('message', (message: Message) => {
            latest.set(n, message)
            // At once: the other workers may go on for an hour.
            if (message.failure)
              console.log(
                `WRONG: ${failureText(message.failure)}\nagain: npx tsx scripts/crash/simulate.ts ` +
                  `--folder ${message.failure.seed} --crashes ${message.failure.crashes}`,
              )
            if (performance.now() - told < 60_000) return
            told = performance.now()
            console.log(figures(sum(latest), began))
          })
          child.on('error', reject)
          child.on('exit', (code) =>
            latest.get(n)?.isOver ? resolve() : reject(new Error(`worker ${n} ended with ${code}`)),
          )
        }),
    ),
  )
  const totals = sum(latest)
  console.log(figures(totals, began))
  for (const [place, times] of [...totals.places].sort(([, a], [, b]) => b - a))
    console.log(`${String(times).padStart(9)}  ${place}`)
  if ([...latest.values()].some(({ failure }) => failure)) process.exitCode = 1
}

function sum(latest: ReadonlyMap<number, Message>): Totals {
  const totals = noTotals()
  for (const { totals: part } of latest.values()) {
    addTo(totals, { ...part, places: new Map(part.places) })
    totals.folders += part.folders - 1
  }
  return totals
}

function figures(
  { crashes: died, folders, orders, posts, executed, calls, faulty, reviews }: Totals,
  began: number,
): string {
  const seconds = (performance.now() - began) / 1000
  return (
    `seed ${seed}: ${died} crashes in ${folders} folders, ${orders} orders in ${posts} calls,` +
    ` ${executed} placed with distributors, ${calls} calls to them, ` +
    `${((100 * faulty) / Math.max(1, calls)).toFixed(1)} % faulty, ${reviews} left to a ` +
    `person; ${seconds.toFixed(0)} s, ${(died / seconds).toFixed(0)} crashes/s`
  )
}
