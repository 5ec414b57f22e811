/** What taking in a feed leaves in the history: changes, what is held back, and which feeds came. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DAY, HOUR } from '../lib/core/clock.js'
import { ACME, ACME_STOCK, HEADER, NOON, acmeFeed, acmeRow, bench } from './feed-bench.js'
import type { FeedBench } from './feed-bench.js'

const seen = (feeds: FeedBench) => feeds.history.prepare('SELECT distid, at FROM seen ORDER BY at').all()
const changes = (feeds: FeedBench, at: number) => feeds.history.prepare('SELECT stockid, price, qty, gone, held FROM change WHERE at = ? ORDER BY stockid').raw().all(at) as [sku: string, ...number[]][]
const held = (i: number, qty: string) => acmeRow(i, '10.00', qty).replace(/part$/, 'held')

describe('a feed that is taken in', () => {
  test('is noted as seen at the time when it was made, also when nothing changed', () => bench(async (feeds) => {
    await feeds.take(ACME, acmeFeed(3), { asOf: NOON })
    await feeds.take(ACME, acmeFeed(3), { asOf: NOON + HOUR })
    await feeds.take(ACME, acmeFeed(3, (i) => acmeRow(i, '11.00')), { asOf: NOON + 2 * HOUR, now: NOON + 3 * HOUR })
    await feeds.take(ACME, acmeFeed(3, (i) => acmeRow(i, '11.00')).replaceAll('\n', '\r\n'), { asOf: NOON + 4 * HOUR, now: NOON + 4 * HOUR })
    assert.deepEqual(seen(feeds), [NOON, NOON + 60_000 * 2, NOON + 2 * HOUR, NOON + 4 * HOUR].map((at) => ({ distid: 'ACME', at })))
  }))

  test('is not noted when it was refused, or only tried', () => bench(async (feeds) => {
    await feeds.take(ACME, acmeFeed(40), { asOf: NOON })
    assert.equal((await feeds.take(ACME, acmeFeed(2))).outcome, 'refused')
    assert.equal((await feeds.take(ACME, acmeFeed(41), { dryRun: true })).outcome, 'taken')
    assert.equal((await feeds.take(ACME, acmeFeed(40), { dryRun: true })).outcome, 'unchanged')
    assert.deepEqual(seen(feeds), [{ distid: 'ACME', at: NOON }])
  }))

  test('tells what is held back, and that it is no longer', () => bench(async (feeds) => {
    const at = (n: number) => ({ asOf: NOON + n * HOUR, now: NOON + n * HOUR })
    const others = Array.from({ length: 30 }, (_, i) => acmeRow(i + 3)).join('\n')
    const take = async (n: number, ...rows: string[]) => assert.equal((await feeds.take(ACME, `${[HEADER, ...rows, others].join('\n')}\n`, at(n))).outcome, 'taken')
    await take(0, acmeRow(1), held(2, '7'))
    await take(1, held(1, '5'), acmeRow(2, '10.00', '0'))
    await feeds.take(ACME_STOCK, 'SKU1,4\nSKU2,3\n', at(2))
    await take(3, held(1, '5'))
    assert.deepEqual([0, 1, 2, 3].map((n) => changes(feeds, NOON + n * HOUR).filter(([sku]) => sku === 'SKU1' || sku === 'SKU2')), [
      [['SKU1', 1_000, 5, 0, 0], ['SKU2', 1_000, 0, 0, 1]],
      [['SKU1', 1_000, 0, 0, 1], ['SKU2', 1_000, 0, 0, 0]],
      [['SKU2', 1_000, 3, 0, 0]],
      [['SKU2', 1_000, 0, 1, 0]],
    ])
  }))

  test('that is made in the future counts from now', () => bench(async (feeds) => {
    await feeds.take(ACME, acmeFeed(1), { asOf: NOON + 30 * DAY, now: NOON })
    assert.deepEqual(seen(feeds), [{ distid: 'ACME', at: NOON }])
    assert.equal(changes(feeds, NOON).length, 1)
  }))
})
