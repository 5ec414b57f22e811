/**
 * The endpoint of the metrics: parameters, limits, refusals, whose results one gets (contract
 * "Analytics").
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { METRICS, SLUGS } from '../../lib/analytics/metrics/index.js'
import { ROWS } from '../../lib/analytics/shapes.js'
import { DAY, HOUR } from '../../lib/core/clock.js'
import { createTestApp } from '../../server/testing/index.js'
import type { Answer, TestOffer } from '../../server/testing/index.js'
import { SHOP, analyticsShop, rebuildHere, tellStories } from './shop.js'
import type { AnalyticsShop } from './shop.js'
import { giveOwnPrices } from '../exports/shop.js'

const path = (slug: string, query = '') => `/v1/analytics/${slug}${query}`
const upcs = ({ results }: Answer) => results.map(({ upc }: Answer) => Number(upc.at(-1)))

describe('before the first build', () => {
  test('every metric is empty', async () => {
    await using t = await analyticsShop()
    for (const { slug, hasWindow } of METRICS) {
      const { status, body } = await t.json(path(slug))
      assert.deepEqual(
        [status, body.data],
        [
          200,
          { metric: slug, as_of: null, window_days: hasWindow ? 7 : null, count: 0, results: [] },
        ],
      )
    }
    assert.deepEqual(t.errors, [])
  })

  test('and with a build without any history, only what needs none has rows', async () => {
    await using t = await analyticsShop()
    await t.rebuild()
    const counts = await Promise.all(
      SLUGS.map(async (slug) => (await t.json(path(slug))).body.data.count),
    )
    assert.deepEqual(Object.fromEntries(SLUGS.map((slug, i) => [slug, counts[i]])), {
      'top-products': 0,
      'on-sale': 0,
      'margin-opportunities': 2,
      trending: 0,
      'new-arrivals': 0,
      'newly-available': 0,
      'price-gaps': 1,
    })
    assert.equal(
      (await t.json(path('price-gaps'))).body.data.as_of,
      new Date(t.clock.ms).toISOString(),
    )
  })

  test('also of an empty catalog there is a build', async () => {
    await using t = await createTestApp()
    await t.configure(SHOP)
    await rebuildHere(t.app.dir, t.clock.ms)
    const { as_of: asOf, count } = (await t.json(path('trending'))).body.data
    assert.deepEqual([asOf, count], [new Date(t.clock.ms).toISOString(), 0])
  })
})

describe('the answer', () => {
  let t: AnalyticsShop
  before(async () => {
    t = await analyticsShop()
    tellStories(t)
    await t.rebuild()
  })
  after(() => t.close())
  const get = async (slug: string, query = '') =>
    (await t.json(path(slug, query))).body.data as Answer

  test('has every member of the contract and decisions', async () => {
    const head = { as_of: new Date(t.clock.ms).toISOString(), window_days: 7 }
    const one = (n: number) => ({
      upc: `86000123450${n}`,
      name: `Item ${n}`,
      mfg_name: 'Ridgeline',
      category_id: 3_000 + n,
      category_name: `Category ${n}`,
    })
    const at = (days: number) => new Date(t.clock.ms - days * DAY).toISOString()
    assert.deepEqual(await get('top-products'), {
      metric: 'top-products',
      ...head,
      count: 2,
      results: [
        { ...one(1), sales_proxy: 6, restocks: 0, movement_score: 6, unit_cost: 90, is_new: false },
        {
          ...one(5),
          mfg_name: null,
          category_id: null,
          category_name: 'Uncategorized',
          sales_proxy: 4,
          restocks: 0,
          movement_score: 4,
          unit_cost: 100,
          is_new: false,
        },
      ],
    })
    assert.deepEqual(await get('on-sale'), {
      metric: 'on-sale',
      ...head,
      count: 1,
      results: [{ ...one(1), reference_price: 100, current_price: 90, drop_percent: 10 }],
    })
    assert.deepEqual(await get('new-arrivals'), {
      metric: 'new-arrivals',
      ...head,
      count: 1,
      results: [{ ...one(2), first_seen: at(3), unit_cost: 100, qty_on_hand: 7 }],
    })
    assert.deepEqual(await get('newly-available'), {
      metric: 'newly-available',
      ...head,
      count: 1,
      results: [{ ...one(3), out_of_stock_since: at(20), back_in_stock: at(2), qty_on_hand: 4 }],
    })
    assert.deepEqual(await get('price-gaps'), {
      metric: 'price-gaps',
      ...head,
      window_days: null,
      count: 1,
      results: [
        { ...one(4), distid: 'CSSI', price: 80, peer_average: 100, gap_percent: 20, offers: 3 },
      ],
    })
    assert.deepEqual(await get('trending'), {
      metric: 'trending',
      ...head,
      window_days: null,
      count: 1,
      results: [{ ...one(1), units_7d: 6, units_30d: 14, trend_ratio: 2.46 }],
    })
    assert.deepEqual(await get('margin-opportunities'), {
      metric: 'margin-opportunities',
      ...head,
      window_days: null,
      count: 2,
      results: [
        {
          ...one(1),
          unit_cost: 90,
          map_price: 140,
          msrp: 150,
          gross_profit: 50,
          margin_pct: 35.7,
          confidence: 1,
        },
        {
          ...one(5),
          mfg_name: null,
          category_id: null,
          category_name: 'Uncategorized',
          unit_cost: 100,
          map_price: null,
          msrp: 120,
          gross_profit: 20,
          margin_pct: 16.7,
          confidence: 0.38,
        },
      ],
    })
  })

  test('has the measures of its metric, as the documentation tells them', async () => {
    for (const { slug, measures } of METRICS) {
      const members = Object.keys(ROWS[slug as keyof typeof ROWS].shape).filter(
        (name) => !['upc', 'name', 'mfg_name', 'category_id', 'category_name'].includes(name),
      )
      assert.deepEqual(members, Object.keys(measures), slug)
      for (const row of (await get(slug)).results)
        assert.deepEqual(Object.keys(row), Object.keys(ROWS[slug as keyof typeof ROWS].shape))
    }
  })

  test('is the same through the library, the remote client and HTTP', async () => {
    for (const metric of SLUGS) {
      const input = { metric, window: '30d', limit: 3, product_class: 'fa, AC' } as const
      const throughLibrary = await t.shop.analytics(input)
      assert.deepEqual(await t.remote.analytics(input), throughLibrary)
      assert.deepEqual(
        await get(metric, '?window=30d&limit=3&product_class=fa,%20AC'),
        throughLibrary,
      )
    }
  })

  test('windows differ; metrics without one ignore it', async () => {
    for (const days of [7, 30, 60, 90]) {
      const data = await get('top-products', `?window=${days}d`)
      assert.deepEqual(
        [data.window_days, data.results.map(({ sales_proxy: sold }: Answer) => sold)],
        [days, days === 7 ? [6, 4] : [14, 5, 4]],
      )
    }
    for (const slug of ['trending', 'margin-opportunities', 'price-gaps'])
      assert.deepEqual(await get(slug, '?window=90d'), await get(slug))
  })

  test('limit is 1 to 200', async () => {
    assert.deepEqual(
      [
        (await get('top-products', '?limit=1')).count,
        (await get('top-products', '?limit=200')).count,
      ],
      [1, 2],
    )
    assert.deepEqual(upcs(await get('top-products', '?limit=1')), [1])
  })

  test('product_class and category_id: rows have one of them', async () => {
    const top = async (query: string) => upcs(await get('top-products', query))
    assert.deepEqual(await top('?product_class=FA'), [1])
    assert.deepEqual(await top('?product_class=KN,FA'), [1, 5])
    assert.deepEqual(await top('?product_class=kn'), [5])
    assert.deepEqual(await top('?product_class=AG'), [])
    assert.deepEqual(await top('?product_class=ZZ'), [], 'no code of anybody')
    assert.deepEqual(await top('?category_id=3001'), [1])
    assert.deepEqual(await top('?category_id=1,%203001%20,2'), [1])
    assert.deepEqual(await top('?category_id=03001'), [1])
    assert.deepEqual(await top('?category_id=0'), [], 'no category is not a category')
    assert.deepEqual(await top('?category_id=3001&product_class=KN'), [])
  })

  test('sort_by turns margin opportunities round, and means nothing elsewhere', async () => {
    await assert.doesNotReject(t.shop.analytics({ metric: 'trending', sort_by: 'margin_pct' }))
    for (const by of ['gross_profit', 'margin_pct'])
      assert.deepEqual(upcs(await get('margin-opportunities', `?sort_by=${by}`)), [1, 5])
  })

  test('min_confidence lets through what is as high', async () => {
    const margins = async (least: string) =>
      upcs(await get('margin-opportunities', `?min_confidence=${least}`))
    assert.deepEqual(
      [await margins('0'), await margins('0.38'), await margins('0.381'), await margins('1')],
      [[1, 5], [1, 5], [1], [1]],
    )
    assert.deepEqual((await get('price-gaps', '?min_confidence=1')).count, 1)
  })

  test('min_7d_units is 3 and min_30d_units 5 where they are not given', async () => {
    const trend = async (query: string) => upcs(await get('trending', query))
    assert.deepEqual(await trend(''), [1])
    assert.deepEqual(
      await trend('?min_30d_units=4'),
      [1, 5],
      'UPC 5 sold 4, all in the last days: null comes last',
    )
    assert.deepEqual(
      [
        await trend('?min_30d_units=4.5'),
        await trend('?min_7d_units=6'),
        await trend('?min_7d_units=6.5'),
        await trend('?min_7d_units=7'),
      ],
      [[1], [1], [], []],
    )
    assert.deepEqual(
      [await trend('?min_30d_units=14'), await trend('?min_30d_units=15')],
      [[1], []],
    )
    assert.deepEqual(
      await trend('?min_30d_units=0&min_7d_units=0'),
      [1, 3, 5],
      'UPC 3 sold nothing lately: a ratio of 0 before null',
    )
  })

  test('what is wrong is refused, all at once', async () => {
    const wrong: [query: string, ...paths: string[]][] = [
      ['limit=0', 'limit'],
      ['limit=201', 'limit'],
      ['limit=-1', 'limit'],
      ['limit=1.5', 'limit'],
      ['limit=abc', 'limit'],
      ['limit=', 'limit'],
      ['limit=1&limit=2', 'limit'],
      ['window=8d', 'window'],
      ['window=7', 'window'],
      ['window=', 'window'],
      ['window=7D', 'window'],
      ['window=7d&window=7d', 'window'],
      ['sort_by=price', 'sort_by'],
      ['sort_by=', 'sort_by'],
      ['category_id=abc', 'category_id'],
      ['category_id=1,', 'category_id'],
      ['category_id=', 'category_id'],
      ['category_id=-1', 'category_id'],
      ['category_id=1.5', 'category_id'],
      ['category_id=1;2', 'category_id'],
      ['category_id=1234567890123456', 'category_id'],
      ['product_class=F', 'product_class'],
      ['product_class=FAA', 'product_class'],
      ['product_class=', 'product_class'],
      ['product_class=FA,', 'product_class'],
      ['product_class=FA;AC', 'product_class'],
      ['product_class=12', 'product_class'],
      ['min_confidence=-0.01', 'min_confidence'],
      ['min_confidence=1.01', 'min_confidence'],
      ['min_confidence=high', 'min_confidence'],
      ['min_7d_units=-1', 'min_7d_units'],
      ['min_30d_units=many', 'min_30d_units'],
      ['limit=0&window=1d&category_id=x', 'category_id', 'limit', 'window'],
    ]
    for (const [query, ...paths] of wrong) {
      for (const slug of ['top-products', 'trending']) {
        const { status, body } = await t.json(path(slug, `?${query}`))
        assert.deepEqual(
          [status, body.error?.code, body.error?.details.map((fault: Answer) => fault.path).sort()],
          [400, 'invalid_parameter', paths],
          query,
        )
      }
    }
    for (const input of [
      { limit: 0 },
      { limit: 201 },
      { limit: NaN },
      { limit: '5' },
      { window: '5d' },
      { category_id: 3_001 },
      { min_confidence: 2 },
    ])
      await assert.rejects(t.shop.analytics({ metric: 'trending', ...input } as never), {
        code: 'invalid_parameter',
      })
  })

  test('an unknown metric is 404 and lists those that there are', async () => {
    for (const [slug, close] of [
      ['top-product', 'top-products'],
      ['Top-Products', 'top-products'],
      ['nothing', null],
      ['%00', null],
      ['constructor', null],
      ['x'.repeat(3_000), null],
    ] as const) {
      const { status, body } = await t.json(path(slug))
      assert.deepEqual(
        [slug, status, body.error.code, body.error.details],
        [slug, 404, 'not_found', { metrics: SLUGS }],
      )
      for (const known of SLUGS) assert.ok(body.error.message.includes(known))
      assert.equal(/did you mean ([\w-]+)/.exec(body.error.message)?.[1] ?? null, close)
      assert.match(body.error.message, /(\?|"\.) Known are /)
    }
    assert.equal(
      (await t.json(path('nothing', '?limit=0'))).status,
      400,
      'parameters are looked at first (decisions 2.1)',
    )
    assert.deepEqual(
      [
        (await t.json('/v1/analytics')).status,
        (await t.json('/v1/analytics/')).status,
        (await t.json(path('trending'), { method: 'POST' })).status,
      ],
      [404, 404, 405],
    )
    await assert.rejects(t.remote.analytics({ metric: 'nothing' }), {
      code: 'not_found',
      status: 404,
    })
  })

  test("is nobody's without a key", async () => {
    assert.equal((await t.json(path('trending'), { key: null })).status, 401)
  })
})

describe('the distributors of the caller', () => {
  test('without an active or a validated one it is a 409, as of the catalog; an unknown metric is a 404', async () => {
    await using t = await analyticsShop()
    await t.rebuild()
    await t.configure({ distributors: { 'RSR Group': { distid: 'RSR', active: false } } })
    assert.deepEqual(
      [
        (await t.json(path('trending'))).status,
        (await t.json(path('trending'))).body.error.code,
        (await t.json(path('nothing'))).status,
      ],
      [409, 'no_active_distributors', 404],
    )
    await t.configure({ distributors: { 'RSR Group': { distid: 'RSR' } } })
    await t.app.operator.configurations.recordCheck(t.subscriber, 'RSR Group', false)
    assert.deepEqual(
      [(await t.json(path('trending'))).status, (await t.json(path('trending'))).body.error.code],
      [409, 'no_validated_distributors'],
    )
    await t.configure({})
    assert.equal((await t.json(path('trending'))).body.error.code, 'no_active_distributors')
  })

  test("decide what is answered, at once after a change, and are each subscriber's own", async () => {
    await using t = await analyticsShop()
    tellStories(t)
    await t.rebuild()
    const top = async () =>
      (await t.json(path('top-products', '?window=30d'))).body.data.results.map(
        ({ upc, sales_proxy: sold, unit_cost: cost }: Answer) => [Number(upc.at(-1)), sold, cost],
      )
    assert.deepEqual(await top(), [
      [1, 14, 90],
      [3, 5, 100],
      [5, 4, 100],
    ])
    const other = await t.app.operator.subscribers.create({
      name: 'Other',
      email: 'other@shop.example',
    })
    const { configurations } = t.app.ctx
    const first = { id: t.app.findKey(t.key)!.subscriberId, name: '', email: '' }
    await t.save(other.name, {
      ...(await configurations.of({ ...other })).document,
      distributors: (await configurations.of(first)).document.distributors,
    })
    for (const name of Object.keys(SHOP.distributors))
      await t.app.operator.configurations.recordCheck('Other', name, name !== 'RSR Group')
    const others = await t.app.as('Other').analytics({ metric: 'top-products', window: '30d' })
    assert.deepEqual(
      others.results.map(({ upc }) => Number(upc.at(-1))),
      [1],
    )
    await t.configure({ distributors: { 'RSR Group': { distid: 'RSR' } } })
    assert.deepEqual(await top(), [
      [1, 8, 100],
      [3, 5, 100],
      [5, 4, 100],
    ])
    assert.deepEqual((await t.json(path('price-gaps'))).body.data.results, [])
  })

  test("product restrictions do not apply; costs are the operator's, before anybody's own", async () => {
    await using t = await analyticsShop()
    tellStories(t)
    await giveOwnPrices(t, t.app.findKey(t.key)!.subscriberId, { 'B-1': 5_000 })
    await t.rebuild()
    const before = (await t.json(path('top-products'))).body.data
    await t.configure({
      ...SHOP,
      product_restrictions: { sku: { include: ['none'] } },
      pricing: { cost_adjustments: [{ dollar: 50 }] },
    })
    const later = (await t.json(path('top-products'))).body.data
    assert.deepEqual([later.results, later.results[0].unit_cost], [before.results, 90])
  })

  test("an item has the words of the first of one's own distributors that gives it a category", async () => {
    await using t = await createTestApp()
    const offer = { upc: '860001234501', msrp: 20_000 }
    await t.configure(SHOP)
    const rows = async (query = '') =>
      (await t.json(path('margin-opportunities', query))).body.data.results as Answer[]
    const named = async (...offers: TestOffer[]) => {
      await t.stock(offers.map((more) => ({ ...offer, ...more })))
      t.clock.advance(HOUR)
      await rebuildHere(t.app.dir, t.clock.ms)
      return (await rows())[0].name as string
    }
    assert.equal(await named({ distid: 'RSR', stockid: 'A', name: 'of RSR' }), 'of RSR')
    assert.equal(
      await named({ distid: 'LIP', stockid: 'B', name: 'of LIP' }),
      'of LIP',
      'LIP comes before RSR',
    )
    assert.equal(
      await named({
        distid: 'RSR',
        stockid: 'A',
        name: 'sorted by RSR',
        productClass: 'FA',
        categoryId: 3_024,
        categoryName: 'Rifles',
      }),
      'sorted by RSR',
    )
    assert.equal(
      await named({
        distid: 'LIP',
        stockid: 'B',
        name: 'sorted by LIP',
        upc: '00860001234501',
        productClass: 'AC',
        categoryId: 3_025,
        categoryName: 'Other',
      }),
      'sorted by LIP',
    )
    assert.equal(
      await named({
        distid: 'LIP',
        stockid: 'A',
        name: 'came later',
        categoryId: 3_025,
        categoryName: 'Other',
      }),
      'sorted by LIP',
      'of two offers the first',
    )
    await t.configure({ distributors: { 'RSR Group': { distid: 'RSR' } } })
    assert.deepEqual(
      (await rows()).map(({ upc, name, category_id: category }) => [upc, name, category]),
      [['860001234501', 'sorted by RSR', 3_024]],
    )
    assert.deepEqual(
      (
        await Promise.all(
          ['?category_id=3024', '?category_id=3025', '?product_class=FA', '?product_class=AC'].map(
            rows,
          ),
        )
      ).map(({ length }) => length),
      [1, 0, 1, 0],
    )
  })

  test("what has no price of the operator's is in no metric", async () => {
    await using t = await analyticsShop()
    await t.stock([
      { distid: 'RSR', stockid: 'A-9', upc: '860001234590', price: null, qty: 5, msrp: 20_000 },
    ])
    t.feed('RSR', 30, [{ stockid: 'A-1', qty: 9 }])
    t.feed('RSR', 3, [{ stockid: 'A-9', upc: '860001234590', price: null, qty: 9 }])
    t.feed('RSR', 2, [{ stockid: 'A-9', upc: '860001234590', price: null, qty: 2 }])
    // Another one sold and vanished on one day; its UPC is known from elsewhere.
    t.feed('RSR', 4, [{ stockid: 'A-8', upc: '860001234502', price: null, qty: 9 }])
    t.feed('RSR', 3, [
      { stockid: 'A-8', upc: '860001234502', price: null, qty: 2 },
      { stockid: 'A-8x', upc: '860001234502', price: null, qty: 9 },
    ])
    t.feed('RSR', t.clock.ms - 3 * DAY + 1, [
      { stockid: 'A-8', upc: '860001234502', price: null, qty: 0, gone: true },
      { stockid: 'A-8x', upc: '860001234502', price: null, qty: 0, gone: true },
    ])
    await t.rebuild()
    for (const slug of SLUGS)
      assert.ok(!JSON.stringify((await t.json(path(slug))).body).includes('860001234590'), slug)
    assert.deepEqual(
      (await t.json(path('top-products'))).body.data.results.map(({ upc }: Answer) => upc),
      [],
    )
  })
})

test('as_of moves with every build, and the one before serves until then', async () => {
  await using t = await analyticsShop()
  tellStories(t)
  await t.rebuild()
  const first = (await t.json(path('newly-available'))).body.data
  t.clock.advance(HOUR)
  assert.deepEqual((await t.json(path('newly-available'))).body.data, first)
  await t.rebuild()
  const second = (await t.json(path('newly-available'))).body.data
  assert.deepEqual(
    [second.as_of, second.results],
    [new Date(t.clock.ms).toISOString(), first.results],
  )
  t.clock.advance(10 * DAY)
  await t.rebuild()
  assert.deepEqual(
    [
      (await t.json(path('newly-available'))).body.data.count,
      (await t.json(path('newly-available', '?window=30d'))).body.data.count,
    ],
    [0, 1],
  )
})
