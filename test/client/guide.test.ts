/**
 * The built client in a folder that has nothing else, and the page of the guide about it, run as it
 * stands.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { HOUR } from '../../lib/core/clock.js'
import { networkOf } from '../../lib/client/network.js'
import { connect, eachOffer } from '../../lib/connect.js'
import { open } from '../../lib/app/open.js'
import { listen } from '../../server/index.js'
import type { Listening } from '../../server/index.js'
import { rowsIn } from '../exports/shop.js'
import { blocks, page, rows } from '../docs/blocks.js'
import { orderShop } from '../orders/shop.js'
import type { OrderShop } from '../orders/shop.js'
import { scripted } from '../orders/scripted-distributor.js'

const GUIDE = page('client.md')
/** The programs of the page by the file name in their first line. */
const PROGRAMS = new Map(
  blocks(GUIDE)
    .filter(({ language }) => language === 'js')
    .map(({ text }) => [/^\/\/ ([\w.]+)\n/.exec(text)![1]!, text]),
)

let bare: string
let t: OrderShop
let server: Listening

before(async () => {
  bare = mkdtempSync(join(tmpdir(), 'qm-client-'))
  // A package of that name and nothing beside it: no node_modules here or above.
  cpSync('package.json', join(bare, 'package.json'))
  // Named at run time, so that it is not bundled with the suite.
  const build = (await import(pathToFileURL(resolve('build.mjs')).href)) as {
    bundleTree: Bundle
    bundleCommonJs: Bundle
  }
  const entry = { connect: 'lib/connect.ts' }
  await build.bundleTree(join(bare, 'dist', 'lib'), entry)
  await build.bundleCommonJs(join(bare, 'dist', 'lib'), entry)
  t = await orderShop([scripted()])
  server = await listen(t.server, { port: 0, host: '127.0.0.1' })
  t.app.listensAt(server.url)
})
after(async () => {
  await server.close()
  await t.close()
  rmSync(bare, { recursive: true })
})
type Bundle = (outdir: string, entryPoints: Record<string, string>) => Promise<void>

/** Runs a program in the bare folder; returns what it prints. */
function runBare(name: string, text: string, env: Record<string, string> = {}): Promise<string> {
  writeFileSync(join(bare, name), text)
  return new Promise((done, reject) => {
    execFile(
      process.execPath,
      [name],
      {
        cwd: bare,
        env: {
          PATH: process.env['PATH'],
          QUARTERMASTER_URL: server.url,
          QUARTERMASTER_KEY: t.key,
          ...env,
        },
      },
      (error, out, err) => (error ? reject(new Error(`${error.message}\n${err}`)) : done(out)),
    )
  })
}

describe('the built client', () => {
  test('imports nothing but its own files, and nothing later', () => {
    const folder = join(bare, 'dist', 'lib')
    const reached = new Set(['connect.mjs'])
    const late = new Set<string>()
    for (const name of reached) {
      const text = readFileSync(join(folder, name), 'utf8')
      for (const [, target] of text.matchAll(
        /^(?:import|export)\b[^;]*?from ["']([^"']+)["'];$/gm,
      )) {
        assert.match(target!, /^\.\//, `${name} imports ${target}`)
        reached.add(target!.slice(2))
      }
      for (const [, target] of text.matchAll(/\bimport\(["']([^"']+)["']\)/g)) late.add(target!)
    }
    assert.deepEqual([...late], [])
    const required = [
      ...readFileSync(join(folder, 'connect.cjs'), 'utf8').matchAll(
        /\brequire\(["']([^"']+)["']\)/g,
      ),
    ].map((match) => match[1]!)
    // Where this file lies, which only Node's own module system asks for.
    assert.deepEqual(
      required.filter((name) => name !== 'node:url'),
      [],
    )
    assert.ok(
      !existsSync(join(bare, 'node_modules')) &&
        readFileSync(join(folder, 'connect.cjs')).length < 100_000,
    )
  })

  test('works through require, from a search to a history', async () => {
    const out = await runBare(
      'shop.cjs',
      `
      const { connect, eachOrder, downloadCatalog, RemoteError } = require('quartermaster/client')
      const shop = connect(process.env.QUARTERMASTER_URL, process.env.QUARTERMASTER_KEY)
      ;(async () => {
        const { products } = await shop.products.search({ q: 'bipod' })
        const { items: [{ best, upc, qty }] } = await shop.orders.quote({ items: [{ upc: products[0].upc, qty: 1 }] })
        const customer = ${JSON.stringify(t.body()['customer'])}
        const order = { order_id: 'CJS-1', customer, items: [{ ...best, upc, qty }] }
        console.log((await shop.orders.place(order)).status)
        const tell = (error) => [error instanceof RemoteError, error.code, error.outcome].join()
        console.log(await shop.orders.place(order).catch(tell))
        for await (const { order_id } of eachOrder(shop, { order_id: 'CJS-1' }))
          console.log(order_id, typeof downloadCatalog)
      })()`,
    )
    assert.equal(out, 'placed\ntrue,duplicate_order,refused\nCJS-1 function\n')
  })
})

describe('the page about clients', () => {
  test('has programs that run as they stand: a quote, an order, the catalog, a history', async () => {
    const run = (name: string, env?: Record<string, string>) =>
      runBare(name, PROGRAMS.get(name)!, env)
    assert.equal(await run('first.mjs'), 'Bipod for 60\n')
    assert.equal(await run('order.mjs'), 'TST Submitted\n')
    assert.equal(
      await run('order.mjs'),
      'TST Submitted\n',
      'a second run takes the order that is there',
    )
    assert.equal(
      (await t.purchaseOrders()).filter(({ po_number: po }) => po.startsWith('W-1001')).length,
      1,
    )
    const version = /^2 offers in \d+ bytes, version ([\w-]+)\n$/.exec(
      await run('catalog.mjs'),
    )![1]!
    assert.equal((await rowsIn(readFileSync(join(bare, 'catalog.parquet')))).length, 2)
    t.clock.advance(HOUR)
    assert.equal(await run('catalog.mjs', { LAST_VERSION: version }), 'nothing new\n')
    assert.match(
      await run('history.mjs'),
      /^2026-11-21 12:00:00 W-1001 TST Submitted$[\s\S]*^TST A1 \d+$/m,
    )
    assert.deepEqual(
      readdirSync(bare).filter((name) => name.includes('.part')),
      [],
    )
  })

  test('has an embedded program that runs', async () => {
    const lines: unknown[][] = []
    const body = PROGRAMS.get('embedded.mjs')!
      .replaceAll(/^import .*$/gm, '')
      .replace("'./var'", JSON.stringify(t.app.dir))
      .replace("'Main Street Guns'", JSON.stringify(t.subscriber))
    const AsyncFunction = (async () => {}).constructor as new (
      ...args: string[]
    ) => (...args: unknown[]) => Promise<void>
    await new AsyncFunction('open', 'eachOffer', 'console', body)(open, eachOffer, {
      log: (...words: unknown[]) => lines.push(words),
    })
    assert.deepEqual(lines, [
      ['Bipod', 25],
      ['Pistol', 400],
    ])
  })

  test('tells the options and their defaults as they are', () => {
    const told = Object.fromEntries(
      rows(GUIDE, '## What is repeated, and what never is').map(([name, value]) => [
        name!.replaceAll('`', ''),
        value,
      ]),
    )
    const { attempts, timeout } = networkOf({}, 'connect')
    assert.deepEqual([Number(told['attempts']), Number(told['timeout'])], [attempts, timeout])
    assert.deepEqual(Object.keys(told), ['attempts', 'timeout', 'maxWait', 'signal', 'fetch'])
  })

  test('names functions that there are', () => {
    const shop = connect('https://shop.example', 'key') as unknown as Record<
      string,
      Record<string, unknown>
    >
    for (const [, group, name] of GUIDE.matchAll(
      /(?<!app\.)\b(products|orders|ffls|restrictions|fulfillment|config)\.(\w+)/g,
    ))
      if (name !== 'md') assert.equal(typeof shop[group!]![name!], 'function', `${group}.${name}`)
  })
})
