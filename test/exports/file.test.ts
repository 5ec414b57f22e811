/**
 * What an export's file holds: the same as search and detail answer, for two
 * readers of Parquet.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parquetMetadata } from 'hyparquet'
import type {
  ConfigurationDocument,
  MarginGroup,
  ProductRestrictions,
  Shipping,
} from '../../lib/configuration/document/document.js'
import type { Product } from '../../lib/catalog/shapes.js'
import { MAX_CENTS } from '../../lib/core/money.js'
import type { TestOffer } from '../../server/testing/index.js'
import { OFFERS, PLAIN, addShop, bytesAt, exportShop, giveOwnPrices, keyAt, query } from './shop.js'
import type { ExportShop, Query, Row } from './shop.js'

const TEXT = 'VARCHAR'
const COLUMNS: [name: string, type: string][] = [
  ['distid', TEXT],
  ['distsku', TEXT],
  ['stockid', TEXT],
  ['upc', TEXT],
  ['name', TEXT],
  ['mfg_name', TEXT],
  ['mpn', TEXT],
  ['product_class', TEXT],
  ['item_cat', TEXT],
  ['item_gb_cat', 'INTEGER'],
  ['item_gb_cat_name', TEXT],
  ['ffl_req', 'INTEGER'],
  ['unit_price', 'DOUBLE'],
  ['shipping_cost', 'DOUBLE'],
  ['total_cost', 'DOUBLE'],
  ['map_price', 'DOUBLE'],
  ['msrp', 'DOUBLE'],
  ['qty_on_hand', 'INTEGER'],
  ['drop_ship_flg', 'INTEGER'],
  ['images', 'STRUCT("src" VARCHAR)[]'],
  ['product_url', TEXT],
  ['short_description', TEXT],
  ['description', TEXT],
  ['product_class_description', TEXT],
]

async function columnsOf({ store }: ExportShop, url: string): Promise<[string, string][]> {
  const { names, types } = await query(bytesAt(store, url), 'SELECT * FROM FILE')
  return names.map((name, i) => [name, types[i]!])
}

/** What search answers on all its pages, each with what detail adds. */
async function servedRows(t: ExportShop, flags: Query = {}): Promise<Row[]> {
  const shop = t.app.as(t.subscriber)
  const found: Product[] = []
  for (let page = 1, total = 1; found.length < total; page++) {
    const answer = await shop.products.search({ page, page_size: 100, ...flags })
    found.push(...answer.products)
    total = answer.total
  }
  const details = new Map<string, Row>()
  const keyOf = ({ distid, stockid }: Row) => JSON.stringify([distid, stockid])
  for (const upc of new Set(found.flatMap(({ upc }) => (upc === null ? [] : [upc])))) {
    for (const offer of (await shop.products.get({ upc, ...flags })).offers)
      details.set(keyOf(offer), offer)
  }
  return found.map((product) => ({ ...details.get(keyOf(product)), ...product }))
}

const byKey = (a: Row, b: Row) =>
  a.distid < b.distid ? -1 : a.distid > b.distid ? 1 : a.stockid < b.stockid ? -1 : 1

/** Fails where a file says anything else than search and detail do. */
async function assertServed(t: ExportShop, flags: Query = {}): Promise<Row[]> {
  const descriptor = await t.ask(flags)
  const rows = await t.rowsOf(descriptor)
  const served = (await servedRows(t, flags)).sort(byKey)
  assert.equal(rows.length, descriptor.rows)
  // Search leaves the descriptions out, and what has no UPC has no detail.
  assert.deepEqual(
    rows.map((row, i) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => name in (served[i] ?? {}))),
    ),
    served,
  )
  return rows
}

describe('the file', () => {
  test('has the columns and types of the contract, packed with snappy', async () => {
    await using t = await exportShop()
    const { url } = await t.ask()
    assert.deepEqual(await columnsOf(t, url!), COLUMNS)
    const { bytes, contentType } = t.store.objects.get(keyAt(url!))!
    const { row_groups: groups } = parquetMetadata(Uint8Array.from(bytes).buffer)
    assert.deepEqual(
      [
        contentType,
        [
          ...new Set(
            groups.flatMap(({ columns }) => columns.map(({ meta_data: column }) => column!.codec)),
          ),
        ],
      ],
      ['application/vnd.apache.parquet', ['SNAPPY']],
    )
  })

  test('has retail_price as its last column where the document asks for it', async () => {
    await using t = await exportShop()
    await t.configure({ ...PLAIN, pricing: { margin: { default: { margin_percentage: 0.2 } } } })
    const { url } = await t.ask()
    assert.deepEqual(await columnsOf(t, url!), [...COLUMNS, ['retail_price', 'DOUBLE']])
    assert.deepEqual(
      (await assertServed(t)).map((row) => row.retail_price),
      [37.49, 1_015.63],
    )
  })

  test('without a visible offer is a valid file with all columns and no row', async () => {
    await using t = await exportShop()
    await t.configure({
      ...PLAIN,
      pricing: { margin: { default: {} } },
      product_restrictions: { sku: { include: ['none'] } },
    })
    const descriptor = await t.ask({ include_attributes: true })
    assert.deepEqual(
      [descriptor.rows, await t.rowsOf(descriptor), await columnsOf(t, descriptor.url!)],
      [0, [], COLUMNS],
    )
  })

  test('leaves out what restrictions hide, unless they are ignored', async () => {
    await using t = await exportShop()
    await t.configure({ ...PLAIN, product_restrictions: { brand: { include: ['Ridgeline'] } } })
    assert.deepEqual(
      (await assertServed(t)).map(({ stockid }) => stockid),
      ['A-1'],
    )
    assert.deepEqual(
      (await assertServed(t, { ignore_restrictions: true })).map(({ stockid }) => stockid),
      ['B-1', 'B-2', 'A-1'],
    )
    await t.configure({
      distributors: { 'RSR Group': { distid: 'RSR', active: false }, Lipseys: { distid: 'LIP' } },
    })
    assert.deepEqual(
      (await assertServed(t, { ignore_restrictions: true })).map(({ stockid }) => stockid),
      ['B-1', 'B-2'],
      'what is not active stays out',
    )
  })

  test('has money to the cent, texts as they are, and null for what is not there', async () => {
    const nasty = [
      '"',
      "'",
      "''; DROP TABLE t; --",
      'a,b\r\nc\td',
      '{"a": [1]}',
      '\\u0041\\n\\',
      'Ünïcode ½ 漢字 🔫',
      '\u2028\u2029\ufeff\u200b',
      'null',
      'NaN',
      '1e5',
      '2026-11-21',
      ' spaced ',
      '',
      '\u0001\u007f',
      '%s ${x} $1',
    ]
    const prices = [
      0,
      1,
      9,
      10,
      99,
      100,
      101,
      1_005,
      2_999,
      999_999_999,
      1_000_000_001,
      MAX_CENTS - 1_000,
      2_147_481_647,
      57,
      29,
      113,
    ]
    await using t = await exportShop({
      offers: nasty.map((text, i) => ({
        distid: 'RSR',
        stockid: `${i}${text}`,
        distsku: text,
        name: text,
        mfgName: text,
        mpn: text,
        itemCat: text,
        categoryName: text || 'Uncategorized',
        price: prices[i]!,
        map: prices.at(-i - 1)!,
        msrp: i % 2 ? prices[i]! : null,
        upc: ['860001234503', '0860001234503', '00860001234503', '012345678905', '96385074', null][
          i % 6
        ]!,
        images: i % 3 ? [`https://images.example/${encodeURI(text)}?a="b"`, text] : [],
        productUrl: text,
        shortDescription: text,
        description: text.repeat(200),
      })),
    })
    const rows = await assertServed(t)
    assert.deepEqual(rows.map(({ name }) => name).sort(), [...nasty].sort())
    const at = (i: number) => rows.find(({ name }) => name === nasty[i])!
    assert.deepEqual(
      prices.map((_price, i) => at(i).unit_price),
      prices.map((cents) => cents / 100),
    )
    assert.deepEqual(
      [at(0).upc, at(1).upc, at(2).upc, at(3).upc, at(4).upc, at(5).upc],
      ['860001234503', '0860001234503', '00860001234503', '012345678905', '96385074', null],
      'as the feed gave them',
    )
    assert.deepEqual([at(0).images, at(1).images[1]], [[], { src: nasty[1] }])
    assert.deepEqual(
      [at(4).description, at(4).short_description, at(4).product_class_description],
      [nasty[4]!.repeat(200), nasty[4], 'Accessories'],
    )
    const {
      rows: [sum],
    } = await query(
      bytesAt(t.store, (await t.ask()).url!),
      'SELECT count(*) FILTER (round(total_cost * 100) <> round(unit_price * 100) + ' +
        'round(shipping_cost * 100)) AS wrong FROM FILE',
    )
    assert.equal(Number(sum!.wrong), 0)
  })

  test("has prices that a configuration has multiplied beyond every feed's", async () => {
    await using t = await exportShop({
      offers: [{ distid: 'RSR', stockid: 'A', price: MAX_CENTS, shipping: 1 }],
    })
    const insurance = { include: true, cost_per_hundred: 1_000_000 }
    await t.configure({
      pricing: {
        margin: { default: { margin_percentage: 0.99 } },
        include_shipping_in_price: true,
      },
      distributors: {
        'RSR Group': {
          distid: 'RSR',
          shipping: { flat_rate: { cost: 0.01, shipping_class: 'x' }, insurance },
        },
      },
    })
    const [row] = await assertServed(t)
    assert.ok(row!.shipping_cost > 2e11 && row!.retail_price > 2e13, JSON.stringify(row))
  })

  test('is sorted by (distid, stockid), over more rows than are written at a time', async () => {
    const offers = Array.from({ length: 2_501 }, (_, i): TestOffer => ({
      distid: i % 3 ? 'RSR' : 'LIP',
      stockid: `${(i * 7_919) % 2_501}`,
      name: `Item ${i}`,
      price: 100 + i,
      map: i % 2 ? i : null,
      qty: i % 7,
    }))
    await using t = await exportShop({ offers })
    const rows = await assertServed(t)
    assert.equal(rows.length, offers.filter(({ qty }) => qty! > 0).length)
    assert.deepEqual(
      rows.map(({ distid, stockid }) => [distid, stockid]),
      offers
        .filter(({ qty }) => qty! > 0)
        .map(({ distid, stockid }): Row => ({ distid, stockid }))
        .sort(byKey)
        .map(({ distid, stockid }) => [distid, stockid]),
    )
  })
})

describe('files of several subscribers', () => {
  test('are one object where they are equal, and never where a price differs', async () => {
    await using t = await exportShop()
    const other = await addShop(t, 'Other')
    const [mine, theirs] = [await t.ask(), await other.ask()]
    assert.equal(keyAt(theirs.url!), keyAt(mine.url!))
    assert.equal(t.store.objects.size, 1)
    await t.configure({
      ...PLAIN,
      pricing: { cost_adjustments: [{ product_class: 'KN', dollar: 0.01 }] },
    })
    const adjusted = await t.ask()
    assert.notEqual(keyAt(adjusted.url!), keyAt((await other.ask()).url!))
    assert.deepEqual(
      (await t.rowsOf(adjusted)).map((row) => row.unit_price),
      [30, 812.5],
    )
    assert.deepEqual(
      (await t.rowsOf(await other.ask())).map((row) => row.unit_price),
      [29.99, 812.5],
    )
  })

  test("show nobody the prices of another one's own feed", async () => {
    await using t = await exportShop({
      offers: [
        ...OFFERS,
        { distid: 'RSR', stockid: 'OWN', price: null, name: 'Priced for one alone' },
      ],
    })
    const other = await addShop(t, 'Other')
    await giveOwnPrices(t, other.id, { 'A-1': 70_001, OWN: 4_242 })
    const [mine, theirs] = [await t.ask(), await other.ask()]
    assert.deepEqual([mine.custom_pricing_applied, theirs.custom_pricing_applied], [false, true])
    const pricesOf = async (descriptor: typeof mine) =>
      Object.fromEntries((await t.rowsOf(descriptor)).map((row) => [row.stockid, row.unit_price]))
    assert.deepEqual(await pricesOf(mine), { 'B-2': 29.99, 'A-1': 812.5 })
    assert.deepEqual(await pricesOf(theirs), { 'B-2': 29.99, 'A-1': 700.01, OWN: 42.42 })
    assert.deepEqual(await pricesOf(await t.ask({ ignore_restrictions: true })), {
      'B-1': 10.05,
      'B-2': 29.99,
      'A-1': 812.5,
    })
    await assertServed(t)
  })
})

describe('under any catalog and configuration', () => {
  const list = <T>(values: readonly T[]) => fc.subarray([...values], { minLength: 1 })
  const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined })
  const rule = (values: readonly string[]) =>
    maybe(
      fc.record(
        {
          include: list(values),
          exclude: list(values),
          include_operand: fc.constantFrom('AND' as const, 'OR' as const),
        },
        { requiredKeys: [] },
      ),
    )
  const bounds = fc.constantFrom(
    { min_distributor_cost: 0, max_distributor_cost: 500 },
    { min_distributor_cost: 20, max_distributor_cost: 1e6 },
  )
  const restrictions = fc
    .record(
      {
        brand: rule(['Ridgeline', 'Kestrel']),
        product_class: rule(['FA', 'AC', 'KN']),
        sku: rule(['A1', 'B3', 'B4']),
        min_quantity_to_list: maybe(fc.integer({ min: 1, max: 3 })),
        include_uncategorized_product: maybe(fc.boolean()),
        cost: maybe(fc.record({ global_restrictions: bounds })),
      },
      { requiredKeys: [] },
    )
    .map((rules) => JSON.parse(JSON.stringify(rules)) as ProductRestrictions)
  const cents = (most: number) => fc.integer({ min: 0, max: most }).map((whole) => whole / 100)
  const extras = fc.record(
    {
      insurance: fc.record({ include: fc.boolean(), cost_per_hundred: cents(500) }),
      handling: fc.record({
        amount: cents(1_500),
        order_threshold: cents(50_000),
        add_handling_to_unit_cost: fc.boolean(),
      }),
    },
    { requiredKeys: [] },
  )
  const level = fc
    .record({
      flat_rate: cents(3_000).map((cost) => ({ cost, shipping_class: 'x' })),
      min_unit_cost: fc.integer({ min: 0, max: 300 }),
      product_class: maybe(list(['FA', 'AC'])),
    })
    .map((given) => JSON.parse(JSON.stringify(given)) as never)
  const shipping: fc.Arbitrary<Shipping> = fc
    .tuple(
      extras,
      fc.oneof(
        cents(3_000).map((cost) => ({ flat_rate: { cost, shipping_class: 'x' } })),
        fc
          .array(level, { minLength: 1, maxLength: 3 })
          .map((price_based_shipping) => ({ price_based_shipping })),
      ),
    )
    .map(([more, base]) => ({ ...more, ...base }))
  const group: fc.Arbitrary<MarginGroup> = fc.record({
    margin_percentage: cents(95),
    margin_dollar: cents(5_000),
  })
  const adjustment = fc.record(
    {
      distributor: fc.constantFrom('RSR', 'LIP'),
      product_class: fc.constantFrom('FA', 'AC'),
      brand: fc.constantFrom('Ridgeline', 'Kestrel'),
      percent: fc.integer({ min: -90, max: 90 }).map((whole) => whole / 100),
      dollar: cents(2_000),
    },
    { requiredKeys: [] },
  )
  const pricing: fc.Arbitrary<ConfigurationDocument['pricing']> = fc.record(
    {
      cost_adjustments: fc.array(adjustment, { maxLength: 2 }),
      margin: fc.record({
        default: group,
        firearms: group.map((margin) => ({ ...margin, product_class: ['FA'] })),
      }),
      include_shipping_in_price: fc.boolean(),
      sell_at_map: fc.boolean(),
      rounding: fc.constantFrom('none' as const, 'round_up_to_99_cents' as const),
    },
    { requiredKeys: [] },
  )
  const nullable = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null })
  const money = fc.oneof(
    fc.integer({ min: 0, max: 100_000 }),
    fc.integer({ min: 0, max: 500_000_000 }),
  )
  const text = fc
    .oneof(
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.string({ unit: 'binary', maxLength: 8 }),
    )
    .map((any) => any.replaceAll('\0', ''))
  const offers = fc
    .array(
      fc.record({
        upc: nullable(fc.constantFrom('860001234503', '0860001234503', '012345678905', '96385074')),
        name: text,
        mfgName: nullable(fc.constantFrom('Ridgeline', 'Kestrel', 'Ünïcorn')),
        mpn: nullable(text),
        productClass: fc.constantFrom('FA' as const, 'AC' as const, 'KN' as const),
        itemCat: nullable(text),
        category: fc.constantFrom([null, 'Uncategorized'], [3_024, 'Rifles']) as fc.Arbitrary<
          [number | null, string]
        >,
        price: nullable(money),
        map: nullable(money),
        msrp: nullable(money),
        shipping: nullable(fc.integer({ min: 0, max: 9_999 })),
        qty: fc.integer({ min: 0, max: 5 }),
        fflReq: fc.boolean(),
        dropShip: fc.boolean(),
        images: fc.array(text, { maxLength: 2 }),
        productUrl: nullable(text),
        shortDescription: nullable(text),
        description: nullable(text),
      }),
      { minLength: 24, maxLength: 24 },
    )
    .map((all) =>
      all.map(({ category: [categoryId, categoryName], ...offer }, i): TestOffer => ({
        ...offer,
        categoryId,
        categoryName,
        distid: 'RSR LIP ZND'.split(' ')[i % 3]!,
        stockid: `B${i}`,
        distsku: `${'AB'[i % 2]}${i % 5}`,
      })),
    )

  test('its rows are member by member what search and detail answer', async () => {
    await using t = await exportShop()
    const compare = async (
      all: TestOffer[],
      root: ProductRestrictions,
      own: ProductRestrictions,
      prices: ConfigurationDocument['pricing'],
      one: Shipping,
      two: Shipping,
      ignore: boolean,
    ) => {
      await t.stock(all)
      await t.configure({
        product_restrictions: root,
        pricing: prices,
        distributors: {
          'RSR Group': { distid: 'RSR', shipping: one, product_restrictions: own },
          Lipseys: { distid: 'LIP', shipping: two, product_restrictions: {} },
        },
      })
      return (await assertServed(t, { ignore_restrictions: ignore })).length
    }
    // What is drawn may hide all of them: this shows them.
    const [all, prices, one] = [offers, pricing, shipping].map(
      (drawn: fc.Arbitrary<unknown>) => fc.sample(drawn, { seed: 7, numRuns: 1 })[0],
    ) as [TestOffer[], ConfigurationDocument['pricing'], Shipping]
    assert.ok((await compare(all, {}, {}, prices, one, one, false)) > 8)
    await fc.assert(
      fc.asyncProperty(
        offers,
        restrictions,
        restrictions,
        pricing,
        shipping,
        shipping,
        fc.boolean(),
        async (...drawn) => {
          await compare(...drawn)
        },
      ),
      { numRuns: 8, endOnFailure: true },
    )
    assert.deepEqual(t.errors, [])
  })
})
