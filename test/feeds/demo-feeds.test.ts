/** The demo market: three feed files that anyone can regenerate byte for byte. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { PRODUCT_CLASSES } from '../../lib/distributors/product-classes.js'
import { hasValidCheckDigit, parseUpc } from '../../lib/core/gtin.js'
import { parseMoney } from '../../lib/core/money.js'
import { textFault } from '../../lib/core/text.js'
import { compilePreset } from '../../lib/distributors/generic/generic.js'
import { isRejection } from '../../lib/distributors/generic/rows.js'
import type { Compiled } from '../../lib/distributors/generic/generic.js'
import type { CatalogRow } from '../../lib/distributors/generic/rows.js'
import { catalog as chattanooga } from '../../lib/distributors/builtin/chattanooga/feed.js'
import { catalog as lipseys } from '../../lib/distributors/builtin/lipseys/feed.js'
import { catalog as rsr } from '../../lib/distributors/builtin/rsr/feed.js'
import { CHATTANOOGA_COLUMNS } from '../../lib/distributors/builtin/chattanooga/simulated-feed.js'
import {
  type DemoFeed,
  type DemoFeedOptions,
  demoOffers,
  writeDemoFeeds,
} from '../../lib/simulator/demo/feeds.js'
import type { Good } from '../../lib/simulator/market/goods.js'
import { LIPSEYS_COLUMNS } from '../../lib/distributors/builtin/lipseys/simulated-feed.js'
import { BRANDS, type DemoDistid, FAMILIES } from '../../lib/simulator/market/market.js'
import type { DemoOffer } from '../../lib/simulator/market/offers.js'
import { type DemoStory, demoStories } from '../../lib/simulator/market/stories.js'

const AS_OF = Date.UTC(2026, 10, 21)
const PRESETS = { RSR: rsr, LIP: lipseys, CSSI: chattanooga }
type Row = Record<string, string>

const offers = demoOffers({})
const all = Object.values(offers).flat()
let dir: string
let feeds: DemoFeed[]
const parsed: Partial<Record<DemoDistid, Row[]>> = {}

before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'demo-feeds-'))
  feeds = await writeDemoFeeds(dir, { asOf: AS_OF })
})
after(() => rmSync(dir, { recursive: true, force: true }))

const textOf = (distid: DemoDistid) =>
  readFileSync(feeds.find((feed) => feed.distid === distid)!.file, 'utf8')

/** Reads a file as its preset says it is written, without any code of the writer. */
function rowsOf(distid: DemoDistid): Row[] {
  return (parsed[distid] ??= readRows(distid))
}

function readRows(distid: DemoDistid): Row[] {
  const { delimiter, quote, header, columns } = PRESETS[distid].format
  return parse(textOf(distid), {
    bom: true,
    delimiter,
    quote: quote ?? false,
    columns: header ? true : [...columns!],
  }) as Row[]
}

/** What the preset makes of a row. */
function classed(distid: DemoDistid, row: Row): CatalogRow {
  const preset = PRESETS[distid]
  const compiled = (readers[distid] ??= compilePreset(
    preset,
    preset.format.header ? Object.keys(row) : null,
    AS_OF,
  ))
  const offer = compiled.read(Object.values(row))
  assert.ok(!isRejection(offer), JSON.stringify(offer))
  return offer as CatalogRow
}
const readers: Partial<Record<DemoDistid, Compiled>> = {}

async function digest(options: DemoFeedOptions): Promise<string[]> {
  const into = mkdtempSync(join(tmpdir(), 'demo-feeds-'))
  try {
    return (await writeDemoFeeds(into, options)).map(({ file }) =>
      createHash('sha256').update(readFileSync(file)).digest('hex'),
    )
  } finally {
    rmSync(into, { recursive: true, force: true })
  }
}

describe('the market', () => {
  test('the same options give the same bytes, another seed gives others', async () => {
    const options = { seed: 7, offers: 1500, asOf: AS_OF }
    const first = await digest(options)
    assert.deepEqual(await digest(options), first)
    const other = await digest({ ...options, seed: 8 })
    for (const [i, hash] of other.entries()) assert.notEqual(hash, first[i])
  })

  test('three distributors have about 20,000 offers of about 11,000 items', () => {
    const near = (actual: number, wanted: number) =>
      assert.ok(Math.abs(actual / wanted - 1) < 0.04, `${actual} is not near ${wanted}`)
    near(all.length, 20_000)
    near(offers.RSR.length, 9_000)
    near(offers.LIP.length, 5_000)
    near(offers.CSSI.length, 6_000)
    near(new Set(all.map(({ good }) => good)).size, 11_000)
  })

  test('many UPCs are sold by two distributors and some by three, at other prices and under other names', () => {
    const sellers = new Map<Good, DemoOffer[]>()
    for (const offer of all) sellers.set(offer.good, [...(sellers.get(offer.good) ?? []), offer])
    const by = (count: number) => [...sellers.values()].filter((list) => list.length === count)
    assert.ok(by(2).length > 3_500)
    assert.ok(by(3).length > 1_200)
    const differ = by(2).filter(([one, two]) => one!.price !== two!.price)
    assert.ok(differ.length > by(2).length * 0.95)
  })

  test('every UPC is a valid UPC-A of the restricted range, and no two items share one', () => {
    const upcs = [...new Set(all.map(({ good }) => good))].map(({ upc }) => upc)
    const known = upcs.filter((upc) => upc !== null)
    assert.equal(new Set(known).size, known.length)
    assert.ok(
      upcs.length - known.length > 20 && upcs.length - known.length < 150,
      'a few items have no UPC',
    )
    for (const upc of known) assert.ok(/^4\d{11}$/.test(upc) && hasValidCheckDigit(upc), upc)
  })

  test('dealer cost is below MAP and MAP is not above MSRP, and some have neither', () => {
    for (const { price, map, msrp, sku } of all) {
      assert.ok(price > 0 && Number.isInteger(price), sku)
      if (map !== null) assert.ok(price < map, sku)
      if (msrp !== null) assert.ok((map ?? price) <= msrp, sku)
    }
    assert.ok(all.some(({ msrp }) => msrp === null))
    assert.ok(all.filter(({ map }) => map === null).length > all.length * 0.2)
  })

  test('about a quarter is out of stock and a few are there by the thousand', () => {
    const empty = all.filter(({ qty }) => qty === 0).length / all.length
    assert.ok(empty > 0.21 && empty < 0.29, String(empty))
    assert.ok(all.some(({ qty }) => qty > 1_000))
    assert.ok(
      all.some(({ allocated }) => allocated) &&
        all.some(({ reduced }) => reduced) &&
        all.some(({ dropShip }) => !dropShip),
    )
    for (const { allocated, qty } of all) assert.ok(!allocated || qty === 0)
  })

  test('every product class appears, in a small catalog too', () => {
    for (const list of [all, Object.values(demoOffers({ offers: 200 })).flat()]) {
      assert.deepEqual(
        new Set(list.map(({ good }) => good.family.class)),
        new Set(Object.keys(PRODUCT_CLASSES)),
      )
    }
  })

  test('item numbers are unique within a distributor', () => {
    for (const list of Object.values(offers))
      assert.equal(new Set(list.map(({ sku }) => sku)).size, list.length)
  })

  test('about 90 brands sell something, and every family names known ones', () => {
    assert.ok(Object.keys(BRANDS).length >= 85)
    assert.equal(new Set(all.map(({ good }) => good.brand)).size, Object.keys(BRANDS).length)
    for (const family of FAMILIES)
      for (const brand of family.brands) assert.ok(BRANDS[brand], `${family.id} ${brand}`)
  })

  test('the facts that the market is made from stay small', () => {
    const bytes = ['families.json', 'market.json'].reduce(
      (sum, file) => sum + readFileSync(join('data/demo', file)).length,
      0,
    )
    assert.ok(bytes < 64_000, String(bytes))
  })
})

describe('the files', () => {
  test("RSR's has 77 columns in every line, no header and nothing that would break a field", () => {
    const lines = textOf('RSR').split('\r\n')
    assert.equal(lines.pop(), '')
    assert.equal(lines.length, offers.RSR.length)
    for (const line of lines) assert.equal(line.split(';').length, 77, line)
  })

  test("the others begin with their distributor's header", () => {
    assert.equal(textOf('LIP').split('\r\n')[0], LIPSEYS_COLUMNS.join(','))
    assert.equal(LIPSEYS_COLUMNS.length, 78)
    assert.equal(textOf('CSSI').split('\r\n')[0], `\uFEFF${CHATTANOOGA_COLUMNS.join(',')}`)
  })

  test('every field of every file reads back as the offer has it', () => {
    for (const distid of ['RSR', 'LIP', 'CSSI'] as const) {
      const rows = rowsOf(distid)
      assert.equal(rows.length, offers[distid].length)
      rows.forEach((row, i) =>
        assert.deepEqual(
          READERS[distid](row),
          expected(offers[distid][i]!),
          `${distid} row ${i + 1}`,
        ),
      )
    }
  })

  test('they are plain text that every decoder reads alike', () => {
    for (const distid of ['RSR', 'LIP', 'CSSI'] as const) {
      const text = textOf(distid).replace(/^\uFEFF/, '')
      assert.equal(Buffer.byteLength(text), text.length, `${distid} is not ASCII`)
      assert.equal(textFault(text.replaceAll('\r\n', '\n')), null)
      assert.doesNotMatch(text, /undefined|NaN|\[object|\{\w+\}/)
    }
  })

  test('the presets ask for a license exactly where the market has firearms and NFA items', () => {
    const seen = new Set<string>()
    for (const distid of ['RSR', 'LIP', 'CSSI'] as const) {
      rowsOf(distid).forEach((row, i) => {
        const { family } = offers[distid][i]!.good
        const offer = classed(distid, row)
        assert.equal(offer.fflReq, family.flags.has('ffl'), `${distid} ${family.id}`)
        assert.equal(offer.productClass === 'SO', family.class === 'SO', `${distid} ${family.id}`)
        seen.add(offer.productClass)
      })
    }
    for (const code of Object.keys(PRODUCT_CLASSES))
      if (code !== 'HZ') assert.ok(seen.has(code), `no preset makes ${code}`)
  })

  test('RSR flags magazines of more than 10 rounds for the states that limit them, and only those', () => {
    const states = (row: Row) =>
      Object.keys(row).filter((column) => /^[A-Z]{2}$/.test(column) && row[column] === 'Y')
    rowsOf('RSR').forEach((row, i) => {
      const { family, values } = offers.RSR[i]!.good
      if (family.class !== 'MG') return
      const flagged = Number(values['capacity']) > 10
      assert.equal(states(row).join(' '), flagged ? 'CA CT DC HI IL MA MD NJ NY OR RI VT WA' : '')
    })
  })

  test('images are on a documentation host, or there are none', () => {
    for (const row of rowsOf('CSSI'))
      assert.match(row['Image Location']!, /^https:\/\/images\.example\//)
    for (const row of rowsOf('LIP')) assert.equal(row['IMAGENAME'], 'li-missing-image.png')
  })

  test('descriptions are one to three sentences', () => {
    for (const row of rowsOf('CSSI'))
      assert.match(row['Web Item Description']!, /^[A-Z0-9.].{10,400}\.$/)
  })
})

interface Cells {
  sku: string
  upc: string | null
  mpn: string
  price: number
  map: number | null
  msrp: number | null
  qty: number
  dropShip: boolean
  allocated: boolean
}

const expected = ({ good, sku, price, map, msrp, qty, dropShip, allocated }: DemoOffer): Cells => ({
  sku,
  upc: good.upc,
  mpn: good.mpn,
  price,
  map,
  msrp,
  qty,
  dropShip,
  allocated,
})
const money = (cell: string) => parseMoney(cell) || null

const READERS: Record<DemoDistid, (row: Row) => Cells> = {
  RSR: (row) => ({
    sku: row['stock']!,
    upc: parseUpc(row['upc']!),
    mpn: row['part number']!,
    price: money(row['price']!)!,
    map: money(row['map']!),
    msrp: money(row['msrp']!),
    qty: Number(row['quantity']),
    dropShip: row['no drop ship'] === '',
    allocated: row['status'] === 'Allocated',
  }),
  LIP: (row) => ({
    sku: row['ITEMNO']!,
    upc: parseUpc(row['UPC']!),
    mpn: row['MANUFACTURERMODELNO']!,
    price: money(row['CURRENTPRICE']!)!,
    map: money(row['RETAILMAP']!),
    msrp: money(row['MSRP']!),
    qty: Number(row['QUANTITY']),
    dropShip: row['CANDROPSHIP'] === 'TRUE',
    allocated: row['ALLOCATED'] === 'TRUE',
  }),
  CSSI: (row) => ({
    sku: row['SKU']!,
    upc: parseUpc(row['UPC']!),
    mpn: row['Manufacturer Item Number']!,
    price: money(row['Price']!)!,
    map: money(row['MAP']!),
    msrp: money(row['MSRP']!),
    qty: Number(row['Quantity In Stock']),
    dropShip: row['Drop Ship Flag'] === '1',
    allocated: row['Allocated Item?'] === '1',
  }),
}

describe('the stories', () => {
  const stories = demoStories()
  const offered = (story: DemoStory, from = all) =>
    from.filter(({ good }) => good.upc === story.upc)

  test('they hold in the files, whatever the seed and however small the catalog', () => {
    for (const options of [{}, { seed: 3, offers: 150 }, { seed: 99, offers: 40_000 }]) {
      const catalog = demoOffers(options)
      for (const story of Object.values(stories) as DemoStory[]) {
        const found = (['RSR', 'LIP', 'CSSI'] as const).flatMap((distid) =>
          offered(story, catalog[distid]).map(({ sku, price, qty }) => ({
            distid,
            distsku: sku,
            price: price / 100,
            qty,
          })),
        )
        assert.deepEqual(found, story.offers)
      }
    }
  })

  test('each is what its name says', () => {
    const { accessory, firearm, magazine, nfa, outOfStock, singleOffer, ammunition } = stories
    const classOf = (story: DemoStory) => offered(story)[0]!.good.family.class
    assert.equal(classOf(accessory), 'AC')
    assert.ok(
      accessory.offers.length === 3 &&
        offered(accessory).every(({ qty, dropShip }) => qty > 0 && dropShip),
    )
    assert.equal(classOf(firearm), 'FA')
    assert.ok(firearm.offers.length === 2 && firearm.offers.every(({ qty }) => qty > 0))
    assert.equal(classOf(magazine), 'MG')
    assert.ok(Number(offered(magazine)[0]!.good.values['capacity']) > 10)
    assert.equal(classOf(nfa), 'SO')
    assert.ok(outOfStock.offers.length === 3 && outOfStock.offers.every(({ qty }) => qty === 0))
    assert.equal(singleOffer.offers.length, 1)
    assert.equal(classOf(ammunition), 'AO')
  })

  test('their UPCs are printed in documents and never change', () => {
    assert.deepEqual(
      Object.fromEntries(Object.entries(stories).map(([id, story]) => [id, story.upc])),
      {
        accessory: '493162079197',
        firearm: '410000079195',
        magazine: '439010079193',
        nfa: '429340079192',
        outOfStock: '441911079196',
        singleOffer: '474789079197',
        ammunition: '432241079192',
      },
    )
  })
})
