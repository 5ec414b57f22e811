/** Why an offer is hidden, and which rules of a document do nothing or too much. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { buildSnapshot } from '../../lib/catalog/snapshot/build.js'
import { explainOffers } from '../../lib/catalog/view/explain.js'
import type { ExplainInput } from '../../lib/catalog/view/explain.js'
import { openSnapshot } from '../../lib/catalog/snapshot/open.js'
import { retailRule } from '../../lib/catalog/view/retail.js'
import { ruleWarnings } from '../../lib/catalog/warnings/rule-warnings.js'
import type { Snapshot } from '../../lib/catalog/snapshot/snapshot.js'
import { makeView } from '../../lib/catalog/view/view.js'
import type {
  ConfigurationDocument,
  DistributorEntry,
  ListRule,
  MarginGroup,
  Pricing,
  ProductGroup,
  ProductRestrictions,
  Shipping,
} from '../../lib/configuration/document/document.js'
import { nearest } from '../../lib/core/text.js'
import { openSqlite } from '../../lib/db/sqlite/driver.js'
import { catalogSchema } from '../../lib/db/migrations/catalog.js'
import { writeOffers } from '../../lib/feeds/ingest/write-offers.js'
import type { TestOffer } from '../../server/testing/index.js'

const UPCS = ['012345678905', '012345678912', '012345678929']
const [UPC] = UPCS as [string]

const OFFERS: TestOffer[] = [
  {
    distid: 'RSR',
    stockid: 'T9',
    name: 'Pistol',
    mfgName: 'Taurus',
    productClass: 'FA',
    categoryName: 'Pistols',
    price: 49_900,
    qty: 3,
    dropShip: true,
    upc: UPC,
  },
  {
    distid: 'LIP',
    stockid: 'T9-EAST',
    distsku: 'T9',
    name: 'Pistol',
    mfgName: 'Taurus',
    productClass: 'FA',
    categoryName: 'Pistols',
    price: 51_000,
    qty: 0,
    dropShip: false,
    upc: `00${UPC}`,
  },
  {
    distid: 'ZND',
    stockid: 'Z9',
    name: 'Pistol',
    mfgName: 'Taurus',
    productClass: 'FA',
    categoryName: 'Pistols',
    price: null,
    qty: 1,
    upc: UPC,
  },
  {
    distid: 'RSR',
    stockid: 'M1',
    name: 'Magazine',
    mfgName: 'Kestrel',
    productClass: 'MG',
    categoryName: 'Magazines',
    price: 1_500,
    qty: 40,
    upc: UPCS[1]!,
  },
  {
    distid: 'LIP',
    stockid: 'M2',
    name: 'Magazine',
    mfgName: 'Kestrel',
    productClass: 'MG',
    price: 1_650,
    qty: 12,
    shipping: 900,
    upc: UPCS[1]!,
  },
  {
    distid: 'RSR',
    stockid: 'S1',
    name: 'Sling',
    mfgName: null,
    productClass: 'AC',
    price: 499,
    qty: 1,
    upc: UPCS[2]!,
  },
]

/** The offers as a snapshot; own prices are `s1`'s, cents by (distid, stockid). */
function snapshotOf(
  offers: readonly Omit<TestOffer, 'restrictedStates'>[],
  own: Record<string, number> = {},
): { snapshot: Snapshot; nameOf: (fragment: number) => string } {
  const raw = openSqlite(':memory:')
  raw.exec(catalogSchema.join(';'))
  writeOffers(
    raw,
    offers.map((offer) => ({
      distsku: offer.stockid,
      upc: null,
      name: '',
      mfgName: null,
      mpn: null,
      productClass: 'AC' as const,
      itemCat: null,
      categoryId: null,
      categoryName: 'Uncategorized',
      price: null,
      map: null,
      msrp: null,
      shipping: null,
      qty: 0,
      fflReq: false,
      dropShip: true,
      images: [],
      productUrl: null,
      shortDescription: null,
      description: null,
      attributes: {},
      ...offer,
    })),
    0,
  )
  for (const [key, cents] of Object.entries(own))
    raw
      .prepare(
        "INSERT INTO own_price (subscriber_id, offer, price) SELECT 's1', id, ? FROM offer " +
          "WHERE distid || ' ' || stockid = ?",
      )
      .run(cents, key)
  const snapshot = openSnapshot(buildSnapshot(raw))
  const names = new Map(
    raw.prepare('SELECT id, name FROM fragment').raw().all() as [number, string][],
  )
  raw.close()
  return { snapshot, nameOf: (fragment) => names.get(fragment)! }
}

interface Parts {
  root?: ProductRestrictions
  pricing?: Pricing
  rsr?: Partial<DistributorEntry> | null
  lip?: Partial<DistributorEntry> | null
  znd?: Partial<DistributorEntry> | null
  /** Distids whose credentials have not passed. */
  unchecked?: string[]
}

const NAMES = {
  rsr: ['RSR Group', 'RSR'],
  lip: ['Lipseys', 'LIP'],
  znd: ['Zanders', 'ZND'],
} as const

function inputOf({
  root = {},
  pricing = {},
  unchecked = [],
  ...entries
}: Parts): ExplainInput & { ignoreRestrictions: false } {
  const distributors: Record<string, DistributorEntry> = {}
  for (const [key, [name, distid]] of Object.entries(NAMES)) {
    const given = entries[key as keyof typeof NAMES]
    if (given !== null)
      distributors[name] = {
        active: true,
        distid,
        drop_ship_only_items: false,
        shipping: { flat_rate: { cost: 10, shipping_class: 'x' } },
        product_restrictions: {},
        ...given,
      }
  }
  const document: ConfigurationDocument = {
    distributors,
    targets: {},
    notification_email: 'owner@shop.example',
    pricing,
    product_restrictions: root,
  }
  const eligible = Object.entries(distributors)
    .map(([name, entry]) => ({ name, entry }))
    .filter(({ entry }) => entry.active && !unchecked.includes(entry.distid))
  return { subscriberId: 's1', document, eligible, ignoreRestrictions: false }
}

const stock = snapshotOf(OFFERS)
const explain = (parts: Parts, upc = UPC, { snapshot, nameOf } = stock) =>
  explainOffers(snapshot, inputOf(parts), upc, nameOf)

describe('why an offer is hidden', () => {
  const NO_PRICE = [
    null,
    "it has no price: neither a feed of your own nor the operator's gives one",
  ]
  /** What hides the pistol of RSR. */
  const rows: [name: string, parts: Parts, expected: [pointer: string | null, reason: string][]][] =
    [
      ['nothing does', {}, []],
      [
        'an excluded brand: the very entry',
        { root: { brand: { exclude: ['Kestrel', 'Nobody', 'Taurus'] } } },
        [['/product_restrictions/brand/exclude/2', 'its brand "Taurus" is excluded']],
      ],
      [
        'an entry that stands twice would have to go twice',
        { root: { brand: { exclude: ['Taurus', 'Taurus'] } } },
        [
          ['/product_restrictions/brand/exclude/0', 'its brand "Taurus" is excluded'],
          ['/product_restrictions/brand/exclude/1', 'its brand "Taurus" is excluded'],
        ],
      ],
      [
        'an excluded SKU, case aside',
        { root: { sku: { exclude: ['x', 't9'] } } },
        [['/product_restrictions/sku/exclude/1', 'its SKU "T9" is excluded']],
      ],
      [
        'an excluded UPC, as a number',
        { root: { upc: { exclude: [12345678905] } } },
        [['/product_restrictions/upc/exclude/0', 'its UPC 012345678905 is excluded']],
      ],
      [
        'an excluded category',
        { root: { category: { exclude: ['Pistols'] } } },
        [['/product_restrictions/category/exclude/0', 'its category "Pistols" is excluded']],
      ],
      [
        "an excluded class, of the distributor's own layer",
        { rsr: { product_restrictions: { product_class: { exclude: ['FA'] } } } },
        [
          [
            '/distributors/RSR Group/product_restrictions/product_class/exclude/0',
            'its product class FA is excluded',
          ],
        ],
      ],
      [
        "another distributor's layer does not",
        { lip: { product_restrictions: { product_class: { exclude: ['FA'] } } } },
        [],
      ],
      [
        'an excluded group and what it met',
        {
          root: {
            product_groups: [
              { type: 'include', criteria: {} },
              {
                type: 'exclude',
                name: 'Dear',
                criteria: { brand: ['Taurus'], min_quantity_to_list: 2, cost: { min_cost: 400 } },
              },
            ],
          },
        },
        [
          [
            '/product_restrictions/product_groups/1',
            'it belongs to the excluded group "Dear": its brand "Taurus", 3 are in stock, its dealer cost of 499.00',
          ],
        ],
      ],
      [
        'an include list that it is not in',
        { root: { brand: { include: ['Kestrel'] } } },
        [
          [
            '/product_restrictions/brand/include',
            'no include rule admits it: its brand "Taurus" is not in brand.include',
          ],
        ],
      ],
      [
        'one of two AND lists',
        { root: { brand: { include: ['Taurus'] }, product_class: { include: ['MG'] } } },
        [
          [
            '/product_restrictions/product_class/include',
            'no include rule admits it: its product class FA is not in product_class.include',
          ],
        ],
      ],
      [
        'all of several rules',
        {
          root: {
            brand: { include: ['Kestrel'], include_operand: 'OR' },
            product_groups: [{ type: 'include', id: 'g1', criteria: { sku: ['x'] } }],
          },
        },
        [
          [
            '/product_restrictions',
            'no include rule admits it: its brand "Taurus" is not in brand.include; it does ' +
              'not belong to the included group "g1"',
          ],
        ],
      ],
      [
        'too few in stock',
        { root: { min_quantity_to_list: 5 } },
        [
          [
            '/product_restrictions/min_quantity_to_list',
            '3 are in stock, fewer than the 5 of min_quantity_to_list',
          ],
        ],
      ],
      [
        'a dealer cost outside of the bounds',
        {
          root: {
            cost: { global_restrictions: { min_distributor_cost: 5, max_distributor_cost: 100 } },
          },
        },
        [
          [
            '/product_restrictions/cost/global_restrictions',
            'its dealer cost of 499.00 is outside of 5.00 to 100.00',
          ],
        ],
      ],
      [
        'the bounds of its class',
        {
          root: {
            cost: {
              product_class_restrictions: [
                { product_class: ['MG'], min_distributor_cost: 0, max_distributor_cost: 1 },
                {
                  product_class: ['MG', 'FA'],
                  min_distributor_cost: 500,
                  max_distributor_cost: 9_999,
                },
              ],
            },
          },
        },
        [
          [
            '/product_restrictions/cost/product_class_restrictions/1',
            'its dealer cost of 499.00 is outside of 500.00 to 9,999.00',
          ],
        ],
      ],
      [
        'an inactive distributor, and the rules that would hide it next',
        { rsr: { active: false, product_restrictions: { min_quantity_to_list: 4 } } },
        [
          ['/distributors/RSR Group/active', 'RSR Group is not active'],
          [
            '/distributors/RSR Group/product_restrictions/min_quantity_to_list',
            '3 are in stock, fewer than the 4 of min_quantity_to_list',
          ],
        ],
      ],
      [
        'credentials that have not passed',
        { unchecked: ['RSR'] },
        [
          [
            '/distributors/RSR Group',
            'the credentials of RSR Group have not passed validation; call POST /v1/config/validate, which checks them',
          ],
        ],
      ],
      [
        'a distributor that is not configured',
        { rsr: null },
        [[null, 'RSR is not configured: `distributors` has no entry for it']],
      ],
      [
        'of two entries with one distid the eligible one counts',
        {
          lip: { distid: 'RSR', active: false, product_restrictions: { min_quantity_to_list: 99 } },
        },
        [],
      ],
      [
        'rules look at the adjusted cost',
        {
          pricing: { cost_adjustments: [{ brand: 'Taurus', dollar: 1 }] },
          root: {
            cost: { global_restrictions: { min_distributor_cost: 0, max_distributor_cost: 499 } },
          },
        },
        [
          [
            '/product_restrictions/cost/global_restrictions',
            'its dealer cost of 500.00 is outside of 0.00 to 499.00',
          ],
        ],
      ],
      [
        'everything at once',
        {
          root: { sku: { exclude: ['T9'] }, min_quantity_to_list: 9 },
          rsr: { product_restrictions: { brand: { include: ['Kestrel'] } } },
        },
        [
          ['/product_restrictions/sku/exclude/0', 'its SKU "T9" is excluded'],
          [
            '/product_restrictions/min_quantity_to_list',
            '3 are in stock, fewer than the 9 of min_quantity_to_list',
          ],
          [
            '/distributors/RSR Group/product_restrictions/brand/include',
            'no include rule admits it: its brand "Taurus" is not in brand.include',
          ],
        ],
      ],
    ]
  for (const [name, parts, expected] of rows) {
    test(name, () => {
      const offer = explain(parts).find(({ distid }) => distid === 'RSR')!
      assert.deepEqual(
        offer.hidden_by.map(({ pointer, reason }) => [pointer, reason]),
        expected,
      )
      assert.equal(offer.visible, expected.length === 0)
    })
  }

  test('every offer of the UPC is told, however many zeros it has, by distid', () => {
    for (const upc of [UPC, `00${UPC}`, '12345678905', ' 0-12345-67890-5']) {
      assert.deepEqual(
        explain({ lip: { drop_ship_only_items: true } }, upc).map(({ hidden_by, ...rest }) => ({
          ...rest,
          hidden_by: hidden_by.map(({ pointer, reason }) => [pointer, reason]),
        })),
        [
          {
            distid: 'LIP',
            stockid: 'T9-EAST',
            distsku: 'T9',
            name: 'Pistol',
            visible: false,
            unit_price: 510,
            qty_on_hand: 0,
            hidden_by: [
              [
                '/distributors/Lipseys/drop_ship_only_items',
                'the distributor does not drop-ship it, and drop_ship_only_items is on',
              ],
            ],
          },
          {
            distid: 'RSR',
            stockid: 'T9',
            distsku: 'T9',
            name: 'Pistol',
            visible: true,
            unit_price: 499,
            qty_on_hand: 3,
            hidden_by: [],
          },
          {
            distid: 'ZND',
            stockid: 'Z9',
            distsku: 'Z9',
            name: 'Pistol',
            visible: false,
            unit_price: null,
            qty_on_hand: 1,
            hidden_by: [NO_PRICE],
          },
        ],
      )
    }
  })

  test('an unknown UPC has no offers', () => {
    for (const upc of ['099999999999', '00000000', 'none', ''])
      assert.deepEqual(explain({}, upc), [])
  })

  test('what has no price, no brand, no category or no stock says so', () => {
    const causes = (parts: Parts, upc: string, distid: string) =>
      explain(parts, upc)
        .find((offer) => offer.distid === distid)!
        .hidden_by.map(({ reason }) => reason)
    assert.deepEqual(
      causes(
        {
          root: {
            cost: { global_restrictions: { min_distributor_cost: 5, max_distributor_cost: 9 } },
          },
        },
        UPC,
        'ZND',
      ),
      [NO_PRICE[1]],
    )
    assert.deepEqual(causes({ root: { brand: { include: ['Taurus'] } } }, UPCS[2]!, 'RSR'), [
      'no include rule admits it: its brand (none) is not in brand.include',
    ])
    assert.deepEqual(causes({ root: { include_uncategorized_product: false } }, UPCS[2]!, 'RSR'), [
      'it has no category, and include_uncategorized_product is off',
    ])
    assert.deepEqual(causes({ root: { min_quantity_to_list: 2 } }, UPCS[2]!, 'RSR'), [
      'one is in stock, fewer than the 2 of min_quantity_to_list',
    ])
    assert.deepEqual(causes({ root: { min_quantity_to_list: 1 } }, UPC, 'LIP'), [
      'none is in stock, fewer than the 1 of min_quantity_to_list',
    ])
  })

  test("a price of one's own counts, and handling is shown in it", () => {
    const own = snapshotOf(OFFERS, { 'RSR T9': 40_000, 'ZND Z9': 48_000 })
    const handling = { amount: 5, order_threshold: 450, add_handling_to_unit_cost: true }
    const offers = explain(
      {
        rsr: { shipping: { flat_rate: { cost: 1, shipping_class: 'x' }, handling } },
        root: {
          cost: { global_restrictions: { min_distributor_cost: 401, max_distributor_cost: 600 } },
        },
      },
      UPC,
      own,
    )
    assert.deepEqual(
      offers.map(({ distid, unit_price, hidden_by }) => [
        distid,
        unit_price,
        ...hidden_by.map(({ reason }) => reason),
      ]),
      [
        ['LIP', 510],
        ['RSR', 405, 'its dealer cost of 400.00 is outside of 401.00 to 600.00'],
        ['ZND', 480],
      ],
    )
  })

  test('a name with a slash or a tilde is escaped in the pointer', () => {
    const input = inputOf({ root: {} })
    const entry = { ...input.document.distributors['RSR Group']!, active: false }
    const document = { ...input.document, distributors: { 'A/B~C': entry } }
    assert.deepEqual(
      explainOffers(
        stock.snapshot,
        { ...input, document, eligible: [] },
        UPCS[2]!,
        stock.nameOf,
      )[0]!.hidden_by[0]!.pointer,
      '/distributors/A~1B~0C/active',
    )
  })
})

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const some = <T>(...values: T[]) => fc.subarray(values)
const VALUES = {
  sku: ['t9', 'M1', 's1', 4],
  upc: [12345678905, UPCS[1]!, 'none'],
  brand: ['Taurus', 'Kestrel', 'Nobody'],
  category: ['Pistols', 'Uncategorized'],
  product_class: ['FA', 'MG', 'AC'],
}
const listRule = (values: readonly (string | number)[]): fc.Arbitrary<ListRule | undefined> =>
  optional(
    fc.record(
      {
        include: some(...values),
        exclude: fc.subarray([...values], { maxLength: 1 }),
        include_operand: fc.constantFrom('AND' as const, 'OR' as const),
      },
      { requiredKeys: [] },
    ),
  )
const amounts = fc.constantFrom(0, 4.99, 5, 15, 16.5, 499, 510, 9_999)
const range = fc.record({
  min_distributor_cost: fc.constantFrom(0, 4.99, 5, 15),
  max_distributor_cost: amounts,
})
const criteria = fc.record(
  {
    sku: some('T9', 'M2'),
    upc: some<string | number>(12345678905, UPCS[2]!),
    brand: some('Taurus', 'Kestrel'),
    category: some('Pistols', 'Magazines'),
    product_class: some('FA', 'MG'),
    min_quantity_to_list: fc.integer({ min: 1, max: 12 }),
    cost: fc.record({ min_cost: amounts, max_cost: amounts }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
)
const groups: fc.Arbitrary<ProductGroup[]> = fc.array(
  fc.record({ type: fc.constantFrom('include' as const, 'exclude' as const), criteria }),
  { maxLength: 2 },
)
const layer = fc.oneof(
  { arbitrary: fc.constant<ProductRestrictions>({}), weight: 1 },
  {
    weight: 2,
    arbitrary: fc.record({
      ...Object.fromEntries(
        Object.entries(VALUES).map(([list, values]) => [list, listRule(values)]),
      ),
      min_quantity_to_list: optional(fc.constantFrom(1, 2, 3, 13)),
      include_uncategorized_product: optional(fc.boolean()),
      purchase_limit: optional(fc.constant(1)),
      cost: optional(
        fc.record(
          {
            global_restrictions: range,
            product_class_restrictions: fc.array(
              fc.record({
                product_class: some('FA', 'MG', 'AC'),
                min_distributor_cost: amounts,
                max_distributor_cost: amounts,
              }),
              { maxLength: 2 },
            ),
          },
          { requiredKeys: [] },
        ),
      ),
      product_groups: groups,
    }) as fc.Arbitrary<ProductRestrictions>,
  },
)
const entryParts = fc.option(
  fc.record({
    active: fc.boolean(),
    drop_ship_only_items: fc.boolean(),
    product_restrictions: layer,
    shipping: fc.constantFrom<Shipping>(
      {},
      { handling: { amount: 1, order_threshold: 20, add_handling_to_unit_cost: true } },
    ),
  }),
)
const parts: fc.Arbitrary<Parts> = fc.record({
  root: layer,
  rsr: entryParts,
  lip: entryParts,
  znd: entryParts,
  unchecked: some('RSR', 'LIP', 'ZND'),
  pricing: fc.record({
    cost_adjustments: optional(
      fc.array(
        fc.record({
          brand: fc.constantFrom('Taurus', 'Kestrel'),
          dollar: fc.constantFrom(-1, 1, 5),
        }),
        { maxLength: 2 },
      ),
    ),
  }),
})

function at(document: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (value, step) =>
        (value as Record<string, unknown>)[step.replaceAll('~1', '/').replaceAll('~0', '~')],
      document,
    )
}

test('an offer is in the view exactly when nothing is told to hide it, and every pointer leads somewhere', () => {
  const catalogs = [
    stock,
    snapshotOf(OFFERS, { 'RSR T9': 40_000, 'ZND Z9': 48_000, 'LIP M2': 500 }),
  ]
  let visible = 0
  let hidden = 0
  fc.assert(
    fc.property(parts, fc.constantFrom(...catalogs), (given, { snapshot, nameOf }) => {
      const input = inputOf(given)
      const view = makeView(snapshot, input)
      const told = new Map(
        UPCS.flatMap((upc) => explainOffers(snapshot, input, upc, nameOf)).map((offer) => [
          `${offer.distid} ${offer.stockid}`,
          offer,
        ]),
      )
      assert.equal(told.size, OFFERS.length)
      for (let row = 0; row < snapshot.rows; row++) {
        const offer = told.get(
          `${snapshot.distids[snapshot.distributor[row]!]} ${snapshot.stockid(row)}`,
        )!
        assert.equal(offer.visible, view.visible.has(row), `${offer.distid} ${offer.stockid}`)
        assert.equal(offer.hidden_by.length === 0, offer.visible)
        if (offer.visible) assert.equal(offer.unit_price, view.unitPrice(row) / 100)
        for (const { pointer, reason } of offer.hidden_by) {
          assert.ok(pointer === null || at(input.document, pointer) !== undefined, pointer!)
          assert.doesNotMatch(reason, /undefined|null|NaN/)
        }
        if (offer.visible) visible++
        else hidden++
      }
    }),
    { numRuns: 2_000 },
  )
  assert.ok(visible > 300 && hidden > 300, `${visible} visible, ${hidden} hidden`)
})

const warnings = (given: Parts, { snapshot }: { snapshot: Snapshot } = stock) =>
  ruleWarnings(snapshot, inputOf({ znd: null, ...given }))
const level = (min: number, max?: number, more = {}) => ({
  flat_rate: { cost: 8.5, shipping_class: 'x' },
  min_unit_cost: min,
  ...(max !== undefined && { max_unit_cost: max }),
  ...more,
})
const levels = (...list: ReturnType<typeof level>[]): Partial<DistributorEntry> => ({
  shipping: { price_based_shipping: list },
})
const margins = (groups: Record<string, Partial<MarginGroup>>): Parts => ({
  pricing: {
    margin: {
      default: { margin_dollar: 1 },
      ...Object.fromEntries(
        Object.entries(groups).map(([name, group]) => [name, { margin_dollar: 1, ...group }]),
      ),
    },
  },
})

describe('warnings on the rules of a document', () => {
  const RSR = 'distributors.RSR Group'
  const ranges = (...list: [min: number | undefined, max: number | undefined][]) =>
    margins({
      default: {
        price_based_margin: list.map(([minimum_unit_cost, maximum_unit_cost]) => ({
          minimum_unit_cost,
          maximum_unit_cost,
          margin_dollar: 1,
        })),
      },
    })
  const rows: [name: string, parts: Parts, expected: string[]][] = [
    ['a plain document has none', {}, []],
    [
      'groups that each set some prices have none',
      margins({
        a: { product_class: ['FA'] },
        b: { brand: ['Kestrel'] },
        c: { distributor: ['RSR'] },
      }),
      [],
    ],
    [
      'a margin group without a filter',
      margins({ firearms: {} }),
      [
        '`pricing.margin.firearms` has no filter, so it never applies; give it a ' +
          'product_class, category, brand, sku, upc or distributor, or remove it',
      ],
    ],
    [
      'a margin group that matches nothing',
      margins({ safes: { product_class: ['SF'] } }),
      [
        '`pricing.margin.safes` matches no offer of your distributors; correct its filters, or remove it',
      ],
    ],
    [
      'all filters must hold',
      margins({ a: { product_class: ['FA'], brand: ['Kestrel'] } }),
      [
        '`pricing.margin.a` matches no offer of your distributors; correct its filters, or remove it',
      ],
    ],
    [
      'offers of distributors that are not eligible do not count',
      { ...margins({ a: { distributor: ['LIP'] } }), unchecked: ['LIP'] },
      [
        '`pricing.margin.a` matches no offer of your distributors; correct its filters, or remove it',
      ],
    ],
    [
      'a group whose offers a more specific one takes',
      margins({ guns: { product_class: ['FA'] }, taurus: { brand: ['Taurus'] } }),
      [
        '`pricing.margin.guns` sets no price: the 2 offers that it matches are taken by ' +
          '`taurus`; narrow what is tried before it, or remove it',
      ],
    ],
    [
      'a group whose offers several before it take',
      margins({
        a: { brand: ['Taurus'] },
        b: { brand: ['Kestrel'] },
        c: { brand: ['Kestrel', 'Taurus'] },
      }),
      [
        '`pricing.margin.c` sets no price: the 4 offers that it matches are taken by `a`, ' +
          '`b`; narrow what is tried before it, or remove it',
      ],
    ],
    [
      'an empty price range',
      ranges([10, 5], [0, undefined]),
      [
        '`pricing.margin.default.price_based_margin[0]` holds no cost: its minimum_unit_cost ' +
          'is above its maximum_unit_cost; correct them',
      ],
    ],
    [
      'a price range that earlier ones cover',
      ranges([0, 50], [50.01, undefined], [20, 80]),
      [
        '`pricing.margin.default.price_based_margin[2]` is never used: the ranges before it ' +
          'hold all of its costs; move it up, or remove it',
      ],
    ],
    [
      'ranges in whole dollars that follow each other are all used',
      ranges([0, 9], [10, 99], [100, undefined]),
      [],
    ],
    [
      'a level that fits no cost',
      { rsr: levels(level(50, 20), level(0)) },
      [
        `\`${RSR}.shipping.price_based_shipping[0]\` fits no cost: its max_unit_cost is below ` +
          'its min_unit_cost; correct them',
      ],
    ],
    [
      'a level behind one that takes all of it',
      { rsr: levels(level(0), level(100, 200, { product_class: ['FA'] })) },
      [
        `\`${RSR}.shipping.price_based_shipping[1]\` is never used: the level [0] before it ` +
          'takes all that it fits; move it up, or remove it',
      ],
    ],
    [
      'a level whose offers those before it take',
      { rsr: levels(level(0, 20), level(20, 900), level(10, 600)) },
      [
        `\`${RSR}.shipping.price_based_shipping[2]\` is not used: the levels before it take ` +
          'the 2 offers that it fits; move it up, or remove it',
      ],
    ],
    [
      'a level of fewer categories behind one of all',
      { rsr: levels(level(0), level(0, 9, { category: ['Magazines'] })) },
      [
        `\`${RSR}.shipping.price_based_shipping[1]\` is never used: the level [0] before it ` +
          'takes all that it fits; move it up, or remove it',
      ],
    ],
    [
      'a level of a class that nobody has',
      { rsr: levels(level(0, 900, { product_class: ['SF'] }), level(0)) },
      [
        `\`${RSR}.shipping.price_based_shipping[0]\` fits no offer of RSR Group at the ` +
          'moment; remove it, unless such offers are to come',
      ],
    ],
    [
      'offers that no level fits',
      { rsr: levels(level(0, 20)) },
      [
        `\`${RSR}.shipping.price_based_shipping\` has no level for one offer, which takes the ` +
          `dearest level's 8.50; add a level for the rest of the costs, classes and categories`,
      ],
    ],
    [
      'a flat rate is for what no level fits',
      {
        rsr: {
          shipping: {
            price_based_shipping_levels: [level(0, 20)],
            flat_rate: { cost: 1, shipping_class: 'x' },
          },
        },
      },
      [],
    ],
    [
      'the other spelling of the levels',
      { rsr: { shipping: { price_based_shipping_levels: [level(0, 20)] } } },
      [
        `\`${RSR}.shipping.price_based_shipping_levels\` has no level for one offer, which ` +
          `takes the dearest level's 8.50; add a level for the rest of the costs, classes and ` +
          'categories',
      ],
    ],
    ["the feed's estimate is for what no level fits", { lip: levels(level(20)) }, []],
    [
      'a cost adjustment that matches nothing',
      {
        pricing: {
          cost_adjustments: [
            { distributor: 'LIP', category: 'Magazines', dollar: 1 },
            { percent: 0.1 },
          ],
        },
      },
      [
        '`pricing.cost_adjustments[0]` matches no offer of your distributors; correct it, or remove it',
      ],
    ],
    [
      'an unknown brand and the one that was meant',
      { root: { brand: { exclude: ['Taurus', 'Kestral'] } } },
      [
        '`product_restrictions.brand.exclude[1]` names the brand "Kestral", which no offer ' +
          'has; did you mean "Kestrel"?',
      ],
    ],
    [
      'an unknown category without one near',
      { root: { category: { exclude: ['Boats'] } } },
      [
        '`product_restrictions.category.exclude[0]` names the category "Boats", which no ' +
          'offer has; correct it, or remove it',
      ],
    ],
    [
      'brands of the whole catalog are known',
      { unchecked: ['LIP'], root: { category: { exclude: ['Uncategorized', 'Magazines'] } } },
      [],
    ],
    [
      'names are looked for everywhere',
      {
        root: {
          product_groups: [{ type: 'exclude', criteria: { brand: ['A1'], category: ['A2'] } }],
        },
        lip: {
          product_restrictions: {
            brand: { include: ['B1', 'Taurus'], include_operand: 'OR' },
            category: { include: ['Uncategorized'], include_operand: 'OR' },
          },
          shipping: {
            price_based_shipping: [
              level(0, 5_000, { category: ['B2', 'Pistols', 'Uncategorized'] }),
            ],
          },
        },
        pricing: {
          margin: {
            default: { margin_dollar: 1 },
            x: { margin_dollar: 1, brand: ['C1', 'Taurus'] },
          },
          cost_adjustments: [{ brand: 'D1', dollar: 1 }],
          ignore_map_brands: ['E1'],
        },
      },
      [
        '`pricing.ignore_map_brands` is not empty: its brands may sell below MAP; list only ' +
          'brands whose MAP you are not bound to',
        '`pricing.cost_adjustments[0]` matches no offer of your distributors; correct it, or remove it',
        ...[
          ['product_restrictions.product_groups[0].criteria.brand[0]', 'brand', 'A1'],
          ['product_restrictions.product_groups[0].criteria.category[0]', 'category', 'A2'],
          ['distributors.Lipseys.product_restrictions.brand.include[0]', 'brand', 'B1'],
          ['distributors.Lipseys.shipping.price_based_shipping[0].category[0]', 'category', 'B2'],
          ['pricing.margin.x.brand[0]', 'brand', 'C1'],
          ['pricing.cost_adjustments[0].brand', 'brand', 'D1'],
          ['pricing.ignore_map_brands[0]', 'brand', 'E1'],
        ].map(
          ([place, kind, name]) =>
            `\`${place}\` names the ${kind} "${name}", which no offer has; correct it, or remove it`,
        ),
      ],
    ],
    [
      'distids that nobody has',
      {
        pricing: {
          margin: {
            default: { margin_dollar: 1 },
            x: { margin_dollar: 1, distributor: ['RSR', 'XRSR'] },
          },
          cost_adjustments: [
            { distributor: 'ZND', dollar: 1 },
            { distributor: 'WHATEVER', dollar: 1 },
          ],
        },
      },
      [
        '`pricing.margin.x.distributor[1]` names the distid "XRSR", which no distributor has; did you mean "RSR"?',
        '`pricing.cost_adjustments[1].distributor` names the distid "WHATEVER", which no ' +
          'distributor has; name the `distid` of a distributor',
        '`pricing.cost_adjustments[0]` matches no offer of your distributors; correct it, or remove it',
        '`pricing.cost_adjustments[1]` matches no offer of your distributors; correct it, or remove it',
      ],
    ],
    [
      'a distributor that restrictions hide',
      {
        lip: {
          product_restrictions: {
            product_class: { exclude: ['FA'] },
            include_uncategorized_product: false,
          },
        },
      },
      [
        '`distributors.Lipseys.product_restrictions.product_class.exclude` hides 1 of the 2 ' +
          'offers of Lipseys, more than any other rule, and together they leave none; loosen it',
      ],
    ],
    [
      'the whole catalog hidden by one rule',
      { root: { min_quantity_to_list: 1_000 } },
      [
        '`product_restrictions.min_quantity_to_list` hides all of the 5 offers of the whole catalog; loosen it',
      ],
    ],
    [
      'the whole catalog hidden by several',
      { root: { brand: { include: ['Taurus'] }, min_quantity_to_list: 4 } },
      [
        '`product_restrictions` hides 3 of the 5 offers of the whole catalog, more than any ' +
          'other rule, and together they leave none; loosen it',
      ],
    ],
    [
      "a distributor without a price of one's own",
      { znd: {} },
      [
        '`distributors.Zanders` has one offer and no price of yours for any of them; ask your ' +
          'operator for a feed with your prices',
      ],
    ],
    [
      'a distributor without offers',
      { lip: { distid: 'CSSI' } },
      [
        '`distributors.Lipseys` has no offers: the catalog holds no feed of CSSI; ask your ' +
          'operator for one, or set `active` to false',
      ],
    ],
  ]
  for (const [name, given, expected] of rows) {
    test(name, () => {
      const found = warnings(given)
      assert.deepEqual(
        found.map(({ message }) => message),
        expected,
      )
      for (const { pointer } of found)
        assert.notEqual(at(inputOf(given).document, pointer), undefined, pointer)
    })
  }

  test('of many unknown names the last warning tells how many more there are', () => {
    const found = warnings({
      root: { brand: { exclude: Array.from({ length: 50_000 }, (_, i) => `Kestrel ${i}`) } },
    })
    assert.equal(found.length, 100)
    assert.equal(
      found[98]!.message,
      '`product_restrictions.brand.exclude[98]` names the brand "Kestrel 98", which no offer ' +
        'has; did you mean "Kestrel"?',
    )
    assert.equal(
      found[99]!.message,
      '`product_restrictions.brand.exclude[99]` is one of 49,901 more brands and categories ' +
        'that no offer has; take them from GET /v1/products/facets',
    )
    assert.equal(found[99]!.pointer, '/product_restrictions/brand/exclude/99')
  })

  test('no more than 100 are told, whatever they are', () => {
    const found = warnings({
      ...margins(Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`g${i}`, {}]))),
      root: { brand: { exclude: ['Nobody'] } },
    })
    assert.equal(found.length, 100)
  })

  test('a group is said to set no price exactly when taking it out changes none', () => {
    const filters: fc.Arbitrary<Partial<MarginGroup>> = fc.record(
      {
        sku: some<string | number>('t9', 'M1', 'none'),
        upc: some<string | number>(12345678905, UPCS[2]!),
        brand: some('Taurus', 'Kestrel'),
        category: some('Pistols', 'Uncategorized'),
        product_class: some('FA', 'MG'),
        distributor: some('RSR', 'LIP', 'ZND'),
      },
      { requiredKeys: [] },
    )
    const { snapshot } = stock
    fc.assert(
      fc.property(fc.array(filters, { maxLength: 4 }), (groups) => {
        const given = margins(Object.fromEntries(groups.map((group, i) => ['abcd'[i]!, group])))
        const idle = new Set(
          warnings(given).flatMap(
            ({ pointer }) => /^\/pricing\/margin\/([a-d])$/.exec(pointer)?.[1] ?? [],
          ),
        )
        const input = inputOf({ znd: null, ...given })
        const rows = Array.from({ length: snapshot.rows }, (_, row) => row)
        const open = makeView(snapshot, input)
        for (const name of Object.keys(given.pricing!.margin!).filter(
          (group) => group !== 'default',
        )) {
          // The group alone has another margin: what it prices is what differs.
          const marked = {
            ...input.document,
            pricing: {
              ...given.pricing,
              margin: {
                ...given.pricing!.margin!,
                [name]: { ...given.pricing!.margin![name], margin_dollar: 99 },
              },
            },
          }
          const other = makeView(snapshot, { ...input, document: marked })
          const prices = rows.some(
            (row) => open.visible.has(row) && open.retailPrice!(row) !== other.retailPrice!(row),
          )
          assert.equal(idle.has(name), !prices, `${name} of ${JSON.stringify(given)}`)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('a range is said to be unused exactly when no cost takes it', () => {
    const bound = fc.constantFrom(0, 0.5, 1, 1.5, 2, 3)
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ minimum_unit_cost: bound, maximum_unit_cost: bound }, { requiredKeys: [] }),
          { minLength: 1, maxLength: 4 },
        ),
        (list) => {
          const pricing = {
            margin: {
              default: {
                margin_dollar: 0,
                price_based_margin: list.map((bounds, i) => ({
                  ...bounds,
                  margin_dollar: 10 * (i + 1),
                })),
              },
            },
          }
          const rule = retailRule(pricing)!
          const offer = {
            distid: 'RSR',
            sku: '',
            upcKey: 0,
            brand: null,
            category: '',
            productClass: 'AC',
            shippingCost: 0,
            map: -1,
          }
          const used = new Set(
            Array.from(
              { length: 600 },
              (_, cost) => (rule({ ...offer, cost, unitPrice: cost }) - cost) / 1_000 - 1,
            ),
          )
          const unused = warnings({ pricing }).map(({ pointer }) =>
            Number(pointer.split('/').at(-1)),
          )
          assert.deepEqual(
            unused,
            list.map((_, i) => i).filter((i) => !used.has(i)),
          )
        },
      ),
    )
  })

  test('a level is told of exactly when no offer ships at its rate, as are offers at the dearest one', () => {
    const bound = fc.integer({ min: 0, max: 60 })
    const { snapshot } = stock
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            min: bound,
            max: optional(bound),
            product_class: some('FA', 'MG', 'AC'),
            category: some('Pistols', 'Uncategorized'),
          }),
          { minLength: 1, maxLength: 4 },
        ),
        (list) => {
          // Rates that tell which level was taken; the dearest stands for what fits none.
          const price_based_shipping = list.map(({ min, max, ...more }, i) => ({
            ...level(min * 10, max === undefined ? max : max * 10, more),
            flat_rate: { cost: i + 1, shipping_class: 'x' },
          }))
          const given = {
            rsr: {
              shipping: {
                price_based_shipping: [
                  ...price_based_shipping,
                  {
                    ...level(0, 0, { product_class: ['SF'] }),
                    flat_rate: { cost: 99, shipping_class: 'x' },
                  },
                ],
              },
            },
          }
          const view = makeView(snapshot, inputOf(given))
          const rates = Array.from({ length: snapshot.rows }, (_, row) => row)
            .filter(
              (row) =>
                view.visible.has(row) && snapshot.distids[snapshot.distributor[row]!] === 'RSR',
            )
            .map((row) => view.shippingCost(row, 1) / 100)
          const told = warnings(given).map(({ pointer }) =>
            pointer.slice(pointer.lastIndexOf('/') + 1),
          )
          assert.deepEqual(
            told,
            [
              ...list.map((_, i) => i).filter((i) => !rates.includes(i + 1)),
              list.length,
              ...(rates.includes(99) ? ['price_based_shipping'] : []),
            ].map(String),
          )
        },
      ),
      { numRuns: 300 },
    )
  })

  test('the name that was meant is the nearest of all', () => {
    const name = fc.string({ unit: fc.constantFrom(...'aBcde -1'), minLength: 1, maxLength: 9 })
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 20 }), name, (brands, wanted) => {
        fc.pre(!brands.includes(wanted))
        const { snapshot } = snapshotOf(
          brands.map((mfgName, i) => ({ distid: 'RSR', stockid: `${i}`, mfgName, price: 1 })),
        )
        const [found] = warnings(
          { lip: null, root: { brand: { exclude: [wanted] } } },
          { snapshot },
        )
        assert.equal(
          /did you mean "(.*)"\?$/.exec(found!.message)?.[1] ?? null,
          nearest(wanted, snapshot.brands),
        )
      }),
      { numRuns: 100 },
    )
  })
})
