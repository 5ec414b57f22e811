/**
 * The snapshot and the search over it: what a page holds, in which order, and how many there are.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { buildSnapshot, buildTick } from '../../lib/catalog/snapshot/build.js'
import type { SnapshotParts } from '../../lib/catalog/snapshot/parts.js'
import { Bits } from '../../lib/catalog/snapshot/bits.js'
import { facetsOf } from '../../lib/catalog/search/facets.js'
import { openSnapshot } from '../../lib/catalog/snapshot/open.js'
import { CLASS_CODES } from '../../lib/distributors/product-classes.js'
import { Recent } from '../../lib/catalog/search/recent.js'
import { searchView } from '../../lib/catalog/search/search.js'
import { SearchQuery, SORTS } from '../../lib/catalog/shapes.js'
import type { Snapshot } from '../../lib/catalog/snapshot/snapshot.js'
import { conditionsOf } from '../../lib/catalog/search/spellings.js'
import type { Condition } from '../../lib/catalog/search/spellings.js'
import type { View } from '../../lib/catalog/view/view.js'
import { byCodePoint } from '../../lib/core/text.js'
import { openSqlite } from '../../lib/db/sqlite/driver.js'
import { catalogSchema } from '../../lib/db/migrations/catalog.js'
import type { Raw } from '../../lib/db/sqlite/sqlite.js'

interface Offer {
  distid: string
  stockid: string
  distsku: string
  upc: string | null
  name: string
  mfgName: string | null
  mpn: string | null
  productClass: string
  categoryId: number | null
  categoryName: string
  price: number | null
  qty: number
  fflReq: boolean
  dropShip: boolean
}

type Query = Partial<SearchQuery>

const BASE: Offer = {
  distid: 'RSR',
  stockid: '',
  distsku: '',
  upc: null,
  name: 'Thing',
  mfgName: null,
  mpn: null,
  productClass: 'OT',
  categoryId: null,
  categoryName: 'Uncategorized',
  price: 1000,
  qty: 1,
  fflReq: false,
  dropShip: false,
}

function offers(...some: Partial<Offer>[]): Offer[] {
  return some.map((offer, i) => ({
    ...BASE,
    stockid: `S${i}`,
    distsku: offer.stockid ?? `S${i}`,
    ...offer,
  }))
}

function catalogOf(all: Offer[]): Raw {
  const raw = openSqlite(':memory:')
  raw.exec(catalogSchema.join(';'))
  raw.exec("UPDATE state SET revision = 1, text_revision = 1, version = 'v1'")
  const fragment =
    raw.prepare(`INSERT INTO fragment (distid, stockid, distsku, upc, name, mfg_name, mpn,
      product_class, category_id, category_name, images)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '[]')`)
  const offer =
    raw.prepare(`INSERT INTO offer (distid, stockid, fragment, price, qty, ffl_req, drop_ship, revision, first_seen)
    VALUES (?, ?, ?, ?, ?, ?, ?, 1, 0)`)
  for (const o of all) {
    const { lastInsertRowid } = fragment.run(
      o.distid,
      o.stockid,
      o.distsku,
      o.upc,
      o.name,
      o.mfgName,
      o.mpn,
      o.productClass,
      o.categoryId,
      o.categoryName,
    )
    offer.run(
      o.distid,
      o.stockid,
      lastInsertRowid,
      o.price,
      o.qty,
      Number(o.fflReq),
      Number(o.dropShip),
    )
  }
  return raw
}

/** Everything that has a price is visible. */
function viewOf(snapshot: Snapshot): View {
  const visible = new Bits(snapshot.rows)
  for (let row = 0; row < snapshot.rows; row++) if (snapshot.price[row]! >= 0) visible.add(row)
  return {
    snapshot,
    visible,
    total: visible.count(),
    distributors: new Map(),
    costs: snapshot.price,
    customPricing: () => false,
    prices: () => ({ column: snapshot.price, order: snapshot.byPrice }),
    unitPrice: (row) => snapshot.price[row]!,
    shippingCost: () => 0,
    retailPrice: null,
  }
}

function open(all: Offer[]): View {
  const raw = catalogOf(all)
  const view = viewOf(openSnapshot(buildSnapshot(raw)))
  raw.close()
  return view
}

function keysOf({ snapshot }: View, rows: Iterable<number>): string[] {
  return Array.from(
    rows,
    (row) => `${snapshot.distids[snapshot.distributor[row]!]}/${snapshot.stockid(row)}`,
  )
}

function search(view: View, query: Query, recent?: Recent): { keys: string[]; total: number } {
  const { rows, total } = searchView(view, SearchQuery.parse(query), recent)
  return { keys: keysOf(view, rows), total }
}

// The naive reading of the contract, over plain objects.

function plain(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
}

const known = new WeakMap<Offer, string[]>()

function wordsOf(offer: Offer): string[] {
  const words = known.get(offer) ?? splitWords(offer)
  known.set(offer, words)
  return words
}

const wordsIn = (text: string) =>
  plain(text)
    .split(/\s+/u)
    .flatMap((chunk) => {
      const parts = chunk.split(/[^\p{L}\p{N}]+/u).filter(Boolean)
      return [...parts, parts.join('')].filter(Boolean)
    })

/** The words of these suites' offers with what they say in other spellings. */
function splitWords({ name, mfgName, distsku, mpn }: Offer): string[] {
  const names = [name, mfgName ?? ''].map(plain)
  const ends = names
    .flatMap(wordsIn)
    .flatMap((word) =>
      ['gen5', 'ar15', '9mm'].includes(word) ? [/\d+$|[a-z]+$/.exec(word)![0]] : [],
    )
  const brands = names.flatMap((text) =>
    /(^|[^\p{N}\s][^\p{L}\p{N}]*|\p{L}\s)s[^\p{L}\p{N}]+w(?![\p{L}])/u.test(text)
      ? ['smith', 'wesson']
      : [],
  )
  return [...[...names, distsku, mpn ?? ''].flatMap(wordsIn), ...ends, ...brands]
}

function hasWords(offer: Offer, q: string): boolean {
  const words = wordsOf(offer)
  const meets = (condition: Condition): boolean => {
    if ('word' in condition)
      return words.some((word) =>
        condition.isWhole ? word === condition.word : word.startsWith(condition.word),
      )
    return 'all' in condition ? condition.all.every(meets) : condition.any.some(meets)
  }
  return conditionsOf(q).every(meets)
}

function sameUpc(offer: Offer, upc: string): boolean {
  return (
    /^\d{8,14}$/.test(upc) &&
    offer.upc !== null &&
    offer.upc.padStart(14, '0') === upc.padStart(14, '0') &&
    Number(upc) > 0
  )
}

function fits(offer: Offer, query: Query): boolean {
  const digits = (query.q ?? '').replace(/[\s-]/g, '')
  return (
    offer.price !== null &&
    (query.q === undefined ||
      (/^\d{8,}$/.test(digits) ? sameUpc(offer, digits) : hasWords(offer, query.q))) &&
    (query.upc === undefined || sameUpc(offer, query.upc)) &&
    (query.sku === undefined || offer.distsku.toLowerCase() === query.sku.toLowerCase()) &&
    (query.distributor === undefined || offer.distid === query.distributor) &&
    (query.manufacturer === undefined || (offer.mfgName || null) === query.manufacturer) &&
    (query.category === undefined || offer.categoryName === query.category) &&
    (query.product_class === undefined || offer.productClass === query.product_class) &&
    (query.min_price === undefined || offer.price >= query.min_price * 100) &&
    (query.max_price === undefined || offer.price <= query.max_price * 100) &&
    (!query.in_stock || offer.qty > 0) &&
    (!query.drop_ship_only || offer.dropShip) &&
    (query.ffl_required === undefined || offer.fflReq === query.ffl_required)
  )
}

function byTie(a: Offer, b: Offer): number {
  return byCodePoint(a.distid, b.distid) || byCodePoint(a.stockid, b.stockid)
}

function comparison(sort: SearchQuery['sort']): (a: Offer, b: Offer) => number {
  const sign = sort.startsWith('-') ? -1 : 1
  if (sort.endsWith('price')) return (a, b) => sign * (a.price! - b.price!) || byTie(a, b)
  if (sort.endsWith('qty')) return (a, b) => sign * (a.qty - b.qty) || byTie(a, b)
  return (a, b) => sign * byCodePoint(a.name.toLowerCase(), b.name.toLowerCase()) || byTie(a, b)
}

function naiveSearch(all: Offer[], query: Query): { keys: string[]; total: number } {
  const { page, page_size: size, sort } = SearchQuery.parse(query)
  const hits = all.filter((offer) => fits(offer, query)).sort(comparison(sort))
  return {
    keys: hits.slice((page - 1) * size, page * size).map((o) => `${o.distid}/${o.stockid}`),
    total: hits.length,
  }
}

// Values that collide, differ in case or marks only, or stand above U+FFFF.

const WORDS = [
  'Glock 19',
  'glock-19',
  'GLOCK',
  'Gen5',
  'AR-15',
  'ar15',
  'Élan',
  'elan',
  'ﬁre',
  '5.56',
  '"',
  "'",
  '--',
  '😀',
  '𝒢lock',
  '\uFFFD',
  'ß',
  'SS',
  'İ',
  '9mm',
  'Ⅳ',
  '(x)',
  '日本',
  'a',
  'AB',
  '*',
  '1',
]
const UPCS = [
  '764503026553',
  '0764503026553',
  '00764503026553',
  '82442884752',
  '082442884752',
  '12345678',
  '00000000',
  'nonsense',
  '',
]
const BRANDS = ['Glock', 'GLOCK', 'Ruger', 'Éclair', '', '😀', '\uFFFD', 'S&W']
const CATEGORIES = ['Pistols', 'pistols', 'Rifles', 'Uncategorized']
const DISTIDS = ['RSR', 'rsr', '2AW', '😀']

const text = fc
  .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 })
  .map((words) => words.join(' '))
const anOffer: fc.Arbitrary<Offer> = fc.record({
  distid: fc.constantFrom(...DISTIDS),
  stockid: fc
    .oneof(
      fc.constantFrom('a', 'A', 'a-1', 'a 1', '\uFFFD', '😀', 'é'),
      fc.string({ minLength: 1, maxLength: 4 }),
    )
    .filter((id) => !/[\0\p{Surrogate}]/u.test(id)),
  distsku: fc.constantFrom('RU-22C101', 'ru-22c101', 'RU22C101', 'É1', 'é1', '19', 'x'),
  upc: fc.option(fc.constantFrom(...UPCS)),
  name: text,
  mfgName: fc.option(fc.constantFrom(...BRANDS)),
  mpn: fc.option(text),
  productClass: fc.constantFrom('FA', 'AO', 'OT'),
  categoryId: fc.option(fc.constantFrom(1, 2)),
  categoryName: fc.constantFrom(...CATEGORIES),
  price: fc.option(fc.constantFrom(0, 1, 999, 1000, 1001, 2147483647), { freq: 10 }),
  qty: fc.constantFrom(0, 0, 1, 2, 1000),
  fflReq: fc.boolean(),
  dropShip: fc.boolean(),
})
const aCatalog = fc.uniqueArray(anOffer, {
  maxLength: 150,
  size: 'max',
  selector: (o) => JSON.stringify([o.distid, o.stockid]),
})

const bound = fc.constantFrom(0, 0.01, 9.98, 9.99, 10, 10.01, 21474836.47, 1e300)
const aQuery: fc.Arbitrary<Query> = fc
  .record({
    q: rarely(
      fc.oneof(
        text,
        fc.constantFrom(
          ...UPCS,
          '7645-0302 6553',
          '123456789012345',
          '   ',
          '"\' OR * NEAR( --',
          'ru-22',
          'RU22C',
        ),
      ),
    ),
    upc: rarely(fc.constantFrom(...UPCS)),
    sku: rarely(fc.constantFrom('ru-22C101', 'É1', 'none', '')),
    distributor: rarely(fc.constantFrom(...DISTIDS, 'none')),
    manufacturer: rarely(fc.constantFrom(...BRANDS, 'none')),
    category: rarely(fc.constantFrom(...CATEGORIES, 'none')),
    product_class: rarely(fc.constantFrom('FA', 'AO', 'none', 'length')),
    min_price: rarely(bound),
    max_price: rarely(bound),
    in_stock: rarely(fc.boolean()),
    drop_ship_only: rarely(fc.boolean()),
    ffl_required: rarely(fc.boolean()),
    sort: fc.constantFrom(...SORTS),
    page: fc.integer({ min: 1, max: 4 }),
    page_size: fc.constantFrom(1, 3, 10, 100),
  })
  .map((query) =>
    Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)),
  )

function rarely<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
}

describe('search', () => {
  it('gives the same pages and totals as filtering and sorting every offer', () => {
    fc.assert(
      fc.property(aCatalog, fc.array(aQuery, { minLength: 20, maxLength: 20 }), (all, queries) => {
        const view = open(all)
        for (const query of queries)
          assert.deepEqual(search(view, query), naiveSearch(all, query), JSON.stringify(query))
      }),
      { numRuns: 120 },
    )
  })

  it('gives the same pages where sets are long enough to be bitsets', () => {
    const all = manyOffers(6000)
    const view = open(all)
    fc.assert(
      fc.property(manyQueries, (query) => {
        assert.deepEqual(search(view, query), naiveSearch(all, query))
      }),
      { numRuns: 250 },
    )
  })

  for (const sort of SORTS) {
    it(`visits each offer exactly once while paging by ${sort}`, () => {
      const all = manyOffers(2500)
      const view = open(all)
      for (const query of [
        {},
        { in_stock: true },
        { q: 'glock' },
        { min_price: 2, max_price: 6 },
      ]) {
        const expected = all
          .filter((offer) => fits(offer, query))
          .sort(comparison(sort))
          .map((o) => `${o.distid}/${o.stockid}`)
        const seen: string[] = []
        for (let page = 1; seen.length < expected.length; page++) {
          const { keys, total } = search(view, { ...query, sort, page, page_size: 97 })
          assert.equal(total, expected.length)
          assert.notEqual(keys.length, 0)
          seen.push(...keys)
        }
        assert.deepEqual(seen, expected)
      }
    })
  }

  it('gives an empty page with the exact total behind the last page', () => {
    assert.deepEqual(search(open(offers({}, {}, {})), { page: 2, page_size: 3 }), {
      keys: [],
      total: 3,
    })
  })

  it('finds nothing in an empty catalog', () => {
    const view = open([])
    for (const query of [
      {},
      { q: 'glock' },
      { q: '764503026553' },
      { sku: 'x' },
      { min_price: 1 },
      { sort: '-price' as const },
    ]) {
      assert.deepEqual(search(view, query), { keys: [], total: 0 })
    }
  })

  it('breaks ties by distid and stockid, ascending in descending sorts too', () => {
    const view = open(
      offers(
        { distid: 'B', stockid: '1' },
        { distid: 'A', stockid: '2' },
        { distid: 'A', stockid: '10' },
      ),
    )
    for (const sort of SORTS) assert.deepEqual(search(view, { sort }).keys, ['A/10', 'A/2', 'B/1'])
  })

  it('does not filter by flags that are false, except ffl_required', () => {
    const view = open(offers({ qty: 0, fflReq: true }, { dropShip: true }))
    assert.equal(search(view, { in_stock: false, drop_ship_only: false }).total, 2)
    assert.deepEqual(search(view, { ffl_required: false }).keys, ['RSR/S1'])
    assert.deepEqual(search(view, { ffl_required: true }).keys, ['RSR/S0'])
  })
})

describe('what a search remembers', () => {
  const raw = catalogOf(manyOffers(6000))
  const parts = buildSnapshot(raw)
  raw.exec(`UPDATE state SET revision = 2;
    UPDATE offer SET price = (price + 777) % 1500, qty = (qty + 7) % 20, revision = 2 WHERE id % 3 = 0`)
  const next = buildTick(raw, parts)!
  raw.close()
  const hiding = (view: View, every: number): View => {
    const visible = view.visible.copy()
    for (let row = 0; row < visible.size; row += every) visible.delete(row)
    return { ...view, visible, total: visible.count() }
  }
  const [before, after] = [viewOf(openSnapshot(parts)), viewOf(openSnapshot(next))]
  const smaller = open(manyOffers(5000))
  const views = [before, hiding(before, 2), after, hiding(after, 7), smaller]

  /** A few filters, asked for again and again in any view, order and page. */
  const asked = () =>
    fc.tuple(
      fc.array(manyQueries, { minLength: 5, maxLength: 5 }),
      fc.array(
        fc.record({
          view: fc.constantFrom(...views),
          filter: fc.nat(4),
          sort: fc.constantFrom(...SORTS),
          page: fc.oneof(fc.constantFrom(1, 2), fc.integer({ min: 1, max: 60 })),
        }),
        { minLength: 60, maxLength: 60 },
      ),
    )

  for (const [name, bytes] of [
    ['with room for all', undefined],
    ['with room for two bitsets, one of which is always written anew', 2_900],
    ['without room for any', 1],
  ] as const) {
    it(`is what a search finds anew in every view, ${name}`, () => {
      let known = 0
      fc.assert(
        fc.property(asked(), ([filters, turns]) => {
          const recent = new Recent(bytes)
          for (const { view, filter, ...rest } of turns) {
            const query = { ...filters[filter], ...rest }
            if (recent.hits(view, SearchQuery.parse(query))) known++
            assert.deepEqual(search(view, query, recent), search(view, query))
          }
        }),
        { numRuns: 40 },
      )
      assert.equal(known > 0, bytes !== 1)
    })
  }

  it('is bounded in bytes, those of long queries among them', () => {
    const recent = new Recent(100_000)
    const asked = Array.from({ length: 50 }, (_, i) => ({ q: `glock${' '.repeat(4_000 + i)}` }))
    const isKnown = (query: Query) => recent.hits(before, SearchQuery.parse(query)) !== undefined
    for (const query of asked) search(before, query, recent)
    assert.equal(isKnown(asked.at(-1)!), true)
    assert.ok(asked.filter(isKnown).length < 15)
  })

  it('is not the memory of a view, of a snapshot or of another search', () => {
    const recent = new Recent()
    const owned = () =>
      views.flatMap(({ visible, snapshot: { inStock, dropShip, fflReq } }) =>
        [visible, inStock, dropShip, fflReq].map((bits) => bits.count()),
      )
    const counts = owned()
    for (const query of [
      {},
      { in_stock: true },
      { q: 'glock' },
      { sku: 'sku-7' },
      { min_price: 2 },
    ])
      for (const view of views) search(view, query, recent)
    for (const { snapshot } of views) recent.scratch(snapshot.rows).words.fill(0)
    recent.clear()
    recent.scratch(before.snapshot.rows).words.fill(0)
    assert.deepEqual(owned(), counts)
  })
})

describe('search by UPC', () => {
  const view = open(
    offers(
      { upc: '764503026553' },
      { upc: '0764503026553' },
      { upc: '00764503026553' },
      { upc: '764503026554' },
      { upc: null, name: '764503026553 box' },
    ),
  )

  for (const spelling of ['764503026553', '0764503026553', '00764503026553']) {
    it(`meets offers of 12, 13 and 14 digits by ${spelling}`, () => {
      assert.equal(search(view, { upc: spelling }).total, 3)
      assert.equal(search(view, { q: spelling }).total, 3)
    })
  }

  it('takes spaces and dashes in q as part of the UPC', () => {
    assert.equal(search(view, { q: ' 7-64503 02655-3 ' }).total, 3)
  })

  it('finds nothing by what is not a UPC', () => {
    for (const upc of ['', '764503', 'abc', '000764503026553', '00000000'])
      assert.equal(search(view, { upc }).total, 0, upc)
    for (const q of ['000764503026553', '00000000']) assert.equal(search(view, { q }).total, 0, q)
  })
})

describe('search by text', () => {
  const named = offers(
    { stockid: 'pistol', name: 'Glock 19 Gen5 9mm', mfgName: 'Glock', mpn: 'PA195S203' },
    {
      stockid: 'rifle',
      name: 'Ridgeline RL-15 5.56 NATO 16in',
      mfgName: 'Ridgeline',
      mpn: 'RL15-556',
    },
    { stockid: 'RU-22C101', name: 'Élan café', mfgName: "O'Brien & Söhne", mpn: null },
  )
  const view = open(named)
  const cases: [q: string, found: string[]][] = [
    ['Glock 19', ['pistol']],
    ['glock-19', ['pistol']],
    ['GLOCK 19 gen5', ['pistol']],
    ['19 glo', ['pistol']],
    ['pa195', ['pistol']],
    ['rl-15', ['rifle']],
    ['RL15', ['rifle']],
    ['rl 15', ['rifle']],
    ['5.56', ['rifle']],
    ['556', ['rifle']],
    ['5 56', ['rifle']],
    ['rl15-556', ['rifle']],
    ['RU-22C101', ['RU-22C101']],
    ['ru22c', ['RU-22C101']],
    ['22c101', ['RU-22C101']],
    ['elan', ['RU-22C101']],
    ['CAFÉ', ['RU-22C101']],
    ['obrien', ['RU-22C101']],
    ["o'brien", ['RU-22C101']],
    ['sohne', ['RU-22C101']],
    ['glock rifle', []],
    ['lock', []],
    ['glock19', ['pistol']],
    ['r', ['rifle', 'RU-22C101']],
    ['glock & -- 19 *', ['pistol']],
    ['"glock"', ['pistol']],
  ]
  for (const [q, found] of cases) {
    it(`finds ${found.join(', ') || 'nothing'} by ${q}`, () => {
      assert.deepEqual(search(view, { q }).keys.sort(), found.map((id) => `RSR/${id}`).sort())
    })
  }

  it('ignores text without a letter or digit', () => {
    for (const q of ['', '   ', '***', '"', '-- ( )', '😀'])
      assert.equal(search(view, { q }).total, named.length, q)
    assert.equal(view.snapshot.textRows('"-*'), null)
  })

  it('takes operators and quotes for plain text', () => {
    for (const q of [
      '"\' OR * NEAR( --',
      'glock OR rifle',
      'NOT glock',
      'name:glock',
      '%',
      'glo*ck',
      "'; DROP TABLE offer; --",
    ]) {
      assert.deepEqual(search(view, { q }), naiveSearch(named, { q }), q)
    }
  })
})

describe('facets', () => {
  it('lists sorted distinct values of visible offers only, by code point', () => {
    const view = open(
      offers(
        { mfgName: 'b', productClass: 'FA', categoryName: 'Z' },
        { mfgName: 'B', productClass: 'AO', categoryName: 'a' },
        { mfgName: '😀', productClass: 'FA', categoryName: 'Z', categoryId: 7 },
        { mfgName: '\uFFFD', categoryName: '' },
        { mfgName: null },
        { mfgName: '' },
        { mfgName: 'hidden', categoryName: 'hidden', productClass: 'SO', price: null },
      ),
    )
    assert.deepEqual(facetsOf(view), {
      manufacturers: ['B', 'b', '\uFFFD', '😀'],
      categories: ['Uncategorized', 'Z', 'a'],
      product_classes: ['AO', 'FA', 'OT'],
    })
    assert.equal(facetsOf(view), facetsOf(view))
  })
})

describe('the snapshot', () => {
  it('numbers rows by lower-cased name, code point by code point, then distid and stockid', () => {
    fc.assert(
      fc.property(aCatalog, (all) => {
        const { snapshot } = open(all)
        const sorted = [...all].sort(comparison('name'))
        assert.deepEqual(
          keysOf(viewOf(snapshot), snapshot.byTie),
          [...all].sort(byTie).map((o) => `${o.distid}/${o.stockid}`),
        )
        sorted.forEach((offer, row) => {
          assert.equal(snapshot.stockid(row), offer.stockid)
          assert.equal(snapshot.sku(row), offer.distsku)
          assert.equal(snapshot.price[row], offer.price ?? -1)
          assert.equal(snapshot.brands[snapshot.brand[row]!], offer.mfgName || undefined)
          assert.equal(snapshot.byTie[snapshot.tieRank[row]!], row)
          assert.equal(CLASS_CODES[snapshot.productClass[row]!], offer.productClass)
          assert.deepEqual(snapshot.categories[snapshot.category[row]!], {
            id: offer.categoryId,
            name: offer.categoryName,
          })
          const before = sorted[row - 1]
          if (before)
            assert.equal(
              snapshot.nameRank[row] === snapshot.nameRank[row - 1],
              before.name.toLowerCase() === offer.name.toLowerCase(),
            )
        })
      }),
      { numRuns: 60 },
    )
  })

  it('holds no long list of strings, and survives being posted to another thread', () => {
    const all = manyOffers(300)
    const raw = catalogOf(all)
    const parts = structuredClone(buildSnapshot(raw))
    assert.deepEqual(
      search(viewOf(openSnapshot(parts)), { q: 'glock' }),
      naiveSearch(all, { q: 'glock' }),
    )
    assert.ok(
      JSON.stringify({ ...parts, text: parts.text.table, tick: parts.tick.table }).length < 6000,
    )
  })

  it('knows prices of a subscriber of its own', () => {
    const raw = catalogOf(offers({ name: 'b' }, { name: 'a' }))
    raw.exec(
      "INSERT INTO own_price (subscriber_id, offer, price) VALUES ('sub1', 1, 777), ('sub2', 2, 888), ('sub2', 99, 1)",
    )
    const snapshot = openSnapshot(buildSnapshot(raw))
    assert.deepEqual(Array.from(snapshot.ownPrices('sub1')!), [-1, 777])
    assert.deepEqual(Array.from(snapshot.ownPrices('sub2')!), [888, -1])
    assert.equal(snapshot.ownPrices('sub3'), undefined)
  })
})

describe('a price-and-stock update', () => {
  const change = (raw: Raw, id: number, price: number | null, qty: number) => {
    raw.prepare("UPDATE state SET revision = revision + 1, version = version || '+'").run()
    raw
      .prepare(
        'UPDATE offer SET price = ?, qty = ?, ffl_req = ?, drop_ship = ?, map = 5, revision = ' +
          '(SELECT revision FROM state) WHERE id = ?',
      )
      .run(price, qty, qty % 2, price === null ? 0 : 1, id)
  }
  /** All that a snapshot says, without the identity of its buffers. */
  const contents = ({ text, tick, ...rest }: SnapshotParts) => ({
    ...rest,
    tables: [text.table, tick.table],
    text: new Uint8Array(text.buffer),
    tick: new Uint8Array(tick.buffer),
  })

  it('makes the same snapshot as a full build, beside the same text', () => {
    const edit = fc.record({
      id: fc.integer({ min: 1, max: 60 }),
      price: fc.option(fc.integer({ min: 0, max: 5000 })),
      qty: fc.nat(4),
    })
    fc.assert(
      fc.property(
        fc.array(fc.array(edit, { maxLength: 10 }), { minLength: 1, maxLength: 3 }),
        (rounds) => {
          const raw = catalogOf(manyOffers(60))
          let parts = buildSnapshot(raw)
          const { text } = parts
          for (const edits of rounds) {
            for (const { id, price, qty } of edits) change(raw, id, price, qty)
            raw
              .prepare(
                'INSERT OR REPLACE INTO own_price (subscriber_id, offer, price) VALUES (?, ?, ?)',
              )
              .run('sub', 1 + edits.length, 42)
            const next = buildTick(raw, parts)
            assert.ok(next)
            assert.equal(next.text, text)
            assert.deepEqual(contents(next), contents(buildSnapshot(raw)))
            parts = next
          }
          raw.close()
        },
      ),
      { numRuns: 40 },
    )
  })

  it('leaves the snapshot before it as it was', () => {
    const raw = catalogOf(offers({ price: 1000 }))
    const before = buildSnapshot(raw)
    change(raw, 1, 2000, 0)
    const after = openSnapshot(buildTick(raw, before)!)
    assert.equal(openSnapshot(before).price[0], 1000)
    assert.equal(after.price[0], 2000)
    assert.equal(after.version, 'v1+')
  })

  it('asks for a full build when offers came, went or were re-worded', () => {
    const raw = catalogOf(offers({}))
    const before = buildSnapshot(raw)
    raw.exec('UPDATE state SET revision = 2, text_revision = 2')
    assert.equal(buildTick(raw, before), null)
    raw.exec('UPDATE state SET text_revision = 1; UPDATE offer SET fragment = 9, revision = 2')
    assert.equal(buildTick(raw, before), null)
  })
})

/** A catalog with long runs of equal names, prices and quantities; the same every time. */
function manyOffers(count: number): Offer[] {
  const random = xorshift(7)
  const pick = <T>(values: readonly T[]) => values[random(values.length)]!
  const price = () => (random(20) === 0 ? null : random(4) === 0 ? 500 : random(1000))
  // One class stands at the far end of the order by price.
  return Array.from({ length: count }, (_, i) =>
    withPrice(price(), {
      distid: pick(['RSR', 'LIP', 'CHT']),
      stockid: `${random(1000)}-${i}`,
      distsku: `SKU-${i % 900}`,
      upc: random(5) === 0 ? null : String(700000000000 + random(count / 3)),
      name:
        `${pick(['Glock', 'glock', 'Ruger', 'Colt'])} ${pick(['19', '17', '43X', 'AR-15'])} ` +
        `${random(3) === 0 ? random(500) : 'Gen5'}`,
      mfgName: pick(['Glock', 'Ruger', 'Colt', null]),
      mpn: `M${random(300)}`,
      productClass: pick(['FA', 'FA', 'MG', 'AO']),
      categoryId: pick([1, 2]),
      categoryName: pick(['Pistols', 'Rifles']),
      qty: random(3) === 0 ? 0 : random(30),
      fflReq: random(2) === 0,
      dropShip: random(50) !== 0,
    }),
  )
}

function withPrice(price: number | null, offer: Omit<Offer, 'price'>): Offer {
  return {
    ...offer,
    price,
    productClass: price !== null && price > 850 ? 'SO' : offer.productClass,
  }
}

const manyQueries: fc.Arbitrary<Query> = fc
  .record({
    q: fc.oneof(
      fc.constant(undefined),
      fc.constantFrom(
        'g',
        '1',
        'glock',
        'glock 19',
        'ruger ar-15 m1',
        'ar15',
        'gen5 m2',
        'm299',
        'm17 gen5',
        'sku-12',
        'sku12 g',
        '4 4 4',
        'glock-19 gen5',
        '700000000005',
      ),
    ),
    sku: rarely(fc.constantFrom('sku-7', 'SKU-899')),
    upc: rarely(fc.constantFrom('700000000009', '0700000000010')),
    distributor: rarely(fc.constantFrom('RSR', 'LIP')),
    manufacturer: rarely(fc.constantFrom('Glock', 'Colt')),
    category: rarely(fc.constantFrom('Pistols', 'Rifles')),
    product_class: rarely(fc.constantFrom('FA', 'AO', 'SO', 'SO')),
    min_price: rarely(fc.constantFrom(0, 1, 4.99, 5, 5.01, 9.9)),
    max_price: rarely(fc.constantFrom(0.05, 1, 5, 5.01, 9)),
    in_stock: rarely(fc.constant(true)),
    drop_ship_only: rarely(fc.constant(true)),
    ffl_required: rarely(fc.boolean()),
    sort: fc.constantFrom(...SORTS),
    page: fc.oneof(fc.constantFrom(1, 2), fc.integer({ min: 1, max: 60 })),
    page_size: fc.constantFrom(1, 10, 50, 100),
  })
  .map((query) =>
    Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)),
  )

function xorshift(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % Math.floor(below)
  }
}
