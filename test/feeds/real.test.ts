/** Feeds that distributors really made, written by others and kept outside this repository. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { feedBench } from './bench.js'
import type { FeedBench } from './bench.js'

const DATA = resolve('..', 'shared', 'data')
const MULTI = join(DATA, 'multi-2023-03')
const SNAPSHOTS = join(DATA, 'rsr-2025', 'IM-QTY-snapshots.tar.xz')
const without = (path: string) =>
  existsSync(path) ? false : `the real feeds are not here: ${path}`
const MARCH_7 = Date.UTC(2023, 2, 7, 12)
const MARCH_8 = Date.UTC(2023, 2, 8, 12)

const file = (name: string) => ({ file: join(MULTI, name) })
const lines = (name: string) =>
  gunzipSync(readFileSync(join(MULTI, name)))
    .toString()
    .split('\n')
    .filter((line) => line !== '')
const count = (feeds: FeedBench, where: string) =>
  feeds.catalog
    .prepare(`SELECT count(*) FROM offer o JOIN fragment f ON f.id = o.fragment WHERE ${where}`)
    .pluck()
    .get() as number

describe('feeds of March 2023', { skip: without(MULTI) }, () => {
  test("Davidson's: every row, with its allocated and its 99+ ones", async () => {
    const feeds = feedBench()
    try {
      const result = await feeds.take('davidsons', file('davidsons_inventory.csv.gz'), {
        asOf: MARCH_7,
        now: MARCH_7,
      })
      assert.deepEqual(
        [result.outcome, result.rows, result.offers, result.rejected, result.unmatched],
        ['taken', 10_298, 10_298, 0, 0],
      )
      const raw = lines('davidsons_inventory.csv.gz')
        .slice(1)
        .map((line) => line.split(','))
      assert.equal(raw.filter((cells) => cells[7] === 'A*').length, 536)
      assert.equal(raw.filter((cells) => cells[7] === '99+').length, 285)
      const offers = new Map(feeds.offers().map((offer) => [offer.stockid, offer]))
      for (const cells of raw) {
        const offer = offers.get(cells[0]!)!
        assert.equal(
          offer.qty,
          cells[7] === 'A*' ? 0 : cells[7] === '99+' ? 99 : Number(cells[7]),
          cells[0],
        )
        // No sale of this file had ended, so a sale price is the price.
        const [month, day, year] = cells[6]!.split('/').map(Number)
        const onSale =
          cells[5] !== '' && (cells[6] === '' || Date.UTC(year!, month! - 1, day! + 1) > MARCH_7)
        const price = Math.round(Number(cells[onSale ? 5 : 4]!.slice(1)) * 100)
        assert.equal(offer.price, price === 0 ? null : price, cells[0])
        assert.equal(
          offer.drop_ship,
          cells[10] === '' || (/muzzle/i.test(cells[10]!) && offer.product_class === 'BP') ? 0 : 1,
          cells[0],
        )
        if (
          /^(pistol|revolver|rifle|shotgun|ar lower)/i.test(cells[10]!) &&
          !/air gun|muzzle/i.test(cells[10]!)
        )
          assert.deepEqual([offer.product_class, offer.ffl_req], ['FA', 1], cells[0])
      }
      assert.equal(
        count(feeds, "product_class = 'OT' AND ffl_req = 0 AND drop_ship = 0"),
        3_564,
        'the rows without a gun type',
      )
      // 9,080 UPCs came with 12 digits and 99 with 13; of 96 with lost zeros the check digit proves
      // 81.
      assert.deepEqual(
        [
          count(feeds, 'length(upc) IN (12, 13)'),
          count(feeds, 'length(upc) < 12'),
          count(feeds, 'upc IS NULL'),
        ],
        [9_260, 16, 1_022],
      )

      const stock = await feeds.take('davidsons-quantity', file('davidsons_quantity.csv.gz'), {
        asOf: MARCH_7,
        now: MARCH_7,
      })
      assert.deepEqual(
        [stock.outcome, stock.rows, stock.offers, stock.unmatched, stock.rejected],
        ['taken', 10_592, 10_289, 303, 0],
      )
      const units = (cell: string) => (cell === 'A*' ? 0 : Number(cell.replace('+', '')))
      for (const line of lines('davidsons_quantity.csv.gz').slice(1)) {
        const [sku, , nc, az] = line.split(',')
        if (offers.has(sku!)) offers.get(sku!)!.qty = units(nc!) + units(az!)
      }
      for (const offer of feeds.offers())
        assert.equal(offer.qty, offers.get(offer.stockid)!.qty, offer.stockid)
    } finally {
      feeds.close()
    }
  })

  test('Zanders, cut to four columns: rows without a UPC have no key', async () => {
    const feeds = feedBench()
    try {
      const result = await feeds.take('zanders', file('ZandersInventory.csv.gz'), {
        asOf: MARCH_7,
        now: MARCH_7,
      })
      assert.deepEqual(
        [result.outcome, result.rows, result.offers, result.rejected],
        ['taken', 35_180, 34_973, 207],
      )
      const reasons = feeds.catalog
        .prepare(
          "SELECT iif(reason LIKE 'duplicate key%', 'duplicate', text_of) AS kind, count(*) " +
            "AS n FROM (SELECT reason, substr(text, 1, instr(text, ',') - 1) AS text_of FROM " +
            'rejected_row) GROUP BY 1 ORDER BY 2 DESC',
        )
        .all() as { kind: string; n: number }[]
      assert.deepEqual(reasons[0], { kind: 'nan', n: 199 })
      assert.deepEqual(
        reasons.find((row) => row.kind === 'duplicate'),
        { kind: 'duplicate', n: 1 },
      )
      assert.equal(count(feeds, 'drop_ship = 1 OR ffl_req = 1'), 0, 'it cannot tell firearms apart')
      assert.equal(feeds.offer('034337000013').price, 2266)
    } finally {
      feeds.close()
    }
  })

  test('Sports South in four columns', async () => {
    const feeds = feedBench()
    try {
      const result = await feeds.take('sports-south', file('SportsSouthInventory.csv.gz'), {
        asOf: MARCH_7,
        now: MARCH_7,
      })
      assert.deepEqual(
        [result.outcome, result.rows, result.offers, result.rejected],
        ['taken', 10_903, 10_903, 0],
      )
      assert.deepEqual(
        [count(feeds, 'upc IS NULL'), count(feeds, 'drop_ship = 1'), count(feeds, 'qty > 50')],
        [8, 0, 0],
      )
      for (const line of lines('SportsSouthInventory.csv.gz').slice(1, 500)) {
        const [sku, qty, price, upc] = line.split(',')
        const offer = feeds.offer(sku!)
        assert.deepEqual(
          [offer.qty, offer.price, offer.upc],
          [Number(qty), Math.round(Number(price) * 100), upc === '0' ? null : upc],
        )
      }
    } finally {
      feeds.close()
    }
  })

  test("Lipsey's, and the next day's file as an update", async () => {
    const [updated, fresh] = [feedBench(), feedBench()]
    try {
      const first = await updated.take('lipseys-pricing', file('Lipseys.2023-03-07.csv.gz'), {
        asOf: MARCH_7,
        now: MARCH_7,
      })
      assert.deepEqual(
        [first.outcome, first.rows, first.offers, first.rejected],
        ['taken', 13_087, 13_087, 0],
      )
      const rows = (name: string) =>
        new Map(
          lines(name)
            .slice(1)
            .map((line) => [line.split(',')[0]!, line]),
        )
      const [before, after] = [rows('Lipseys.2023-03-07.csv.gz'), rows('Lipseys.csv.gz')]
      const second = await updated.take('lipseys-pricing', file('Lipseys.csv.gz'), {
        asOf: MARCH_8,
        now: MARCH_8,
      })
      assert.equal(second.outcome, 'taken')
      assert.deepEqual([second.rows, second.offers, second.rejected], [13_094, 13_094, 0])
      assert.equal(second.added, [...after.keys()].filter((sku) => !before.has(sku)).length)
      assert.equal(second.removed, [...before.keys()].filter((sku) => !after.has(sku)).length)
      assert.equal(
        count(updated, 'map IS NULL'),
        [...after.values()].filter((line) => {
          const [price, , map] = line.split(',').slice(6).map(Number)
          return map! <= price!
        }).length,
      )
      assert.equal(
        count(updated, 'held = 1 AND qty = 0'),
        [...after.values()].filter((line) => line.split(',')[4] === 'True').length,
      )
      assert.equal(count(updated, 'held = 1'), count(updated, 'held = 1 AND qty = 0'))
      await fresh.take('lipseys-pricing', file('Lipseys.csv.gz'), { asOf: MARCH_8, now: MARCH_8 })
      assert.deepEqual(updated.offers(), fresh.offers())
      assert.equal(
        (
          await updated.take('lipseys-pricing', file('Lipseys.csv.gz'), {
            asOf: MARCH_8,
            now: MARCH_8,
          })
        ).outcome,
        'unchanged',
      )
      assert.equal(
        (
          await updated.take('lipseys-pricing', file('Lipseys.2023-03-07.csv.gz'), {
            asOf: MARCH_7,
            now: MARCH_7,
          })
        ).outcome,
        'refused',
      )
    } finally {
      updated.close()
      fresh.close()
    }
  })
})

describe("RSR's stock over a month", { skip: without(SNAPSHOTS) }, () => {
  test("104 quantity files: after each the stock is the file's, and the history is the difference", async () => {
    const feeds = feedBench()
    const folder = mkdtempSync(join(tmpdir(), 'qm-rsr-'))
    try {
      const unpacked = spawnSync('tar', ['-xJf', SNAPSHOTS, '-C', folder], { encoding: 'utf8' })
      assert.equal(unpacked.status, 0, `tar with xz is needed: ${unpacked.stderr}`)
      const names = readdirSync(folder).sort()
      assert.equal(names.length, 104)
      const read = (name: string) =>
        new Map(
          readFileSync(join(folder, name), 'utf8')
            .split('\n')
            .filter((line) => line !== '')
            .map((line) => {
              const [sku, qty] = line.split(',')
              return [sku!, Number(qty)] as const
            }),
        )
      const stock = new Map<string, number>([...read(names[0]!).keys()].map((sku) => [sku, 0]))
      assert.equal(
        (await feeds.take('rsr', rsrCatalog([...stock.keys()]), { asOf: 0 })).offers,
        29_731,
      )
      const named = new Set<string>()
      const refused: string[] = []
      for (const name of names) {
        const asOf = Date.parse(
          name.replace(/^IM-QTY-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/, '$1-$2-$3T$4:$5:$6Z'),
        )
        const result = await feeds.take(
          'rsr-quantity',
          { file: join(folder, name) },
          { asOf, now: asOf },
        )
        if (result.outcome === 'refused') refused.push(`${name}: ${result.reasons.join('; ')}`)
        const counts = read(name)
        const changed =
          result.outcome === 'refused'
            ? new Map<string, number>()
            : expectedChanges(stock, counts, named)
        assert.equal(
          result.unmatched,
          [...counts.keys()].filter((sku) => !stock.has(sku)).length,
          name,
        )
        assert.equal(result.stock_changes, changed.size, name)
        for (const [sku, qty] of changed) stock.set(sku, qty)
        assert.deepEqual(stored(feeds), stock, name)
        assert.deepEqual(recorded(feeds, asOf), changed, name)
      }
      assert.deepEqual(refused, [], 'every one of these files is sound')
    } finally {
      rmSync(folder, { recursive: true, force: true })
      feeds.close()
    }
  })
})

/** 77 columns for each item number; UPC and price are made up. */
function rsrCatalog(skus: readonly string[]): string {
  return (
    skus
      .map((sku, i) => {
        const cells = Array<string>(77).fill('')
        Object.assign(cells, {
          0: sku,
          1: String(700_000_000_000 + i),
          2: `Item ${sku}`,
          3: '13',
          6: ((1_000 + i) / 100).toFixed(2),
          8: '0',
          10: 'Maker',
        })
        return cells.join(';')
      })
      .join('\n') + '\n'
  )
}

/**
 * What a file changes, by plain loops: its counts, and 0 for what earlier files named and this one
 * does not.
 */
function expectedChanges(
  stock: ReadonlyMap<string, number>,
  counts: ReadonlyMap<string, number>,
  named: Set<string>,
): Map<string, number> {
  const changed = new Map<string, number>()
  for (const [sku, before] of stock) {
    const now = counts.get(sku) ?? (named.has(sku) ? 0 : before)
    if (counts.has(sku)) named.add(sku)
    else named.delete(sku)
    if (now !== before) changed.set(sku, now)
  }
  return changed
}

function stored(feeds: FeedBench): Map<string, number> {
  const rows = feeds.catalog.prepare('SELECT stockid, qty FROM offer ORDER BY id').raw().all() as [
    string,
    number,
  ][]
  return new Map(rows)
}

function recorded(feeds: FeedBench, at: number): Map<string, number> {
  const rows = feeds.history
    .prepare(`SELECT c.stockid, c.qty FROM change c WHERE at = ? AND gone = 0`)
    .raw()
    .all(at) as [string, number][]
  return new Map(rows)
}
