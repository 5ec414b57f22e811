/**
 * The main job on feeds that four distributors really made: the quote's best is the cheapest offer
 * in stock.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'

const DATA = resolve('..', 'shared', 'data', 'multi-2023-03')
const skip = existsSync(DATA) ? false : `the real feeds are not here: ${DATA}`
const MARCH_8 = Date.UTC(2023, 2, 8, 12)

const FEEDS = [
  ['DAV', 'davidsons', 'davidsons_inventory'],
  ['DAV', 'davidsons-quantity', 'davidsons_quantity'],
  ['ZND', 'zanders', 'ZandersInventory'],
  ['TSW', 'sports-south', 'SportsSouthInventory'],
  ['LIP', 'lipseys-pricing', 'Lipseys'],
] as const
const SHOPS = { Davidsons: 'DAV', Zanders: 'ZND', 'Sports South': 'TSW', Lipseys: 'LIP' }

const cells = (name: string) =>
  gunzipSync(readFileSync(join(DATA, `${name}.csv.gz`)))
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .slice(1)
    .map((line) => line.split(','))

interface Stocked {
  distid: string
  price: number
  qty: number
}

/** UPC as a number, so that leading zeros do not matter; null for what is not a UPC. */
const keyOf = (upc: string) => (/^\d{8,14}$/.test(upc) && Number(upc) > 0 ? Number(upc) : null)
const units = (cell: string) => (cell === 'A*' ? 0 : Number(cell.replace('+', '')))

/** Every stocked offer of the files, read by plain loops that share nothing with the product. */
function stockedOffers(): Map<number, Stocked[]> {
  const found = new Map<number, Stocked[]>()
  const add = (upc: string, distid: string, price: number, qty: number) => {
    const key = keyOf(upc)
    if (key === null || !(price > 0) || !(qty > 0)) return
    found.set(key, [...(found.get(key) ?? []), { distid, price, qty }])
  }
  const quantities = new Map(
    cells('davidsons_quantity').map(([sku, , nc, az]) => [sku!, units(nc!) + units(az!)]),
  )
  for (const row of cells('davidsons_inventory')) {
    const sale =
      row[5] !== '' && (row[6] === '' || Date.parse(`${row[6]} UTC`) + 86_400_000 > MARCH_8)
        ? row[5]!
        : row[4]!
    add(
      row[8]!.replaceAll('#', ''),
      'DAV',
      Number(sale.replace('$', '')),
      quantities.get(row[0]!) ?? units(row[7]!),
    )
  }
  const seen = new Set<string>()
  for (const [upc, , price, qty] of cells('ZandersInventory')) {
    if (seen.has(upc!)) continue
    seen.add(upc!)
    add(upc!, 'ZND', Number(price), Number(qty))
  }
  for (const [, qty, price, upc] of cells('SportsSouthInventory'))
    add(upc!, 'TSW', Number(price), Number(qty))
  for (const [, upc, , qty, allocated, , , price] of cells('Lipseys'))
    add(upc!, 'LIP', Number(price), allocated === 'True' ? 0 : Number(qty))
  return found
}

describe('quotes over four real feeds', { skip }, () => {
  let t: TestApp
  before(async () => {
    t = await createTestApp()
    // Sales hold on the day that a feed is read.
    t.clock.ms = MARCH_8
    for (const [distid, preset, name] of FEEDS) {
      const result = await t.app.operator.feeds.import(
        { distid, preset, file: join(DATA, `${name}.csv.gz`) },
        { asOf: MARCH_8 },
      )
      assert.equal(result.outcome, 'taken')
    }
    const entry = (distid: string) => ({
      active: true,
      distid,
      drop_ship_only_items: false,
      shipping: { flat_rate: { cost: 0, shipping_class: 'none' } },
      product_restrictions: {},
    })
    await t.save(t.subscriber, {
      targets: {},
      notification_email: 'owner@shop.example',
      pricing: {},
      product_restrictions: {},
      distributors: Object.fromEntries(
        Object.entries(SHOPS).map(([name, distid]) => [name, entry(distid)]),
      ),
    })
  })
  after(() => t.close())

  async function bestOf(upcs: readonly string[]) {
    const best = []
    for (let i = 0; i < upcs.length; i += 100) {
      const { items } = await t.shop.orders.quote({
        items: upcs.slice(i, i + 100).map((upc) => ({ upc, qty: 1 })),
      })
      best.push(...items.map((item) => item.best))
    }
    return best
  }

  test("distributors without credentials are validated by the operator's imports", async () => {
    assert.deepEqual((await t.shop.account()).active_distributors, Object.keys(SHOPS))
    assert.ok((await t.shop.products.search({})).total > 60_000)
  })

  test('for every UPC that the files have in stock, best is the cheapest of them', async (context) => {
    const offers = [...stockedOffers()]
    const best = await bestOf(offers.map(([key]) => String(key).padStart(12, '0')))
    let mismatches = 0
    offers.forEach(([key, stocked], i) => {
      const cheapest = Math.min(...stocked.map(({ price }) => price))
      const option = best[i]
      const fits =
        option &&
        Math.abs(option.unit_price - cheapest) < 0.005 &&
        stocked.some(({ distid, price }) => distid === option.distid && price === cheapest)
      if (!fits && mismatches++ < 10)
        context.diagnostic(`${key}: ${JSON.stringify(stocked)} against ${JSON.stringify(option)}`)
    })
    context.diagnostic(
      `compared with the files: ${offers.length} UPCs in stock, ${mismatches} mismatches`,
    )
    assert.ok(offers.length > 26_000)
    assert.equal(mismatches, 0)
  })

  test("the shop's own consolidated table agrees, but for what moved between the files' two days", async (context) => {
    const feeds = stockedOffers()
    const rows = cells('ConsolidatedInventory')
      .map((row) => {
        const [upc, dq, dp, dsp, sq, sp, zp, zq, lq, lp] = row as [string, ...string[]]
        const columns: [string, string | undefined, string | undefined][] = [
          ['DAV', dq, dsp || dp],
          ['TSW', sq, sp],
          ['ZND', zq, zp],
          ['LIP', lq, lp],
        ]
        return {
          upc,
          stocked: columns
            .map(([distid, qty, price]) => ({
              distid,
              qty: Number(qty || 0),
              price: Number(price || 0),
            }))
            .filter(({ qty, price }) => qty > 0 && price > 0),
        }
      })
      .filter(({ stocked }) => stocked.length > 0)
    const best = await bestOf(rows.map(({ upc }) => upc))
    const classes = {
      same: 0,
      'no UPC': 0,
      'stock or price moved between the days': 0,
      unexplained: 0,
    }
    rows.forEach(({ upc, stocked }, i) => {
      const cheapest = Math.min(...stocked.map(({ price }) => price))
      const option = best[i]
      if (
        option &&
        Math.abs(option.unit_price - cheapest) < 0.005 &&
        stocked.some(({ distid, price }) => distid === option.distid && price === cheapest)
      )
        classes.same++
      else if (keyOf(upc) === null) classes['no UPC']++
      else if (differs(stocked, feeds.get(keyOf(upc)!) ?? []))
        classes['stock or price moved between the days']++
      else {
        classes.unexplained++
        context.diagnostic(`${upc}: ${JSON.stringify(stocked)} against ${JSON.stringify(option)}`)
      }
    })
    context.diagnostic(
      `compared with the consolidated table: ${rows.length} UPCs in stock, ${Object.entries(classes)
        .map(([name, count]) => `${name}: ${count}`)
        .join(', ')}`,
    )
    assert.equal(rows.length, 26_294)
    assert.equal(classes.unexplained, 0)
    assert.ok(classes.same >= 26_181)
  })
})

/** Whether a distributor has it at another price, or has it on one day only. */
function differs(table: readonly Stocked[], feed: readonly Stocked[]): boolean {
  const text = (offers: readonly Stocked[]) =>
    [...new Set(offers.map(({ distid, price }) => `${distid} ${price}`))].sort().join()
  return text(table) !== text(feed)
}
