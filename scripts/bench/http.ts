/**
 * Over HTTP, against bare node:http that sends the same bytes:
 *   search   latency of the 46 query shapes          goal: p50 <= 2.5 x, p99 <= 4 x
 *   gate     requests per second of a small answer   goal: >= 0.75 x
 * Both servers are processes of their own, bundled as the package is, and every round asks each of
 * them in turn.
 *   npx tsx scripts/bench/http.ts [offers]
 */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { open } from '../../lib/app/open.js'
import { BENCH_DISTIDS, writeOffers } from './offers.js'
import { queriesOf } from './queries.js'
import type { Sample } from './queries.js'
import { benchDocument, benchDistributors } from './shop.js'
import { bundleServers, bundleWorker } from './worker.js'

const OFFERS = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = 12
const LOAD_ROUNDS = 6
const LOAD_MS = 1_500
const CONNECTIONS = 16

const percentile = (times: number[], share: number) =>
  times.sort((a, b) => a - b)[Math.floor(times.length * share)]!

function start(servers: string, kind: string, target: string): Promise<Running> {
  const child = fork(servers, [kind, target], { execArgv: [] })
  return new Promise((resolve) =>
    child.once('message', ({ port }: { port: number }) => resolve({ child, port })),
  )
}

function get(agent: Agent, port: number, path: string, key: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ agent, port, host: '127.0.0.1', path, headers: { 'x-api-key': key } }, (response) => {
      const chunks: Buffer[] = []
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () =>
          response.statusCode === 200
            ? resolve(Buffer.concat(chunks).toString())
            : reject(new Error(`${path}: ${response.statusCode} ${Buffer.concat(chunks)}`)),
        )
    })
      .on('error', reject)
      .end()
  })
}

async function latency(paths: string[], ours: number, bare: number, key: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times = { ours: [] as number[], bare: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const path of paths) {
      for (const [name, port] of [
        ['ours', ours],
        ['bare', bare],
      ] as const) {
        const begin = performance.now()
        await get(agent, port, path, key)
        if (round > 0) times[name].push(performance.now() - begin)
      }
    }
  }
  for (const [label, share, goal] of [
    ['p50', 0.5, 2.5],
    ['p99', 0.99, 4],
  ] as const) {
    const [a, b] = [percentile(times.ours, share), percentile(times.bare, share)]
    console.log(
      `search over HTTP ${label}: ${a.toFixed(3)} ms, bare node:http ${b.toFixed(3)} ms, ` +
        `ratio ${(a / b).toFixed(2)} (goal <= ${goal})`,
    )
  }
  agent.destroy()
}

interface Load {
  rate: number
  cpuMicros: number
}

interface Running {
  child: ChildProcess
  port: number
}

/**
 * Answers a second from 16 connections, and the server's own processor time an answer, which no
 * client can blur.
 */
async function underLoad({ child, port }: Running, path: string, key: string): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const before = (await ask(child)).cpuMicros
  const end = performance.now() + LOAD_MS
  let answered = 0
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (performance.now() < end) {
        await get(agent, port, path, key)
        answered++
      }
    }),
  )
  agent.destroy()
  return {
    rate: (answered / LOAD_MS) * 1_000,
    cpuMicros: ((await ask(child)).cpuMicros - before) / answered,
  }
}

function ask(child: ChildProcess): Promise<{ cpuMicros: number; maxDelayMs: number }> {
  child.send('figures')
  return new Promise((resolve) => child.once('message', resolve as (figures: unknown) => void))
}

async function load(ours: Running, bare: Running, key: string): Promise<void> {
  const loads = { ours: [] as Load[], bare: [] as Load[] }
  for (let round = 0; round < LOAD_ROUNDS; round++) {
    loads.ours.push(await underLoad(ours, '/v1/ping', key))
    loads.bare.push(await underLoad(bare, '/v1/ping', key))
  }
  const median = (name: 'ours' | 'bare', figure: keyof Load) =>
    percentile(
      loads[name].map((one) => one[figure]),
      0.5,
    )
  const [a, b] = [median('ours', 'rate'), median('bare', 'rate')]
  console.log(
    `gate and limits: ${a.toFixed(0)} requests/s, bare node:http ${b.toFixed(0)}, ratio ` +
      `${(a / b).toFixed(2)} (goal >= 0.75)`,
  )
  const [x, y] = [median('ours', 'cpuMicros'), median('bare', 'cpuMicros')]
  console.log(
    `gate and limits, processor time an answer: ${x.toFixed(1)} us, bare node:http ${y.toFixed(1)} us`,
  )
}

const dir = mkdtempSync(join(tmpdir(), 'qm-bench-'))
const program = mkdtempSync(join(tmpdir(), 'qm-bench-program-'))
const children: ChildProcess[] = []
try {
  await bundleWorker(program)
  const servers = await bundleServers(program)
  const app = await open({ dir, worker: false, distributors: benchDistributors() })
  const { name } = await app.operator.subscribers.create({
    name: 'Bench',
    email: 'bench@shop.example',
  })
  const { key } = await app.operator.keys.create({
    subscriber: name,
    name: 'bench',
    tier: 'enterprise',
    ips: ['127.0.0.1'],
  })
  await app.operator.configurations.put(name, { document: benchDocument(BENCH_DISTIDS) })
  for (const distid of BENCH_DISTIDS)
    await app.operator.configurations.recordCheck(name, distid, true)
  await app.close()
  const catalog = openFile(filesIn(dir).catalog, { synchronous: 'NORMAL' })
  writeOffers(catalog, OFFERS)
  const samples = catalog
    .prepare(`SELECT f.name, f.mfg_name AS mfgName, f.distsku, f.upc,
      f.product_class AS productClass, f.category_name AS categoryName, f.distid, o.price AS cents
    FROM offer o JOIN fragment f ON f.id = o.fragment
      WHERE o.price IS NOT NULL AND f.mfg_name IS NOT NULL AND o.id % ? = 0`)
    .all(Math.max(1, Math.floor(OFFERS / 500))) as Sample[]
  catalog.close()
  const paths = queriesOf(samples, 1).map((query) => {
    const parameters = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) parameters.set(name, String(value))
    return `/v1/products/search?${parameters.toString()}`
  })
  const ours = await start(servers, 'ours', dir)
  children.push(ours.child)
  const agent = new Agent({ keepAlive: true })
  const bodies: Record<string, string> = {}
  for (const path of [...paths, '/v1/ping']) bodies[path] = await get(agent, ours.port, path, key)
  agent.destroy()
  const file = join(dir, 'bodies.json')
  writeFileSync(file, JSON.stringify(bodies))
  const bare = await start(servers, 'bare', file)
  children.push(bare.child)
  console.log(
    `${OFFERS.toLocaleString('en-US')} offers, ${paths.length} query shapes, ` +
      `${(Object.values(bodies).reduce((sum, body) => sum + body.length, 0) / paths.length / 1024).toFixed(0)} ` +
      'KB an answer',
  )
  await latency(paths, ours.port, bare.port, key)
  await load(ours, bare, key)
  console.log(
    `longest hold of the loop by a request: ${(await ask(ours.child)).maxDelayMs.toFixed(0)} ms (bound 250 ms)`,
  )
} finally {
  for (const child of children) child.kill('SIGKILL')
  for (const folder of [dir, program]) rmSync(folder, { recursive: true, force: true })
}
