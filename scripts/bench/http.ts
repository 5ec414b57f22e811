/**
 * Over HTTP, against bare node:http that sends the same bytes:
 *   search   latency of the 46 query shapes, asked for the first time and asked again
 *                                                    goal: p50 <= 1.5 x, p99 <= 1.5 x
 *   gate     requests per second of a small answer   goal: >= 0.75 x
 * Both servers are processes of their own, bundled as the package is, and every round asks each of
 * them in turn. For the first time: each round draws other values, and what has been asked before is
 * left out. The bytes for the bare server come from a third process that serves a copy of the folder,
 * so the one that is measured has seen none of these queries, nor has it the offers of their pages in
 * memory.
 *   npx tsx scripts/bench/http.ts [offers]
 */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { open } from '../../lib/app/open.js'
import type { SearchQuery } from '../../lib/catalog/shapes.js'
import { BENCH_DISTIDS, writeOffers } from './offers.js'
import { queriesOf } from './queries.js'
import type { Sample } from './queries.js'
import { benchDocument, benchDistributors } from './shop.js'
import { bundleServers, bundleWorker } from './worker.js'

const OFFERS = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = 12
/** Rounds before the clock counts, of values that are not drawn again. */
const WARM = 5
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

type Servers = Record<'ours' | 'bare', Running>

/** Asks each server in turn for each of the paths; the milliseconds go to `times`. */
async function askFor(
  paths: readonly string[],
  { agent, servers, key, times }: Clocked,
): Promise<void> {
  for (const path of paths) {
    for (const name of ['ours', 'bare'] as const) {
      const begin = performance.now()
      await get(agent, servers[name].port, path, key)
      times[name].push(performance.now() - begin)
    }
  }
}

interface Clocked {
  agent: Agent
  servers: Servers
  key: string
  times: Record<'ours' | 'bare', number[]>
}

const noTimes = () => ({ ours: [] as number[], bare: [] as number[] })

/** The first rounds only warm up. */
async function latency(rounds: readonly string[][], servers: Servers, key: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const warming = { agent, servers, key, times: noTimes() }
  const first = { ...warming, times: noTimes() }
  const again = { ...warming, times: noTimes() }
  const known = new Set<string>()
  for (const [round, paths] of rounds.entries()) {
    await askFor(
      paths.filter((path) => !known.has(path)),
      round < WARM ? warming : first,
    )
    for (const path of paths) known.add(path)
  }
  await askFor(rounds[0]!, warming)
  for (let round = 0; round < ROUNDS; round++) await askFor(rounds[0]!, again)
  tell('asked for the first time', first.times)
  tell('asked again', again.times)
  agent.destroy()
}

function tell(what: string, { ours, bare }: Clocked['times']): void {
  for (const [label, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const) {
    const [a, b] = [percentile(ours, share), percentile(bare, share)]
    console.log(
      `search over HTTP, ${what}, ${label}: ${a.toFixed(3)} ms, bare node:http ${b.toFixed(3)} ms, ` +
        `ratio ${(a / b).toFixed(2)} (goal <= 1.5) of ${ours.length}`,
    )
  }
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

async function load({ ours, bare }: Servers, key: string): Promise<void> {
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

function pathOf(query: SearchQuery): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) parameters.set(name, String(value))
  return `/v1/products/search?${parameters.toString()}`
}

const dir = mkdtempSync(join(tmpdir(), 'qm-bench-'))
const program = mkdtempSync(join(tmpdir(), 'qm-bench-program-'))
const copy = `${dir}-copy`
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
  const rounds = Array.from({ length: WARM + ROUNDS }, (_, round) =>
    queriesOf(samples, 1 + round).map(pathOf),
  )
  cpSync(dir, copy, { recursive: true })
  const reader = await start(servers, 'ours', copy)
  children.push(reader.child)
  const agent = new Agent({ keepAlive: true })
  const bodies: Record<string, string> = {}
  for (const path of [...rounds.flat(), '/v1/ping'])
    bodies[path] ??= await get(agent, reader.port, path, key)
  agent.destroy()
  reader.child.kill('SIGKILL')
  const file = join(dir, 'bodies.json')
  writeFileSync(file, JSON.stringify(bodies))
  const ours = await start(servers, 'ours', dir)
  children.push(ours.child)
  const bare = await start(servers, 'bare', file)
  children.push(bare.child)
  const sizes = rounds[0]!.map((path) => bodies[path]!.length)
  console.log(
    `${OFFERS.toLocaleString('en-US')} offers, ${sizes.length} query shapes, ` +
      `${(sizes.reduce((sum, size) => sum + size, 0) / sizes.length / 1024).toFixed(0)} KB an answer`,
  )
  await latency(rounds, { ours, bare }, key)
  await load({ ours, bare }, key)
  console.log(
    `longest hold of the loop by a request: ${(await ask(ours.child)).maxDelayMs.toFixed(0)} ms (bound 250 ms)`,
  )
} finally {
  for (const child of children) child.kill('SIGKILL')
  for (const folder of [dir, copy, program]) rmSync(folder, { recursive: true, force: true })
}
