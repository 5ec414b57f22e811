/**
 * From the start of a node over PostgreSQL and S3 to its first ping, its first page of a search and
 * the moment at which it is ready: with an empty folder, whose catalog it fetches, and with the one
 * that it had; with the bytes that it fetched. Beside them one folder, in the same rounds:
 *   npx tsx scripts/bench/nodes-start.ts [offers] [rounds]
 * The command as it is delivered, on a demo shop with so many offers more, beside a node that leads.
 */
import { spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { Client } from 'minio'
import { open } from '../../lib/app/open.js'
import { pause } from '../../lib/core/async/wait.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { startServer } from '../../test/harness/postgres.js'
import { startProxy } from '../../test/harness/tcp-proxy.js'
import { startS3Server } from '../../test/objects/s3-server.js'
// Bundles are built by a script without types.
// @ts-expect-error no declaration
import { bundleProgram } from '../../build.mjs'
import { launch } from './launched.js'
import type { Launch, Launched } from './launched.js'
import { writeOffers } from './offers.js'
import { folderOnDisk, percentile } from './order-shop.js'

const OFFERS = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = Number(process.argv[3] ?? 5)
const BUCKET = 'bench'

type Env = Readonly<Record<string, string>>

const start = (launcher: string, command: Launch['command'], given: Pick<Launch, 'dir' | 'env'>) =>
  launch(launcher, {
    command,
    options: ['--admin', 'none'],
    ...given,
    begun: (child) => running.add(child),
  })

async function end({ child }: Pick<Launched, 'child'>, signal: NodeJS.Signals): Promise<void> {
  const ended = new Promise((done) => child.once('exit', done))
  child.kill(signal)
  await ended
  running.delete(child)
}

async function ask(url: string, path: string, key: string): Promise<Response> {
  return fetch(`${url}${path}`, { headers: { 'x-api-key': key } })
}

/** The total of a search; null where it is not answered. */
async function found({ url }: Pick<Launched, 'url'>, key: string): Promise<number | null> {
  const response = await ask(url, '/v1/products/search?q=glock&page_size=5', key)
  const { data } = (await response.json()) as { data?: { total: number } }
  return response.status === 200 ? data!.total : null
}

type What = 'ping' | 'search' | 'ready'

/** Milliseconds from the start to each of them; ends the server by a kill. */
async function timed(
  launcher: string,
  { dir, env, key, total }: { dir: string; env?: Env; key: string; total: number },
): Promise<Record<What, number>> {
  const begin = performance.now()
  const server = await start(launcher, 'serve', { dir, ...(env && { env }) })
  while ((await ask(server.url, '/v1/ping', key)).status !== 200);
  const ping = performance.now() - begin
  while ((await found(server, key)) !== total) await pause(2)
  const search = performance.now() - begin
  const ready = (await server.ready) - begin
  // What it keeps for its next start, it writes once it serves.
  for (const since = performance.now(); performance.now() - since < 60_000; await pause(100))
    if (existsSync(join(dir, 'snapshot', 'current.json'))) break
  await end(server, 'SIGKILL')
  return { ping, search, ready }
}

const running = new Set<ChildProcess>()
const dir = folderOnDisk()
mkdirSync('dist', { recursive: true })
const bundle = mkdtempSync(resolve('dist', 'bench-'))
const postgres = await startServer()
const store = await startS3Server()
const [toStore, toDatabase] = [
  await startProxy(Number(new URL(store.endpoint).port)),
  await startProxy(postgres.port),
]
try {
  await postgres.crash()
  await postgres.start(['max_connections=300', 'fsync=on', 'synchronous_commit=on'])
  const { hostname, port } = new URL(store.endpoint)
  const at = { endPoint: hostname, port: Number(port), useSSL: false, region: store.region }
  await new Client({ ...at, ...store.owner, pathStyle: true }).makeBucket(BUCKET)
  await bundleProgram(bundle)
  const launcher = join(bundle, 'quartermaster')

  const folder = join(dir, 'folder')
  await (await open({ dir: folder, worker: false })).close()
  const catalog = openFile(filesIn(folder).catalog, { synchronous: 'NORMAL' })
  writeOffers(catalog, OFFERS)
  catalog.close()
  const demo = await start(launcher, 'demo', { dir: folder })
  const { key } = demo
  await demo.ready
  const isCompiled = () => readdirSync(bundle).some((name) => /^compiled-.*-\w+$/.test(name))
  while (!existsSync(join(folder, 'snapshot', 'current.json')) || !isCompiled()) await pause(50)
  const total = (await found(demo, key))!
  await end(demo, 'SIGTERM')

  const moved = join(dir, 'moved')
  cpSync(folder, moved, { recursive: true })
  const address = await postgres.database()
  const file = join(dir, 'database')
  writeFileSync(file, address, { mode: 0o600 })
  const envThrough = (database: number, bucket: number): Env => ({
    QUARTERMASTER_DATABASE: address.replace(`:${postgres.port}/`, `:${database}/`),
    QUARTERMASTER_SECRET_KEY: readFileSync(join(moved, 'keys', 'secret-key'), 'utf8').trim(),
    QUARTERMASTER_S3_ENDPOINT: `http://127.0.0.1:${bucket}`,
    QUARTERMASTER_S3_REGION: store.region,
    QUARTERMASTER_S3_BUCKET: BUCKET,
    QUARTERMASTER_S3_ACCESS_KEY: store.owner.accessKey,
    QUARTERMASTER_S3_SECRET_KEY: store.owner.secretKey,
  })
  const move = spawnSync(launcher, ['move', '--dir', moved, '--to-file', file, '--preview'], {
    encoding: 'utf8',
    env: { ...process.env, ...envThrough(postgres.port, Number(port)) },
  })
  if (move.status !== 0) throw new Error(move.stderr)
  const led = join(dir, 'leader')
  mkdirSync(led)
  for (const suffix of ['', '-wal'])
    if (existsSync(filesIn(moved).catalog + suffix))
      cpSync(filesIn(moved).catalog + suffix, filesIn(led).catalog + suffix)
  const begun = performance.now()
  await start(launcher, 'serve', { dir: led, env: envThrough(postgres.port, Number(port)) })
  const isPublished = async () => {
    const { rows } = await postgres.run(
      address,
      "select bytes from quartermaster.publication where name = 'catalog' and kind = 'base'",
    )
    return rows.length > 0
  }
  while (!(await isPublished())) await pause(200)
  console.log(
    `the leader had published ${(OFFERS / 1e6).toFixed(1)} million offers ` +
      `${((performance.now() - begun) / 1_000).toFixed(1)} s after its start`,
  )

  const bytes = { bucket: 0, database: 0 }
  toStore.heard = (piece) => void (bytes.bucket += piece.length)
  toDatabase.heard = (piece) => void (bytes.database += piece.length)
  const env = envThrough(toDatabase.port, toStore.port)
  const node = join(dir, 'node')
  const ways = {
    'one folder': { dir: folder, isEmpty: false },
    'a node with an empty folder': { dir: node, env, isEmpty: true },
    'a node with its folder': { dir: node, env, isEmpty: false },
  }
  const times = new Map<string, Record<What | 'bucket' | 'database', number>[]>()
  for (let round = 0; round <= ROUNDS; round++)
    for (const [name, { isEmpty, ...way }] of Object.entries(ways)) {
      if (isEmpty) rmSync(way.dir, { recursive: true, force: true })
      Object.assign(bytes, { bucket: 0, database: 0 })
      const took = { ...(await timed(launcher, { ...way, key, total })), ...bytes }
      // The first round warms the disk's cache up.
      if (round > 0) times.set(name, [...(times.get(name) ?? []), took])
    }
  const one = times.get('one folder')!
  const middle = (all: typeof one, what: keyof (typeof one)[number]) =>
    percentile(
      all.map((each) => each[what]),
      0.5,
    )
  for (const [name, all] of times) {
    const told = (['ping', 'search', 'ready'] as const).map(
      (what) =>
        `${what} p50 ${middle(all, what).toFixed(0)} ms ` +
        `(${(middle(all, what) / middle(one, what)).toFixed(1)} x)`,
    )
    const fetched = (['bucket', 'database'] as const).map(
      (from) => `${(middle(all, from) / 1e6).toFixed(2)} MB from the ${from}`,
    )
    console.log(`${name}: ${told.join(', ')}; ${fetched.join(', ')}`)
  }
} finally {
  for (const child of running) child.kill('SIGKILL')
  await toStore.close()
  await toDatabase.close()
  await store.stop()
  await postgres.close()
  for (const path of [dir, bundle]) rmSync(path, { recursive: true, force: true })
}
