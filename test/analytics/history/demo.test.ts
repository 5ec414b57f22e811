/**
 * The 90 days before the demo's first start: they end in what its feeds say, and the stories in
 * them are as they are told.
 */
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { daysIn } from '../../../lib/analytics/history/files.js'
import { DAY, HOUR, MINUTE, dayOf, startOfDay } from '../../../lib/core/clock.js'
import { gtinKey } from '../../../lib/core/gtin.js'
import { filesIn } from '../../../lib/db/sqlite/folder.js'
import { openFile } from '../../../lib/db/sqlite/sqlite.js'
import { openForTest as open } from '../../../server/testing/open.js'
import type { App } from '../../../lib/app/open.js'
import { prepareDemo } from '../../../lib/app/demo.js'
import { DEMO_DAYS, writeDemoHistory } from '../../../lib/simulator/demo/history.js'
import { demoOffers } from '../../../lib/simulator/demo/feeds.js'
import { demoStories } from '../../../lib/simulator/market/stories.js'
import type { DemoStories } from '../../../lib/simulator/market/stories.js'
import { historyBench } from './bench.js'
import type { DayRow, HistoryBench, ItemNow } from './bench.js'

const NOON = Date.UTC(2026, 10, 21, 12)

describe("the demo's history", () => {
  let dir: string
  let app: App
  let bench: HistoryBench
  let daily: DayRow[]
  let items: ItemNow[]
  const today = startOfDay(NOON)
  const stories = demoStories()

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'qm-demo-history-'))
    app = await open({ dir, worker: false, now: () => NOON })
    // However busy the machine is: that the demo begins without them then is not what this is about.
    await prepareDemo(app, { longestWait: 10 * MINUTE })
    bench = historyBench(dir)
    ;({ daily, items } = await bench.seen(NOON))
  })
  after(async () => {
    await app.close()
    bench.close()
  })

  const daysAgo = (day: string) => Math.round((today - Date.parse(day)) / DAY)
  const rowsOf = (story: keyof DemoStories, distid: string) =>
    daily.filter((row) => row.distid === distid && row.gtin === gtinKey(stories[story].upc))
  const nowOf = (story: keyof DemoStories, distid: string) =>
    items.find((item) => item.distid === distid && item.gtin === gtinKey(stories[story].upc))!
  const total = (rows: readonly DayRow[], of: 'sold' | 'restocks') =>
    rows.reduce((sum, row) => sum + row[of], 0)

  test('is 90 days long, rolled up and with metrics before the demo serves, and nothing moved today', () => {
    assert.equal(daysIn(dir).length, DEMO_DAYS)
    assert.equal(app.ctx.analytics.status()?.at, NOON)
    assert.deepEqual(
      [daysIn(dir)[0], daysIn(dir).at(-1)],
      [dayOf(today - DEMO_DAYS * DAY), dayOf(today - DAY)],
    )
    const now = daily.filter(({ day }) => day === dayOf(today))
    assert.ok(now.length > 15_000)
    assert.deepEqual(
      [
        total(now, 'sold'),
        total(now, 'restocks'),
        now.filter((row) => row.zero_since !== null || row.back_at !== null).length,
      ],
      [0, 0, 0],
    )
  })

  test('ends in what the feeds say', () => {
    const catalog = openFile(filesIn(dir).catalog, { synchronous: 'NORMAL', readonly: true })
    const stock = new Map<string, number>()
    for (const [distid, upc, qty] of catalog
      .prepare(
        'SELECT o.distid, f.upc, o.qty FROM offer o JOIN fragment f ON f.id = o.fragment WHERE f.upc IS NOT NULL',
      )
      .raw()
      .iterate() as Iterable<[string, string, number]>) {
      const key = `${distid} ${gtinKey(upc)}`
      stock.set(key, (stock.get(key) ?? 0) + qty)
    }
    catalog.close()
    assert.deepEqual(
      new Map(
        items.map(({ distid, gtin, qty }) => [`${distid} ${gtin}`, qty]).sort() as [
          string,
          number,
        ][],
      ),
      new Map([...stock].sort()),
    )
    assert.ok(daily.every((row) => row.sold >= 0 && row.restocks >= 0 && row.qty >= 0))
  })

  test('a sale: the bipod cost 99.95 at Chattanooga until twelve days ago', () => {
    const rows = rowsOf('accessory', 'CSSI')
    assert.deepEqual(
      [...new Set(rows.filter(({ day }) => daysAgo(day) > 12).map(({ price }) => price))],
      [9_995],
    )
    assert.deepEqual(
      [...new Set(rows.filter(({ day }) => daysAgo(day) <= 12).map(({ price }) => price))],
      [8_295],
    )
  })

  test('back in stock: nobody had the pistol from 20 days ago until five days ago', () => {
    for (const distid of ['RSR', 'LIP']) {
      const { zero_since: since, back_at: back } = nowOf('firearm', distid)
      assert.deepEqual([daysAgo(dayOf(since!)), daysAgo(dayOf(back!))], [20, 5])
    }
  })

  test('a trend: five times as much ammunition in the last week', () => {
    for (const [distid, units] of [
      ['RSR', 12],
      ['CSSI', 8],
    ] as const) {
      const rows = rowsOf('ammunition', distid).filter(({ day }) => daysAgo(day) > 0)
      assert.deepEqual(
        [
          total(
            rows.filter(({ day }) => daysAgo(day) <= 7),
            'sold',
          ),
          total(
            rows.filter(({ day }) => daysAgo(day) > 7 && daysAgo(day) <= 30),
            'sold',
          ),
        ],
        [7 * 5 * units, 23 * units],
      )
    }
  })

  test('a best seller, a new arrival, a sold-out scope, and a silencer that was held back, not sold', () => {
    const magazine = rowsOf('magazine', 'RSR').filter(
      ({ day }) => daysAgo(day) > 0 && daysAgo(day) <= 30,
    )
    assert.deepEqual([total(magazine, 'sold'), total(magazine, 'restocks')], [900, 4])
    assert.equal(daysAgo(dayOf(nowOf('singleOffer', 'CSSI').first_at!)), 9)
    for (const distid of ['RSR', 'LIP', 'CSSI'])
      assert.deepEqual(
        [nowOf('outOfStock', distid).qty, daysAgo(dayOf(nowOf('outOfStock', distid).zero_since!))],
        [0, 3],
      )
    const silencer = rowsOf('nfa', 'LIP')
    assert.deepEqual(
      [
        total(silencer, 'sold'),
        total(silencer, 'restocks'),
        nowOf('nfa', 'LIP').zero_since !== null,
      ],
      [0, 0, true],
    )
  })

  test('there is enough of everything: sales, restocks, new and returned items, falls and gaps', () => {
    const first = today - DEMO_DAYS * DAY + DAY
    assert.ok(total(daily, 'sold') > 100_000 && total(daily, 'restocks') > 5_000)
    assert.ok(items.filter((item) => item.first_at! > first).length > 500)
    assert.ok(
      items.filter((item) => item.back_at !== null && item.back_at > today - 30 * DAY).length > 100,
    )
    const prices = new Map<number, number[]>()
    for (const { gtin, qty, price } of items)
      if (qty > 0 && price !== null) prices.set(gtin, [...(prices.get(gtin) ?? []), price])
    assert.ok(
      [...prices.values()].filter(
        (of) => of.length === 3 && Math.min(...of) < 0.88 * Math.max(...of),
      ).length > 20,
    )
  })

  test('is written once: a later start, and a folder that has a history, are left alone', async () => {
    const count = () =>
      bench.history
        .prepare('SELECT (SELECT count(*) FROM change), (SELECT count(*) FROM seen)')
        .raw()
        .get()
    const known = count()
    await prepareDemo(app)
    writeDemoHistory(bench.history, demoOffers({}), NOON + DAY)
    assert.deepEqual(count(), known)
  })

  test('is the same for the same day', () => {
    const one = (now: number) => {
      const made = historyBench()
      writeDemoHistory(made.history, demoOffers({ offers: 200 }), now)
      const rows = made.history.prepare('SELECT * FROM change').all()
      made.close()
      return rows
    }
    assert.deepEqual(one(today + 5 * MINUTE), one(today + 23 * HOUR))
  })
})
