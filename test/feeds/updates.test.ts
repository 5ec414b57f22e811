import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { HOUR } from '../../lib/core/clock.js'
import { KnownLines, LinesBuilder, OfferSet } from '../../lib/feeds/read/known-lines.js'
import { LineHash, textHash } from '../../lib/feeds/read/line-hash.js'
import { ACME, ACME_STOCK, HEADER, NOON, acmeFeed, acmeRow, bench, feedBench } from './bench.js'
import type { FeedBench } from './bench.js'

const state = (feeds: FeedBench) =>
  feeds.catalog.prepare('SELECT revision, text_revision, version FROM state').get() as {
    revision: number
    text_revision: number
    version: string
  }
const history = (feeds: FeedBench, where = '1') =>
  feeds.history
    .prepare(
      `SELECT stockid, at, upc, price, qty, gone FROM change WHERE ${where} ORDER BY at, stockid`,
    )
    .all()
const swap = (feed: string, changes: Record<number, string>) =>
  feed
    .split('\n')
    .map((line, i) => changes[i] ?? line)
    .join('\n')

describe('the next feed of a source', () => {
  test('the same file again makes no new snapshot, in gzip or not', () =>
    bench(async (feeds) => {
      const first = await feeds.take(ACME, acmeFeed(10))
      assert.match(first.version, /^20261121T120100Z-1$/)
      const again = await feeds.take(ACME, acmeFeed(10))
      assert.deepEqual(
        [again.outcome, again.version, again.rows, again.offers],
        ['unchanged', first.version, 10, 10],
      )
      assert.equal(state(feeds).revision, 1)
      assert.deepEqual(
        feeds.catalog.prepare('SELECT as_of, taken_at FROM feed').get(),
        { as_of: NOON + 120_000, taken_at: NOON + 120_000 },
        'its age is that of the newest look',
      )
    }))

  test('other bytes that say the same are taken without a new snapshot', () =>
    bench(async (feeds) => {
      const first = await feeds.take(ACME, acmeFeed(10))
      const reversed = [HEADER, ...acmeFeed(10).trim().split('\n').slice(1).reverse(), ''].join(
        '\r\n',
      )
      const second = await feeds.take(ACME, reversed)
      assert.deepEqual(
        [second.outcome, second.added, second.changed, second.removed, second.version],
        ['taken', 0, 0, 0, first.version],
      )
    }))

  test('a new price is a new row of numbers beside the same text', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(20))
      const result = await feeds.take(ACME, swap(acmeFeed(20), { 3: acmeRow(3, '11.00', '4') }))
      assert.deepEqual([result.changed, result.price_changes, result.stock_changes], [1, 1, 1])
      assert.deepEqual(
        feeds.catalog.prepare('SELECT id, stockid, price, qty FROM offer WHERE revision = 2').all(),
        [{ id: 3, stockid: 'SKU3', price: 1100, qty: 4 }],
      )
      assert.deepEqual(state(feeds), {
        revision: 2,
        text_revision: 1,
        version: '20261121T120200Z-2',
      })
      assert.equal(feeds.catalog.prepare('SELECT count(*) FROM fragment').pluck().get(), 20)
      assert.deepEqual(history(feeds, 'price = 1100'), [
        { stockid: 'SKU3', at: NOON + 120_000, upc: '700000000003', price: 1100, qty: 4, gone: 0 },
      ])
    }))

  test('a new wording is a new fragment; the old one goes after an hour', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(20))
      const better = swap(acmeFeed(20), { 3: acmeRow(3).replace('Item', 'Better') })
      await feeds.take(ACME, better)
      const fragments = (where: string) =>
        feeds.catalog
          .prepare(`SELECT id, name, retired_at FROM fragment WHERE ${where} ORDER BY id`)
          .all()
      assert.deepEqual(fragments("stockid = 'SKU3'"), [
        { id: 3, name: 'Item 3', retired_at: NOON + 120_000 },
        { id: 21, name: 'Better 3', retired_at: null },
      ])
      assert.deepEqual([state(feeds).revision, state(feeds).text_revision], [2, 2])
      assert.equal(history(feeds).length, 20, 'a wording is not a change of price or stock')
      const soon = NOON + 120_000 + HOUR
      await feeds.take(ACME, swap(better, { 4: acmeRow(4, '11.00') }), { now: soon, asOf: soon })
      assert.equal(fragments('retired_at IS NOT NULL').length, 1, 'it is an hour old, not older')
      await feeds.take(ACME, swap(better, { 4: acmeRow(4, '12.00') }), {
        now: soon + 1,
        asOf: soon + 1,
      })
      assert.equal(fragments('retired_at IS NOT NULL').length, 0)
    }))

  test('an offer that is gone leaves the catalog and a last line in the history', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(20))
      const result = await feeds.take(ACME, acmeFeed(19))
      assert.deepEqual(
        [result.removed, feeds.offers().length, state(feeds).text_revision],
        [1, 19, 2],
      )
      assert.deepEqual(history(feeds, 'gone = 1'), [
        { stockid: 'SKU20', at: NOON + 120_000, upc: '700000000020', price: 1000, qty: 0, gone: 1 },
      ])
      assert.equal((await feeds.take(ACME, acmeFeed(20))).added, 1)
    }))

  test("a first feed writes each offer's first state into the history", () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(3))
      assert.deepEqual(
        history(feeds),
        [1, 2, 3].map((i) => ({
          stockid: `SKU${i}`,
          at: NOON + 60_000,
          upc: String(700000000000 + i),
          price: 1000,
          qty: 5,
          gone: 0,
        })),
      )
    }))

  test('taking a feed in again after a crash between the two commits writes the history once', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(5), { asOf: NOON })
      feeds.catalog.exec('DELETE FROM feed; DELETE FROM offer; DELETE FROM tally')
      await feeds.take(ACME, acmeFeed(5), { asOf: NOON })
      assert.equal(history(feeds).length, 5)
    }))

  test('another preset under the same source reads every line again', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(20), { source: 's' })
      const result = await feeds.take(
        {
          ...ACME,
          classify: [{ when: [{ column: 'sku', filled: true }], set: { productClass: 'KN' } }],
        },
        acmeFeed(20),
        { source: 's' },
      )
      assert.deepEqual([result.outcome, result.changed], ['taken', 20])
      assert.ok(feeds.offers().every((offer) => offer.product_class === 'KN'))
    }))

  test('a sale ends on its day though its line did not change', () =>
    bench(async (feeds) => {
      const dated = {
        ...ACME,
        map: { ...ACME.map, price: { from: ['price'], sale: { from: ['map'], ends: 'brand' } } },
      }
      const file = `${HEADER}\nA1,,Item,11/21/2026,10.00,8.00,5,part\n`
      await feeds.take(dated, file, { asOf: NOON })
      assert.equal(feeds.offer('A1').price, 800)
      await feeds.take(dated, file, { asOf: NOON + HOUR })
      const result = await feeds.take(dated, file, { asOf: NOON + 24 * HOUR })
      assert.deepEqual([result.outcome, feeds.offer('A1').price], ['taken', 1000])
    }))

  test('a sale ends on its day though the file is not renewed', () =>
    bench(async (feeds) => {
      const dated = {
        ...ACME,
        map: { ...ACME.map, price: { from: ['price'], sale: { from: ['map'], ends: 'brand' } } },
      }
      const file = `${HEADER}\nA1,,Item,11/21/2026,10.00,8.00,5,part\n`
      const pull = (now: number) => feeds.take(dated, file, { asOf: NOON, now })
      await pull(NOON)
      assert.deepEqual(
        [feeds.offer('A1').price, (await pull(NOON + HOUR)).outcome],
        [800, 'unchanged'],
      )
      const result = await pull(NOON + 240 * HOUR)
      assert.deepEqual([result.outcome, feeds.offer('A1').price], ['taken', 1000])
      const late = feedBench()
      try {
        await late.take(dated, file, { asOf: NOON, now: NOON + 240 * HOUR })
        assert.equal(late.offer('A1').price, 1000, 'a first file that is old says what holds today')
      } finally {
        late.close()
      }
    }))

  test('of two rows with one key the first wins, whichever of them changed', () =>
    bench(async (feeds) => {
      const feed = (...prices: string[]) =>
        acmeFeed(300) +
        prices.map((price) => acmeRow(1, price).replace('Item', `At ${price}`)).join('\n') +
        '\n'
      const first = await feeds.take(ACME, feed('20.00'))
      assert.deepEqual([first.rejected, feeds.offer('SKU1').price], [1, 1000])
      // The second row moves up to the front: it is the same line as before, but now it comes
      // first.
      const moved = [HEADER, acmeRow(1, '12.00'), ...acmeFeed(300).split('\n').slice(1)].join('\n')
      const second = await feeds.take(ACME, moved)
      assert.deepEqual(
        [second.rejected, second.rejects[0]!.line, feeds.offer('SKU1').price],
        [1, 3, 1200],
      )
      const third = await feeds.take(ACME, acmeFeed(300))
      assert.deepEqual([third.rejected, feeds.offer('SKU1').price], [0, 1000])
    }))
})

describe('an update equals a fresh import', () => {
  const key = fc.integer({ min: 1, max: 12 })
  const price = fc.constantFrom('10.00', '12.50', '0', '', 'x')
  const row = fc
    .record({
      key,
      price,
      qty: fc.constantFrom('0', '3', '99+', '-1'),
      name: fc.constantFrom('Item', '"A, b"', '"two\nlines"', 'in 16" bbl', '"open'),
      type: fc.constantFrom('gun', 'part', '', 'held'),
    })
    .map((r) => `SKU${r.key},${700000000000 + r.key},${r.name},B,${r.price},,${r.qty},${r.type}`)
  const feed = fc.array(
    fc.oneof(
      { weight: 20, arbitrary: row },
      { weight: 1, arbitrary: fc.constantFrom('', 'a,b', ',,,,,,,') },
    ),
    { minLength: 1, maxLength: 30 },
  )
  /** A later edition: rows of the one before, some left out, moved or replaced. */
  const edited = feed
    .chain((rows) =>
      fc.tuple(
        fc.constant(rows),
        fc.shuffledSubarray(rows, { minLength: Math.ceil(rows.length / 2) }),
        fc.array(row, { maxLength: 6 }),
      ),
    )
    .map(
      ([rows, kept, fresh]) => [rows, [...fresh.slice(0, 2), ...kept, ...fresh.slice(2)]] as const,
    )
  const outcome = (feeds: FeedBench) => [
    feeds.offers(),
    feeds.catalog.prepare('SELECT line, reason, text FROM rejected_row ORDER BY line').all(),
    feeds.catalog.prepare('SELECT rows, rejected FROM feed').all(),
    feeds.catalog.prepare('SELECT * FROM tally').all(),
  ]

  test('for any feed and any edit of it', async () => {
    await fc.assert(
      fc.asyncProperty(edited, async ([before, after]) => {
        const [updated, fresh] = [feedBench(), feedBench()]
        try {
          const text = (rows: readonly string[]) => [HEADER, ...rows].join('\n') + '\n'
          await updated.take(ACME, text(before), { force: true })
          const usable = (await fresh.take(ACME, text(after), { force: true })).outcome === 'taken'
          fc.pre(usable)
          await updated.take(ACME, text(after), { force: true })
          // Where the first edition had nothing usable, there was nothing to update.
          assert.deepEqual(outcome(updated), outcome(fresh))
        } finally {
          updated.close()
          fresh.close()
        }
      }),
      { numRuns: 120 },
    )
  })
})

describe('stock feeds', () => {
  const stock = (counts: Record<string, number | string>) =>
    Object.entries(counts)
      .map(([sku, qty]) => `${sku},${qty}`)
      .join('\n') + '\n'
  const qty = (feeds: FeedBench) =>
    Object.fromEntries(feeds.offers().map((offer) => [offer.stockid, offer.qty]))

  test('set quantities, and count rows that no offer has', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(4))
      const result = await feeds.take(ACME_STOCK, stock({ SKU1: 7, SKU2: 5, SKU3: 0, OTHER: 9 }))
      assert.deepEqual(
        [
          result.outcome,
          result.rows,
          result.offers,
          result.changed,
          result.stock_changes,
          result.unmatched,
          result.rejected,
        ],
        ['taken', 4, 3, 2, 2, 1, 0],
      )
      assert.deepEqual(qty(feeds), { SKU1: 7, SKU2: 5, SKU3: 0, SKU4: 5 })
      assert.deepEqual(history(feeds, 'at > ' + (NOON + 60_000)), [
        { stockid: 'SKU1', at: NOON + 120_000, upc: '700000000001', price: 1000, qty: 7, gone: 0 },
        { stockid: 'SKU3', at: NOON + 120_000, upc: '700000000003', price: 1000, qty: 0, gone: 0 },
      ])
      assert.equal(state(feeds).text_revision, 1, 'no text changed')
    }))

  test('an item that a stock feed no longer names is out of stock', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(10))
      const all = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`SKU${i + 1}`, 3]))
      await feeds.take(ACME_STOCK, stock(all))
      delete all['SKU4']
      const result = await feeds.take(ACME_STOCK, stock(all))
      assert.deepEqual(
        [result.stock_changes, feeds.offer('SKU4').qty, feeds.offers().length],
        [1, 0, 10],
      )
    }))

  test('a catalog feed after them sets its own quantity again, though its line is the same', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(4))
      await feeds.take(ACME_STOCK, stock({ SKU1: 7, SKU2: 5, SKU3: 5, SKU4: 5 }))
      assert.equal((await feeds.take(ACME, acmeFeed(4))).changed, 1)
      assert.equal(feeds.offer('SKU1').qty, 5)
      assert.equal(
        (await feeds.take(ACME_STOCK, stock({ SKU1: 7, SKU2: 5, SKU3: 5, SKU4: 5 }))).changed,
        1,
        'and so does the same stock file after that',
      )
      assert.equal(feeds.offer('SKU1').qty, 7)
    }))

  test('a catalog file that is older than the stock file does not set the stock back', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(4), { asOf: NOON })
      await feeds.take(ACME_STOCK, stock({ SKU1: 7, SKU2: 5 }), { asOf: NOON + 10 })
      const late = swap(acmeFeed(4), { 1: acmeRow(1, '11.00', '2'), 3: acmeRow(3, '11.00', '2') })
      await feeds.take(ACME, late, { asOf: NOON + 5 })
      assert.deepEqual(
        [feeds.offer('SKU1').price, feeds.offer('SKU1').qty, feeds.offer('SKU3').qty],
        [1100, 7, 2],
      )
      await feeds.take(ACME, late + '\n', { asOf: NOON + 20 })
      assert.equal(feeds.offer('SKU1').qty, 2, 'a newer catalog file does')
    }))

  test('an allocated item stays without stock whatever the stock feed counts', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(4).replace(/part\n/, 'held\n'))
      await feeds.take(ACME_STOCK, stock({ SKU1: 7, SKU2: 6 }))
      assert.deepEqual([feeds.offer('SKU1').qty, feeds.offer('SKU2').qty], [0, 6])
    }))

  test('an item that came into the catalog later gets its count from the same stock file', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(3))
      const counts = stock({ SKU1: 5, SKU2: 5, SKU3: 5, SKU4: 8 })
      assert.equal((await feeds.take(ACME_STOCK, counts)).unmatched, 1)
      assert.equal((await feeds.take(ACME_STOCK, counts)).outcome, 'unchanged')
      await feeds.take(ACME, acmeFeed(4))
      const result = await feeds.take(ACME_STOCK, counts)
      assert.deepEqual([result.outcome, result.unmatched, feeds.offer('SKU4').qty], ['taken', 0, 8])
    }))

  test('an item that went and came back is not taken for the one before', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(10))
      const counts = stock(
        Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`SKU${i + 1}`, 8])),
      )
      await feeds.take(ACME_STOCK, counts)
      await feeds.take(ACME, acmeFeed(9))
      await feeds.take(ACME, acmeFeed(9) + acmeRow(77) + '\n')
      await feeds.take(ACME_STOCK, counts)
      assert.equal(feeds.offer('SKU77').qty, 5)
      await feeds.take(ACME, acmeFeed(10))
      await feeds.take(ACME_STOCK, counts)
      assert.equal(feeds.offer('SKU10').qty, 8)
    }))

  const MIN = 60_000
  const at = (minutes: number) => ({ asOf: NOON + minutes * MIN })

  test('of a catalog file and a stock file that stay as they are, the newer one decides for good', () =>
    bench(async (feeds) => {
      const pull = async () => {
        await feeds.take(ACME, acmeFeed(1), { ...at(2), source: 'catalog' })
        await feeds.take(ACME_STOCK, stock({ SKU1: 7 }), { ...at(1), source: 'stock' })
        return feeds.offer('SKU1').qty
      }
      assert.equal(await pull(), 5)
      const { version } = state(feeds)
      for (let i = 0; i < 3; i++) assert.equal(await pull(), 5)
      assert.equal(state(feeds).version, version, 'no pull made a new snapshot')
      await feeds.take(ACME_STOCK, stock({ SKU1: 7 }), { ...at(3), source: 'stock' })
      assert.equal(feeds.offer('SKU1').qty, 7, 'the same bytes count once they are newer')
    }))

  test("an allocated item that is released has the stock feed's count, though its line is the same", () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(1).replace('part', 'held'), at(0))
      await feeds.take(ACME_STOCK, stock({ SKU1: 7 }), at(5))
      await feeds.take(ACME, acmeFeed(1), at(3))
      assert.equal(feeds.offer('SKU1').qty, 0)
      await feeds.take(ACME_STOCK, stock({ SKU1: 7 }), at(10))
      assert.equal(feeds.offer('SKU1').qty, 7)
    }))

  test('one that the newest catalog file releases without stock gets it from the next stock file', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(1).replace('part', 'held'), at(0))
      await feeds.take(ACME_STOCK, stock({ SKU1: 7 }), at(1))
      await feeds.take(
        ACME,
        acmeFeed(1, () => acmeRow(1, '10.00', '0')),
        at(2),
      )
      await feeds.take(ACME_STOCK, stock({ SKU1: 7 }), at(3))
      assert.equal(feeds.offer('SKU1').qty, 7)
    }))

  test('a catalog file whose quantity was put off counts when the same bytes are newer', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(2), at(0))
      await feeds.take(ACME_STOCK, stock({ SKU1: 7 }), at(10))
      const late = acmeFeed(2, (i) => acmeRow(i, '10.00', '2'))
      await feeds.take(ACME, late, at(5))
      assert.deepEqual(qty(feeds), { SKU1: 7, SKU2: 2 })
      assert.equal((await feeds.take(ACME, late, at(20))).outcome, 'taken')
      assert.deepEqual(qty(feeds), { SKU1: 2, SKU2: 2 })
      assert.equal((await feeds.take(ACME, late, at(21))).outcome, 'unchanged')
    }))

  test('an item that the stock feed dropped is not brought back by the catalog file of before', () =>
    bench(async (feeds) => {
      const counts = (n: number) =>
        stock(Object.fromEntries(Array.from({ length: n }, (_, i) => [`SKU${i + 1}`, 3])))
      await feeds.take(ACME, acmeFeed(10), at(0))
      await feeds.take(ACME_STOCK, counts(10), at(1))
      await feeds.take(ACME_STOCK, counts(9), at(2))
      const { version } = state(feeds)
      for (let i = 0; i < 2; i++) {
        await feeds.take(ACME, acmeFeed(10), at(0))
        assert.equal(feeds.offer('SKU10').qty, 0)
        const result = await feeds.take(ACME_STOCK, counts(9), at(2))
        assert.deepEqual([result.offers, state(feeds).version], [9, version])
      }
      await feeds.take(ACME, acmeFeed(10), at(3))
      assert.equal(feeds.offer('SKU10').qty, 5, 'a newer one does bring it back')
      await feeds.take(ACME_STOCK, counts(9), at(4))
      assert.equal(feeds.offer('SKU10').qty, 0)
      await feeds.take(ACME_STOCK, counts(10), at(5))
      assert.equal(feeds.offer('SKU10').qty, 3)
      await feeds.take(ACME_STOCK, counts(9), at(6))
      await feeds.take(ACME, acmeFeed(9), at(7))
      await feeds.take(ACME, acmeFeed(10), at(7))
      assert.equal(feeds.offer('SKU10').qty, 5, 'one that went and came back is a new one')
    }))

  test('a stock file of unknown item numbers is refused even when it is forced', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(2))
      await feeds.take(ACME_STOCK, stock({ SKU1: 7 }))
      const before = feeds.everything()
      const result = await feeds.take(ACME_STOCK, stock({ X1: 7, X2: 7 }), { force: true })
      assert.deepEqual(result.reasons, [
        'none of the 2 rows names an item that is known, and the last feed named 1; the file ' +
          'or its preset is the wrong one',
      ])
      assert.deepEqual(feeds.everything(), before)
    }))

  test('half a stock file is refused', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(10))
      const counts = (n: number) =>
        stock(Object.fromEntries(Array.from({ length: n }, (_, i) => [`SKU${i + 1}`, 8])))
      await feeds.take(ACME_STOCK, counts(10))
      const before = feeds.everything()
      assert.deepEqual((await feeds.take(ACME_STOCK, counts(5))).reasons, [
        '5 of 10 offers are missing (50.0 %; at most 20 % may be)',
        '5 of 10 offers in stock would have none (50.0 %; at most 30 % may)',
      ])
      assert.deepEqual(feeds.everything(), before)
    }))
})

describe("prices that came with one subscriber's credentials", () => {
  const own = (feeds: FeedBench) =>
    feeds.catalog
      .prepare(
        'SELECT subscriber_id, stockid, own_price.price FROM own_price JOIN offer ON offer.id = offer ORDER BY 1, 2',
      )
      .all()
  const ANN = { subscriberId: 'ann', source: 'ACME/ann' }
  const BOB = { subscriberId: 'bob', source: 'ACME/bob' }

  test("never become the operator's, and each subscriber keeps their own", () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(2))
      await feeds.take(
        ACME,
        acmeFeed(3, (i) => acmeRow(i, '9.00', '6')),
        ANN,
      )
      await feeds.take(
        ACME,
        acmeFeed(2, (i) => acmeRow(i, '8.00', '6')),
        BOB,
      )
      assert.deepEqual(
        feeds.offers().map(({ stockid, price, qty }) => [stockid, price, qty]),
        [
          ['SKU1', 1000, 5],
          ['SKU2', 1000, 5],
          ['SKU3', null, 6],
        ],
      )
      assert.deepEqual(own(feeds), [
        { subscriber_id: 'ann', stockid: 'SKU1', price: 900 },
        { subscriber_id: 'ann', stockid: 'SKU2', price: 900 },
        { subscriber_id: 'ann', stockid: 'SKU3', price: 900 },
        { subscriber_id: 'bob', stockid: 'SKU1', price: 800 },
        { subscriber_id: 'bob', stockid: 'SKU2', price: 800 },
      ])
      assert.deepEqual(
        history(feeds, 'price NOT IN (1000) AND price IS NOT NULL'),
        [],
        'no own price is in the history',
      )
    }))

  test("come with nothing else for what an operator's feed holds", () =>
    bench(async (feeds) => {
      const theirs = (i: number) => `SKU${i},${800000000000 + i},Other ${i},Else,9.00,1.00,99,gun`
      await feeds.take(ACME, acmeFeed(10))
      const before = feeds.offers()
      const counts = Array.from({ length: 11 }, (_, i) => `SKU${i + 1},77\n`)
      const first = await feeds.take(ACME, acmeFeed(11, theirs), ANN)
      assert.deepEqual(
        [
          feeds.offers().filter(({ stockid }) => stockid !== 'SKU11'),
          own(feeds).length,
          first.changed,
        ],
        [before, 11, 10],
      )
      assert.deepEqual(
        [feeds.offer('SKU11').name, feeds.offer('SKU11').price, feeds.offer('SKU11').qty],
        ['Other 11', null, 99],
      )
      await feeds.take(ACME_STOCK, counts.join(''), { ...ANN, source: 'ACME/ann-stock' })
      assert.deepEqual([feeds.offer('SKU1').qty, feeds.offer('SKU11').qty], [5, 77])
      await feeds.take(ACME_STOCK, counts.slice(1).join(''), { ...ANN, source: 'ACME/ann-stock' })
      assert.equal(feeds.offer('SKU1').qty, 5, 'nor does what it drops')
      // What the operator's feed drops is the subscriber's alone from then on.
      await feeds.take(ACME, acmeFeed(9))
      await feeds.take(ACME, acmeFeed(11, theirs), ANN)
      assert.deepEqual(
        [feeds.offer('SKU10').name, feeds.offer('SKU10').price, feeds.offer('SKU10').product_class],
        ['Other 10', null, 'FA'],
      )
    }))

  test('a change of one is a new revision of the offer', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(30))
      await feeds.take(
        ACME,
        acmeFeed(30, (i) => acmeRow(i, '9.00')),
        ANN,
      )
      const result = await feeds.take(
        ACME,
        swap(
          acmeFeed(30, (i) => acmeRow(i, '9.00')),
          { 2: acmeRow(2, '9.50') },
        ),
        ANN,
      )
      assert.deepEqual([result.changed, result.price_changes], [1, 1])
      assert.deepEqual(
        feeds.catalog
          .prepare('SELECT stockid FROM offer WHERE revision = (SELECT revision FROM state)')
          .all(),
        [{ stockid: 'SKU2' }],
      )
    }))

  test('a row without a price takes the own price away, and one of a new offer makes none', () =>
    bench(async (feeds) => {
      await feeds.take(
        ACME,
        acmeFeed(30, (i) => acmeRow(i, '9.00')),
        ANN,
      )
      await feeds.take(
        ACME,
        acmeFeed(31, (i) => acmeRow(i, i === 1 || i === 31 ? '0' : '9.00')),
        ANN,
      )
      assert.equal(own(feeds).length, 29)
      assert.equal(feeds.offers().length, 31)
    }))

  test("what leaves the subscriber's feed leaves the catalog only when nobody else has it", () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(9))
      await feeds.take(
        ACME,
        acmeFeed(10, (i) => acmeRow(i, '9.00')),
        ANN,
      )
      const result = await feeds.take(
        ACME,
        acmeFeed(8, (i) => acmeRow(i, '9.00')),
        ANN,
      )
      assert.deepEqual([result.removed, feeds.offers().length, own(feeds).length], [1, 9, 8])
      assert.equal(feeds.offer('SKU9').price, 1000)
    }))

  test("what leaves the operator's feed stays without a price while a subscriber has it", () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(10))
      await feeds.take(
        ACME,
        acmeFeed(10, (i) => acmeRow(i, '9.00')),
        ANN,
      )
      const result = await feeds.take(ACME, acmeFeed(9))
      assert.deepEqual(
        [result.removed, result.changed, feeds.offer('SKU10').price, own(feeds).length],
        [0, 1, null, 10],
      )
      await feeds.take(ACME, acmeFeed(10))
      assert.equal(feeds.offer('SKU10').price, 1000)
    }))

  test("the guard compares them with their own, not with the operator's", () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(100))
      assert.equal(
        (
          await feeds.take(
            ACME,
            acmeFeed(100, (i) => acmeRow(i, '1.00')),
            ANN,
          )
        ).outcome,
        'taken',
      )
      const result = await feeds.take(
        ACME,
        acmeFeed(100, (i) => acmeRow(i, '3.00')),
        ANN,
      )
      assert.deepEqual(result.reasons, [
        '100 of 100 prices move by more than half (100.0 %; at most 5 % may)',
        'the prices have a median of $3.00 and a sum of $300.00, in the last feed $1.00 and ' +
          '$100.00; both may not move by a factor of 1.25 or more',
      ])
      assert.deepEqual(
        own(feeds).every((row) => (row as { price: number }).price === 100),
        true,
      )
    }))
})

describe('two catalog feeds of one distributor', () => {
  const PRICES = {
    ...ACME,
    id: 'acme-prices',
    classify: [],
    map: { ...ACME.map, name: { from: ['sku'] } },
  }

  test('a price list that cannot tell firearms apart changes price and stock, not what the item is', () =>
    bench(async (feeds) => {
      const gun = (i: number, price: string) => acmeRow(i, price).replace('part', 'gun')
      await feeds.take(
        ACME,
        acmeFeed(3, (i) => gun(i, '10.00')),
      )
      await feeds.take(
        PRICES,
        acmeFeed(4, (i) => gun(i, '11.00').replace(',5,', ',4,')),
      )
      const { name, product_class, ffl_req, drop_ship, price, qty } = feeds.offer('SKU1')
      assert.deepEqual(
        [name, product_class, ffl_req, drop_ship, price, qty],
        ['Item 1', 'FA', 1, 1, 1100, 4],
      )
      assert.deepEqual(
        [feeds.offer('SKU4').product_class, feeds.offer('SKU4').drop_ship],
        ['OT', 0],
        'nobody knows better what this is',
      )
      await feeds.take(
        ACME,
        acmeFeed(4, (i) => gun(i, '10.00')),
      )
      assert.deepEqual([feeds.offer('SKU4').product_class, feeds.offer('SKU4').ffl_req], ['FA', 1])
    }))

  test('the newer file decides price and stock, whichever is pulled last', () =>
    bench(async (feeds) => {
      const gun = (i: number, price: string, qty: string) =>
        acmeRow(i, price, qty).replace('part', 'gun')
      const full = acmeFeed(2, (i) => gun(i, '10.00', '5'))
      const list = acmeFeed(2, (i) => gun(i, i === 1 ? '11.00' : '10.00', '4'))
      const said = () => feeds.offers().map(({ price, qty }) => [price, qty])
      const pull = async (fullAt: number, listAt: number) => {
        await feeds.take(ACME, full, { asOf: fullAt })
        await feeds.take(PRICES, list, { asOf: listAt })
        return said()
      }
      assert.deepEqual(await pull(NOON + 2, NOON + 1), [
        [1000, 5],
        [1000, 5],
      ])
      const { version } = state(feeds)
      assert.deepEqual(await pull(NOON + 2, NOON + 1), [
        [1000, 5],
        [1000, 5],
      ])
      assert.equal(state(feeds).version, version, 'no pull made a new snapshot')
      assert.deepEqual(await pull(NOON + 2, NOON + 3), [
        [1100, 4],
        [1000, 4],
      ])
      await feeds.take(ACME, full, { asOf: NOON + 4 })
      assert.deepEqual(
        said(),
        [
          [1000, 5],
          [1000, 5],
        ],
        'an unchanged line of the newer file counts again',
      )
      const held = full.replaceAll('gun', 'held')
      await feeds.take(PRICES, list, { asOf: NOON + 9 })
      await feeds.take(ACME, held, { asOf: NOON + 5 })
      assert.deepEqual(
        said(),
        [
          [1100, 4],
          [1000, 4],
        ],
        'what an older one holds back is not held back',
      )
      await feeds.take(ACME, held, { asOf: NOON + 10, force: true })
      assert.deepEqual(said(), [
        [1000, 0],
        [1000, 0],
      ])
    }))

  test("a subscriber's newer file does not keep another one's own prices out", () =>
    bench(async (feeds) => {
      await feeds.take(
        ACME,
        acmeFeed(2, (i) => acmeRow(i, '9.00', '1')),
        { subscriberId: 'ann', source: 'ACME/ann', asOf: NOON + 2 },
      )
      await feeds.take(
        ACME,
        acmeFeed(2, (i) => acmeRow(i, '8.00', '2')),
        { subscriberId: 'bob', source: 'ACME/bob', asOf: NOON + 1 },
      )
      assert.deepEqual(
        feeds.catalog
          .prepare('SELECT subscriber_id, offer, price FROM own_price ORDER BY 1, 2')
          .raw()
          .all(),
        [
          ['ann', 1, 900],
          ['ann', 2, 900],
          ['bob', 1, 800],
          ['bob', 2, 800],
        ],
      )
      assert.equal(feeds.offer('SKU1').qty, 1)
    }))

  test('what one drops stays while the other has it', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(10))
      await feeds.take(PRICES, acmeFeed(10))
      assert.equal((await feeds.take(ACME, acmeFeed(9))).removed, 0)
      assert.equal(feeds.offer('SKU10').price, 1000)
      assert.equal((await feeds.take(PRICES, acmeFeed(9))).removed, 1)
    }))
})

describe('pulling the same files again', () => {
  const PRICES = { ...ACME, id: 'acme-prices' }
  const row = fc.record({
    key: fc.integer({ min: 1, max: 4 }),
    price: fc.constantFrom('10.00', '12.50', ''),
    qty: fc.constantFrom('0', '3', '5'),
    type: fc.constantFrom('part', 'held'),
  })
  const rows = fc.uniqueArray(row, { minLength: 1, maxLength: 4, selector: ({ key }) => key })
  const pull = fc.record({
    preset: fc.constantFrom(ACME, PRICES, ACME_STOCK),
    owner: fc.constantFrom(null, 'ann', 'bob'),
    rows,
    at: fc.integer({ min: 1, max: 5 }),
  })

  test('settles, whatever the files are and however old', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(pull, { minLength: 1, maxLength: 8 }), async (pulls) => {
        const feeds = feedBench()
        try {
          const last = new Map<string, () => Promise<unknown>>()
          for (const { preset, owner, rows: items, at } of pulls) {
            const text =
              preset === ACME_STOCK
                ? items.map(({ key, qty }) => `SKU${key},${qty}\n`).join('')
                : items.reduce(
                    (rows, { key, price, qty, type }) =>
                      `${rows}SKU${key},,Item,B,${price},,${qty},${type}\n`,
                    `${HEADER}\n`,
                  )
            const source = `${preset.id}/${owner}`
            const take = () =>
              feeds.take(preset, text, {
                source,
                subscriberId: owner,
                asOf: NOON + at,
                force: true,
              })
            last.set(source, take)
            await take()
          }
          const round = async () => {
            for (const take of last.values()) await take()
          }
          for (let i = 0; i < 3; i++) await round()
          const { version } = state(feeds)
          await round()
          assert.equal(state(feeds).version, version)
        } finally {
          feeds.close()
        }
      }),
      { numRuns: 100 },
    )
  })
})

describe('hashes and line lists', () => {
  test('250,000 lines that differ by one character have as many hashes', () => {
    const hash = new LineHash('seed')
    const seen = new Set<bigint>()
    const bytes = Buffer.alloc(64, 'a')
    let count = 0
    for (let at = 0; at < 64; at++) {
      for (let byte = 0; byte < 256; byte++) {
        bytes[at] = byte
        for (let end = Math.max(at + 1, 46); end <= 64; end++) {
          hash.take(bytes, 0, end)
          if (byte !== 97 || at === 63) seen.add((BigInt(hash.hi) << 32n) | BigInt(hash.lo))
          if (byte !== 97 || at === 63) count++
        }
      }
      bytes[at] = 97
    }
    assert.ok(count > 250_000)
    // The 'a' of the last place is met once for each length it ends at.
    assert.equal(seen.size, count)
  })

  test('a hash does not depend on where the line lies, but on the seed', () => {
    const line = Buffer.from('SKU1,700000000001,Item,10.00')
    const moved = Buffer.concat([Buffer.from('xyz'), line])
    const [a, b, c] = [new LineHash('one'), new LineHash('one'), new LineHash('two')]
    a.take(line, 0, line.length)
    b.take(moved, 3, moved.length)
    c.take(line, 0, line.length)
    assert.deepEqual([a.lo, a.hi], [b.lo, b.hi])
    assert.notDeepEqual([a.lo, a.hi], [c.lo, c.hi])
  })

  test('texts that differ have other hashes, all whole numbers that SQLite keeps', () => {
    const seen = new Set(
      Array.from({ length: 100_000 }, (_, i) => textHash(`Item ${i}\0Brand ${i % 7}`)),
    )
    assert.equal(seen.size, 100_000)
    assert.ok([...seen].every(Number.isSafeInteger))
  })

  test('known lines are found wherever they stand', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(fc.nat(50), fc.nat(0xffffffff)), {
          selector: ([lo, hi]) => `${lo} ${hi}`,
        }),
        fc.infiniteStream(fc.nat()),
        (pairs, order) => {
          const lines = pairs.filter(([lo, hi]) => lo !== 0 || hi !== 0)
          const builder = new LinesBuilder(0)
          lines.forEach(([lo, hi], i) => builder.add(lo, hi, i + 1))
          const known = new KnownLines(builder.blob())
          for (let i = 0; i < lines.length; i++) {
            const pick = order.next().value! % lines.length
            assert.equal(known.offerOf(...lines[pick]!), pick + 1)
            assert.equal(known.offerOf(99, i), 0)
          }
        },
      ),
    )
  })

  test('a set of offers holds what was put into it', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(200_000)), (ids) => {
        const set = new OfferSet()
        const expected = new Set<number>()
        for (const id of ids) {
          assert.equal(set.add(id), !expected.has(id))
          expected.add(id)
        }
        assert.equal(set.size, expected.size)
        assert.ok(ids.every((id) => set.has(id)) && !set.has(200_001))
      }),
    )
  })
})
