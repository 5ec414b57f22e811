/**
 * The stock of RSR as its 104 files of August and September 2025 tell it: taken in, rolled up, and
 * counted again by plain loops.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { combine, orderOf } from '../../../lib/analytics/answers/combine.js'
import { openHistory } from '../../../lib/analytics/history/history.js'
import { daysIn } from '../../../lib/analytics/history/files.js'
import { findMetric } from '../../../lib/analytics/metrics/index.js'
import { openBuild } from '../../../lib/analytics/builds/open.js'
import type { Build } from '../../../lib/analytics/builds/open.js'
import { DAY } from '../../../lib/core/clock.js'
import { filesIn } from '../../../lib/db/sqlite/folder.js'
import { rebuildHere } from '../shop.js'
import { feedBench } from '../../feeds/bench.js'
import type { FeedBench } from '../../feeds/bench.js'
import { historyBench, rowsOf, withDuck } from './bench.js'
import type { DayRow, HistoryBench } from './bench.js'
import { countMonth, within } from './rsr-metrics.js'

const SNAPSHOTS = resolve('..', 'shared', 'data', 'rsr-2025', 'IM-QTY-snapshots.tar.xz')
const GAP = 3 * DAY

interface File {
  name: string
  at: number
  /** Stock by the item's place in the first file; -1 where the file does not name it. */
  counts: Int32Array
}

/** What became of one item over all files. */
interface Told {
  sold: number
  restocks: number
  zeroSince: number | null
  backAt: number | null
  qty: number
}

const gtinOf = (place: number) => 700_000_000_000 + place

describe(
  "RSR's stock over a month",
  { skip: existsSync(SNAPSHOTS) ? false : `the real feeds are not here: ${SNAPSHOTS}` },
  () => {
    let folder: string
    let feeds: FeedBench
    let bench: HistoryBench
    let files: File[]
    /** Item numbers of the first file; the place of each makes its UPC. */
    let skus: string[]
    /** What metrics see while the last day is open. */
    let open: {
      daily: DayRow[]
      items: { gtin: number; qty: number; zero_since: number | null; back_at: number | null }[]
    }

    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'qm-rsr-'))
      const unpacked = spawnSync('tar', ['-xJf', SNAPSHOTS, '-C', folder], { encoding: 'utf8' })
      assert.equal(unpacked.status, 0, `tar with xz is needed: ${unpacked.stderr}`)
      const names = readdirSync(folder).sort()
      skus = linesOf(join(folder, names[0]!)).map(([sku]) => sku)
      const places = new Map(skus.map((sku, place) => [sku, place]))
      files = names.map((name) => ({
        name,
        at: timeOf(name),
        counts: countsIn(join(folder, name), places),
      }))
      feeds = feedBench()
      bench = historyBench()
      await replay()
      open = await seen(files.at(-1)!.at)
    })
    after(() => {
      rmSync(folder, { recursive: true, force: true })
      bench.close()
      feeds.close()
    })

    /**
     * Takes in every file at its own time. A roll-up comes soon after midnight, as the job would.
     */
    async function replay(): Promise<void> {
      await feeds.take('rsr', catalogOf(skus, files[0]!.counts), {
        history: bench.history,
        asOf: files[0]!.at - 1,
        now: files[0]!.at - 1,
      })
      for (const { name, at } of files) {
        await rollUpAt(at)
        const result = await feeds.take(
          'rsr-quantity',
          { file: join(folder, name) },
          { history: bench.history, asOf: at, now: at },
        )
        assert.notEqual(result.outcome, 'refused', name)
      }
    }

    async function rollUpAt(now: number): Promise<void> {
      const first = bench.history.prepare('SELECT min(at) FROM change').pluck().get() as
        | number
        | null
      if (first !== null && Math.floor(first / DAY) < Math.floor(now / DAY)) await bench.rollUp(now)
    }

    const seen = (now: number) =>
      withDuck(async (duck) => {
        await openHistory(duck, { dir: bench.dir, historyDb: bench.history, now })
        return {
          daily: await rowsOf<DayRow>(duck, 'SELECT * FROM daily'),
          items: await rowsOf<(typeof open)['items'][number]>(duck, 'SELECT * FROM item_now'),
        }
      })

    test("each item's units that left, restocks and empty times are what plain loops over the files say", () => {
      const expected = byLoops(files, skus.length)
      const found = new Map<number, Told>(
        open.items.map((item) => [
          item.gtin,
          { sold: 0, restocks: 0, zeroSince: item.zero_since, backAt: item.back_at, qty: item.qty },
        ]),
      )
      for (const { gtin, sold, restocks } of open.daily) {
        found.get(gtin)!.sold += sold
        found.get(gtin)!.restocks += restocks
      }
      assert.equal(found.size, 29_731)
      // One text for each: a comparison of that many objects would take longer than all the rest.
      const told = ({ sold, restocks, zeroSince, backAt, qty }: Told) =>
        `${sold} sold, ${restocks} restocks, none since ${zeroSince}, back at ${backAt}, ${qty} now`
      for (const [place, sku] of skus.entries())
        assert.equal(told(found.get(gtinOf(place))!), told(expected[place]!), sku)
    })

    test('what fell over the three weeks without a file is not a sale of the day on which it was seen', () => {
      const falls = skus.reduce(
        (sum, _, place) =>
          sum + Math.max(0, files[6]!.counts[place]! - Math.max(0, files[7]!.counts[place]!)),
        0,
      )
      const days = [...new Set(open.daily.map(({ day }) => day))].sort()
      assert.deepEqual(days, ['2025-08-25', '2025-09-15', '2025-09-16', '2025-09-17', '2025-09-18'])
      const sold = days.map((day) =>
        open.daily.reduce((sum, row) => sum + (row.day === day ? row.sold : 0), 0),
      )
      assert.deepEqual([falls, sold], [526_389, [12_681, 76_207, 68_760, 68_194, 63_737]])
    })

    test('most rises give back what the change before took away: 20,122 reservations that were released', () => {
      let rises = 0
      for (const place of skus.keys())
        for (const [old, now] of pairs(files))
          if (Math.max(0, now.counts[place]!) > Math.max(0, old.counts[place]!)) rises++
      const restocks = open.daily.reduce((sum, row) => sum + row.restocks, 0)
      assert.deepEqual([rises, restocks], [36_020, 15_898])
    })

    describe('the metrics', () => {
      let counted: ReturnType<typeof countMonth>
      let build: Build
      let now: number
      before(async () => {
        now = files.at(-1)!.at
        counted = countMonth(files, skus.length, files[0]!.at - 1)
        feeds.catalog.exec(`VACUUM INTO '${filesIn(bench.dir).catalog}'`)
        build = openBuild(bench.dir, await rebuildHere(bench.dir, now))
      })
      /** Every result in its order, the measures as they are kept. */
      const resultsOf = async (slug: string, days: number) => {
        const metric = findMetric(slug)!
        const { items, values } = await combine(
          metric,
          await build.section(metric, days),
          new Set([build.meta.distids.indexOf('RSR')]),
        )
        return [...(await orderOf({ items, values }, metric.order))].map((row) => [
          items[row]!,
          ...Object.keys(metric.measures).map((name) => values[name]![row]!),
        ])
      }
      /** Sorted by these columns, the greatest first and none last, then by UPC. */
      const sorted = (rows: number[][], ...by: number[]) =>
        rows.sort(
          (a, b) =>
            by
              .map(
                (column) =>
                  (Number.isNaN(b[column]!) ? -1 : b[column]!) -
                  (Number.isNaN(a[column]!) ? -1 : a[column]!),
              )
              .find((difference) => difference !== 0) ?? a[0]! - b[0]!,
        )

      test('top-products are those of plain loops over the files', async () => {
        for (const days of [7, 30, 60, 90] as const) {
          const rows = counted
            .map(({ place, sold, restocks }) => {
              const [units, times] = [within(sold, days, now), within(restocks, days, now)]
              return [place, units, times, units * 10 + times * 10, 1_000 + place, 0]
            })
            .filter(([, units]) => units! > 0)
          const found = await resultsOf('top-products', days)
          assert.ok(found.length > 13_000, `${found.length}`)
          assert.equal(found.join('\n'), sorted(rows, 3, 1).join('\n'), `${days} days`)
        }
      })

      test('trending is that of plain loops over the files', async () => {
        const rows = counted
          .map(({ place, sold }) => {
            const [week, month] = [within(sold, 7, now), within(sold, 30, now)]
            return [
              place,
              week,
              month,
              month === week ? NaN : Math.round((week / 7 / ((month - week) / 23)) * 100),
            ]
          })
          .filter(([, , month]) => month! > 0)
        const found = await resultsOf('trending', 0)
        assert.equal(found.join('\n'), sorted(rows, 3, 1).join('\n'))
      })

      test('newly-available are those of plain loops over the files', async () => {
        for (const days of [7, 30] as const) {
          const begins = (Math.floor(now / DAY) - days + 1) * DAY
          const last = files.at(-1)!.counts
          const rows = counted
            .filter(({ back }) => back !== null && back >= begins)
            .map(({ place, gone, back }) => [place, gone, back!, last[place]!])
          const found = await resultsOf('newly-available', days)
          assert.equal(found.join('\n'), sorted(rows, 2, 3).join('\n'), `${days} days`)
          assert.ok(found.length > 500, `${found.length}`)
        }
      })
    })

    test('rolled up to the end, the days say the same', async () => {
      const now = files.at(-1)!.at + DAY
      await rollUpAt(now)
      assert.deepEqual(daysIn(bench.dir).at(-1), '2025-09-18')
      assert.equal(bench.history.prepare('SELECT count(*) FROM change').pluck().get(), 0)
      const order = ({ daily }: typeof open) =>
        daily.sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : a.gtin - b.gtin))
      assert.equal(JSON.stringify(order(await seen(now))), JSON.stringify(order(open)))
    })
  },
)

/** `IM-QTY-20250825T185329Z.csv` */
function timeOf(name: string): number {
  return Date.parse(
    name.replace(/^IM-QTY-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/, '$1-$2-$3T$4:$5:$6Z'),
  )
}

function linesOf(path: string): [sku: string, qty: string][] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(',') as [string, string])
}

function countsIn(path: string, places: ReadonlyMap<string, number>): Int32Array {
  const counts = new Int32Array(places.size).fill(-1)
  for (const [sku, qty] of linesOf(path))
    if (places.has(sku)) counts[places.get(sku)!] = Number(qty)
  return counts
}

/** 77 columns for each item number; UPC and price are made up, the stock is the first file's. */
function catalogOf(skus: readonly string[], counts: Int32Array): string {
  return (
    skus
      .map((sku, i) => {
        const cells = Array<string>(77).fill('')
        Object.assign(cells, {
          0: sku,
          1: String(gtinOf(i)),
          2: `Item ${sku}`,
          3: '13',
          6: ((1_000 + i) / 100).toFixed(2),
          8: String(counts[i]),
          10: 'Maker',
        })
        return cells.join(';')
      })
      .join('\n') + '\n'
  )
}

function pairs<T>(list: readonly T[]): [T, T][] {
  return list.slice(1).map((item, i) => [list[i]!, item])
}

/** Item by item, file by file. An item that a file no longer names has no stock. */
function byLoops(files: readonly File[], items: number): Told[] {
  return Array.from({ length: items }, (_, place) => {
    const told: Told = {
      sold: 0,
      restocks: 0,
      zeroSince: null,
      backAt: null,
      qty: files[0]!.counts[place]!,
    }
    let [day, lastFall] = [-1, 0]
    for (const [{ at: before }, { at, counts }] of pairs(files)) {
      const [old, qty] = [told.qty, Math.max(0, counts[place]!)]
      if (Math.floor(at / DAY) !== day) [day, lastFall] = [Math.floor(at / DAY), 0]
      if (qty === old) continue
      if (qty < old) {
        lastFall = at - before > GAP ? 0 : old - qty
        told.sold += lastFall
      } else {
        if (qty - old === lastFall) told.sold -= lastFall
        else told.restocks++
        lastFall = 0
      }
      if (qty === 0) told.zeroSince = at
      if (old === 0) told.backAt = at
      told.qty = qty
    }
    return told
  })
}
