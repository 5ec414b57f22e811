/**
 * The console on a shop with a million offers and a hundred thousand orders: for each act of a
 * person the time to the next paint, as the browser's event timing has it, and to the last thing
 * that the page waited for; and the memory of the page.
 *   npx tsx scripts/bench/console.ts [offers] [orders]    goal: 100 ms to the next paint, 50 MB
 * The yardstick is a button on an empty page of the same browser that shows a word.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Page } from 'playwright-core'
// Bundles are built by a script without types.
// @ts-expect-error no declaration
import { bundleProgram } from '../../build.mjs'
import { open } from '../../lib/app/open.js'
import { prepareDemo } from '../../lib/app/demo.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { openBrowser, visit } from '../../test/docs/browser.js'
import { goTo, settled } from '../../test/console/visit.js'
import { writeOffers } from './offers.js'
import { folderOnDisk, percentile } from './order-shop.js'
import { fillHistory } from './records.js'

const OFFERS = Number(process.argv[2] ?? 1_000_000)
const ORDERS = Number(process.argv[3] ?? 100_000)
const ROUNDS = 5

const dir = folderOnDisk()
mkdirSync('dist', { recursive: true })
const bundle = mkdtempSync(resolve('dist', 'bench-'))

/** A demo with so much more in it. */
async function fillFolder(): Promise<void> {
  await (await open({ dir, worker: false })).close()
  const catalog = openFile(filesIn(dir).catalog, { synchronous: 'NORMAL' })
  writeOffers(catalog, OFFERS)
  catalog.close()
  const app = await open({ dir, worker: false })
  await prepareDemo(app, { history: false })
  const [shop] = await app.operator.subscribers.list()
  await app.close()
  const record = openFile(filesIn(dir).record, { synchronous: 'NORMAL' })
  fillHistory(record, { subscriber: shop!.id, records: ORDERS })
  record.close()
}

/** Keeps the longest event of the last act in the page. */
const WATCH = `window.longest = 0
new PerformanceObserver((list) => {
  for (const { duration, interactionId } of list.getEntries())
    if (interactionId) window.longest = Math.max(window.longest, duration)
}).observe({ type: 'event', durationThreshold: 16, buffered: false })`

interface Timed {
  paint: number[]
  all: number[]
}

/** Does something; milliseconds to the next paint (at least 16, the finest that is told), and in all. */
async function time(page: Page, act: () => Promise<void>, into: Timed): Promise<void> {
  await page.evaluate('window.longest = 16')
  const begun = performance.now()
  await act()
  await settled(page)
  into.all.push(performance.now() - begun)
  // Entries come with the frame after.
  await page.waitForTimeout(150)
  into.paint.push(await page.evaluate<number>('window.longest'))
}

const press =
  (page: Page, ...keys: string[]) =>
  async () => {
    for (const key of keys) await page.keyboard.press(key)
  }

async function measure(page: Page): Promise<Map<string, Timed>> {
  const found = new Map<string, Timed>()
  const of = (name: string) => {
    const timed = found.get(name) ?? { paint: [], all: [] }
    found.set(name, timed)
    return timed
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, letter] of [
      ['to Orders', 'o'],
      ['to Catalog', 'c'],
      ['to Feeds', 'f'],
      ['to Analytics', 'a'],
      ['to Dealers', 'l'],
      ['to Today', 't'],
    ] as const)
      await time(page, press(page, 'g', letter), of(name))
    await goTo(page, 'orders')
    await time(page, () => page.locator('main [data-row]').first().click(), of('one order'))
    await goTo(page, 'orders')
    await time(page, () => page.getByRole('button', { name: 'Next' }).click(), of('next orders'))
    await goTo(page, 'catalog')
    const search = page.locator('main [data-search]').first()
    await search.click()
    await time(page, () => page.keyboard.type('pistol 9mm', { delay: 30 }), of('type a search'))
    await time(page, () => page.locator('main [data-row]').first().click(), of('one item'))
  }
  return found
}

const server = { end: () => {} }
const browser = await openBrowser()
try {
  await bundleProgram(bundle)
  await fillFolder()
  const child = spawn(
    process.execPath,
    [
      join(bundle, 'quartermaster.mjs'),
      'demo',
      '--dir',
      dir,
      '--port',
      '0',
      '--admin',
      '127.0.0.1:0',
      '--json',
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  server.end = () => child.kill('SIGKILL')
  const said = await new Promise<string>((done) =>
    createInterface({ input: child.stdout }).once('line', done),
  )
  const { console: link, admin } = JSON.parse(said) as { console: string; admin: string }
  while ((await fetch(`${admin}/readyz`)).status !== 200)
    await new Promise((done) => setTimeout(done, 100))
  const empty = await visit(browser, 'about:blank')
  await empty.page.setContent(
    '<main><h1>Empty</h1><button onclick="this.textContent += \'!\'">Press</button></main>',
  )
  await empty.page.evaluate(WATCH)
  const yardstick: Timed = { paint: [], all: [] }
  for (let i = 0; i < ROUNDS * 2; i++)
    await time(empty.page, () => empty.page.getByRole('button').click(), yardstick)
  const { page } = await visit(browser, link)
  await settled(page)
  await page.evaluate(WATCH)
  const found = await measure(page)
  const client = await page.context().newCDPSession(page)
  await client.send('HeapProfiler.collectGarbage')
  await client.send('Performance.enable')
  const { metrics } = await client.send('Performance.getMetrics')
  const heap = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0
  const p50 = (times: readonly number[]) => percentile(times, 0.5)
  console.log(
    `${OFFERS.toLocaleString('en-US')} offers, ${ORDERS.toLocaleString('en-US')} orders; ` +
      `an empty page: ${p50(yardstick.paint)} ms to the next paint`,
  )
  for (const [name, { paint, all }] of found)
    console.log(
      `${name.padEnd(14)} next paint p50 ${p50(paint)} ms, worst ${Math.max(...paint)} ms ` +
        `(${(p50(paint) / p50(yardstick.paint)).toFixed(1)} x); all of it p50 ${p50(all).toFixed(0)} ms`,
    )
  console.log(`heap of the page ${(heap / 1e6).toFixed(1)} MB`)
} finally {
  await browser.close()
  server.end()
  rmSync(dir, { recursive: true, force: true })
  rmSync(bundle, { recursive: true, force: true })
}
