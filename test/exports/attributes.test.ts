/**
 * The attributes feed (contract "Catalog export descriptor"): columns, quoting, and only what its
 * subscriber sees.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { Raw } from '../../lib/db/sqlite/sqlite.js'
import { makeAttributeTexts, writeAttributes } from '../../lib/exports/attributes.js'
import { FLAGS } from '../../lib/exports/number-columns.js'
import type { TestOffer } from '../../server/testing/index.js'
import { OFFERS, PLAIN, bytesAt, exportShop, keyAt, linesIn } from './shop.js'
import type { ExportShop, Query } from './shop.js'

const feedOf = async ({ store, ask }: ExportShop, query: Query = {}) =>
  linesIn(bytesAt(store, (await ask({ include_attributes: true, ...query })).attributes_feed!.url))

/** As anybody would write them down: the visible offers in their order, each attribute a line. */
function plainLines(
  offers: readonly TestOffer[],
  isVisible: (offer: TestOffer) => boolean,
): string[][] {
  const sorted = [...offers].sort((a, b) =>
    `${a.distid} ${a.stockid}` < `${b.distid} ${b.stockid}` ? -1 : 1,
  )
  return sorted
    .filter((offer) => offer.upc && isVisible(offer))
    .flatMap(({ upc, distid, attributes = {} }) =>
      Object.entries(attributes).map(([name, value]) => [upc!, distid, name, value]),
    )
}

describe('the attributes feed', () => {
  test('has a line for each attribute of a visible offer with a UPC', async () => {
    await using t = await exportShop({
      offers: [
        ...OFFERS,
        { distid: 'RSR', stockid: 'A-2', name: 'No UPC', attributes: { Caliber: '9mm' } },
        { distid: 'RSR', stockid: 'A-3', upc: '0012345678905', name: 'None' },
      ],
    })
    assert.deepEqual(await feedOf(t), [
      ['860001234510', 'LIP', 'Color', 'Blue'],
      ['860001234503', 'RSR', 'Caliber', '5.56'],
    ])
    assert.deepEqual(
      await feedOf(t, { ignore_restrictions: true }),
      [
        ['860001234510', 'LIP', 'Color', 'Blue'],
        ['860001234503', 'RSR', 'Caliber', '5.56'],
      ],
      'the sling has no UPC',
    )
    assert.equal(
      gunzipSync(
        bytesAt(t.store, (await t.ask({ include_attributes: true })).attributes_feed!.url),
      ).toString(),
      'upc,distid,attribute_name,attribute_value\n860001234510,LIP,Color,Blue\n860001234503,RSR,Caliber,5.56\n',
    )
    await t.configure({ ...PLAIN, product_restrictions: { sku: { exclude: ['A-1', 'B-2'] } } })
    assert.deepEqual(await feedOf(t), [], 'a header alone')
  })

  test('is made and stored only for who asks for it', async () => {
    await using t = await exportShop()
    assert.equal('attributes_feed' in (await t.ask()), false)
    assert.deepEqual(
      [...t.store.objects.keys()].map((key) => key.split('/')[2]),
      ['catalog.parquet'],
    )
    const { url, attributes_feed: feed } = await t.ask({ include_attributes: true })
    assert.deepEqual(
      [keyAt(url!).split('/')[1], t.store.objects.get(keyAt(feed!.url))!.contentType],
      [keyAt(feed!.url).split('/')[1], 'application/gzip'],
    )
  })

  test('quotes what must be quoted, and changes nothing', async () => {
    const values = [
      '"',
      'a"b"',
      ',',
      'a\nb',
      'a\r\nb',
      '\r',
      ' padded ',
      '',
      '=1+1',
      '@SUM(A1)',
      'Ünïcode 漢字 🔫',
      '\u2028',
      '\t',
      "'",
      '""',
      '\\',
    ]
    const offers = values.map((value, i): TestOffer => ({
      distid: 'RSR',
      stockid: `A${String.fromCharCode(65 + i)}`,
      upc: '860001234503',
      attributes: { [`Name ${value}`]: value, Name: `${value}${value}` },
    }))
    await using t = await exportShop({ offers })
    assert.deepEqual(
      await feedOf(t),
      plainLines(offers, () => true),
    )
  })

  test('leaves hidden offers out in the middle, first and last, however large', async () => {
    const long = (letter: string) => letter.repeat(700_000)
    const offers = ['A', 'B', 'C', 'D', 'E', 'F'].flatMap((stockid): TestOffer[] =>
      ['LIP', 'RSR'].map((distid) => ({
        distid,
        stockid,
        upc: '860001234503',
        attributes: { Long: long(stockid), Short: stockid },
      })),
    )
    await using t = await exportShop({ offers })
    for (const hidden of [[], ['A', 'D', 'F'], ['A', 'B'], ['E', 'F']]) {
      await t.configure({ ...PLAIN, product_restrictions: { sku: { exclude: hidden } } })
      assert.deepEqual(
        await feedOf(t),
        plainLines(offers, ({ stockid }) => !hidden.includes(stockid)),
        hidden.join(),
      )
    }
  })
})

describe('lines copied block by block', () => {
  const BLOCK = 1 << 20
  let work: string
  before(() => {
    work = mkdtempSync(join(tmpdir(), 'qm-attributes-'))
  })
  after(() => rmSync(work, { recursive: true }))

  /** One line that takes this many bytes. */
  const lineOf = (bytes: number) => {
    const frame = 'U,D,N,\n'.length
    return { N: 'x'.repeat(Math.max(0, bytes - frame)) }
  }

  /** What is written of these offers, and what is counted, against what stands there plainly. */
  async function assertCopied(
    sizes: readonly (readonly number[])[],
    seen: readonly boolean[],
  ): Promise<void> {
    const rows = sizes.map((lines) => [
      'U',
      'D',
      lines.length === 0
        ? null
        : JSON.stringify(
            Object.fromEntries(
              lines.flatMap((bytes, i) =>
                Object.values(lineOf(bytes)).map((value) => [`N${i || ''}`, value]),
              ),
            ),
          ),
    ])
    const catalog = {
      prepare: () => ({ raw: () => ({ get: (id: number) => rows[id] }) }),
    } as unknown as Raw
    const [path, feed] = [join(work, 'texts.csv'), join(work, 'feed.csv.gz')]
    makeAttributeTexts(catalog, { fragments: Int32Array.from(rows.keys()), path, work })
    // Another distributor's offers stand before them.
    const flags = Int32Array.from([
      FLAGS.visible,
      ...seen.map((isSeen) => (isSeen ? FLAGS.visible + FLAGS.dropShip : FLAGS.fflReq)),
    ])
    const lines = await writeAttributes({
      sections: [{ distid: 'D', from: 1, rows: rows.length, attributes: path }],
      flags,
      path: feed,
    })
    const expected = rows
      .flatMap(([, , attributes], i) =>
        seen[i] && attributes
          ? Object.entries(JSON.parse(attributes) as Record<string, string>)
          : [],
      )
      .map(([name, value]) => `U,D,${name},${value}\n`)
    assert.equal(lines, expected.length)
    assert.ok(
      gunzipSync(readFileSync(feed)).toString() ===
        `upc,distid,attribute_name,attribute_value\n${expected.join('')}`,
      JSON.stringify({ sizes, seen }),
    )
  }

  test('end where a block does, one byte before and one after, and span several', async () => {
    const table = [
      [BLOCK],
      [BLOCK - 1, 40],
      [BLOCK + 1, 40],
      [40, BLOCK - 40, 40],
      [40, BLOCK - 41, 40],
      [40, BLOCK - 39, 40],
      [3 * BLOCK, 40],
      [40, 2 * BLOCK - 40, BLOCK],
      [0, BLOCK, 0, 0, 40, 0],
    ]
    for (const bytes of table) {
      const sizes = bytes.map((size) => (size === 0 ? [] : [size]))
      for (const seen of [
        sizes.map(() => true),
        sizes.map((_, i) => i % 2 === 0),
        sizes.map((_, i) => i % 2 === 1),
        sizes.map(() => false),
      ])
        await assertCopied(sizes, seen)
    }
  })

  test('are those of the visible offers, whatever their sizes', async () => {
    const size = fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 10, max: 2_000 }) },
      { weight: 2, arbitrary: fc.integer({ min: BLOCK - 3, max: BLOCK + 3 }) },
      fc.integer({ min: 10, max: 3 * BLOCK }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.array(size, { maxLength: 2 }), fc.boolean()), {
          minLength: 1,
          maxLength: 6,
        }),
        async (offers) => {
          await assertCopied(
            offers.map(([lines]) => lines),
            offers.map(([, isSeen]) => isSeen),
          )
        },
      ),
      { numRuns: 40, endOnFailure: true },
    )
  })

  test('that are cut off, or not as many as the offers, are an error and no shorter feed', async () => {
    await assertCopied([[100], [100]], [true, true])
    const sections = [{ distid: 'D', from: 0, rows: 3, attributes: join(work, 'texts.csv') }]
    await assert.rejects(
      writeAttributes({ sections, flags: Int32Array.of(1, 1, 1), path: join(work, 'out') }),
      /cut off/,
    )
  })
})
