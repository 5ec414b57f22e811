/**
 * The demo over HTTP, from the first start: every metric has rows, and the stories that its history
 * tells are in them.
 */
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { analytics } from '../../lib/analytics/endpoints.js'
import { METRICS, SLUGS } from '../../lib/analytics/metrics/index.js'
import { WINDOWS } from '../../lib/analytics/metrics/metric.js'
import { MetricResult } from '../../lib/analytics/shapes.js'
import { MINUTE } from '../../lib/core/clock.js'
import { demoStories } from '../../lib/simulator/market/stories.js'
import type { Answer } from '../../server/testing/index.js'
import { get, lastLine, runProcess, start, stop } from '../server/launcher.js'

describe("the demo's metrics", () => {
  const stories = demoStories()
  let dir: string
  let child: ChildProcess
  let url: string
  let key: string
  const ask = async (slug: string, query = ''): Promise<Answer> => {
    const { status, body } = await get(`${url}/v1/analytics/${slug}${query}`, key)
    assert.equal(status, 200)
    return body.data
  }
  const rowOf = (data: Answer, story: keyof typeof stories) =>
    data.results.find(({ upc }: Answer) => upc === stories[story].upc)

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'qm-analytics-demo-'))
    ;({
      child,
      first: { url, key },
    } = await start(dir, 'demo'))
    // They are there with its first line; on a very busy machine somewhat later.
    for (
      const until = Date.now() + 2 * MINUTE;
      (await ask('trending')).as_of === null;
      await pause(200)
    )
      assert.ok(Date.now() < until, 'the first build has not come')
  })
  after(async () => {
    assert.equal(await stop(child), 0)
    rmSync(dir, { recursive: true, force: true })
  })

  test('each has rows in each window, of the documented shape', async () => {
    for (const { slug, hasWindow } of METRICS) {
      for (const days of hasWindow ? WINDOWS : [7]) {
        const data = await ask(slug, `?window=${days}d&limit=200`)
        assert.ok(data.count > 0 && data.count === data.results.length, `${slug} ${days}`)
        assert.equal(data.window_days, hasWindow ? days : null)
        MetricResult.parse(data)
      }
    }
  })

  test('tell the stories of its history', async () => {
    const sale = rowOf(await ask('on-sale', '?window=30d&limit=200'), 'accessory')
    assert.deepEqual(
      [sale.reference_price, sale.current_price, sale.drop_percent],
      [99.95, 82.95, 17],
    )
    assert.equal(
      rowOf(await ask('on-sale', '?limit=200'), 'accessory'),
      undefined,
      'that was twelve days ago',
    )
    const back = rowOf(await ask('newly-available', '?limit=200'), 'firearm')
    assert.equal(
      Math.round(
        (Date.parse(back.back_in_stock) - Date.parse(back.out_of_stock_since)) / (24 * 60 * MINUTE),
      ),
      15,
    )
    const arrival = rowOf(
      await ask('new-arrivals', '?window=30d&limit=200&product_class=AR'),
      'singleOffer',
    )
    assert.ok(arrival.qty_on_hand > 0)
    const top = (await ask('top-products', '?limit=5')).results.map(({ upc }: Answer) => upc)
    assert.ok(
      top.includes(stories.magazine.upc) && top.includes(stories.ammunition.upc),
      top.join(),
    )
    const trend = rowOf(await ask('trending', '?limit=200&min_7d_units=100'), 'ammunition')
    assert.ok(trend.trend_ratio > 3 && trend.trend_ratio < 5, `${trend.trend_ratio}`)
    for (const slug of SLUGS)
      assert.equal(
        rowOf(await ask(slug, '?limit=200&product_class=OP'), 'outOfStock')?.qty_on_hand,
        undefined,
        'nobody has the scope',
      )
  })

  test('the documented example is a row of them', async () => {
    const {
      metric,
      window_days: days,
      results: [row],
    } = analytics.example.result
    assert.deepEqual(rowOf(await ask(metric, `?window=${days}d&limit=200`), 'accessory'), row)
  })

  test('prices and stock are those of the catalog', async () => {
    for (const { upc, distid, price } of (await ask('price-gaps', '?limit=10')).results) {
      const { offers } = (await get(`${url}/v1/products/${upc}?ignore_restrictions=true`, key)).body
        .data as Answer
      const stocked = offers.filter(({ qty_on_hand: qty }: Answer) => qty > 0)
      const cheapest = stocked.reduce((best: Answer, offer: Answer) =>
        offer.unit_price < best.unit_price ? offer : best,
      )
      assert.deepEqual([distid, price], [cheapest.distid, cheapest.unit_price])
    }
    for (const { upc, unit_cost: cost, map_price: map } of (
      await ask('margin-opportunities', '?limit=10')
    ).results) {
      const { offers } = (await get(`${url}/v1/products/${upc}?ignore_restrictions=true`, key)).body
        .data as Answer
      assert.equal(
        cost,
        Math.min(
          ...offers
            .filter(({ qty_on_hand: qty }: Answer) => qty > 0)
            .map(({ unit_price: price }: Answer) => price),
        ),
      )
      assert.ok(map === null || offers.some(({ map_price: named }: Answer) => named === map))
    }
  })

  test('rebuilt by hand beside the server, the server answers with the new ones', async () => {
    const { as_of: earlier } = await ask('trending')
    const done = await runProcess(dir, 'analytics', 'rebuild', '--json')
    assert.equal(done.status, 0, done.err)
    const { as_of: later } = lastLine(done) as unknown as { as_of: string }
    assert.ok(later > earlier)
    assert.equal((await ask('trending')).as_of, later)
    const shown = await runProcess(
      dir,
      'analytics',
      'show',
      'trending',
      '--limit',
      '3',
      '--subscriber',
      'Demo Shop',
      '--json',
    )
    assert.deepEqual(lastLine(shown), await ask('trending', '?limit=3'))
  })
})
