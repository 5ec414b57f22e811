/**
 * A first hour with a built folder, in a process that a suite starts in an empty directory: it
 * serves, a feed comes in, it stops. With `demo` it serves the demo, and the catalog goes out as
 * Parquet. Prints what it saw as one line of JSON.
 *
 *   node walk.mjs serve|demo '["/folder/quartermaster"]' '{"PATH":"/nowhere"}'
 *
 * with the words that start the program, and all of its environment.
 */
import { execFile, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const [mode, ...rest] = process.argv.slice(2)
const [[program, ...words], env] = rest.map((text) => JSON.parse(text))
const cwd = process.cwd()
const LOOK = 100
const options = { cwd, env }

/** A command beside the server, and what it says as JSON. */
async function command(...args) {
  const all = [...words, '--dir', join(cwd, 'state'), ...args, '--json']
  const { stdout } = await execute(program, all, options)
  return JSON.parse(stdout.trim().split('\n').at(-1))
}

const get = async (path, url, key) => {
  const headers = key === undefined ? {} : { 'x-api-key': key }
  const response = await fetch(new URL(path, url), { headers })
  return { status: response.status, body: Buffer.from(await response.arrayBuffer()) }
}

/** What the demo's own shop can do. */
async function shop(url, key) {
  const search = await get('/v1/products/search?page_size=1', url, key)
  let exported = await get('/v1/products/catalog', url, key)
  // On a machine that is very busy the first one is not there within a minute.
  while (exported.status === 503) exported = await get('/v1/products/catalog', url, key)
  const { data } = JSON.parse(exported.body)
  const { body } = await get(data.url, url)
  writeFileSync(join(cwd, 'catalog.parquet'), body)
  return { products: JSON.parse(search.body).data.total }
}

async function look({ url, admin, key }) {
  while ((await get('/readyz', admin)).status !== 200) await sleep(LOOK)
  const guide = await get('/v1/docs/guide', url)
  const reference = await get('/v1/docs', url)
  const [asset] = /[^"]*\/docs\/assets\/tokens[^"]*/.exec(reference.body.toString())
  const rows = Array.from({ length: 5 }, (_, i) => `R${i},A scope,90.00,5,01234567890${i},OPTICS`)
  const head = 'Item #,Item Description,Dealer Price,Quantity,UPC Code,Gun Type'
  const file = join(cwd, 'davidsons.csv')
  writeFileSync(file, `${[head, ...rows].join('\n')}\n`)
  const feed = await command('feeds', 'import', 'DAV', file)
  return {
    health: (await get('/healthz', admin)).status,
    guide: [guide.status, guide.body.includes('Integration guide')],
    asset: (await get(asset, url)).status,
    feed: [feed.outcome, feed.offers],
    ...(mode === 'demo' && (await shop(url, key))),
  }
}

const { stdout: version } = await execute(program, [...words, '--version'], options)
const child = spawn(
  program,
  [...words, '--dir', join(cwd, 'state'), mode, '--port', '0', '--admin', '127.0.0.1:0', '--json'],
  { ...options, stdio: ['ignore', 'pipe', 'pipe'] },
)
try {
  let log = ''
  child.stderr.on('data', (data) => (log += data))
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const first = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${log}`)))
  })
  const seen = await look(JSON.parse(first))
  child.kill('SIGTERM')
  const code = await ended
  console.log(JSON.stringify({ version: version.trim(), ...seen, code, log }))
} finally {
  child.kill('SIGKILL')
}
