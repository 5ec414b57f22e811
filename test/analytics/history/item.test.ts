/** The course of one item: what is told of days with a change, without one, and with a damaged file. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { dayFile } from '../../../lib/analytics/history/files.js'
import { readItemCourse } from '../../../lib/analytics/history/item.js'
import type { ItemCourse } from '../../../lib/analytics/history/item.js'
import { DAY, HOUR, dayOf } from '../../../lib/core/clock.js'
import { createTestApp } from '../../../server/testing/index.js'
import { GTIN, historyBench, withDuck } from './bench.js'
import type { HistoryBench } from './bench.js'

const MONDAY = Date.UTC(2026, 5, 1)

const course = ({ dir }: HistoryBench, now: number, gtin = GTIN) =>
  withDuck((duck) => readItemCourse({ dir, now, gtin }, { duck }))

/** `day price/qty` of one distributor, where they are others than the day before. */
function told({ days, distributors }: ItemCourse, distid: string): string[] {
  const { price, qty } = distributors.find((one) => one.distid === distid)!
  return days
    .map((day, n) => [day, `${price[n] ?? '-'}/${qty[n] ?? '-'}`] as const)
    .filter(([, now], n, all) => now !== all[n - 1]?.[1])
    .map(([day, now]) => `${day} ${now}`)
}

describe('the course of an item', () => {
  test('is told for 91 days, and a day without a change ends as the one before it', async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY + 12 * HOUR, [{ stockid: 'A', qty: 10 }])
    bench.feed('RSR', MONDAY + 3 * DAY + HOUR, [{ stockid: 'A', qty: 4, price: 1_250 }])
    bench.feed('CSSI', MONDAY + 4 * DAY + HOUR, [{ stockid: 'X', qty: 1, price: 900 }])
    bench.feed('CSSI', MONDAY + 5 * DAY + HOUR, [{ stockid: 'X', gone: true }])
    bench.feed('RSR', MONDAY + 5 * DAY + HOUR, [{ stockid: 'Z', qty: 7, upc: '850012345618' }])
    // The last day is not rolled up: it is not over.
    await bench.rollUp(MONDAY + 5 * DAY + 2 * HOUR)
    const now = MONDAY + 5 * DAY + 3 * HOUR
    const seen = await course(bench, now)
    assert.equal(seen.days.length, 91)
    assert.deepEqual([seen.days[0], seen.days.at(-1)], ['2026-03-08', '2026-06-06'])
    assert.deepEqual(
      seen.distributors.map(({ distid }) => distid),
      ['CSSI', 'RSR'],
    )
    assert.deepEqual(told(seen, 'RSR'), [
      '2026-03-08 -/-',
      '2026-06-01 1000/10',
      '2026-06-04 1250/4',
    ])
    assert.deepEqual(told(seen, 'CSSI'), ['2026-03-08 -/-', '2026-06-05 900/1', '2026-06-06 -/0'])
    assert.deepEqual((await course(bench, now, 12_345_678)).distributors, [])
  })

  test('begins with what the last change before it left, however long ago', async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY, [{ stockid: 'A', qty: 10 }])
    bench.feed('RSR', MONDAY + DAY, [{ stockid: 'A', qty: 8 }])
    bench.feed('RSR', MONDAY + 200 * DAY, [{ stockid: 'A', qty: 3, price: 1_100 }])
    const now = MONDAY + 201 * DAY + HOUR
    await bench.rollUp(now)
    assert.deepEqual(told(await course(bench, now), 'RSR'), [
      '2026-09-20 1000/8',
      '2026-12-18 1100/3',
    ])
  })

  test('goes on over a day whose file is damaged, and says so', async () => {
    using bench = historyBench()
    for (const [n, qty] of [10, 8, 6].entries())
      bench.feed('RSR', MONDAY + n * DAY, [{ stockid: 'A', qty }])
    await bench.rollUp(MONDAY + 3 * DAY)
    writeFileSync(dayFile(bench.dir, '2026-06-02'), 'no Parquet')
    const seen = await course(bench, MONDAY + 3 * DAY)
    assert.deepEqual(seen.damaged, ['2026-06-02'])
    assert.deepEqual(told(seen, 'RSR').slice(1), ['2026-06-01 1000/10', '2026-06-03 1000/6'])
  })

  test('is read for an operator by a process of its own, in dollars', async () => {
    await using t = await createTestApp()
    const bench = historyBench(t.app.dir)
    bench.feed('RSR', t.clock.ms - HOUR, [{ stockid: 'A', qty: 3, price: 1_099 }])
    bench.history.close()
    const { days, distributors, damaged } = await t.app.operator.analytics.showItem(String(GTIN))
    assert.deepEqual(
      { days: days.length, today: days.at(-1), damaged },
      { days: 91, today: dayOf(t.clock.ms), damaged: [] },
    )
    assert.deepEqual(
      distributors.map(({ distid, price, qty }) => [distid, price.at(-1), qty.at(-1)]),
      [['RSR', 10.99, 3]],
    )
    await assert.rejects(
      t.app.operator.analytics.showItem('85001'),
      /"85001" is not a UPC: it must be 8 to 14 digits/,
    )
  })
})
