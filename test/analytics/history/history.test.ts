/**
 * The history of prices and stock: what a day's roll-up counts, by each of its rules, and by plain
 * loops over made-up feeds.
 */
import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { dayFile, daysIn } from '../../../lib/analytics/history/files.js'
import { DAY, HOUR, MINUTE } from '../../../lib/core/clock.js'
import { GTIN, historyBench, withDuck } from './bench.js'
import type { DayRow, HistoryBench, Told } from './bench.js'
import { byPlainLoops } from './oracle.js'
import type { LoggedChange, SeenFeed } from './oracle.js'

const MONDAY = Date.UTC(2026, 5, 1)
const TUESDAY = MONDAY + DAY

/** A day on which an item had 10 pieces, and what happened on the next: its row. */
async function tuesday(
  happens: (feed: (hour: number, ...changes: Told[]) => void, bench: HistoryBench) => void,
  monday: Told[] = [{ stockid: 'A', qty: 10 }],
): Promise<DayRow> {
  using bench = historyBench()
  bench.feed('RSR', MONDAY + 12 * HOUR, monday)
  await bench.rollUp(TUESDAY)
  happens((hour, ...changes) => bench.feed('RSR', TUESDAY + hour * HOUR, changes), bench)
  assert.deepEqual(await bench.rollUp(TUESDAY + DAY), ['2026-06-02'])
  const rows = (await bench.files()).filter(
    ({ day, gtin }) => day === '2026-06-02' && gtin === GTIN,
  )
  assert.equal(rows.length, 1)
  return rows[0]!
}

const trade = ({ sold, restocks }: DayRow) => ({ sold, restocks })

describe('units that left stock', () => {
  test('a fall is units that left, a rise is a restock', async () => {
    const row = await tuesday((feed) => {
      feed(1, { stockid: 'A', qty: 7 })
      feed(2, { stockid: 'A', qty: 20 })
      feed(3, { stockid: 'A', qty: 18, price: 900 })
    })
    assert.deepEqual(row, {
      day: '2026-06-02',
      distid: 'RSR',
      gtin: GTIN,
      price: 900,
      qty: 18,
      sold: 5,
      restocks: 1,
      zero_since: null,
      back_at: null,
      first_at: null,
      listed: true,
      price_before: 1_000,
    })
  })

  test('an offer that is seen for the first time is neither sale nor restock', async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY + HOUR, [
      { stockid: 'A', qty: 10, price: 500 },
      { stockid: 'B', qty: 4, price: 700 },
    ])
    await bench.rollUp(TUESDAY)
    assert.deepEqual(await bench.files(), [
      {
        day: '2026-06-01',
        distid: 'RSR',
        gtin: GTIN,
        price: 500,
        qty: 14,
        sold: 0,
        restocks: 0,
        zero_since: null,
        back_at: null,
        first_at: MONDAY + HOUR,
        listed: true,
        price_before: null,
      },
    ])
  })

  test('an offer that vanishes is not sold, and coming back with no more is not a restock', async () => {
    assert.deepEqual(
      trade(
        await tuesday((feed) => {
          feed(1, { stockid: 'A', gone: true })
          feed(2, { stockid: 'A', qty: 9 })
        }),
      ),
      { sold: 0, restocks: 0 },
    )
    assert.deepEqual(
      trade(
        await tuesday((feed) => {
          feed(1, { stockid: 'A', gone: true })
          feed(2, { stockid: 'A', qty: 11 })
        }),
      ),
      { sold: 0, restocks: 1 },
    )
    assert.deepEqual(
      trade(
        await tuesday((feed) => {
          feed(1, { stockid: 'A', gone: true })
          feed(2, { stockid: 'A', qty: 9 })
          feed(3, { stockid: 'A', qty: 8 })
        }),
      ),
      { sold: 1, restocks: 0 },
    )
  })

  test('an allocated offer is held back, not sold', async () => {
    assert.deepEqual(
      trade(
        await tuesday((feed) => {
          feed(1, { stockid: 'A', held: true })
          feed(2, { stockid: 'A', qty: 10 })
        }),
      ),
      { sold: 0, restocks: 0 },
    )
    assert.deepEqual(
      trade(
        await tuesday((feed) => {
          feed(1, { stockid: 'A', held: true })
          feed(2, { stockid: 'A', gone: true })
          feed(3, { stockid: 'A', qty: 12 })
        }),
      ),
      { sold: 0, restocks: 1 },
    )
    assert.deepEqual(
      trade(
        await tuesday(
          (feed) => {
            feed(1, { stockid: 'A', qty: 3 })
          },
          [{ stockid: 'A', held: true }],
        ),
      ),
      { sold: 0, restocks: 1 },
      'it had none that anybody could order',
    )
  })

  test('what it had before it vanished is still known on a later day', async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY + HOUR, [{ stockid: 'A', qty: 10 }])
    bench.feed('RSR', TUESDAY + HOUR, [{ stockid: 'A', gone: true }])
    bench.unchanged('RSR', TUESDAY + 3 * DAY)
    await bench.rollUp(TUESDAY + DAY)
    bench.feed('RSR', TUESDAY + 4 * DAY, [{ stockid: 'A', qty: 13 }])
    assert.deepEqual((await bench.seen(TUESDAY + 4 * DAY)).daily.map(trade), [
      { sold: 0, restocks: 0 },
      { sold: 0, restocks: 0 },
      { sold: 0, restocks: 1 },
    ])
  })

  test('units that move from one warehouse to another in the same feed are not sold', async () => {
    const monday = [
      { stockid: 'A', qty: 10 },
      { stockid: 'B', qty: 10 },
    ]
    assert.deepEqual(
      trade(
        await tuesday((feed) => {
          feed(1, { stockid: 'A', qty: 4 }, { stockid: 'B', qty: 16 })
        }, monday),
      ),
      { sold: 0, restocks: 0 },
    )
    assert.deepEqual(
      trade(
        await tuesday((feed) => {
          feed(1, { stockid: 'A', qty: 4 }, { stockid: 'B', qty: 15 })
        }, monday),
      ),
      { sold: 1, restocks: 0 },
    )
    assert.deepEqual(
      trade(
        await tuesday((feed) => {
          feed(1, { stockid: 'A', qty: 4 }, { stockid: 'B', qty: 17 })
        }, monday),
      ),
      { sold: 0, restocks: 1 },
    )
    assert.deepEqual(
      trade(
        await tuesday((feed) => {
          feed(1, { stockid: 'A', qty: 4 })
          feed(2, { stockid: 'B', qty: 17 })
        }, monday),
      ),
      { sold: 6, restocks: 1 },
      'in two feeds nobody can tell',
    )
  })

  test('the stock of a capped feed falls only once it is below the cap, and that fall is what counts', async () => {
    assert.deepEqual(
      trade(
        await tuesday(
          (feed) => {
            feed(1, { stockid: 'A', qty: 99, price: 990 })
            feed(2, { stockid: 'A', qty: 97 })
          },
          [{ stockid: 'A', qty: 99 }],
        ),
      ),
      { sold: 2, restocks: 0 },
    )
  })

  test('a restock between two files hides what was sold before it', async () => {
    assert.deepEqual(
      trade(
        await tuesday((feed) => {
          feed(1, { stockid: 'A', qty: 12 })
        }),
      ),
      { sold: 0, restocks: 1 },
    )
  })

  test('a rise by exactly what the last change took away is a reservation that was given back', async () => {
    assert.deepEqual(
      trade(
        await tuesday((feed) => {
          feed(1, { stockid: 'A', qty: 4 })
          feed(2, { stockid: 'A', qty: 10 })
        }),
      ),
      { sold: 0, restocks: 0 },
    )
    assert.deepEqual(
      trade(
        await tuesday((feed) => {
          feed(1, { stockid: 'A', qty: 4 })
          feed(2, { stockid: 'A', qty: 4, price: 999 })
          feed(3, { stockid: 'A', qty: 10 })
        }),
      ),
      { sold: 0, restocks: 0 },
      'a new price in between is not a trade',
    )
    assert.deepEqual(
      trade(
        await tuesday((feed) => {
          feed(1, { stockid: 'A', qty: 4 })
          feed(2, { stockid: 'A', qty: 11 })
        }),
      ),
      { sold: 6, restocks: 1 },
    )
    assert.deepEqual(
      trade(
        await tuesday((feed) => {
          feed(1, { stockid: 'A', qty: 4 })
          feed(2, { stockid: 'A', qty: 10 })
          feed(3, { stockid: 'A', qty: 4 })
        }),
      ),
      { sold: 6, restocks: 0 },
      'and then it was sold after all',
    )
    assert.deepEqual(
      trade(
        await tuesday((feed) => {
          feed(1, { stockid: 'A', qty: 16 })
          feed(2, { stockid: 'A', qty: 10 })
        }),
      ),
      { sold: 6, restocks: 1 },
      'the other way round it is a restock that was sold',
    )
  })

  test('a fall that is seen over three days after the last feed is of no day, and is not counted', async () => {
    for (const [days, sold] of [
      [3, 6],
      [3 + 1 / DAY, 0],
    ] as const) {
      using bench = historyBench()
      bench.feed('RSR', MONDAY, [
        { stockid: 'A', qty: 10 },
        { stockid: 'B', upc: '850012345618', qty: 1 },
      ])
      bench.feed('LIP', MONDAY + 2 * DAY, [{ stockid: 'A', qty: 5 }])
      await bench.rollUp(MONDAY + 3 * DAY)
      bench.feed('RSR', MONDAY + days * DAY, [
        { stockid: 'A', qty: 4 },
        { stockid: 'B', upc: '850012345618', qty: 3 },
      ])
      assert.deepEqual(
        (await bench.seen(MONDAY + 4 * DAY)).daily.slice(-2).map(trade),
        [
          { sold, restocks: 0 },
          { sold: 0, restocks: 1 },
        ],
        `after ${days} days`,
      )
    }
  })

  test('a feed that was found unchanged in between closes the gap', async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY, [{ stockid: 'A', qty: 10 }])
    bench.unchanged('RSR', MONDAY + 2 * DAY)
    await bench.rollUp(MONDAY + 3 * DAY)
    bench.feed('RSR', MONDAY + 4 * DAY, [{ stockid: 'A', qty: 4 }])
    assert.deepEqual((await bench.seen(MONDAY + 4 * DAY)).daily.map(trade).at(-1), {
      sold: 6,
      restocks: 0,
    })
  })

  test('offers without a UPC are left out, and an item number under another UPC is another offer', async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY, [
      { stockid: 'A', qty: 10 },
      { stockid: 'B', upc: null, qty: 4 },
      { stockid: 'C', upc: 'none', qty: 4 },
    ])
    bench.feed('RSR', MONDAY + HOUR, [
      { stockid: 'A', upc: '850012345618', qty: 3 },
      { stockid: 'B', upc: null, qty: 1 },
    ])
    const { daily, items } = await bench.seen(MONDAY + 2 * HOUR)
    assert.deepEqual(
      daily.map(({ gtin, qty, sold, restocks, listed, first_at, zero_since }) => [
        gtin,
        qty,
        sold,
        restocks,
        listed,
        first_at,
        zero_since,
      ]),
      [
        [GTIN, 0, 0, 0, false, MONDAY, MONDAY + HOUR],
        [850_012_345_618, 3, 0, 0, true, MONDAY + HOUR, null],
      ],
    )
    assert.deepEqual(
      items.map(({ gtin, qty }) => [gtin, qty]),
      [
        [GTIN, 0],
        [850_012_345_618, 3],
      ],
    )
  })

  test("what has no price of the operator's is somebody's own, and nobody's to count", async () => {
    using bench = historyBench()
    const own = { stockid: 'B', upc: '850012345618', price: null }
    bench.feed('RSR', MONDAY, [
      { stockid: 'A', qty: 10 },
      { ...own, qty: 9 },
    ])
    bench.feed('RSR', MONDAY + HOUR, [{ ...own, qty: 5 }])
    bench.feed('RSR', MONDAY + 2 * HOUR, [{ ...own, qty: 0, gone: true }])
    assert.deepEqual(
      (await bench.seen(MONDAY + DAY)).daily.map(({ gtin }) => gtin),
      [GTIN],
    )
    bench.feed('RSR', TUESDAY, [
      { ...own, qty: 4, price: 700 },
      { stockid: 'A', qty: 8, price: null },
    ])
    bench.feed('RSR', TUESDAY + HOUR, [
      { ...own, qty: 3, price: 700 },
      { stockid: 'A', qty: 6, price: 990 },
    ])
    const { items, daily } = await bench.seen(TUESDAY + DAY)
    assert.deepEqual(
      items.map(({ gtin, qty, first_at: first, back_at: back }) => [gtin, qty, first, back]),
      [
        [GTIN, 6, MONDAY, TUESDAY + HOUR],
        [850_012_345_618, 3, TUESDAY, null],
      ],
    )
    assert.deepEqual(
      daily.filter(({ day }) => day === '2026-06-02').map(trade),
      [
        { sold: 0, restocks: 0 },
        { sold: 1, restocks: 0 },
      ],
      'what could not be bought for a while begins anew',
    )
  })

  test('UPCs with 12 and with 14 digits are one item', async () => {
    assert.deepEqual(
      trade(
        await tuesday((feed) => {
          feed(1, { stockid: 'B', upc: `00${GTIN}`, qty: 3 })
          feed(2, { stockid: 'A', qty: 5 }, { stockid: 'B', upc: `00${GTIN}`, qty: 8 })
        }),
      ),
      { sold: 0, restocks: 0 },
    )
  })
})

describe('a catalog that was lost', () => {
  const other = { stockid: 'B', upc: '850012345618' }
  const third = { stockid: 'C', upc: '850012345625' }

  test('what is not told again has vanished: not listed, not sold, and not restocked on its return', async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY + HOUR, [
      { stockid: 'A', qty: 10 },
      { ...other, qty: 8 },
    ])
    bench.feed('LIP', MONDAY + HOUR, [{ stockid: 'A', qty: 3 }])
    await bench.rollUp(TUESDAY)
    bench.feed('RSR', TUESDAY + HOUR, [{ ...third, qty: 2 }])
    bench.feed('RSR', TUESDAY + 2 * HOUR, [{ stockid: 'A', qty: 9 }], TUESDAY + 2 * HOUR, true)
    bench.unchanged('RSR', TUESDAY + 3 * HOUR)
    const known = await bench.seen(TUESDAY + 4 * HOUR)
    assert.deepEqual(
      known.items.map(({ distid, gtin, qty, listed, zero_since }) => [
        distid,
        gtin,
        qty,
        listed,
        zero_since,
      ]),
      [
        ['LIP', GTIN, 3, true, null],
        ['RSR', GTIN, 9, true, null],
        ['RSR', 850_012_345_618, 0, false, TUESDAY + 3 * HOUR],
        ['RSR', 850_012_345_625, 0, false, TUESDAY + 3 * HOUR],
      ],
    )
    await bench.rollUp(TUESDAY + DAY)
    assert.deepEqual((await bench.seen(TUESDAY + DAY)).items, known.items)
    bench.feed('RSR', TUESDAY + DAY + HOUR, [{ ...other, qty: 6 }])
    const rows = (await bench.seen(TUESDAY + DAY + HOUR)).daily
      .filter(({ day }) => day > '2026-06-01')
      .map(({ day, gtin, sold, restocks }) => [day, gtin, sold, restocks])
    assert.deepEqual(rows, [
      ['2026-06-02', GTIN, 1, 0],
      ['2026-06-02', 850_012_345_618, 0, 0],
      ['2026-06-02', 850_012_345_625, 0, 0],
      ['2026-06-03', 850_012_345_618, 0, 0],
    ])
  })

  test('a second file of the distributor tells the rest on the same day', async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY + HOUR, [
      { stockid: 'A', qty: 10 },
      { ...other, qty: 8 },
    ])
    await bench.rollUp(TUESDAY)
    bench.feed('RSR', TUESDAY + 2 * HOUR, [{ stockid: 'A', qty: 10 }], TUESDAY + 2 * HOUR, true)
    bench.feed('RSR', TUESDAY + 3 * HOUR, [{ ...other, qty: 7 }])
    await bench.rollUp(TUESDAY + DAY)
    assert.deepEqual(
      (await bench.seen(TUESDAY + DAY)).items.map(({ qty, listed, zero_since }) => [
        qty,
        listed,
        zero_since,
      ]),
      [
        [10, true, null],
        [7, true, null],
      ],
    )
    assert.deepEqual((await bench.files()).map(trade), [
      { sold: 0, restocks: 0 },
      { sold: 0, restocks: 0 },
      { sold: 0, restocks: 0 },
      { sold: 1, restocks: 0 },
    ])
  })
})

describe('price and stock at the end of a day', () => {
  test("a row says what the item cost before the day, however long ago; an old release's does not", async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY, [{ stockid: 'A', qty: 5, price: 1_000 }])
    await bench.rollUp(TUESDAY)
    bench.feed('RSR', MONDAY + 200 * DAY, [{ stockid: 'A', qty: 5, price: 900 }])
    bench.feed('RSR', MONDAY + 201 * DAY, [{ stockid: 'A', qty: 5, price: 800 }])
    await bench.rollUp(MONDAY + 202 * DAY)
    const prices = async () =>
      (await bench.seen(MONDAY + 202 * DAY)).daily.map(({ price_before: before, price }) => [
        before,
        price,
      ])
    assert.deepEqual(await prices(), [
      [1_000, 900],
      [900, 800],
    ])
    for (const day of daysIn(bench.dir)) {
      const path = dayFile(bench.dir, day)
      await withDuck((duck) =>
        duck.run(
          `COPY (SELECT * EXCLUDE (price_before) FROM '${path}') TO '${path}.old' (FORMAT parquet)`,
        ),
      )
      renameSync(`${path}.old`, path)
      if (day === '2026-12-18')
        assert.deepEqual(await prices(), [
          [null, 900],
          [900, 800],
        ])
    }
    assert.deepEqual(await prices(), [
      [null, 900],
      [null, 800],
    ])
  })

  test('the price is the lowest that has stock, or the lowest listed where none has', async () => {
    const monday = [
      { stockid: 'A', qty: 0, price: 500 },
      { stockid: 'B', qty: 2, price: 700 },
      { stockid: 'C', qty: 2, price: 900 },
      { stockid: 'D', qty: 1, price: null },
    ]
    assert.equal(
      (await tuesday((feed) => feed(1, { stockid: 'C', qty: 3, price: 900 }), monday)).price,
      700,
    )
    assert.equal(
      (
        await tuesday(
          (feed) => feed(1, ...['B', 'C'].map((stockid) => ({ stockid, qty: 0, price: 700 }))),
          monday,
        )
      ).price,
      500,
    )
    assert.equal(
      (
        await tuesday(
          (feed) => feed(1, { stockid: 'A', gone: true, price: 500 }),
          [
            { stockid: 'A', price: 500 },
            { stockid: 'B', price: 700 },
          ],
        )
      ).price,
      700,
      'what is gone has no price',
    )
    assert.equal(
      (await tuesday((feed) => feed(1, { stockid: 'B', held: true, price: 700 }), monday)).price,
      900,
      'what is held back has no stock',
    )
    assert.deepEqual(await tuesday((feed) => feed(1, { stockid: 'A', gone: true })), {
      day: '2026-06-02',
      distid: 'RSR',
      gtin: GTIN,
      price: null,
      qty: 0,
      sold: 0,
      restocks: 0,
      zero_since: TUESDAY + HOUR,
      back_at: null,
      first_at: null,
      listed: false,
      price_before: 1_000,
    })
  })

  test('an item is at zero when the last of its offers is, and back with the first', async () => {
    const monday = [
      { stockid: 'A', qty: 2 },
      { stockid: 'B', qty: 2 },
    ]
    const row = await tuesday((feed) => {
      feed(1, { stockid: 'A', qty: 0 })
      feed(2, { stockid: 'B', held: true })
      feed(3, { stockid: 'B', qty: 1 })
      feed(4, { stockid: 'B', qty: 0 })
      feed(5, { stockid: 'A', qty: 1 })
      feed(6, { stockid: 'B', qty: 1 })
    }, monday)
    assert.deepEqual([row.zero_since, row.back_at], [TUESDAY + 4 * HOUR, TUESDAY + 5 * HOUR])
    const gone = await tuesday((feed) => {
      feed(1, { stockid: 'A', qty: 0 })
      feed(2, { stockid: 'B', gone: true })
    }, monday)
    assert.deepEqual([gone.zero_since, gone.back_at], [TUESDAY + 2 * HOUR, null])
  })

  test('an item that arrives without stock is back when it first has some, one with stock is not', async () => {
    using bench = historyBench()
    bench.feed('RSR', MONDAY, [
      { stockid: 'A', qty: 0 },
      { stockid: 'B', qty: 1, upc: '850012345618' },
    ])
    bench.feed('RSR', MONDAY + HOUR, [{ stockid: 'A', qty: 2 }])
    assert.deepEqual(
      (await bench.seen(MONDAY + DAY)).items.map(({ zero_since, back_at, first_at }) => [
        zero_since,
        back_at,
        first_at,
      ]),
      [
        [null, MONDAY + HOUR, MONDAY],
        [null, null, MONDAY],
      ],
    )
  })

  test('quantities that no distributor has are kept as what fits', async () => {
    const most = 2_147_483_647
    const row = await tuesday(
      (feed) => feed(1, { stockid: 'A', qty: 0 }, { stockid: 'B', qty: 0 }),
      [
        { stockid: 'A', qty: most },
        { stockid: 'B', qty: most },
      ],
    )
    assert.deepEqual([row.sold, row.qty], [most, 0])
  })
})

/** Two distributors with four item numbers each, of three items and one without a UPC. */
const step = fc.record({
  distid: fc.constantFrom('RSR', 'LIP'),
  wait: fc.constantFrom(
    0,
    5 * MINUTE,
    5 * MINUTE,
    20 * MINUTE,
    6 * HOUR,
    6 * HOUR,
    20 * HOUR,
    4 * DAY,
  ),
  late: fc.constantFrom(0, 0, 0, 0, 10 * MINUTE, 2 * DAY),
  rollUp: fc.constantFrom(false, false, false, true),
  isFirst: fc.constantFrom(false, false, false, false, true),
  changes: fc.uniqueArray(
    fc.record({
      stockid: fc.constantFrom('A', 'B', 'C', 'D'),
      upc: fc.constantFrom(0, 0, 0, 0, 0, 0, 1),
      price: fc.constantFrom(null, 500, 600, 700),
      qty: fc.integer({ min: 0, max: 4 }),
      state: fc.constantFrom('here', 'here', 'here', 'here', 'gone', 'held'),
    }),
    { selector: ({ stockid }) => stockid, maxLength: 4 },
  ),
})
const UPCS: Record<string, (string | null)[]> = {
  A: [String(GTIN), '850012345618'],
  B: [String(GTIN), null],
  C: ['850012345618', '850012345625'],
  D: [null, '850012345625'],
}

describe('any history', () => {
  test('files and open days are what plain loops over the feeds say, whenever it is rolled up', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        using bench = historyBench()
        const [changes, seen]: [LoggedChange[], SeenFeed[]] = [[], []]
        let now = MONDAY
        for (const { distid, wait, late, rollUp, isFirst: mayBeFirst, changes: told } of steps) {
          // Into an empty catalog a feed brings something.
          const isFirst = mayBeFirst && told.length > 0
          now += wait
          const asOf = now - late
          bench.feed(
            distid,
            asOf,
            told.map(({ stockid, upc, price, qty, state }) => ({
              stockid,
              upc: UPCS[stockid]![upc]!,
              price,
              qty: state === 'here' ? qty : 0,
              gone: state === 'gone',
              held: state === 'held',
            })),
            now,
            isFirst,
          )
          const at = bench.history
            .prepare('SELECT max(at) FROM seen WHERE distid = ?')
            .pluck()
            .get(distid) as number
          const written = bench.history
            .prepare('SELECT * FROM change WHERE distid = ? AND at = ?')
            .all(distid, at) as LoggedChange[]
          // A feed of the same time takes the place of the other's rows.
          for (let i = changes.length - 1; i >= 0; i--)
            if (changes[i]!.distid === distid && changes[i]!.at === at) changes.splice(i, 1)
          changes.push(...written)
          seen.push({ distid, at, isFirst })
          if (rollUp) await bench.rollUp(now)
        }
        const expected = byPlainLoops(changes, seen)
        assert.deepEqual(await bench.seen(now), { damaged: [], ...expected })
        await bench.rollUp(now + 2 * DAY)
        assert.deepEqual(await bench.files(), expected.daily)
        assert.deepEqual((await bench.seen(now)).items, expected.items)
        assert.equal(bench.history.prepare('SELECT count(*) FROM change').pluck().get(), 0)
      }),
      { numRuns: 40 },
    )
  })
})
