/**
 * What several nodes over one PostgreSQL cost, beside one folder's server, in the same run:
 *   requests a second of a small search with one, two and four nodes, and the processor time of a
 *   request on its node and in PostgreSQL
 *   placing an order at the leader and at another node         goal: p50 at most one commit and four
 *   round trips above one folder's
 *   transactions a second of nodes that nobody asks anything
 *   npx tsx scripts/bench/nodes.ts [orders] [seconds]
 * PostgreSQL as Debian packages it (fsync on), a real S3 server, and all of it on this machine:
 * with more nodes than cores it is the processor time of a request that tells how far it goes.
 */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from 'minio'
import { open } from '../../lib/app/open.js'
import { pause } from '../../lib/core/async/wait.js'
import { present } from '../../lib/core/present.js'
import { openPostgres } from '../../lib/db/postgres/connect.js'
import type { Postgres } from '../../lib/db/postgres/connect.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { s3Store } from '../../lib/objects/s3.js'
import type { S3Options } from '../../lib/objects/s3-calls.js'
import { createStartingServer } from '../../server/http/app.js'
import { listen } from '../../server/http/listen.js'
import { openStarting } from '../../server/http/starting.js'
import { openLog } from '../../server/log.js'
import { startUp } from '../../server/start-up.js'
import { startServer } from '../../test/harness/postgres.js'
import type { TestServer } from '../../test/harness/postgres.js'
import { startS3Server } from '../../test/objects/s3-server.js'
import { folderOnDisk, makeOrderShop, orderBody, percentile, wholesale } from './order-shop.js'
import { ORDERS_A_KEY } from './order-shop.js'

const DISTRIBUTOR_MS = 50
/** Orders before anything is measured: until the code is compiled. */
const WARM = 20
const CONNECTIONS = 16
/** A key has 1,000 requests a minute. */
const KEYS = 300
/** Seconds for which idle nodes are watched. */
const IDLE = 20
/** Milliseconds after which a connection that has nothing to do has told the server what it did. */
const COUNTED = 12_000

interface Life {
  dir: string
  /** Null for the server of one folder. */
  shared: { database: string; secretKey: string; s3: Omit<S3Options, 'now'> } | null
  keys: number
}

interface Running {
  child: ChildProcess
  port: number
  keys: string[]
}

async function serve({ dir, shared, keys }: Life): Promise<void> {
  const app = await open({
    dir,
    log: openLog('error'),
    distributors: [wholesale(DISTRIBUTOR_MS)],
    ...(shared && {
      database: shared.database,
      secretKey: shared.secretKey,
      objects: s3Store({ ...shared.s3, now: Date.now }),
    }),
  })
  const made = keys > 0 ? await makeOrderShop(app, keys) : []
  const starting = openStarting()
  const { url } = await listen(createStartingServer(app, starting), { port: 0, host: '127.0.0.1' })
  app.listensAt(url)
  await startUp(app, starting, new AbortController().signal)
  const cpu = () => process.cpuUsage().user + process.cpuUsage().system
  process.on('message', () => process.send!({ cpu: cpu() }))
  process.send!({ port: Number(new URL(url).port), keys: made })
}

function start(life: Life): Promise<Running> {
  const child = fork(fileURLToPath(import.meta.url), ['serve'], { execArgv: ['--import', 'tsx'] })
  child.send(life)
  return new Promise((resolve, reject) => {
    child.once('message', (told: Omit<Running, 'child'>) => resolve({ child, ...told }))
    child.once('exit', (code) => reject(new Error(`a server ended with ${code}`)))
  })
}

/** Microseconds of a processor that a server has had. */
const cpuOf = ({ child }: Running): Promise<number> =>
  new Promise((resolve) => {
    child.once('message', ({ cpu }: { cpu: number }) => resolve(cpu))
    child.send('cpu')
  })

function ask(
  agent: Agent,
  port: number,
  { key, path, body }: { key: string; path: string; body?: object },
): Promise<string> {
  const text = body && JSON.stringify(body)
  const headers = {
    'x-api-key': key,
    ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  }
  return new Promise((resolve, reject) => {
    request(
      { agent, port, host: '127.0.0.1', path, method: text ? 'POST' : 'GET', headers },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const said = Buffer.concat(chunks).toString()
          if (response.statusCode === 200) resolve(said)
          else reject(new Error(`${path}: ${response.statusCode} ${said}`))
        })
      },
    )
      .on('error', reject)
      .end(text)
  })
}

/** Microseconds of a processor that PostgreSQL has had, over all its processes. */
function postgresCpu({ dir }: TestServer): number {
  const main = Number(readFileSync(join(dir, 'data', 'postmaster.pid'), 'utf8').split('\n')[0])
  let ticks = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const stat = statOf(pid)
    if (!stat || (Number(pid) !== main && stat.parent !== main)) continue
    ticks += Number(pid) === main ? stat.own + stat.reaped : stat.own
  }
  // USER_HZ is 100 on every Linux that Node supports.
  return ticks * 10_000
}

function statOf(pid: string): { parent: number; own: number; reaped: number } | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').map(Number)
    return {
      parent: fields[1]!,
      own: fields[11]! + fields[12]!,
      reaped: fields[13]! + fields[14]!,
    }
  } catch {
    // It has ended meanwhile.
    return null
  }
}

async function commits(postgres: Postgres): Promise<number> {
  // What a backend has counted, it tells once a second.
  await pause(1_500)
  const client = postgres.newClient({ answerTimeout: 0 })
  await client.connect()
  const { rows } = await client.query(
    'select xact_commit::float8 as count from pg_stat_database where datname = current_database()',
  )
  await client.end()
  return (rows[0] as { count: number }).count
}

const SEARCH = '/v1/products/search?q=bipod'

/** All connections ask as fast as they are answered. */
async function load(
  servers: readonly Running[],
  { keys, seconds, server }: { keys: readonly string[]; seconds: number; server: TestServer },
): Promise<{ rate: number; node: number; database: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const cpu = async () =>
    (await Promise.all(servers.map(cpuOf))).reduce((sum, each) => sum + each, 0)
  let [count, asked] = [0, 0]
  const run = (until: number) =>
    Promise.all(
      Array.from({ length: CONNECTIONS }, async (_, at) => {
        while (performance.now() < until) {
          const { port } = servers[at % servers.length]!
          await ask(agent, port, { key: keys[asked++ % keys.length]!, path: SEARCH })
          count++
        }
      }),
    )
  await run(performance.now() + 1_500)
  count = 0
  const before = [await cpu(), postgresCpu(server)] as const
  const begun = performance.now()
  await run(begun + seconds * 1_000)
  const rate = (count * 1_000) / (performance.now() - begun)
  const [node, database] = [(await cpu()) - before[0], Math.max(0, postgresCpu(server) - before[1])]
  agent.destroy()
  return { rate, node: node / count, database: database / count }
}

async function placing(
  places: Record<string, { port: number; keys: readonly string[] }>,
  orders: number,
): Promise<Record<string, number[]>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: Record<string, number[]> = {}
  for (let i = 0; i < orders + WARM; i++)
    for (const [name, { port, keys }] of Object.entries(places)) {
      const key = keys[Math.floor(i / ORDERS_A_KEY)]!
      const body = orderBody(`${name.replace(/\W/g, '')}-${i}`)
      const begun = performance.now()
      await ask(agent, port, { key, path: '/v1/orders', body })
      if (i >= WARM) (times[name] ??= []).push(performance.now() - begun)
    }
  agent.destroy()
  return times
}

/** Milliseconds of a statement that does nothing, and of a commit of one row beyond that. */
async function databaseTimes(postgres: Postgres): Promise<{ trip: number; commit: number }> {
  const client = postgres.newClient({ answerTimeout: 0 })
  await client.connect()
  await client.query('create table public.bench (id bigint)')
  const timed = async (text: string) => {
    const times: number[] = []
    for (let i = 0; i < 200; i++) {
      const begun = performance.now()
      await client.query(text)
      times.push(performance.now() - begun)
    }
    return percentile(times, 0.5)
  }
  const trip = await timed('select 1')
  const commit = (await timed('insert into public.bench values (1)')) - trip
  await client.query('drop table public.bench')
  await client.end()
  return { trip, commit }
}

async function leaderIn(postgres: Postgres): Promise<string | null> {
  const client = postgres.newClient({ answerTimeout: 0 })
  await client.connect()
  const { rows } = await client.query(
    'select n.dir from quartermaster.lease l join quartermaster.node n on n.id = l.owner',
  )
  await client.end()
  return (rows[0] as { dir: string } | undefined)?.dir ?? null
}

async function answers(server: Running, key: string): Promise<void> {
  const agent = new Agent()
  let said = ''
  for (let tries = 0; tries < 400; tries++) {
    said = await ask(agent, server.port, { key, path: SEARCH }).catch(String)
    if (said.includes('Bipod')) return
    await pause(100)
  }
  throw new Error(`a node has no catalog: ${said}`)
}

async function measure(orders: number, seconds: number): Promise<void> {
  const dir = folderOnDisk()
  const server = await startServer()
  await server.crash()
  await server.start(['max_connections=300', 'fsync=on', 'synchronous_commit=on'])
  const store = await startS3Server()
  const { hostname, port } = new URL(store.endpoint)
  const place = { endPoint: hostname, port: Number(port), useSSL: false, region: store.region }
  await new Client({ ...place, ...store.owner, pathStyle: true }).makeBucket('bench')
  const database = await server.database()
  const postgres = await openPostgres(database)
  const shared = {
    database,
    secretKey: randomBytes(32).toString('hex'),
    s3: {
      endpoint: store.endpoint,
      bucket: 'bench',
      region: store.region,
      ...store.owner,
      pathStyle: true,
    },
  }
  const children: ChildProcess[] = []
  const started = async (life: Life) => {
    const running = await start(life)
    children.push(running.child)
    return running
  }
  try {
    const folder = await started({ dir: join(dir, 'folder'), shared: null, keys: KEYS })
    const setUp = await open({
      dir: join(dir, 'set-up'),
      worker: false,
      distributors: [wholesale(DISTRIBUTOR_MS)],
      database,
      secretKey: shared.secretKey,
      objects: s3Store({ ...shared.s3, now: Date.now }),
    })
    const keys = await makeOrderShop(setUp, KEYS)
    await setUp.close()

    const tell = (what: string, told: Awaited<ReturnType<typeof load>>) =>
      console.log(
        `${what.padEnd(10)} ${told.rate.toFixed(0).padStart(6)} requests/s, ` +
          `${told.node.toFixed(0)} us of a processor on the node, ` +
          `${told.database.toFixed(0)} us in PostgreSQL`,
      )
    tell('one folder', await load([folder], { keys: folder.keys, seconds, server }))

    const nodes: Running[] = []
    const idle: { nodes: number; rate: number }[] = []
    let leader = ''
    for (const count of [1, 2, 4]) {
      while (nodes.length < count) {
        const own = join(dir, `node-${nodes.length + 1}`)
        mkdirSync(own)
        if (nodes.length === 0)
          for (const end of ['', '-wal']) {
            const from = `${filesIn(join(dir, 'set-up')).catalog}${end}`
            if (existsSync(from)) cpSync(from, `${filesIn(own).catalog}${end}`)
          }
        const node = await started({ dir: own, shared, keys: 0 })
        nodes.push(node)
        while ((leader ||= (await leaderIn(postgres)) ?? '') === '') await pause(200)
        await answers(node, keys[0]!)
      }
      tell(`${count} node${count > 1 ? 's' : ''}`, await load(nodes, { keys, seconds, server }))
      // What the load has done would count as theirs.
      await pause(COUNTED)
      const before = await commits(postgres)
      await pause(IDLE * 1_000)
      idle.push({ nodes: count, rate: ((await commits(postgres)) - before) / (IDLE + 1.5) })
    }
    for (const { nodes: count, rate } of idle)
      console.log(`idle: ${count} node(s) make ${rate.toFixed(1)} transactions/s`)

    const led = present(nodes[Number(/\d+$/.exec(leader)?.[0]) - 1], 'the leader')
    const other = present(
      nodes.find((node) => node !== led),
      'another node',
    )
    const ofOrders = (from: number) => keys.slice(from)
    const times = await placing(
      {
        'one folder': { port: folder.port, keys: folder.keys },
        leader: { port: led.port, keys: ofOrders(0) },
        'another node': { port: other.port, keys: ofOrders(KEYS / 2) },
      },
      orders,
    )
    const { trip, commit } = await databaseTimes(postgres)
    console.log(`a round trip ${trip.toFixed(2)} ms, a commit ${commit.toFixed(2)} ms beyond it`)
    const one = percentile(times['one folder']!, 0.5)
    for (const [name, all] of Object.entries(times)) {
      const [p50, p99] = [percentile(all, 0.5), percentile(all, 0.99)]
      console.log(
        `placing, ${name}: p50 ${(p50 - DISTRIBUTOR_MS).toFixed(1)} ms, p99 ` +
          `${(p99 - DISTRIBUTOR_MS).toFixed(1)} ms over the distributor's time` +
          (name === 'one folder'
            ? ''
            : `; ${(p50 - one).toFixed(1)} ms above one folder, ` +
              `${((p50 - one) / (commit + 4 * trip)).toFixed(2)} x a commit and four round trips (goal <= 1)`),
      )
    }
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await postgres.close()
    await store.stop()
    await server.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

if (process.argv[2] === 'serve') process.once('message', (life: Life) => void serve(life))
else await measure(Number(process.argv[2] ?? 150), Number(process.argv[3] ?? 8))
