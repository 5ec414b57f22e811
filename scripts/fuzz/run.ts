/**
 * Fuzzes the API: `npx tsx scripts/fuzz/run.ts --requests 100000 --seed 1 --workers 2`. Requests
 * are made from the served document in epochs of 20,000, each on a fresh copy of a shop; a failure
 * is told with the seed of its epoch, which alone repeats it: `--seed THAT --requests 20000
 * --workers 1`. Ends with 1 where anything failed.
 */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { bundleWorker } from './bundle.js'
import { add, emptyTotal, report } from './total.js'
import type { EpochResult } from './epoch.js'

const EPOCH = 20_000

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    sockets: { type: 'string', default: '2' },
    bundle: { type: 'string' },
  },
})
const [requests, seed, workers] = [
  Number(values.requests),
  Number(values.seed),
  Number(values.workers),
]
const epochs = Math.ceil(requests / EPOCH)
const root = values.bundle ?? (await bundleWorker())
const total = emptyTotal()
const begun = Date.now()
const running = new Map<number, number>()

/** One worker does every n-th epoch. */
function work(worker: number): Promise<void> {
  const mine = Math.ceil((epochs - worker) / workers)
  if (mine <= 0) return Promise.resolve()
  const child = spawn(
    process.execPath,
    [
      '--enable-source-maps',
      join(root, 'fuzz', 'worker.mjs'),
      String(seed + worker),
      String(workers),
      String(mine),
      String(Math.min(EPOCH, requests)),
      values.sockets,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = JSON.parse(line) as {
      progress?: number
      seed: number
      result?: EpochResult
      done?: boolean
      left?: string[]
    }
    if (said.progress !== undefined) running.set(worker, said.progress)
    if (said.result) {
      running.delete(worker)
      for (const failure of add(total, said.result))
        console.log(
          `FAILED ${failure.sign}\n  seed ${failure.seed}, request ${failure.at}: ` +
            `${failure.what}\n  ${failure.detail}\n  ${failure.curl}`,
        )
    }
    if (said.done && said.left!.length > 0) total.left.push(...said.left!)
    if (!said.done) progress()
  })
  return new Promise((resolve, reject) =>
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`worker ${worker} ended with ${code}`)),
    ),
  )
}

let toldAt = 0
function progress(): void {
  if (Date.now() - toldAt < 10_000) return
  toldAt = Date.now()
  const done = total.requests + [...running.values()].reduce((sum, n) => sum + n, 0)
  const seconds = (toldAt - begun) / 1_000
  console.log(
    `${new Date(toldAt).toISOString().slice(11, 19)} ${done.toLocaleString('en-US')} of ` +
      `${(epochs * Math.min(EPOCH, requests)).toLocaleString('en-US')} requests, ` +
      `${Math.round(done / seconds)} a second, ${total.failures.size} failures`,
  )
}

try {
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)))
} finally {
  if (values.bundle === undefined) rmSync(root, { recursive: true, force: true })
}
console.log(report(total, (Date.now() - begun) / 1_000))
process.exit(total.failures.size + total.left.length > 0 ? 1 : 0)
