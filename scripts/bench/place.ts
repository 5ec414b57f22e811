/**
 * What placing an order costs beyond the time of the distributor, who answers in 50 ms:
 *   overhead over HTTP and through the library    goal: p50 <= 20 ms, p99 <= 60 ms over the distributor's time
 *   against a bare node:http POST that commits one row (synchronous=FULL) and fsyncs one more file
 * All on the same disk; every round asks each of the three once.
 *   npx tsx scripts/bench/place.ts [rounds]
 * And what it costs while 1,000 open orders of four distributors are looked up, after a restart:
 *   placing over HTTP, against the same on a server without open orders    goal: p99 <= 2
 *   npx tsx scripts/bench/place.ts recovery [open orders] [rounds]
 */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { Agent, createServer as createHttpServer, request } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { open } from '../../lib/app/open.js'
import { createServer } from '../../server/http/app.js'
import { listen } from '../../server/http/listen.js'
import {
  ORDERS_A_KEY,
  SHOP,
  folderOnDisk,
  makeOrderShop,
  orderBody,
  percentile,
  wholesale,
} from './order-shop.js'

const DISTRIBUTOR_MS = 50
/** Rounds before anything is measured: until the code is compiled. */
const WARM = 30

async function serveOurs(dir: string, keys: number): Promise<void> {
  const app = await open({ dir, worker: false, distributors: [wholesale(DISTRIBUTOR_MS)] })
  const made = await makeOrderShop(app, keys)
  const { url } = await listen(createServer(app), { port: 0, host: '127.0.0.1' })
  app.orders.start()
  process.send!({ port: Number(new URL(url).port), keys: made })
}

/**
 * The least that an order could cost: a row that is on the disk, and a line in a second file that
 * is on the disk.
 */
function serveBare(dir: string): void {
  const db = openFile(join(dir, 'bare.db'), { synchronous: 'FULL' })
  db.exec('CREATE TABLE intent (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT')
  const insert = db.prepare('INSERT INTO intent (body) VALUES (?)')
  const file = openSync(join(dir, 'bare.journal'), 'a')
  process.once('exit', () => closeSync(file))
  const server = createHttpServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const body = Buffer.concat(chunks).toString()
        insert.run(body)
        writeSync(file, `${body}\n`)
        fdatasyncSync(file)
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end('{"success":true}')
      })
  })
  server.listen(0, '127.0.0.1', () =>
    process.send!({ port: (server.address() as { port: number }).port, keys: [] }),
  )
}

interface Running {
  child: ChildProcess
  port: number
  keys: string[]
}

function start(kind: string, dir: string, keys: number): Promise<Running> {
  const child = fork(fileURLToPath(import.meta.url), [kind, dir, String(keys)], {
    execArgv: ['--import', 'tsx'],
  })
  return new Promise((resolve) =>
    child.once('message', (message: Omit<Running, 'child'>) => resolve({ child, ...message })),
  )
}

function post(agent: Agent, port: number, key: string, body: unknown): Promise<void> {
  const text = JSON.stringify(body)
  return new Promise((resolve, reject) => {
    request(
      {
        agent,
        port,
        host: '127.0.0.1',
        method: 'POST',
        path: '/v1/orders',
        headers: {
          'x-api-key': key,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          response.statusCode === 200
            ? resolve()
            : reject(new Error(`${response.statusCode} ${Buffer.concat(chunks).toString()}`)),
        )
      },
    )
      .on('error', reject)
      .end(text)
  })
}

const DISTIDS = ['BEN', 'BEP', 'BEQ', 'BER']

/** Leaves so many orders whose answers never came, and dies. */
async function leaveOpen(dir: string, count: number): Promise<void> {
  const app = await open({
    dir,
    worker: false,
    distributors: DISTIDS.map((distid) => wholesale(0, { distid, isLost: true })),
  })
  await makeOrderShop(app, 0, DISTIDS)
  const shop = app.as(SHOP)
  for (let i = 0; i < count; i++)
    await shop.orders.place(orderBody(`OPEN-${i}`, DISTIDS[i % DISTIDS.length]))
  process.send!({ port: 0, keys: [] })
}

/**
 * Goes on with what `leaveOpen` left; whatever message comes is answered with the orders still open
 * and the searches so far.
 */
async function serveAgain(dir: string, keys: number): Promise<void> {
  let searches = 0
  const app = await open({
    dir,
    worker: false,
    distributors: DISTIDS.map((distid) =>
      wholesale(DISTRIBUTOR_MS, { distid, onSearch: () => searches++ }),
    ),
  })
  const made: string[] = []
  for (let i = 0; i < keys; i++)
    made.push(
      (
        await app.operator.keys.create({
          subscriber: SHOP,
          name: `again ${i}`,
          tier: 'enterprise',
          ips: ['127.0.0.1'],
        })
      ).key,
    )
  const { url } = await listen(createServer(app), { port: 0, host: '127.0.0.1' })
  app.orders.start()
  const left = app.ctx.engine.reader.raw.prepare(
    "SELECT count(*) AS orders FROM purchase_order WHERE state = 'unknown'",
  )
  process.on('message', () => process.send!({ ...(left.get() as object), searches }))
  process.send!({ port: Number(new URL(url).port), keys: made })
}

interface Recovery {
  orders: number
  searches: number
}

function recoveryOf({ child }: Running): Promise<Recovery> {
  return new Promise((resolve) => {
    child.once('message', resolve)
    child.send('how far')
  })
}

/** Both servers are asked in turn, so that whatever else this machine does is shared. */
async function measureRecovery(count: number, rounds: number): Promise<void> {
  const dir = folderOnDisk()
  const children: ChildProcess[] = []
  try {
    const keys = Math.ceil((rounds + WARM) / ORDERS_A_KEY)
    const left = { idle: 0, recovering: count }
    const servers: Partial<Record<keyof typeof left, Running>> = {}
    for (const [name, orders] of Object.entries(left)) {
      const { child } = await start('leave', join(dir, name), orders)
      child.kill('SIGKILL')
      await once(child, 'exit')
      const server = (servers[name as keyof typeof left] = await start(
        'again',
        join(dir, name),
        keys,
      ))
      children.push(server.child)
    }
    const { idle, recovering } = servers as Record<keyof typeof left, Running>
    const agent = new Agent({ keepAlive: true })
    const times = { idle: [] as number[], recovering: [] as number[] }
    const begin = await recoveryOf(recovering)
    for (let i = 0; i < rounds + WARM; i++) {
      const key = Math.floor(i / ORDERS_A_KEY)
      const took = {
        idle: await timed(() => post(agent, idle.port, idle.keys[key]!, orderBody(`B-${i}`))),
        recovering: await timed(() =>
          post(agent, recovering.port, recovering.keys[key]!, orderBody(`B-${i}`)),
        ),
      }
      if (i >= WARM)
        for (const name of ['idle', 'recovering'] as const) times[name].push(took[name])
    }
    const end = await recoveryOf(recovering)
    agent.destroy()
    console.log(
      `${rounds} orders each, distributors answer in ${DISTRIBUTOR_MS} ms; open orders ` +
        `${begin.orders} at the start and ${end.orders} at the end, ` +
        `${end.searches - begin.searches} searches meanwhile`,
    )
    for (const [label, share] of [
      ['p50', 0.5],
      ['p99', 0.99],
      ['most', 1],
    ] as const) {
      const [quiet, busy] = [percentile(times.idle, share), percentile(times.recovering, share)]
      console.log(
        `${label.padEnd(4)}: ${busy.toFixed(1)} ms during recovery, ${quiet.toFixed(1)} ms on ` +
          'an idle server, ratio ' +
          `${(busy / quiet).toFixed(2)}${label === 'p99' ? ' (goal <= 2)' : ''}`,
      )
    }
  } finally {
    for (const child of children) child.kill('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  }
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await run()
  return performance.now() - begin
}

async function measure(rounds: number): Promise<void> {
  const dir = folderOnDisk()
  const children: ChildProcess[] = []
  try {
    const ours = await start('ours', join(dir, 'served'), Math.ceil((rounds + WARM) / ORDERS_A_KEY))
    const bare = await start('bare', dir, 0)
    children.push(ours.child, bare.child)
    await using app = await open({
      dir: join(dir, 'library'),
      worker: false,
      distributors: [wholesale(DISTRIBUTOR_MS)],
    })
    await makeOrderShop(app, 0)
    app.orders.start()
    const shop = app.as(SHOP)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const times = { http: [] as number[], library: [] as number[], bare: [] as number[] }
    for (let i = 0; i < rounds + WARM; i++) {
      const body = orderBody(`B-${i}`)
      const round = {
        http: await timed(() =>
          post(agent, ours.port, ours.keys[Math.floor(i / ORDERS_A_KEY)]!, body),
        ),
        library: await timed(() => shop.orders.place(body)),
        bare: await timed(() => post(agent, bare.port, '', body)),
      }
      if (i >= WARM)
        for (const name of ['http', 'library', 'bare'] as const) times[name].push(round[name])
    }
    agent.destroy()
    console.log(`${rounds} orders each, the distributor answers in ${DISTRIBUTOR_MS} ms, on ${dir}`)
    for (const [label, share, goal] of [
      ['p50', 0.5, 20],
      ['p99', 0.99, 60],
    ] as const) {
      const bareMs = percentile(times.bare, share)
      for (const name of ['http', 'library'] as const) {
        const over = percentile(times[name], share) - DISTRIBUTOR_MS
        console.log(
          `${name.padEnd(8)} ${label}: ${over.toFixed(1)} ms over the distributor's time ` +
            `(goal <= ${goal}), bare POST with two syncs ${bareMs.toFixed(2)} ms, ratio ` +
            `${(over / bareMs).toFixed(1)}`,
        )
      }
    }
  } finally {
    for (const child of children) child.kill('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  }
}

const [kind, dir, keys] = process.argv.slice(2)
if (kind === 'ours') await serveOurs(dir!, Number(keys))
else if (kind === 'bare') serveBare(dir!)
else if (kind === 'leave') await leaveOpen(dir!, Number(keys))
else if (kind === 'again') await serveAgain(dir!, Number(keys))
else if (kind === 'recovery') await measureRecovery(Number(dir ?? 1_000), Number(keys ?? 150))
else await measure(Number(kind ?? 400))
