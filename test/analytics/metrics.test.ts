/**
 * The seven formulas on small tables made by hand, on both sides of every threshold.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ago, morning, rigOf } from './rig.js'
import type { OfferRow, Result, World } from './rig.js'

const ALL = ['A', 'B', 'C', 'D']
const gtinsOf = (results: readonly Result[]) => results.map(({ gtin }) => gtin)

async function results(
  slug: string,
  world: World,
  options: { days?: number; distids?: readonly string[]; order?: readonly string[] } = {},
): Promise<Result[]> {
  return (await rigOf(world)).results(slug, { distids: ALL, ...options })
}

describe('top-products', () => {
  const offers: OfferRow[] = [
    { gtin: 1, distid: 'A', price: 900 },
    { gtin: 1, distid: 'B', price: 800, qty: 0 },
    { gtin: 1, distid: 'C', price: 950 },
    { gtin: 2, distid: 'A', price: 500, qty: 0 },
  ]

  test('adds up units and restocks, a tenth more for each further seller', async () => {
    const days = [
      { ago: 0, gtin: 1, distid: 'A', sold: 3, restocks: 1 },
      { ago: 2, gtin: 1, distid: 'A', sold: 4 },
      { ago: 6, gtin: 1, distid: 'B', sold: 10, restocks: 2 },
      { ago: 3, gtin: 1, distid: 'C', restocks: 5 },
      { ago: 1, gtin: 2, distid: 'A', sold: 1 },
    ]
    const rig = await rigOf({ offers, days })
    assert.deepEqual(await rig.results('top-products', { days: 7, distids: ALL }), [
      {
        gtin: 1,
        sales_proxy: 17,
        restocks: 8,
        movement_score: 17 * 11 + 80,
        unit_cost: 900,
        is_new: 0,
      },
      { gtin: 2, sales_proxy: 1, restocks: 0, movement_score: 10, unit_cost: 500, is_new: 0 },
    ])
    assert.deepEqual(
      await rig.results('top-products', { days: 7, distids: ['B'] }),
      [{ gtin: 1, sales_proxy: 10, restocks: 2, movement_score: 120, unit_cost: 800, is_new: 0 }],
      'without stock the lowest cost',
    )
    assert.deepEqual(
      await rig.results('top-products', { days: 7, distids: ['C'] }),
      [],
      'restocks alone are not movement',
    )
    assert.deepEqual(await rig.results('top-products', { days: 7, distids: [] }), [])
    assert.deepEqual(await rig.results('top-products', { days: 7, distids: ['Z'] }), [])
  })

  for (const days of [7, 30, 60, 90]) {
    test(`the window of ${days} days begins ${days - 1} days before today`, async () => {
      const found = await results(
        'top-products',
        {
          offers,
          days: [
            { ago: days - 1, gtin: 1, distid: 'A', sold: 2 },
            { ago: days, gtin: 1, distid: 'A', sold: 100 },
            { ago: days, gtin: 2, distid: 'A', sold: 100 },
          ],
        },
        { days },
      )
      assert.deepEqual(
        found.map(({ gtin, sales_proxy }) => [gtin, sales_proxy]),
        [[1, 2]],
      )
    })
  }

  test('is_new from the first day of the window on, at every distributor that has it', async () => {
    const old = { gtin: 9, distid: 'A' }
    const isNew = async (...first: (number | null)[]) => {
      const items = [
        old,
        { ...old, distid: 'B' },
        ...first.map((first_at, i) => ({ gtin: 1, distid: ALL[i]!, first_at })),
      ]
      return (
        await results(
          'top-products',
          { offers, items, days: [{ ago: 0, gtin: 1, distid: 'A', sold: 1 }] },
          { days: 7, distids: ['A', 'B'] },
        )
      )[0]!.is_new
    }
    assert.deepEqual(
      [
        await isNew(morning(6), ago(1)),
        await isNew(morning(6) - 1, ago(1)),
        await isNew(ago(1), ago(400)),
        await isNew(null, ago(1)),
      ],
      [1, 0, 0, 0],
    )
  })

  test('a UPC that no active distributor lists now is left out', async () => {
    const world = {
      offers: [{ gtin: 1, distid: 'B', price: 500 }],
      items: [{ gtin: 1, distid: 'A', qty: 0, price: null, listed: false }],
      days: [
        { ago: 1, gtin: 1, distid: 'A', sold: 9, price: null, listed: false },
        { ago: 1, gtin: 2, distid: 'A', sold: 9 },
      ],
    }
    assert.deepEqual(await results('top-products', world, { days: 7, distids: ['A'] }), [])
    assert.deepEqual(
      (await results('top-products', world, { days: 7 })).map(({ gtin, sales_proxy }) => [
        gtin,
        sales_proxy,
      ]),
      [[1, 9]],
      'what it sold counts where another one lists it',
    )
  })

  test("what is listed without a price of the operator's is not counted", async () => {
    assert.deepEqual(
      await results(
        'top-products',
        { offers, days: [{ ago: 1, gtin: 1, distid: 'A', sold: 9, price: null }] },
        { days: 7 },
      ),
      [],
    )
  })

  test('ties are in the order of the UPCs', async () => {
    const gtins = [30, 4, 100, 7]
    const found = await results(
      'top-products',
      {
        offers: gtins.map((gtin) => ({ gtin, distid: 'A', price: 1 })),
        days: gtins.map((gtin) => ({ ago: 1, gtin, distid: 'A', sold: gtin === 30 ? 2 : 1 })),
      },
      { days: 7 },
    )
    assert.deepEqual(gtinsOf(found), [30, 4, 7, 100])
  })

  test('a day in the future, left by a clock that was set back, counts as today', async () => {
    assert.equal(
      (
        await results(
          'top-products',
          { offers, days: [{ ago: -3, gtin: 1, distid: 'A', sold: 2 }] },
          { days: 7 },
        )
      )[0]!.sales_proxy,
      2,
    )
  })
})

describe('on-sale', () => {
  /**
   * One distributor that asked these prices from so many days ago on; the last one is that of now.
   */
  const world = (
    prices: readonly (readonly [daysAgo: number, price: number | null])[],
    more: Partial<OfferRow> = {},
  ): World => ({
    offers: [{ gtin: 1, distid: 'A', price: prices.at(-1)![1]!, ...more }],
    days: prices.map(([daysAgo, price]) => ({
      ago: daysAgo,
      gtin: 1,
      distid: 'A',
      price,
      listed: price !== null,
    })),
  })
  const sale = async (...prices: (readonly [number, number | null])[]) =>
    (await results('on-sale', world(prices), { days: 30 }))[0]

  test('a drop of 5 % is one, and less is none', async () => {
    assert.deepEqual(await sale([20, 10_000], [2, 9_500]), {
      gtin: 1,
      reference_price: 10_000,
      current_price: 9_500,
      drop_percent: 50,
    })
    assert.equal(await sale([20, 10_000], [2, 9_501]), undefined)
    assert.equal(await sale([20, 10_000], [2, 12_000]), undefined)
    assert.equal((await sale([20, 3_000], [2, 1_000]))!.drop_percent, 667)
  })

  test('the change lies within the window', async () => {
    assert.equal(
      await sale([60, 10_000], [29, 8_000]),
      undefined,
      'on its first day there is no day before',
    )
    assert.equal((await sale([60, 10_000], [28, 8_000]))!.reference_price, 10_000)
    assert.equal(await sale([60, 10_000], [30, 8_000]), undefined)
    assert.equal(
      (
        await results(
          'on-sale',
          world([
            [60, 10_000],
            [30, 8_000],
          ]),
          { days: 60 },
        )
      )[0]!.current_price,
      8_000,
    )
  })

  test('the reference is the price of most days before the last change', async () => {
    assert.equal(
      (await sale([20, 10_000], [9, 12_000], [4, 9_000]))!.reference_price,
      10_000,
      '11 days against 5',
    )
    assert.equal(
      (await sale([20, 10_000], [15, 12_000], [4, 9_000]))!.reference_price,
      12_000,
      '5 days against 11',
    )
    assert.equal(
      (await sale([20, 10_000], [12, 12_000], [4, 9_000]))!.reference_price,
      10_000,
      'as many: the lower',
    )
    assert.equal(
      (await sale([20, 10_000], [11, 9_600], [4, 9_000]))!.reference_price,
      10_000,
      'from the median only',
    )
    assert.equal(
      (await sale([10, 10_000], [0, 9_000]))!.reference_price,
      10_000,
      'a change of today',
    )
    assert.equal(
      await sale([20, 10_000], [15, 9_000], [14, 10_000], [13, 9_900]),
      undefined,
      'a short dip is over',
    )
  })

  test('only the days within the window count', async () => {
    assert.equal(
      (await sale([80, 20_000], [25, 10_000], [20, 9_000]))!.reference_price,
      10_000,
      '4 days against 5',
    )
    assert.equal(
      (await sale([80, 20_000], [24, 10_000], [20, 9_000]))!.reference_price,
      20_000,
      '5 days against 4',
    )
  })

  test('days on which it was not listed have no price', async () => {
    assert.equal(
      (await sale([28, 10_000], [26, null], [10, 9_800], [5, 9_000]))!.reference_price,
      9_800,
    )
    assert.equal(
      (await sale([28, 10_000], [20, null], [10, 9_000]))!.reference_price,
      10_000,
      'coming back cheaper is a change',
    )
    assert.equal(await sale([28, 10_000], [20, null], [10, 10_000]), undefined)
  })

  test('without stock there is no sale', async () => {
    assert.deepEqual(
      await results(
        'on-sale',
        world(
          [
            [20, 10_000],
            [2, 9_000],
          ],
          { qty: 0 },
        ),
        { days: 30 },
      ),
      [],
    )
    assert.equal(
      (
        await results(
          'on-sale',
          world(
            [
              [20, 10_000],
              [2, 9_000],
            ],
            { qty: 1 },
          ),
          { days: 30 },
        )
      ).length,
      1,
    )
  })

  test('a price that stood for longer than the history is read is known from the day that ended it', async () => {
    const drop = async (before: number | null, days = 30, daysAgo = 5) => {
      const [first, ...more] = world([[daysAgo, 9_000]]).days!
      return (
        await results(
          'on-sale',
          { ...world([[daysAgo, 9_000]]), days: [{ ...first!, price_before: before }, ...more] },
          { days },
        )
      )[0]?.reference_price
    }
    assert.deepEqual(
      [
        await drop(10_000),
        await drop(10_000, 7),
        await drop(10_000, 90, 89),
        await drop(10_000, 90, 90),
      ],
      [10_000, 10_000, undefined, undefined],
      'on the first day of the window there is no day before it',
    )
    assert.deepEqual(
      [await drop(9_400), await drop(null), await drop(10_000, 90, 88)],
      [undefined, undefined, 10_000],
    )
    const both = world([
      [20, 9_800],
      [5, 9_000],
    ])
    assert.equal(
      (
        await results(
          'on-sale',
          {
            ...both,
            days: both.days!.map((day, i) => ({ ...day, price_before: i === 0 ? 12_000 : 9_800 })),
          },
          { days: 30 },
        )
      )[0]!.reference_price,
      9_800,
      'nine days of the one, fifteen of the other',
    )
  })

  test('a change of stock is not a change of price', async () => {
    assert.equal(
      (await sale([40, 10_000], [20, 8_000], [10, 8_000], [1, 8_000]))!.reference_price,
      10_000,
    )
    assert.equal(await sale([35, 10_000], [31, 8_000], [10, 8_000]), undefined)
  })

  test('of several distributors the cheapest counts, and it must have dropped itself', async () => {
    const days = [
      { ago: 20, gtin: 1, distid: 'A', price: 10_000 },
      { ago: 2, gtin: 1, distid: 'A', price: 9_000 },
      { ago: 20, gtin: 1, distid: 'B', price: 9_700 },
      { ago: 2, gtin: 1, distid: 'B', price: 8_900 },
    ]
    const drop = async (price: number, qty = 5, distids = ALL) =>
      (
        await results(
          'on-sale',
          {
            days,
            offers: [
              { gtin: 1, distid: 'A', price: 9_000 },
              { gtin: 1, distid: 'B', price: 8_900 },
              { gtin: 1, distid: 'C', price, qty },
            ],
          },
          { days: 30, distids },
        )
      )[0]?.reference_price
    assert.deepEqual(
      [
        await drop(9_000),
        await drop(8_900),
        await drop(8_899),
        await drop(8_899, 0),
        await drop(8_000, 5, ['A', 'B']),
      ],
      [9_700, 9_700, undefined, 9_700, 9_700],
    )
    assert.equal(await drop(8_950, 5, ['A', 'C']), undefined, 'C was cheaper all the time')
    assert.equal(await drop(9_000, 5, ['A', 'C']), 10_000, 'as cheap as C, but dropped')
  })
})

describe('margin-opportunities', () => {
  const one = async (
    offers: readonly Partial<OfferRow>[],
    options: { days?: World['days']; distids?: readonly string[] } = {},
  ) =>
    (
      await results(
        'margin-opportunities',
        {
          offers: offers.map((offer, i) => ({ gtin: 1, distid: ALL[i]!, price: 6_000, ...offer })),
          days: options.days ?? [],
        },
        { distids: options.distids ?? ALL },
      )
    )[0]

  test('is MAP less cost, else MSRP less cost', async () => {
    assert.deepEqual(await one([{ map: 10_000, msrp: 12_000 }]), {
      gtin: 1,
      unit_cost: 6_000,
      map_price: 10_000,
      msrp: 12_000,
      gross_profit: 4_000,
      margin_pct: 400,
      confidence: 20 + 10 + 10,
    })
    assert.deepEqual(await one([{ msrp: 9_000 }]), {
      gtin: 1,
      unit_cost: 6_000,
      map_price: null,
      msrp: 9_000,
      gross_profit: 3_000,
      margin_pct: 333,
      confidence: 10 + 10 + 10,
    })
    assert.equal(await one([{}]), undefined)
    assert.deepEqual(
      [await one([{ map: 6_000 }]), (await one([{ map: 6_001 }]))!.gross_profit],
      [undefined, 1],
      'only above 0',
    )
    assert.equal(
      await one([{ map: 5_000, msrp: 12_000 }]),
      undefined,
      'an MSRP does not stand in for a MAP below the cost',
    )
  })

  test('takes the lowest cost with stock', async () => {
    assert.equal(await one([{ map: 10_000, qty: 0 }]), undefined)
    assert.equal(
      (await one([{ map: 10_000, price: 5_000, qty: 0 }, { map: 10_000 }]))!.unit_cost,
      6_000,
    )
    assert.equal(
      (await one([{ map: 10_000, price: 5_000, qty: 1 }, { map: 10_000 }]))!.unit_cost,
      5_000,
    )
  })

  test('takes the MAP that most distributors name, of two the lower', async () => {
    const maps = async (...named: (number | null)[]) =>
      (await one(named.map((map) => ({ map }))))!.map_price
    assert.deepEqual(
      [
        await maps(9_000, 10_000, 10_000),
        await maps(10_000, 9_000),
        await maps(9_000, 10_000),
        await maps(null, 9_000),
      ],
      [10_000, 9_000, 9_000, 9_000],
    )
    assert.equal(
      (await one([{ map: 9_000 }, { map: 10_000 }], { distids: ['B'] }))!.map_price,
      10_000,
      'only active distributors have a say',
    )
  })

  test('confidence: how many agree on the MAP', async () => {
    const parts = async (...named: (number | null)[]) =>
      (await one(named.map((map) => ({ map, qty: 10 }))))!.confidence
    assert.deepEqual(
      [
        await parts(9_000),
        await parts(9_000, null),
        await parts(9_000, 9_000),
        await parts(9_000, 9_000, 8_000),
        await parts(9_000, 8_000),
      ],
      [20 + 30, 20 + 40, 40 + 40, 27 + 40, 10 + 40],
    )
    assert.equal(
      (await one([{ msrp: 9_000 }, { msrp: 9_000 }]))!.confidence,
      20 + 40,
      'an MSRP counts half',
    )
  })

  test('confidence: stock and sales up to 10 units', async () => {
    const stocked = async (qty: number, sold = 0, daysAgo = 0) =>
      (await one([{ map: 9_000, qty }], { days: [{ ago: daysAgo, gtin: 1, distid: 'A', sold }] }))!
        .confidence
    assert.deepEqual(
      [await stocked(1), await stocked(9), await stocked(10), await stocked(11)],
      [32, 48, 50, 50],
    )
    assert.deepEqual(
      [
        await stocked(1, 1),
        await stocked(1, 10),
        await stocked(1, 11),
        await stocked(1, 10, 29),
        await stocked(1, 10, 30),
      ],
      [34, 52, 52, 52, 32],
    )
  })

  test('confidence: a cost that stands alone is more likely a mistake', async () => {
    const costs = async (...prices: number[]) =>
      ((await one(prices.map((price) => ({ map: 20_000, qty: 10, price }))))!
        .confidence as number) - 20
    assert.deepEqual(
      [
        (await costs(8_000)) - 20,
        (await costs(8_000, 10_000)) - 40,
        (await costs(8_000, 10_001)) - 40,
        (await costs(10_001, 8_000, 9_000)) - 40,
        (await costs(8_000, 8_000)) - 40,
      ],
      [10, 20, 0, 20, 20],
    )
  })

  test('comes in the order of gross_profit or margin_pct', async () => {
    const world = {
      offers: [
        { gtin: 1, distid: 'A', price: 10_000, map: 15_000 },
        { gtin: 2, distid: 'A', price: 1_000, map: 3_000 },
        { gtin: 3, distid: 'A', price: 30_000, map: 35_000 },
      ],
    }
    assert.deepEqual(gtinsOf(await results('margin-opportunities', world)), [1, 3, 2])
    assert.deepEqual(
      gtinsOf(
        await results('margin-opportunities', world, { order: ['margin_pct', 'gross_profit'] }),
      ),
      [2, 1, 3],
    )
  })
})

describe('trending', () => {
  const one = async (sold: readonly (readonly [daysAgo: number, units: number])[]) =>
    (
      await results('trending', {
        offers: [{ gtin: 1, distid: 'A', price: 1 }],
        days: sold.map(([daysAgo, units]) => ({ ago: daysAgo, gtin: 1, distid: 'A', sold: units })),
      })
    )[0]

  test('compares the pace of 7 days with that of the 23 before', async () => {
    assert.deepEqual(
      await one([
        [0, 3],
        [6, 4],
        [7, 20],
        [29, 3],
        [30, 99],
      ]),
      { gtin: 1, units_7d: 7, units_30d: 30, trend_ratio: 100 },
    )
    assert.equal(
      (await one([
        [0, 14],
        [7, 23],
      ]))!.trend_ratio,
      200,
    )
    assert.equal((await one([[7, 5]]))!.trend_ratio, 0)
    assert.equal((await one([[6, 5]]))!.trend_ratio, null)
    assert.equal(await one([[30, 5]]), undefined)
  })

  test('adds up the active distributors, and null comes last', async () => {
    const offers = [1, 2, 3].flatMap((gtin) =>
      ['A', 'B'].map((distid) => ({ gtin, distid, price: 1 })),
    )
    const days = [
      { ago: 1, gtin: 1, distid: 'A', sold: 50 },
      { ago: 1, gtin: 2, distid: 'A', sold: 3 },
      { ago: 9, gtin: 2, distid: 'B', sold: 3 },
      { ago: 9, gtin: 3, distid: 'A', sold: 5 },
    ]
    assert.deepEqual(
      (await results('trending', { offers, days })).map(({ gtin, trend_ratio: ratio }) => [
        gtin,
        ratio,
      ]),
      [
        [2, Math.round((300 * 23) / 21)],
        [3, 0],
        [1, null],
      ],
    )
    assert.deepEqual(
      (await results('trending', { offers, days }, { distids: ['A'] })).map(
        ({ gtin, trend_ratio: ratio }) => [gtin, ratio],
      ),
      [
        [3, 0],
        [1, null],
        [2, null],
      ],
    )
  })
})

describe('new-arrivals', () => {
  /** Each distributor's first feed was 400 days ago. */
  const base = ALL.map((distid) => ({ gtin: 9, distid }))
  const offers: OfferRow[] = [
    { gtin: 1, distid: 'A', price: 900, qty: 2 },
    { gtin: 1, distid: 'B', price: 800, qty: 0 },
  ]
  const arrivals = async (
    items: World['items'],
    distids: readonly string[] = items!.map(({ distid }) => distid),
  ) => results('new-arrivals', { offers, items: [...base, ...items!] }, { days: 7, distids })

  test('begin with the first day of the window', async () => {
    assert.deepEqual(await arrivals([{ gtin: 1, distid: 'A', first_at: morning(6) }]), [
      { gtin: 1, first_seen: morning(6), unit_cost: 900, qty_on_hand: 2 },
    ])
    assert.deepEqual(await arrivals([{ gtin: 1, distid: 'A', first_at: morning(6) - 1 }]), [])
  })

  test('are new at all active distributors', async () => {
    assert.equal(
      (
        await arrivals([
          { gtin: 1, distid: 'A', first_at: ago(1) },
          { gtin: 1, distid: 'B', first_at: ago(3) },
        ])
      )[0]!.first_seen,
      ago(3),
    )
    assert.deepEqual(
      await arrivals([
        { gtin: 1, distid: 'A', first_at: ago(1) },
        { gtin: 1, distid: 'B', first_at: ago(30) },
      ]),
      [],
    )
    assert.equal(
      (
        await arrivals(
          [
            { gtin: 1, distid: 'A', first_at: ago(1) },
            { gtin: 1, distid: 'B', first_at: ago(30) },
          ],
          ['A'],
        )
      ).length,
      1,
    )
  })

  test("are not what came with a distributor's first feed", async () => {
    assert.deepEqual(
      await results(
        'new-arrivals',
        {
          offers,
          items: [
            { gtin: 1, distid: 'A', first_at: ago(1) },
            { gtin: 2, distid: 'A', first_at: ago(1) },
          ],
        },
        { days: 7 },
      ),
      [],
    )
    assert.equal(
      (
        await results(
          'new-arrivals',
          {
            offers: offers.slice(0, 1),
            items: [
              { gtin: 1, distid: 'A', first_at: ago(1) + 1 },
              { gtin: 2, distid: 'A', first_at: ago(1) },
            ],
          },
          { days: 7 },
        )
      ).length,
      1,
    )
  })

  test('are listed now, with stock or without', async () => {
    assert.deepEqual(await arrivals([{ gtin: 1, distid: 'B', first_at: ago(1) }], ['B']), [
      { gtin: 1, first_seen: ago(1), unit_cost: 800, qty_on_hand: 0 },
    ])
    assert.deepEqual(await arrivals([{ gtin: 1, distid: 'C', first_at: ago(1) }], ['C']), [])
  })
})

describe('newly-available', () => {
  const base = ALL.map((distid) => ({ gtin: 9, distid }))
  const offers: OfferRow[] = ALL.map((distid) => ({ gtin: 1, distid, price: 900, qty: 2 }))
  const zero = (distid: string, since: number | null, until: number | null, more: object = {}) => ({
    gtin: 1,
    distid,
    zero_since: since,
    back_at: until,
    qty: until === null ? 0 : 2,
    ...more,
  })
  const available = async (
    items: World['items'],
    distids: readonly string[] = items!.map(({ distid }) => distid),
  ) => {
    const stock = offers.map((offer) => ({
      ...offer,
      qty: items!.find(({ distid }) => distid === offer.distid)?.qty ?? 2,
    }))
    return (
      await results(
        'newly-available',
        { offers: stock, items: [...base, ...items!] },
        { days: 7, distids },
      )
    )[0]
  }

  test('is back within the window', async () => {
    assert.deepEqual(await available([zero('A', ago(50), morning(6))]), {
      gtin: 1,
      out_of_stock_since: ago(50),
      back_in_stock: morning(6),
      qty_on_hand: 2,
    })
    assert.equal(await available([zero('A', ago(50), morning(6) - 1)]), undefined)
    assert.equal(await available([zero('A', ago(5), null)]), undefined)
  })

  test('was out of stock at all active distributors at once', async () => {
    assert.deepEqual(await available([zero('A', ago(20), ago(2)), zero('B', ago(10), ago(1))]), {
      gtin: 1,
      out_of_stock_since: ago(10),
      back_in_stock: ago(2),
      qty_on_hand: 4,
    })
    assert.equal(
      await available([zero('A', ago(20), ago(5)), zero('B', ago(5), ago(1))]),
      undefined,
      'one was back when the other fell',
    )
    assert.ok(await available([zero('A', ago(20), ago(5) + 1), zero('B', ago(5), ago(1))]))
    assert.equal(
      await available([zero('A', ago(20), ago(8)), zero('B', ago(10), ago(1))]),
      undefined,
      'it has been back for longer than the window',
    )
  })

  test('one that is still without stock counts from its fall', async () => {
    assert.equal(
      (await available([zero('A', ago(20), ago(2)), zero('B', ago(10), null)]))!.out_of_stock_since,
      ago(10),
    )
    assert.equal(await available([zero('A', ago(20), ago(2)), zero('B', ago(1), null)]), undefined)
  })

  test('one that always had some keeps it from being newly available', async () => {
    assert.equal(
      await available([zero('A', ago(20), ago(2)), { gtin: 1, distid: 'B', qty: 2 }]),
      undefined,
    )
    assert.ok(
      await available([zero('A', ago(20), ago(2)), { gtin: 1, distid: 'B', qty: 2 }], ['A']),
    )
  })

  test('one that has only now begun to list it was not there before', async () => {
    assert.deepEqual(
      await available([
        zero('A', ago(20), null),
        { gtin: 1, distid: 'B', qty: 2, first_at: ago(3) },
      ]),
      { gtin: 1, out_of_stock_since: ago(20), back_in_stock: ago(3), qty_on_hand: 2 },
    )
    assert.equal(
      await available([{ gtin: 1, distid: 'B', qty: 2, first_at: ago(3) }]),
      undefined,
      'a new arrival was never out of stock',
    )
    assert.equal(
      (await available([zero('A', null, ago(3), { first_at: ago(30) })]))!.out_of_stock_since,
      ago(30),
      'first seen without stock',
    )
  })

  test('one that no longer lists it counts as without stock', async () => {
    const vanished = { ...zero('B', ago(10), null), price: null, listed: false }
    assert.equal(
      (await available([zero('A', ago(20), ago(2)), vanished]))!.out_of_stock_since,
      ago(10),
    )
  })
})

describe('price-gaps', () => {
  const gap = async (
    prices: readonly (number | readonly [price: number, qty: number])[],
    distids = ALL,
  ) =>
    (
      await results(
        'price-gaps',
        {
          offers: prices.map((entry, i) => ({
            gtin: 1,
            distid: ALL[i]!,
            price: typeof entry === 'number' ? entry : entry[0],
            qty: typeof entry === 'number' ? 1 : entry[1],
          })),
        },
        { distids },
      )
    )[0]

  test('one distributor is at least 10 % below the average of the others', async () => {
    assert.deepEqual(await gap([10_000, 9_000, 10_000]), {
      gtin: 1,
      distid: 'B',
      price: 9_000,
      peer_average: 10_000,
      gap_percent: 100,
      offers: 3,
    })
    assert.equal(await gap([10_000, 9_001, 10_000]), undefined)
    assert.deepEqual(await gap([9_001, 11_000, 8_000, 10_000]), {
      gtin: 1,
      distid: 'C',
      price: 8_000,
      peer_average: 10_000,
      gap_percent: 200,
      offers: 4,
    })
  })

  test('at least 3 active distributors have it in stock', async () => {
    assert.equal(await gap([10_000, 5_000]), undefined)
    assert.equal(await gap([10_000, 5_000, [10_000, 0]]), undefined)
    assert.equal((await gap([10_000, 5_000, 10_000, [1_000, 0]]))!.offers, 3)
    assert.equal(await gap([10_000, 5_000, 10_000], ['A', 'B']), undefined)
  })

  test('of two equally cheap ones there is no gap, or the first is named', async () => {
    assert.equal(await gap([5_000, 5_000, 5_000]), undefined)
    assert.deepEqual(await gap([9_000, 5_000, 5_000]), {
      gtin: 1,
      distid: 'B',
      price: 5_000,
      peer_average: 7_000,
      gap_percent: 286,
      offers: 3,
    })
  })
})

test('offers of one distributor count as one: lowest cost with stock, all stock, highest MAP', async () => {
  const offers = [
    { gtin: 1, distid: 'A', price: 900, qty: 0, map: 2_000 },
    { gtin: 1, distid: 'A', price: 1_000, qty: 3, map: 1_900 },
    { gtin: 1, distid: 'A', price: 1_100, qty: 4 },
  ]
  const [found] = await results('margin-opportunities', { offers })
  assert.deepEqual(
    [found!.unit_cost, found!.map_price, found!.confidence],
    [1_000, 2_000, 20 + 14 + 10],
  )
})

test('with nothing at all every metric is empty', async () => {
  const rig = await rigOf({ offers: [] })
  for (const slug of [
    'top-products',
    'on-sale',
    'margin-opportunities',
    'trending',
    'new-arrivals',
    'newly-available',
    'price-gaps',
  ])
    assert.deepEqual(await rig.results(slug, { days: 7, distids: ALL }), [])
})
