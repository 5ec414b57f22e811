import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import type { OrderSession, PurchaseOrder } from '../../lib/distributors/fulfillment.js'
import { refreshDemoFeeds } from '../../lib/simulator/demo/stock.js'
import { writeDemoFeeds } from '../../lib/simulator/demo/feeds.js'
import { readSimulatorOrders } from '../../lib/simulator/inspect.js'
import { openSession } from '../../lib/distributors/session/open-session.js'
import { SIMULATED } from '../../lib/simulator/profiles.js'
import { demoSettings } from '../../lib/simulator/profiles.js'
import { demoStories } from '../../lib/simulator/market/stories.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'

const PERSON = {
  name: 'Pat Doe',
  address1: '12 Main St',
  address2: null,
  city: 'Phoenix',
  state: 'AZ',
  zip: '85001',
  phone: '602-555-0100',
}
let serial = 0

async function sell(t: TestApp, distid: string, distsku: string, qty: number) {
  const n = ++serial
  const order: PurchaseOrder = {
    clientRef: `REF${n}`.padEnd(20, '0'),
    serial: n,
    po: `W-${n}`,
    poGiven: `W-${n}`,
    poIsOurs: true,
    lane: 'all',
    fflRequired: false,
    shipToStore: false,
    lines: [{ distsku, upc: '1', name: distsku, qty, unitPrice: 1_000, fflRequired: false }],
    shipTo: PERSON,
    customer: { ...PERSON, email: 'pat@customer.example' },
    ffl: null,
    takenAt: t.clock.ms,
  }
  const session: OrderSession = {
    ...openSession(
      { name: distid },
      {
        settings: demoSettings(distid),
        signal: new AbortController().signal,
        now: () => t.clock.ms,
      },
    ),
    stage: null,
    keepStage: async () => {},
  }
  return t.app.ctx.distributors.byDistid(distid)!.simulator!.submit(session, order)
}

async function demoApp(): Promise<{ t: TestApp; files: Record<string, string> }> {
  const t = await createTestApp()
  const feeds = await writeDemoFeeds(join(t.app.dir, 'simulator', 'feeds'), {
    asOf: t.clock.ms,
    offers: 600,
  })
  for (const { distid, preset, file } of feeds)
    await t.app.operator.feeds.set({ distid, preset, location: file })
  await pull(t)
  return { t, files: Object.fromEntries(feeds.map(({ distid, file }) => [distid, file])) }
}

async function pull(t: TestApp): Promise<void> {
  for (const distid of ['RSR', 'LIP', 'CSSI'])
    for (const { outcome } of await t.app.operator.feeds.pull({ distid }))
      assert.ok(outcome === 'taken' || outcome === 'unchanged', outcome)
  await t.app.ctx.catalog.refresh()
}

/** Units that the catalog shows. */
function listed(t: TestApp, distid: string, sku: string): number {
  const snapshot = t.app.ctx.catalog.current()!
  return snapshot
    .skuRows(sku)
    .filter((row) => snapshot.distids[snapshot.distributor[row]!] === distid)
    .reduce((sum, row) => sum + snapshot.qty[row]!, 0)
}

describe('simulated distributors in an app', () => {
  test('stand behind the seven with automated fulfillment, and open no file before the first order', async () => {
    const t = await createTestApp()
    try {
      const { distributors } = t.app.ctx
      assert.deepEqual(
        distributors.all
          .filter(({ simulator }) => simulator)
          .map(({ distid }) => distid)
          .sort(),
        [...SIMULATED].sort(),
      )
      assert.deepEqual(
        distributors.all
          .filter(({ automatedFulfillment }) => automatedFulfillment)
          .map(({ distid }) => distid)
          .sort(),
        [...SIMULATED].sort(),
      )
      assert.ok(!existsSync(filesIn(t.app.dir).simulator))
      await t.app.jobs.run('simulator')
      assert.ok(!existsSync(filesIn(t.app.dir).simulator))
      await t.stock([
        { distid: 'RSR', stockid: 'A1', qty: 3 },
        { distid: 'LIP', stockid: 'A1', qty: 1 },
      ])
      assert.equal((await sell(t, 'RSR', 'A1', 2)).outcome, 'accepted')
      assert.equal((await sell(t, 'RSR', 'A1', 2)).outcome, 'rejected')
      assert.equal((await sell(t, 'LIP', 'A1', 2)).outcome, 'rejected')
      assert.equal((await sell(t, 'RSR', 'a1', 1)).outcome, 'rejected')
      assert.equal(readSimulatorOrders(t.app.dir).length, 1)
      // A folder without the demo's feeds.
      await t.app.jobs.run('simulator')
      assert.deepEqual(await refreshDemoFeeds(t.app.ctx), [])
    } finally {
      await t.close()
    }
  })

  test("the demo's feeds show what was sold, and nothing else of them changes", async () => {
    const { t, files } = await demoApp()
    try {
      const { offers } = demoStories().accessory
      const before = Object.fromEntries(
        Object.entries(files).map(([distid, file]) => [distid, readFileSync(file, 'utf8')]),
      )
      assert.deepEqual(await refreshDemoFeeds(t.app.ctx), [])
      for (const { distid, distsku, qty } of offers) {
        assert.equal(listed(t, distid, distsku), qty)
        assert.equal((await sell(t, distid, distsku, 2)).outcome, 'accepted')
      }
      assert.deepEqual((await refreshDemoFeeds(t.app.ctx)).sort(), ['CSSI', 'LIP', 'RSR'])
      for (const { distid, distsku, qty } of offers) {
        const rows = (text: string) => text.split('\n')
        const after = rows(readFileSync(files[distid]!, 'utf8'))
        const changed = rows(before[distid]!).flatMap((row, i) =>
          row === after[i] ? [] : [[row, after[i]!] as const],
        )
        assert.equal(changed.length, 1)
        assert.ok(changed[0]![0].startsWith(distsku))
        // The same cells but one.
        const [old, young] = changed[0]!.map((row) =>
          row.split(distid === 'RSR' ? ';' : /,(?=(?:[^"]*"[^"]*")*[^"]*$)/),
        )
        const cells = old!.flatMap((cell, i) => (cell === young![i] ? [] : [[cell, young![i]]]))
        assert.deepEqual(
          [old!.length === young!.length, cells],
          [true, [[String(qty), String(qty - 2)]]],
        )
      }
      assert.deepEqual(readdirSync(join(t.app.dir, 'simulator', 'feeds')).length, 3)
      assert.deepEqual(await refreshDemoFeeds(t.app.ctx), [])
      await pull(t)
      for (const { distid, distsku, qty } of offers)
        assert.equal(listed(t, distid, distsku), qty - 2)
    } finally {
      await t.close()
    }
  })

  test('orders between a writing and its pull are not undone by it', async () => {
    const { t, files } = await demoApp()
    try {
      const { distid, distsku, qty } = demoStories().accessory.offers[0]!
      const times = [statSync(files[distid]!).mtimeMs]
      await sell(t, distid, distsku, 1)
      await t.app.jobs.run('simulator')
      times.push(statSync(files[distid]!).mtimeMs)
      await sell(t, distid, distsku, 1)
      t.clock.advance(60_000)
      await pull(t)
      assert.equal(listed(t, distid, distsku), qty - 1)
      await sell(t, distid, distsku, 1)
      await t.app.jobs.run('simulator')
      times.push(statSync(files[distid]!).mtimeMs)
      assert.ok(times[0]! < times[1]! && times[1]! < times[2]!)
      t.clock.advance(60_000)
      await pull(t)
      assert.equal(listed(t, distid, distsku), qty - 3)
    } finally {
      await t.close()
    }
  })
})
