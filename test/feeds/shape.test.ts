/**
 * Losses of content that leave the rows as they are, and items that a feed repeats once for each
 * image.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { presets } from '../../lib/distributors/builtin/index.js'
import type { CatalogPreset } from '../../lib/distributors/generic/generic.js'
import { ACME_STOCK, NOON, bench } from './bench.js'
import type { FeedBench } from './bench.js'
import { pattern } from '../harness/pattern.js'

const MULTI = resolve('..', 'shared', 'data', 'multi-2023-03')
const without = (path: string) =>
  existsSync(path) ? false : `the real feeds are not here: ${path}`

const SHAPED: CatalogPreset = {
  id: 'shaped',
  distid: 'ACME',
  kind: 'catalog',
  format: { delimiter: ',', quote: '"', header: true },
  required: ['sku', 'price', 'qty'],
  key: ['sku'],
  map: {
    upc: { from: ['upc'] },
    name: { from: ['name'] },
    mfgName: { from: ['brand'] },
    price: { from: ['price'], sale: { from: ['sale'], ends: 'sale ends' } },
    map: { from: ['map', 'minimum'] },
    qty: { from: ['qty'] },
    dropShip: { from: ['no drop ship'], no: ['Y'] },
    description: { from: ['text'] },
  },
  zeroWhen: [{ column: 'allocated', in: ['Y'] }],
  classify: [
    { when: [{ column: 'type', in: ['gun'] }], set: { productClass: 'FA', ffl: true } },
    { when: [{ column: 'type', in: ['ammo'] }], set: { productClass: 'AO' } },
  ],
}

type Cells = Record<string, string>

/** 2,000 offers: seven in ten are firearms, each third has a MAP, each fortieth a sale. */
function shapedFeed(
  change: (cells: Cells, i: number) => void = () => {},
  rename: Record<string, string> = {},
  count = 2_000,
): string {
  const rows = Array.from({ length: count }, (_, i): Cells => {
    const price = 100 + (i % 700)
    const cells: Cells = {
      sku: `S${i}`,
      upc: String(700_000_000_000 + i),
      name: `Item ${i}`,
      brand: `Brand ${i % 30}`,
      price: `${price}.00`,
      sale: i % 40 === 0 ? `${price - 20}.00` : '',
      'sale ends': i % 40 === 0 ? '12/31/2026' : '',
      map: i % 3 === 0 ? `${price + 50}.00` : '',
      qty: String(i % 12),
      'no drop ship': i % 5 === 0 ? 'Y' : '',
      text: i % 2 === 0 ? 'Words' : '',
      allocated: i % 25 === 0 ? 'Y' : '',
      type: i % 10 < 7 ? 'gun' : i % 10 < 9 ? 'ammo' : '',
    }
    change(cells, i)
    return cells
  })
  const header = Object.keys(rows[0]!).map((name) => rename[name] ?? name)
  return (
    [header.join(','), ...rows.map((cells) => Object.values(cells).join(','))].join('\n') + '\n'
  )
}

/**
 * Takes a first feed, and then one that must be refused for this reason, leave all as it is, and be
 * accepted when asked to.
 */
async function refuses(
  feeds: FeedBench,
  preset: CatalogPreset | string,
  first: string,
  second: string,
  reason: RegExp,
): Promise<void> {
  assert.deepEqual((await feeds.take(preset, first)).reasons, [])
  const before = feeds.everything()
  const refused = await feeds.take(preset, second)
  assert.equal(refused.outcome, 'refused')
  assert.match(refused.reasons.join('\n'), reason)
  assert.deepEqual(feeds.everything(), before)
  assert.equal((await feeds.take(preset, second, { force: true })).outcome, 'taken')
  assert.notEqual(
    (await feeds.take(preset, second)).outcome,
    'refused',
    'what was accepted is what the next one is compared with',
  )
}

describe('a feed that lost content', () => {
  const LOSSES: [what: string, second: string, reason: RegExp][] = [
    [
      'all types',
      shapedFeed((cells) => {
        cells['type'] = ''
      }),
      /class FA has 0 of 2,000 offers \(0\.0 %\), in the last feed 1,400 of 2,000 offers \(70\.0 %\)/,
    ],
    [
      'all UPCs',
      shapedFeed((cells) => {
        cells['upc'] = ''
      }),
      pattern(
        /2000 of 2000 UPCs are gone or others \(100\.0 %; at most 5 % may be\)\n/,
        /"upc" is filled in 0 of 2,000 offers \(0\.0 %\), /,
        /in the last feed 2,000 of 2,000 offers \(100\.0 %\)/,
      ),
    ],
    [
      'the MAP column, renamed',
      shapedFeed(undefined, { map: 'msp' }),
      pattern(
        /the file has no column "map or minimum" any more, and the last one had it\n/,
        /"map" or "minimum" is filled in 0 of 2,000 offers \(0\.0 %\), /,
        /in the last feed 667 of 2,000 offers \(33\.4 %\)/,
      ),
    ],
    [
      'the sale column, renamed',
      shapedFeed(undefined, { sale: 'special' }),
      /^the file has no column "sale" any more, and the last one had it$/,
    ],
    [
      'the column of what is held back, renamed',
      shapedFeed(undefined, { allocated: 'status' }),
      /no column "allocated"/,
    ],
    [
      'quantities x 100',
      shapedFeed((cells) => {
        cells['qty'] = `${cells['qty']}00`
      }),
      /the quantities have a median of 600 and a sum of .*, in the last feed 6 and /,
    ],
    [
      'quantities as 1 and 0',
      shapedFeed((cells) => {
        cells['qty'] = cells['qty'] === '0' ? '0' : '1'
      }),
      /the quantities have a median of 1 /,
    ],
    [
      'retail prices for costs',
      shapedFeed((cells) => {
        cells['price'] = (Number(cells['price']) * 1.4).toFixed(2)
        cells['sale'] = ''
      }),
      /the prices have a median of .* and a sum of .*factor of 1\.25/,
    ],
    [
      'who may not be drop-shipped',
      shapedFeed((cells) => {
        cells['no drop ship'] = ''
      }),
      /not to be drop-shipped are 0 of 2,000 offers \(0\.0 %\), in the last feed 400 /,
    ],
    [
      "UPCs, which are other offers' now",
      shapedFeed((cells, i) => {
        if (i < 150) cells['upc'] = String(800_000_000_000 + i)
      }),
      /150 of 2000 UPCs are gone or others \(7\.5 %/,
    ],
    [
      'descriptions, more than three in ten',
      shapedFeed((cells, i) => {
        if (i < 602) cells['text'] = ''
      }),
      /"text" is filled in 699 of 2,000/,
    ],
  ]
  for (const [what, second, reason] of LOSSES)
    test(`${what}: refused with the figures, and taken when accepted`, () =>
      bench((feeds) => refuses(feeds, SHAPED, shapedFeed(), second, reason)))

  const FINE: [what: string, second: string][] = [
    [
      'descriptions, three in ten',
      shapedFeed((cells, i) => {
        if (i < 600) cells['text'] = ''
      }),
    ],
    [
      'UPCs, one in twenty',
      shapedFeed((cells, i) => {
        if (i < 100) cells['upc'] = String(800_000_000_000 + i)
      }),
    ],
    ['the MAP column under its other name', shapedFeed(undefined, { map: 'minimum' })],
    [
      'a column that nobody reads',
      shapedFeed((cells, i) => {
        cells['extra'] = String(i)
      }),
    ],
    [
      'sales that all ended',
      shapedFeed((cells) => {
        cells['sale'] = ''
        cells['sale ends'] = ''
      }),
    ],
    [
      'one offer with a million in stock',
      shapedFeed((cells, i) => {
        if (i === 5) cells['qty'] = '1000000'
      }),
    ],
    ['a fifth of the offers gone', shapedFeed(undefined, {}, 1_600)],
    ['half as many offers again', shapedFeed(undefined, {}, 3_000)],
    [
      'quantities doubled',
      shapedFeed((cells) => {
        cells['qty'] = String(Number(cells['qty']) * 2)
      }),
    ],
  ]
  for (const [what, second] of FINE) {
    test(`${what}: taken`, () =>
      bench(async (feeds) => {
        await feeds.take(SHAPED, shapedFeed())
        assert.deepEqual((await feeds.take(SHAPED, second)).reasons, [])
      }))
  }

  test('unchanged lines count as they did: the shape of an update is that of the whole file', () =>
    bench(async (feeds) => {
      const edited = shapedFeed((cells, i) => {
        if (i % 7 === 0) cells['price'] = `${201 + (i % 700)}.00`
      })
      await feeds.take(SHAPED, shapedFeed())
      await feeds.take(SHAPED, edited)
      const shape = () =>
        JSON.parse(
          feeds.catalog.prepare('SELECT shape FROM feed').pluck().get() as string,
        ) as unknown
      const updated = shape()
      feeds.catalog.exec('DELETE FROM feed')
      await feeds.take(SHAPED, edited)
      assert.deepEqual(shape(), updated)
    }))

  test('another way to read it is not a loss', () =>
    bench(async (feeds) => {
      await feeds.take(SHAPED, shapedFeed())
      const { description: _, ...map } = SHAPED.map
      assert.deepEqual((await feeds.take({ ...SHAPED, map }, shapedFeed())).reasons, [])
    }))

  test('a stock file with quantities x 100', () =>
    bench(async (feeds) => {
      await feeds.take({ ...SHAPED, id: 'acme' }, shapedFeed())
      const stock = (times: number) =>
        Array.from({ length: 2_000 }, (_, i) => `S${i},${(i % 12) * times}`).join('\n') + '\n'
      await feeds.take(ACME_STOCK, stock(1))
      assert.match(
        (await feeds.take(ACME_STOCK, stock(100))).reasons.join(),
        /^the quantities have a median of 600 and a sum of 1,098,/,
      )
      assert.equal((await feeds.take(ACME_STOCK, stock(100), { force: true })).outcome, 'taken')
    }))

  describe('of those that are real', { skip: without(MULTI) }, () => {
    const read = (name: string) => gunzipSync(readFileSync(join(MULTI, name))).toString()
    const MARCH_7 = { asOf: Date.UTC(2023, 2, 7, 12), now: Date.UTC(2023, 2, 7, 12) }
    const MARCH_8 = { asOf: Date.UTC(2023, 2, 8, 12), now: Date.UTC(2023, 2, 8, 12) }
    const cellsOf = (text: string, change: (cells: string[]) => void) =>
      text
        .split('\n')
        .map((line, i) => {
          const cells = line.split(',')
          if (i > 0 && cells.length > 1) change(cells)
          return cells.join(',')
        })
        .join('\n')
    const DAVIDSONS = existsSync(MULTI) ? read('davidsons_inventory.csv.gz') : ''
    const LIPSEYS = existsSync(MULTI) ? read('Lipseys.2023-03-07.csv.gz') : ''
    const cases: [what: string, preset: string, first: string, second: string, reason: RegExp][] = [
      [
        'Gun Type emptied',
        'davidsons',
        DAVIDSONS,
        cellsOf(DAVIDSONS, (cells) => {
          cells[10] = ''
        }),
        /class FA has 0 of 10,298 /,
      ],
      [
        'UPCs emptied',
        'davidsons',
        DAVIDSONS,
        cellsOf(DAVIDSONS, (cells) => {
          cells[8] = '##'
        }),
        /"UPC Code" is filled in 0 of 10,298 /,
      ],
      [
        'Sale Price renamed',
        'davidsons',
        DAVIDSONS,
        DAVIDSONS.replace('Sale Price', 'Promo Price'),
        /no column "Sale Price" any more/,
      ],
      [
        'quantities x 100',
        'davidsons',
        DAVIDSONS,
        cellsOf(DAVIDSONS, (cells) => {
          if (/^\d+$/.test(cells[7]!)) cells[7] += '00'
        }),
        /the quantities have a median of /,
      ],
      [
        'the MAP column renamed',
        'lipseys-pricing',
        LIPSEYS,
        LIPSEYS.replace('retailMap', 'mapPrice'),
        /no column "RETAILMAP" any more/,
      ],
    ]
    for (const [what, preset, first, second, reason] of cases) {
      test(`${what}: refused`, () =>
        bench(async (feeds) => {
          assert.equal((await feeds.take(preset, first, MARCH_7)).outcome, 'taken')
          const result = await feeds.take(preset, second, MARCH_8)
          assert.equal(result.outcome, 'refused')
          assert.match(result.reasons.join('\n'), reason)
        }))
    }

    for (const [preset, name] of [
      ['davidsons', 'davidsons_inventory'],
      ['zanders', 'ZandersInventory'],
      ['sports-south', 'SportsSouthInventory'],
      ['lipseys-pricing', 'Lipseys'],
    ] as const) {
      test(`${name} after itself: no alarm`, () =>
        bench(async (feeds) => {
          await feeds.take(preset, read(`${name}.csv.gz`), MARCH_7)
          // Its digest is another one, so it is read again.
          assert.deepEqual(
            (await feeds.take(preset, `${read(`${name}.csv.gz`).trimEnd()}\n\n`, MARCH_8)).reasons,
            [],
          )
        }))
    }
  })
})

describe('an item that is repeated once for each image', () => {
  const HEADER =
    'SKU,Item Name,Quantity In Stock,Price,UPC,Drop Ship Flag,Category,Image Location,MAP'
  const row = (sku: string, image: string, price = '10.00') =>
    `${sku},Item ${sku},4,${price},,1,Knives,https://img.example/${image}.jpg?v=1,`
  const feed = (...rows: string[]) => [HEADER, ...rows].join('\n') + '\n'
  const images = (feeds: FeedBench, sku: string) =>
    (
      JSON.parse((feeds.offer(sku) as unknown as { images: string }).images) as { src: string }[]
    ).map(({ src }) => src.replace('https://img.example/', '').replace('.jpg', ''))

  test('is one offer with the images of all its rows', () =>
    bench(async (feeds) => {
      const result = await feeds.take(
        'chattanooga',
        feed(
          row('A', 'a1'),
          row('A', 'a2'),
          row('A', 'a1'),
          row('B', 'b1'),
          row('C', 'c1'),
          row('C', 'c2'),
        ),
      )
      assert.deepEqual(
        [result.outcome, result.rows, result.offers, result.rejected, result.added],
        ['taken', 6, 3, 0, 3],
      )
      assert.deepEqual(
        ['A', 'B', 'C'].map((sku) => images(feeds, sku)),
        [['a1', 'a2'], ['b1'], ['c1', 'c2']],
      )
    }))

  test('is unchanged by the same rows, and changed by one image more or less', () =>
    bench(async (feeds) => {
      const take = (...rows: string[]) => feeds.take('chattanooga', feed(...rows))
      await take(row('A', 'a1'), row('A', 'a2'), row('B', 'b1'))
      assert.equal(
        (await take(row('A', 'a1'), row('A', 'a2'), row('B', 'b1'))).outcome,
        'unchanged',
      )
      assert.equal(
        (await take(row('A', 'a1'), row('A', 'a2'), row('B', 'b1'), row('C', 'c1'))).changed,
        0,
      )
      assert.equal(
        (await take(row('A', 'a1'), row('A', 'a2'), row('A', 'a3'), row('B', 'b1'), row('C', 'c1')))
          .changed,
        1,
      )
      assert.deepEqual(images(feeds, 'A'), ['a1', 'a2', 'a3'])
      assert.equal((await take(row('A', 'a2'), row('B', 'b1'), row('C', 'c1'))).changed, 1)
      assert.deepEqual(images(feeds, 'A'), ['a2'])
    }))

  test('a row that differs otherwise is rejected with what differs', () =>
    bench(async (feeds) => {
      const result = await feeds.take(
        'chattanooga',
        feed(
          row('A', 'a1'),
          row('A', 'a2', '11.00'),
          row('A', 'a3'),
          ...Array.from({ length: 200 }, (_, i) => row(`X${i}`, 'x')),
        ),
      )
      assert.deepEqual([result.outcome, result.rejected], ['taken', 1])
      assert.equal(
        result.rejects[0]!.reason,
        'Price is "11.00" and "10.00" in the row before with the same item number; such rows ' +
          'may differ in Image Location alone',
      )
      assert.equal(result.rejects[0]!.line, 3)
      assert.deepEqual(images(feeds, 'A'), ['a1', 'a3'])
    }))

  test('one that is not adjacent is a duplicate, and so it is where the preset does not allow lists', () =>
    bench(async (feeds) => {
      const many = Array.from({ length: 300 }, (_, i) => row(`X${i}`, 'x'))
      const apart = await feeds.take(
        'chattanooga',
        feed(row('A', 'a1'), row('B', 'b1'), row('A', 'a2'), ...many),
      )
      assert.deepEqual(
        [apart.rejected, apart.rejects[0]!.reason],
        [1, 'duplicate key: an earlier row has the same item number'],
      )
      const { repeats: _, ...strict } = presets['chattanooga'] as CatalogPreset
      const adjacent = await feeds.take(
        { ...strict, id: 'strict' },
        feed(row('A', 'a1'), row('A', 'a2'), ...many),
      )
      assert.equal(adjacent.rejected, 1)
    }))

  test('rows of one item may lie in two pieces of the file', () =>
    bench(async (feeds) => {
      const text = 'x'.repeat(2_000)
      const header = `${HEADER},Web Item Description`
      const rows = Array.from({ length: 3_000 }, (_, i) =>
        [1, 2, 3].map((n) => `${row(`S${i}`, `${i}-${n}`)},${text}`),
      ).flat()
      const result = await feeds.take('chattanooga', [header, ...rows].join('\n') + '\n', {
        now: NOON,
      })
      assert.deepEqual([result.rows, result.offers, result.rejected], [9_000, 3_000, 0])
      for (let i = 0; i < 3_000; i++)
        assert.deepEqual(images(feeds, `S${i}`), [`${i}-1`, `${i}-2`, `${i}-3`])
    }))
})
