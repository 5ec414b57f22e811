/**
 * What taking in a feed leaves in the history: changes, what is held back, and which feeds came.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DAY, HOUR } from '../../../lib/core/clock.js'
import { ACME, ACME_STOCK, HEADER, NOON, acmeFeed, acmeRow, bench } from '../../feeds/bench.js'
import type { FeedBench } from '../../feeds/bench.js'

const seen = (feeds: FeedBench) =>
  feeds.history.prepare('SELECT distid, at FROM seen ORDER BY at').all()
const changes = (feeds: FeedBench, at: number) =>
  feeds.history
    .prepare('SELECT stockid, price, qty, gone, held FROM change WHERE at = ? ORDER BY stockid')
    .raw()
    .all(at) as [sku: string, ...number[]][]
const held = (i: number, qty: string) => acmeRow(i, '10.00', qty).replace(/part$/, 'held')

describe('a feed that is taken in', () => {
  test('is noted as seen at the time when it was made, also when nothing changed', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(3), { asOf: NOON })
      await feeds.take(ACME, acmeFeed(3), { asOf: NOON + HOUR })
      await feeds.take(
        ACME,
        acmeFeed(3, (i) => acmeRow(i, '11.00')),
        { asOf: NOON + 2 * HOUR, now: NOON + 3 * HOUR },
      )
      await feeds.take(ACME, acmeFeed(3, (i) => acmeRow(i, '11.00')).replaceAll('\n', '\r\n'), {
        asOf: NOON + 4 * HOUR,
        now: NOON + 4 * HOUR,
      })
      assert.deepEqual(
        seen(feeds),
        [NOON, NOON + 60_000 * 2, NOON + 2 * HOUR, NOON + 4 * HOUR].map((at) => ({
          distid: 'ACME',
          at,
        })),
      )
    }))

  test('is not noted when it was refused, or only tried', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(40), { asOf: NOON })
      assert.equal((await feeds.take(ACME, acmeFeed(2))).outcome, 'refused')
      assert.equal((await feeds.take(ACME, acmeFeed(41), { dryRun: true })).outcome, 'taken')
      assert.equal((await feeds.take(ACME, acmeFeed(40), { dryRun: true })).outcome, 'unchanged')
      assert.deepEqual(seen(feeds), [{ distid: 'ACME', at: NOON }])
    }))

  test('tells what is held back, and that it is no longer', () =>
    bench(async (feeds) => {
      const at = (n: number) => ({ asOf: NOON + n * HOUR, now: NOON + n * HOUR })
      const others = Array.from({ length: 30 }, (_, i) => acmeRow(i + 3)).join('\n')
      const take = async (n: number, ...rows: string[]) =>
        assert.equal(
          (await feeds.take(ACME, `${[HEADER, ...rows, others].join('\n')}\n`, at(n))).outcome,
          'taken',
        )
      await take(0, acmeRow(1), held(2, '7'))
      await take(1, held(1, '5'), acmeRow(2, '10.00', '0'))
      await feeds.take(ACME_STOCK, 'SKU1,4\nSKU2,3\n', at(2))
      await take(3, held(1, '5'))
      assert.deepEqual(
        [0, 1, 2, 3].map((n) =>
          changes(feeds, NOON + n * HOUR).filter(([sku]) => sku === 'SKU1' || sku === 'SKU2'),
        ),
        [
          [
            ['SKU1', 1_000, 5, 0, 0],
            ['SKU2', 1_000, 0, 0, 1],
          ],
          [
            ['SKU1', 1_000, 0, 0, 1],
            ['SKU2', 1_000, 0, 0, 0],
          ],
          [['SKU2', 1_000, 3, 0, 0]],
          [['SKU2', 1_000, 0, 1, 0]],
        ],
      )
    }))

  test('that is made in the future counts from now', () =>
    bench(async (feeds) => {
      await feeds.take(ACME, acmeFeed(1), { asOf: NOON + 30 * DAY, now: NOON })
      assert.deepEqual(seen(feeds), [{ distid: 'ACME', at: NOON }])
      assert.equal(changes(feeds, NOON).length, 1)
    }))

  test('tells that an item number stands for another UPC now, though neither price nor stock changed', () =>
    bench(async (feeds) => {
      const take = (n: number, upc: string, type = 'part') =>
        feeds.take(
          ACME,
          `${[
            HEADER,
            acmeRow(1)
              .replace(/(?<=^SKU1,)[^,]*/, upc)
              .replace(/part$/, type),
            acmeRow(2),
          ].join('\n')}\n`,
          { asOf: NOON + n * HOUR, now: NOON + n * HOUR },
        )
      for (const [n, upc] of ['860000000012', '860009999994', ''].entries()) await take(n, upc)
      await take(3, '', 'spare')
      assert.deepEqual(
        feeds.history
          .prepare(
            "SELECT (at - ?) / ?, upc, price, qty, gone FROM change WHERE stockid = 'SKU1' ORDER BY at",
          )
          .raw()
          .all(NOON, HOUR),
        [
          [0, '860000000012', 1_000, 5, 0],
          [1, '860009999994', 1_000, 5, 0],
          [2, null, 1_000, 5, 0],
        ],
      )
    }))

  test('is marked where the catalog had nothing of the distributor: at first, and once it was lost', () =>
    bench(async (feeds) => {
      const at = (n: number) => ({ asOf: NOON + n * HOUR, now: NOON + n * HOUR })
      await feeds.take(ACME_STOCK, 'SKU1,4\n', at(0))
      await feeds.take(ACME, acmeFeed(3), { ...at(1), subscriberId: 'someone', source: 'own' })
      await feeds.take(ACME, acmeFeed(3), at(2))
      await feeds.take(ACME, acmeFeed(4), at(3))
      feeds.catalog.exec('DELETE FROM offer; DELETE FROM tally; DELETE FROM feed')
      await feeds.take(ACME, acmeFeed(3), at(4))
      await feeds.take(ACME, acmeFeed(3), at(5))
      const firsts = feeds.history
        .prepare('SELECT (at - ?) / ? FROM seen WHERE is_first = 1 ORDER BY at')
        .pluck()
        .all(NOON, HOUR)
      assert.deepEqual(firsts, [2, 4])
    }))
})
