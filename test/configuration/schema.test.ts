/**
 * Every rule of the configuration's schema, on both sides (contract "Configuration document").
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { compileCheck, makeValidator } from '../../lib/configuration/check-document.js'
import { configurationSchema } from '../../lib/configuration/schema/schema.js'
import type { Schema } from '../../lib/configuration/schema/schema.js'
import { defineDistributor } from '../../lib/distributors/distributor.js'
import { builtin, presets } from '../../lib/distributors/builtin/index.js'
import { makeRegistry } from '../../lib/distributors/registry.js'
import { createTestApp } from '../../server/testing/index.js'

type Json = Record<string, unknown>

const registry = makeRegistry(builtin, presets)
const check = compileCheck(registry)

const FLAT = { cost: 9.95, shipping_class: 'flat', shipping_class_firearms: 'heavy' }
const LEVEL = {
  flat_rate: FLAT,
  min_unit_cost: 0,
  max_unit_cost: 100,
  product_class: ['FA'],
  category: ['Rifles'],
}
const RULES = {
  min_quantity_to_list: 1,
  include_uncategorized_product: false,
  purchase_limit: 5,
  sku: { include_operand: 'OR', include: ['A', 1], exclude: [] },
  upc: { include: ['012345678905', 12345678905] },
  brand: { exclude: ['Kestrel'] },
  category: { include: ['Rifles'] },
  product_class: { include: ['FA', 'SO'] },
  cost: {
    global_restrictions: { min_distributor_cost: 1, max_distributor_cost: 9_999.99 },
    product_class_restrictions: [
      { product_class: ['FA'], min_distributor_cost: 1, max_distributor_cost: 2 },
    ],
  },
  product_groups: [
    {
      id: 'g1',
      name: 'Slings',
      type: 'exclude',
      criteria: {
        sku: ['A'],
        upc: ['1', 2],
        brand: ['B'],
        category: ['C'],
        product_class: ['AC'],
        min_quantity_to_list: 1.5,
        cost: { min_cost: 0, max_cost: 0.01 },
      },
    },
  ],
}
const SHIPPING = {
  flat_rate: FLAT,
  price_based_shipping_levels: [LEVEL],
  insurance: { include: true, cost_per_hundred: 1 },
  handling: { amount: 5, order_threshold: 50, add_handling_to_unit_cost: true },
}
const EMAILS = { ffl_recipient_emails: ['licenses@distributor.example'] }
const BILLING = {
  company: 'Shop',
  first_name: 'A',
  last_name: 'B',
  address_street: '1 Main St',
  address_street_2: 'B',
  city: 'Stuart',
  state: 'FL',
  postal_code: '34994',
  email: 'a@shop.example',
  phone: '7725550100',
}

const entry = (distid: string, more: Json = {}) => ({
  active: true,
  distid,
  drop_ship_only_items: false,
  shipping: SHIPPING,
  product_restrictions: RULES,
  product_feed: { active: true },
  ...more,
})

/** A document with every member that the schema knows; no two places share an object. */
const FULL = unshared({
  distributors: {
    Lipseys: entry('LIP', {
      fulfillment: {
        API_USER: 'a@shop.example',
        API_PASSWORD: 'x',
        ship_to_store: { API_USER: 'b@shop.example', API_PASSWORD: 'y' },
        ...EMAILS,
      },
    }),
    Zanders: entry('ZND', {
      fulfillment: {
        accessories: { api_user: 'a', api_password: 'x' },
        firearms: { api_user: 'b', api_password: 'y' },
        ship_to_store: { api_user: 'c', api_password: 'z' },
        ...EMAILS,
      },
    }),
    Davidsons: entry('DAV'),
    'RSR Group': entry('RSR', {
      fulfillment: {
        API_USER: 12345,
        API_PASSWORD: 'x',
        ship_to_store: { store_account: '12346', password: 'y' },
        ...EMAILS,
      },
    }),
    '2nd Amendment Wholesale': entry('2AW', {
      fulfillment: { API_TOKEN: 'x', ...EMAILS, billing_address: BILLING },
    }),
    AmChar: entry('AMC', { fulfillment: { api_key: 'x' } }),
    'Bill Hicks': entry('BILL', {
      fulfillment: { customer_number: 'x', ...EMAILS, ship_to: '1', default_ship_method: 'UPSF' },
    }),
    'Chattanooga Shooting Supplies': entry('CSSI', {
      default_shipping_method_non_firearms: 'best',
      fulfillment: { API_SID: 'x', API_TOKEN: 'y' },
    }),
    'Sports South': entry('TSW', {
      fulfillment: { api_user: 1, api_customer_number: 2, api_password: 'x', ...EMAILS },
    }),
    CamFour: entry('CAM4', { product_feed: { active: true, api_key: 'x' } }),
    'Orion Wholesale': entry('ORI', { fulfillment: { connection_key: 'x' } }),
    'Hicks Inc.': entry('HIX', {
      fulfillment: { ftp_user: 'x', ftp_password: 'y', ship_method: 'UPS' },
    }),
  },
  targets: {
    woo: {
      active: true,
      url: 'https://shop.example',
      'consumer-key': 'ck',
      'consumer-secret': 'cs',
      load_batch_count: 10,
      alerts: { delete_threshold_percent: 0.25, change_threshold_percent: 0.5 },
      pricing: {
        margin_adjustment_dollar: 0,
        margin_adjustment_percent: 0,
        populate_sale_price_if_less_than_msrp: true,
      },
      product_restrictions: RULES,
    },
    gunbroker: {
      active: true,
      environment: 'sandbox',
      username: 'u',
      password: 'p',
      key: 'k',
      pricing: { margin_adjustment_percent: 0.05 },
      product_restrictions: {},
    },
    ammoseek: { active: true, listed_products: { ammunition: RULES } },
    'gun.deals': { active: false, listed_products: { guns: {} } },
    wikiarms: { active: false },
    odoo: { active: true },
  },
  notification_email: 'owner@shop.example',
  pricing: {
    margin: {
      default: {
        margin_dollar: 0,
        margin_percentage: 0.2,
        price_based_margin: [
          {
            minimum_unit_cost: 0,
            maximum_unit_cost: 100,
            margin_dollar: 5,
            margin_percentage: 0.1,
          },
        ],
      },
      firearms: {
        margin_percentage: 0.15,
        product_class: ['FA'],
        category: ['Rifles'],
        brand: ['Kestrel'],
        sku: ['A', 1],
        upc: ['1', 2],
        distributor: ['RSR'],
      },
    },
    credit_card_fee_percent: 0.03,
    credit_card_fee_transaction: 0.3,
    include_credit_card_fees_in_price: true,
    include_shipping_in_price: false,
    sales_tax_assumption: 0.08,
    rounding: 'none',
    sell_at_map: false,
    ignore_map_brands: ['Kestrel'],
    cost_adjustments: [
      {
        distributor: 'RSR',
        product_class: 'FA',
        category: 'Rifles',
        brand: 'Kestrel',
        percent: -0.05,
        dollar: 1,
      },
    ],
  },
  product_restrictions: RULES,
  fulfillment: {
    ship_to_store: {
      ffl: '1-23-456-07-9A-01234',
      phone: '7725550100',
      address: {
        ship_to_name: 'Shop',
        address_street: '1 Main St',
        city: 'Stuart',
        state: 'FL',
        postal_code: '34994-1234',
      },
    },
    automation_exceptions: {
      max_auto_fulfillment_dollar_value: 3_000,
      state_restrictions: ['AK', 'HI'],
    },
  },
  bound_book: { any: 1 },
  POS: {},
  payment_processor: { any: { deep: [1] } },
})

function unshared<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}

/** The full document with one value replaced; undefined removes the member. */
function withValue(pointer: string, value: unknown): Json {
  const document = structuredClone(FULL) as Json
  const path = pointer.split('/').slice(1)
  const leaf = path.pop()!
  const parent = path.reduce<Json>((at, name) => at[name] as Json, document)
  if (value === undefined) delete parent[leaf]
  else parent[leaf] = value
  return document
}

/** `suffix`: where below the pointer the fault is. */
type Refused = [value: unknown, need: RegExp, suffix?: string]
type Row = [pointer: string, takes: unknown[], refuses: Refused[]]

function checkRows(rows: readonly Row[]): void {
  for (const [pointer, takes, refuses] of rows) {
    test(pointer, () => {
      for (const value of takes)
        assert.deepEqual(check(withValue(pointer, value)), [], JSON.stringify(value))
      for (const [value, need, suffix = ''] of refuses) {
        const faults = check(withValue(pointer, value))
        const path = pointer + suffix
        assert.deepEqual(
          [...new Set(faults.map((fault) => fault.path))],
          [path],
          `${JSON.stringify(value)}: ${JSON.stringify(faults)}`,
        )
        assert.match(faults[0]!.message, need)
        assert.ok(
          faults[0]!.message.includes(path.split('/').findLast((step) => !/^\d+$/.test(step))!),
          faults[0]!.message,
        )
      }
    })
  }
}

const MISSING: Refused = [undefined, /is required: \w/]
const NO_OBJECT: Refused[] = [
  [[], /must be an object/],
  ['x', /must be an object/],
  [null, /must be an object/],
]
const needed = (pointer: string, takes: unknown[] = [], refuses: Refused[] = []): Row => [
  pointer,
  takes,
  [MISSING, ...refuses],
]
const optional = (pointer: string, takes: unknown[] = [], refuses: Refused[] = []): Row => [
  pointer,
  [undefined, ...takes],
  refuses,
]
const FLAG: [unknown[], Refused[]] = [
  [true, false],
  [
    ['true', /must be true or false/],
    [1, /must be true or false/],
  ],
]
const TEXT: [unknown[], Refused[]] = [
  ['', 'x', '*'],
  [
    [5, /must be text/],
    [null, /must be text/],
  ],
]
const TEXTS: [unknown[], Refused[]] = [
  [[], ['x']],
  [
    ['x', /must be a list/],
    [[1], /must be text/, '/0'],
  ],
]
const CODES: [unknown[], Refused[]] = [
  [[], ['AC', 'SO', 'ZZ'].slice(0, 2)],
  [
    [['AC', 'ZZ'], /must be one of AC, AG/, '/1'],
    ['AC', /must be a list/],
  ],
]
const MIXED: [unknown[], Refused[]] = [
  [[], ['A', 1]],
  [
    [[true], /must be text or a number/, '/0'],
    [['A', null], /must be text or a number/, '/1'],
  ],
]
const between = (least: number, most: number): [unknown[], Refused[]] => [
  [least, most],
  [
    [least - 0.001, new RegExp(`at least ${least}$`)],
    [most + 0.001, new RegExp(`at most ${most}`)],
    [String(most), /must be a number/],
  ],
]
const FRACTION = between(0, 0.99)
const SIGNED = between(-0.99, 0.99)
const DOLLARS = between(-1_000_000, 1_000_000)
const AMOUNT = between(0, 1_000_000)
const STATE: [unknown[], Refused[]] = [
  ['FL', 'fl'],
  [
    ['Fla', /two letters/],
    ['F', /two letters/],
    ['F1', /two letters/],
    [12, /must be text/],
  ],
]
const POSTAL: [unknown[], Refused[]] = [
  ['34994', '34994-1234', 34994],
  [
    ['3499', /5 digits or 5\+4/],
    ['34994-12', /5 digits or 5\+4/],
    ['349941234', /5 digits or 5\+4/],
    ['x34994', /5 digits/],
    [3499, /5 digits or 5\+4/],
  ],
]
const EMAIL_LIST: [unknown[], Refused[]] = [
  [[], ['a@shop.example']],
  [
    [['a@shop.example', 'nobody'], /must be an e-mail address/, '/1'],
    ['a@shop.example', /must be a list/],
  ],
]
const EMAIL: [unknown[], Refused[]] = [
  ['a@shop.example'],
  [
    ['nobody', /must be an e-mail address/],
    ['', /must be an e-mail address/],
    [1, /must be text/],
  ],
]

test('a document with every member passes', () => assert.deepEqual(check(FULL), []))

describe('the root', () =>
  checkRows([
    ...['/distributors', '/targets', '/product_restrictions', '/pricing'].map((pointer) =>
      needed(pointer, [{}], NO_OBJECT),
    ),
    needed('/notification_email', ...EMAIL),
    ...['/fulfillment', '/bound_book', '/POS', '/payment_processor'].map((pointer) =>
      optional(pointer, [{}, { any: { deep: [1] } }], NO_OBJECT),
    ),
    ['/pos', [], [[{}, /not a known member; did you mean `POS`\?/]]],
    ['/configuration', [], [[{}, /not a known member; known are distributors, targets/]]],
  ]))

describe('pricing', () =>
  checkRows([
    optional('/pricing/credit_card_fee_percent', ...FRACTION),
    optional('/pricing/sales_tax_assumption', ...FRACTION),
    optional('/pricing/credit_card_fee_transaction', ...AMOUNT),
    ...['include_credit_card_fees_in_price', 'include_shipping_in_price', 'sell_at_map'].map(
      (name) => optional(`/pricing/${name}`, ...FLAG),
    ),
    optional(
      '/pricing/rounding',
      ['none', 'round_to_nearest_dollar', 'round_up_to_99_cents'],
      [['up', /must be one of none, round_to_nearest_dollar, round_up_to_99_cents/]],
    ),
    optional('/pricing/ignore_map_brands', ...TEXTS),
    [
      '/pricing/round_to_nearest_dollar',
      [],
      [[true, /older form: `pricing.rounding` took its place/]],
    ],
    optional(
      '/pricing/margin',
      [{ default: { margin_dollar: 1 } }],
      [
        [{}, /is required: the margin used when no group matches/, '/default'],
        [{ default: { margin_dollar: 1 }, a: 5 }, /must be an object/, '/a'],
      ],
    ),
    ...['group1', 'two words', 'a-b', 'é'].map((name): Row => [
      `/pricing/margin/${name}`,
      [],
      [[{ margin_dollar: 1 }, /named in letters/]],
    ]),
    needed(
      '/pricing/margin/default',
      [{ margin_dollar: 1 }, { margin_percentage: 0 }],
      [
        [{}, /needs at least one of margin_dollar, margin_percentage/],
        [{ brand: ['x'] }, /at least one of/],
      ],
    ),
    optional('/pricing/margin/default/margin_dollar', ...DOLLARS),
    optional('/pricing/margin/default/margin_percentage', ...FRACTION),
    optional('/pricing/margin/firearms/product_class', ...CODES),
    ...['category', 'brand', 'distributor'].map((name) =>
      optional(`/pricing/margin/firearms/${name}`, ...TEXTS),
    ),
    ...['sku', 'upc'].map((name) => optional(`/pricing/margin/firearms/${name}`, ...MIXED)),
    optional(
      '/pricing/margin/default/price_based_margin',
      [[], [{ margin_dollar: 1 }], [{ margin_percentage: 0.99 }]],
      [
        [
          [{ minimum_unit_cost: 1 }],
          /needs at least one of margin_dollar, margin_percentage/,
          '/0',
        ],
        [{}, /must be a list/],
      ],
    ),
    ...['minimum_unit_cost', 'maximum_unit_cost'].map((name) =>
      optional(
        `/pricing/margin/default/price_based_margin/0/${name}`,
        [0, 9.5],
        [[-0.01, /at least 0/]],
      ),
    ),
    optional('/pricing/margin/default/price_based_margin/0/margin_percentage', ...FRACTION),
    optional(
      '/pricing/cost_adjustments',
      [[], [{ percent: 0.1 }], [{ dollar: -1 }]],
      [[[{ brand: 'x' }], /needs at least one of percent, dollar/, '/0']],
    ),
    optional('/pricing/cost_adjustments/0/percent', ...SIGNED),
    optional('/pricing/cost_adjustments/0/dollar', ...DOLLARS),
    ...['distributor', 'category', 'brand'].map((name) =>
      optional(`/pricing/cost_adjustments/0/${name}`, ...TEXT),
    ),
    optional('/pricing/cost_adjustments/0/product_class', ['AC'], [['ZZ', /must be one of/]]),
  ]))

describe('targets', () =>
  checkRows([
    ...['woo', 'gunbroker', 'ammoseek', 'gun.deals', 'wikiarms', 'odoo'].flatMap((name): Row[] => [
      optional(
        `/targets/${name}`,
        [{ active: true }, { active: false, of_its_own: { kept: [1] } }],
        NO_OBJECT,
      ),
      needed(`/targets/${name}/active`, ...FLAG),
    ]),
    optional(
      '/targets/woo/url',
      ['http://127.0.0.1:8080/shop'],
      [
        ['shop.example', /absolute address, such as https/],
        ['', /absolute address/],
        [1, /must be text/],
      ],
    ),
    ...[
      'woo/consumer-key',
      'woo/consumer-secret',
      'gunbroker/username',
      'gunbroker/password',
      'gunbroker/key',
    ].map((name) => optional(`/targets/${name}`, ...TEXT)),
    optional(
      '/targets/woo/load_batch_count',
      [1, 100],
      [
        [0, /at least 1/],
        [101, /at most 100/],
        [1.5, /whole number/],
        ['10', /whole number/],
      ],
    ),
    optional('/targets/woo/alerts', [{}, { other: 1 }], NO_OBJECT),
    optional('/targets/woo/alerts/delete_threshold_percent', FRACTION[0], [
      ...FRACTION[1],
      [25, /a fraction, 0.25 is 25 %/],
    ]),
    optional('/targets/woo/alerts/change_threshold_percent', [0, 1], [[-0.01, /at least 0/]]),
    optional('/targets/woo/pricing/margin_adjustment_percent', ...SIGNED),
    optional('/targets/gunbroker/pricing/margin_adjustment_percent', ...SIGNED),
    optional('/targets/woo/pricing/margin_adjustment_dollar', ...DOLLARS),
    optional('/targets/woo/pricing/populate_sale_price_if_less_than_msrp', ...FLAG),
    optional(
      '/targets/gunbroker/environment',
      ['sandbox', 'production'],
      [['live', /must be one of sandbox, production/]],
    ),
    optional(
      '/targets/woo/product_restrictions',
      [{}],
      [[{ skus: {} }, /did you mean `sku`/, '/skus']],
    ),
    optional(
      '/targets/gun.deals/listed_products',
      [{}, { guns: {} }],
      [
        [{ guns: 1 }, /must be an object/, '/guns'],
        [[], /must be an object/],
      ],
    ),
  ]))

describe('fulfillment of the root', () =>
  checkRows([
    ...['', '/ship_to_store', '/ship_to_store/address', '/automation_exceptions'].map((place) =>
      optional(`/fulfillment${place}`, [{}, { unknown: { kept: 1 } }], NO_OBJECT),
    ),
    optional('/fulfillment/ship_to_store/ffl', ...TEXT),
    optional(
      '/fulfillment/ship_to_store/phone',
      ['x', 7725550100],
      [[1.5, /text or a whole number/]],
    ),
    ...['ship_to_name', 'address_street', 'city'].map((name) =>
      optional(`/fulfillment/ship_to_store/address/${name}`, ...TEXT),
    ),
    optional('/fulfillment/ship_to_store/address/state', ...STATE),
    optional('/fulfillment/ship_to_store/address/postal_code', ...POSTAL),
    optional(
      '/fulfillment/automation_exceptions/max_auto_fulfillment_dollar_value',
      [0, 9.5],
      [
        [-1, /at least 0/],
        ['9', /must be a number/],
      ],
    ),
    optional('/fulfillment/automation_exceptions/state_restrictions', ...TEXTS),
  ]))

describe('an entry', () =>
  checkRows([
    ...Object.entries(FULL.distributors).flatMap(([name, { distid }]): Row[] => [
      needed(`/distributors/${name}/active`, ...FLAG),
      needed(`/distributors/${name}/drop_ship_only_items`, ...FLAG),
      needed(
        `/distributors/${name}/distid`,
        [],
        [
          [distid === 'RSR' ? 'LIP' : 'RSR', new RegExp(`must be "${distid}"`)],
          [distid.toLowerCase(), /must be/],
        ],
      ),
      needed(
        `/distributors/${name}/shipping`,
        [],
        [[{}, /needs `flat_rate` or `price_based_shipping`/]],
      ),
      needed(
        `/distributors/${name}/product_restrictions`,
        [{ purchase_limit: 1 }],
        [[{}, /needs at least one of min_quantity_to_list, /]],
      ),
      [
        `/distributors/${name}/of_its_own`,
        [],
        [[1, /is not a known member; known are active, distid/]],
      ],
      ...(distid === 'CSSI'
        ? []
        : [
            [
              `/distributors/${name}/default_shipping_method_non_firearms`,
              [],
              [['best', /is not a known member/]],
            ] as Row,
          ]),
      distid === 'CAM4'
        ? needed(`/distributors/${name}/product_feed`, [{ api_key: 'x' }], NO_OBJECT)
        : optional(
            `/distributors/${name}/product_feed`,
            [{}, { active: false }],
            [[{ api_key: 'x' }, /is not a known member/, '/api_key']],
          ),
      ['DAV', 'CAM4'].includes(distid)
        ? [`/distributors/${name}/fulfillment`, [], [[{}, /is not a known member/]]]
        : ['2AW', 'AMC', 'BILL', 'CSSI', 'ORI', 'HIX'].includes(distid)
          ? needed(`/distributors/${name}/fulfillment`, [], NO_OBJECT)
          : optional(
              `/distributors/${name}/fulfillment`,
              [{}],
              [[{ API_HOST: 'x' }, /is of an older form: the program knows/, '/API_HOST']],
            ),
    ]),
    [
      '/distributors/RSR',
      [],
      [[{}, /not a distributor here; the distid RSR belongs to `RSR Group`/]],
    ],
    ['/distributors/rsr group', [], [[entry('RSR'), /did you mean `RSR Group`/]]],
    [
      '/distributors/Acme',
      [],
      [[entry('ACME'), /not a distributor here; GET \/v1\/distributors lists them/]],
    ],
  ]))

describe('what each distributor takes', () => {
  const fulfillment = (name: string, path: string) => `/distributors/${name}/fulfillment/${path}`
  const [aw, cssi, cam] = ['2nd Amendment Wholesale', 'Chattanooga Shooting Supplies', 'CamFour']
  const NUMBER: [unknown[], Refused[]] = [
    ['12345', 12345],
    [
      [1.5, /must be text or a whole number/],
      [true, /must be text or a whole number/],
    ],
  ]
  checkRows([
    needed(fulfillment(aw, 'API_TOKEN'), ...TEXT),
    needed(fulfillment(aw, 'ffl_recipient_emails'), ...EMAIL_LIST),
    optional(fulfillment(aw, 'billing_address')),
    ...['company', 'first_name', 'last_name', 'address_street', 'city'].map((member) =>
      needed(fulfillment(aw, `billing_address/${member}`), ...TEXT),
    ),
    needed(fulfillment(aw, 'billing_address/phone'), ...NUMBER),
    optional(fulfillment(aw, 'billing_address/address_street_2'), ...TEXT),
    needed(fulfillment(aw, 'billing_address/state'), ...STATE),
    needed(fulfillment(aw, 'billing_address/postal_code'), ...POSTAL),
    needed(fulfillment(aw, 'billing_address/email'), ...EMAIL),
    needed(fulfillment('AmChar', 'api_key'), ...TEXT),
    needed(fulfillment('Bill Hicks', 'customer_number'), ...TEXT),
    needed(fulfillment('Bill Hicks', 'ffl_recipient_emails'), ...EMAIL_LIST),
    optional(fulfillment('Bill Hicks', 'ship_to'), ...TEXT),
    optional(
      fulfillment('Bill Hicks', 'default_ship_method'),
      ['UPSF', 'UPSR'],
      [
        ['UPSH', /must be one of UPSF, UPSR/],
        ['', /must be one of/],
      ],
    ),
    needed(fulfillment(cssi, 'API_SID'), ...TEXT),
    needed(fulfillment(cssi, 'API_TOKEN'), ...TEXT),
    optional(
      `/distributors/${cssi}/default_shipping_method_non_firearms`,
      ['best', 'fastest', 'economy', 'ground', 'next_day_air', 'second_day_air'],
      [['slow', /must be one of best, fastest, economy, ground, next_day_air, second_day_air/]],
    ),
    needed(`/distributors/${cam}/product_feed/api_key`, ...TEXT),
    optional(`/distributors/${cam}/product_feed/active`, ...FLAG),
    ...['API_USER', 'API_PASSWORD', 'ship_to_store/API_USER', 'ship_to_store/API_PASSWORD'].map(
      (path) => optional(fulfillment('Lipseys', path), ...TEXT),
    ),
    ...['accessories', 'firearms', 'ship_to_store'].flatMap((lane) =>
      ['api_user', 'api_password'].map((leaf) =>
        optional(fulfillment('Zanders', `${lane}/${leaf}`), ...TEXT),
      ),
    ),
    ...['API_USER', 'ship_to_store/store_account'].map((path) =>
      optional(fulfillment('RSR Group', path), ...NUMBER),
    ),
    ...['API_PASSWORD', 'ship_to_store/password'].map((path) =>
      optional(fulfillment('RSR Group', path), ...TEXT),
    ),
    ...['api_user', 'api_customer_number', 'api_password'].map((path) =>
      optional(fulfillment('Sports South', path), ...NUMBER),
    ),
    ...['Lipseys', 'Zanders', 'RSR Group', 'Sports South'].map((name) =>
      optional(fulfillment(name, 'ffl_recipient_emails'), ...EMAIL_LIST),
    ),
  ])
  test('an API token keeps its spelling in a message', () => {
    assert.match(
      check(withValue(fulfillment(aw, 'API_TOKEN'), undefined))[0]!.message,
      /API_TOKEN` is required: API token$/,
    )
  })
})

describe('shipping', () => {
  const at = (member: string) => `/distributors/Davidsons/shipping${member}`
  describe('exactly one of flat_rate and price_based_shipping, or the levels under their other spelling', () => {
    const levels = [{ flat_rate: FLAT, min_unit_cost: 0 }]
    const members = {
      F: { flat_rate: FLAT },
      P: { price_based_shipping: levels },
      L: { price_based_shipping_levels: levels },
    }
    const rows: [given: string, need: RegExp | null][] = [
      ['', /needs `flat_rate` or `price_based_shipping`/],
      ['F', null],
      ['P', null],
      ['L', null],
      ['FL', null],
      ['FP', /has both `flat_rate` and `price_based_shipping`: remove one/],
      ['PL', /two spellings of one member: remove one/],
      ['FPL', /two spellings of one member: remove one/],
    ]
    for (const [given, need] of rows) {
      test(given || 'nothing', () => {
        const faults = check(
          withValue(
            at(''),
            Object.assign(
              {},
              ...[...given].map((letter) => members[letter as keyof typeof members]),
            ),
          ),
        )
        assert.deepEqual(
          faults.map(({ path }) => path),
          need ? [at('')] : [],
        )
        if (need) assert.match(faults[0]!.message, need)
      })
    }
    checkRows([
      [
        at(''),
        [{ flat_rate: FLAT, price_based_shipping_levels: [] }],
        [
          [{ price_based_shipping: [] }, /at least 1 entry/, '/price_based_shipping'],
          [{ price_based_shipping_levels: [] }, /not one in the list: add a level/],
          [
            { fixed_cost: 15 },
            /`fixed_cost` is of an older form, `flat_rate.cost` and `flat_rate.shipping_class` took its place/,
          ],
        ],
      ],
      [at(''), [{ flat_rate: FLAT, of_its_own: { kept: 1 } }], []],
    ])
    test('an empty list of levels beside flat_rate is still both', () => {
      assert.ok(
        check(withValue(at(''), { flat_rate: FLAT, price_based_shipping: [] })).some(
          ({ path, message }) => path === at('') && message.includes('has both'),
        ),
      )
    })
  })
  checkRows([
    optional(at('/flat_rate'), [{ cost: 0, shipping_class: '', of_its_own: 1 }], NO_OBJECT),
    needed(at('/flat_rate/cost'), ...AMOUNT),
    needed(at('/flat_rate/shipping_class'), ...TEXT),
    optional(
      at('/price_based_shipping_levels'),
      [],
      [
        [[{ ...LEVEL, cost: 1 }], /is not a known member/, '/0/cost'],
        [[5], /must be an object/, '/0'],
      ],
    ),
    needed(
      at('/price_based_shipping_levels/0/flat_rate'),
      [],
      [[{ cost: 1 }, /is required/, '/shipping_class']],
    ),
    needed(
      at('/price_based_shipping_levels/0/min_unit_cost'),
      [0, 5],
      [
        [-1, /at least 0/],
        [0.5, /whole number/],
      ],
    ),
    optional(
      at('/price_based_shipping_levels/0/max_unit_cost'),
      [0, 5],
      [
        [-1, /at least 0/],
        [0.5, /whole number/],
      ],
    ),
    optional(at('/price_based_shipping_levels/0/product_class'), ...CODES),
    optional(at('/price_based_shipping_levels/0/category'), ...TEXTS),
    optional(
      at('/insurance'),
      [{ include: false }],
      [[{ include: true, of_its_own: 1 }, /is not a known member/, '/of_its_own']],
    ),
    needed(at('/insurance/include'), ...FLAG),
    optional(at('/insurance/cost_per_hundred'), ...AMOUNT),
    optional(at('/handling'), [], [...NO_OBJECT]),
    needed(at('/handling/amount'), ...AMOUNT),
    needed(at('/handling/order_threshold'), ...AMOUNT),
    needed(at('/handling/add_handling_to_unit_cost'), ...FLAG),
  ])
})

describe('product_restrictions', () => {
  test('{} restricts nothing at the root, and is refused in an entry', () => {
    assert.deepEqual(check(withValue('/product_restrictions', {})), [])
    assert.deepEqual(
      check(withValue('/distributors/RSR Group/product_restrictions', {})).map(({ path }) => path),
      ['/distributors/RSR Group/product_restrictions'],
    )
  })
  const listed = (place: string, items: [unknown[], Refused[]]) => [
    optional(
      place,
      [{ include: [] }, { exclude: [] }, { include_operand: 'AND', include: [], exclude: [] }],
      [
        [{}, /needs at least one of include, exclude/],
        [{ include_operand: 'AND' }, /needs at least one of include, exclude/],
        [{ include: [], only: [] }, /known are include_operand, include, exclude/, '/only'],
      ],
    ),
    [
      `${place}/include_operand`,
      ['AND', 'OR', undefined],
      [['and', /must be one of AND, OR/]],
    ] as Row,
    ...['include', 'exclude'].map((side): Row => [`${place}/${side}`, items[0], items[1]]),
  ]
  for (const place of [
    '/product_restrictions',
    '/distributors/Lipseys/product_restrictions',
    '/targets/woo/product_restrictions',
  ]) {
    for (const name of Object.keys(RULES))
      test(`${place}: ${name} alone`, () =>
        assert.deepEqual(check(withValue(place, { [name]: RULES[name as 'sku'] })), []))
  }
  const at = (member: string) => `/product_restrictions/${member}`
  const bounds = (place: string) =>
    ['min_distributor_cost', 'max_distributor_cost'].map((name) =>
      needed(at(`${place}/${name}`), [0, 9.99], [['9', /must be a number/]]),
    )
  const criteria = (member: string) => at(`product_groups/0/criteria${member}`)
  checkRows([
    optional(
      at('min_quantity_to_list'),
      [1, 50],
      [
        [0, /at least 1/],
        [1.5, /whole number/],
        ['1', /whole number/],
      ],
    ),
    optional(at('include_uncategorized_product'), ...FLAG),
    optional(at('purchase_limit'), [0, 1, 100], [[1.5, /whole number/]]),
    ...['sku', 'upc'].flatMap((name) => listed(at(name), MIXED)),
    ...['brand', 'category'].flatMap((name) => listed(at(name), TEXTS)),
    ...listed(at('product_class'), CODES),
    optional(
      at('cost'),
      [
        { global_restrictions: { min_distributor_cost: 0, max_distributor_cost: 1 } },
        { product_class_restrictions: [] },
      ],
      [
        [{}, /needs at least one of global_restrictions, product_class_restrictions/],
        [{ product_class_restrictions: [], max: 1 }, /is not a known member/, '/max'],
      ],
    ),
    optional(at('cost/global_restrictions')),
    ...bounds('cost/global_restrictions'),
    ...bounds('cost/product_class_restrictions/0'),
    needed(at('cost/product_class_restrictions/0/product_class'), ...CODES),
    needed(
      at('product_groups/0/type'),
      ['include', 'exclude'],
      [['hide', /must be one of include, exclude/]],
    ),
    needed(criteria(''), [{}], NO_OBJECT),
    optional(at('product_groups/0/id'), ...TEXT),
    optional(at('product_groups/0/name'), ...TEXT),
    ...['sku', 'brand', 'category'].map((name) => optional(criteria(`/${name}`), ...TEXTS)),
    optional(criteria('/upc'), ...MIXED),
    optional(criteria('/product_class'), ...CODES),
    optional(criteria('/min_quantity_to_list'), [1, 1.5], [[0.99, /at least 1/]]),
    optional(criteria('/cost'), [{}], NO_OBJECT),
    optional(criteria('/cost/min_cost'), [0], [[-0.01, /at least 0/]]),
    optional(criteria('/cost/max_cost'), [0.01], [[0, /at least 0.01/]]),
  ])
})

/** Schemas inside a schema, itself included. */
function subschemas(schema: Schema): Schema[] {
  const maps = ['properties', 'patternProperties', 'definitions'].flatMap((name) =>
    Object.values((schema[name] ?? {}) as Record<string, Schema>),
  )
  const lists = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => (schema[name] ?? []) as Schema[])
  const single = ['items', 'not', 'additionalProperties'].flatMap((name) =>
    typeof schema[name] === 'object' ? [schema[name] as Schema] : [],
  )
  return [schema, ...[...maps, ...lists, ...single].flatMap(subschemas)]
}

describe('rules that are tried on the whole catalog', () => {
  const set = (pointer: string, value: unknown) => {
    const document = structuredClone(FULL) as Json
    const path = pointer.split('/').slice(1)
    const leaf = path.pop()!
    const parent = path.reduce<Json>((at, name) => at[name] as Json, document)
    parent[leaf] = value
    return document
  }
  const rows: [pointer: string, most: number, entry: unknown][] = [
    ['/product_restrictions/product_groups', 50, { type: 'exclude', criteria: {} }],
    ['/distributors/Davidsons/shipping/price_based_shipping_levels', 100, LEVEL],
    ['/pricing/cost_adjustments', 200, { dollar: 1 }],
    ['/pricing/margin/default/price_based_margin', 100, { margin_dollar: 1 }],
  ]
  for (const [pointer, most, one] of rows) {
    test(`${pointer} has at most ${most} entries`, () => {
      assert.deepEqual(check(set(pointer, Array(most).fill(one))), [])
      const [fault, ...others] = check(set(pointer, Array(most + 1).fill(one)))
      assert.deepEqual([fault?.path, others], [pointer, []])
      assert.match(fault!.message, new RegExp(`must have at most ${most} entries`))
    })
  }

  test('there are at most 100 margin groups, the default counted', () => {
    const groups = (count: number) => ({
      default: { margin_dollar: 1 },
      ...Object.fromEntries(
        Array.from({ length: count - 1 }, (_, i) => [
          String.fromCharCode(97 + (i % 26)).repeat(1 + Math.floor(i / 26)),
          { margin_dollar: 1 },
        ]),
      ),
    })
    assert.deepEqual(check(set('/pricing/margin', groups(100))), [])
    assert.match(
      check(set('/pricing/margin', groups(101)))[0]!.message,
      /must have at most 100 members/,
    )
  })
})

describe('the served schema', () => {
  test('is raw draft-04, without the envelope, the same through the library', async () => {
    await using t = await createTestApp()
    const { status, body } = await t.json('/v1/config/schema')
    assert.deepEqual(
      [status, body.$schema, 'success' in body],
      [200, 'http://json-schema.org/draft-04/schema#', false],
    )
    const { definitions } = body
    assert.deepEqual(body, await t.shop.config.schema())
    assert.equal(makeValidator().validateSchema(body), true)
    const draft04 = new Set([
      '$schema',
      '$ref',
      'title',
      'description',
      'definitions',
      'type',
      'enum',
      'properties',
      'patternProperties',
      'additionalProperties',
      'required',
      'items',
      'minItems',
      'maxItems',
      'maxProperties',
      'minimum',
      'maximum',
      'pattern',
      'format',
      'anyOf',
      'oneOf',
      'not',
    ])
    const all = subschemas(body as Schema)
    assert.ok(all.length > 300)
    for (const schema of all) {
      for (const keyword of Object.keys(schema)) assert.ok(draft04.has(keyword), keyword)
      if (typeof schema['$ref'] === 'string')
        assert.ok(schema['$ref'].replace('#/definitions/', '') in definitions, schema['$ref'])
    }
    assert.equal(makeValidator().validate(body, FULL), true)
  })

  test('stands in /v1/openapi.json, an entry for each distributor', async () => {
    await using t = await createTestApp()
    const { body } = await t.json('/v1/openapi.json', { key: null })
    const { schemas } = body.components
    for (const { distid } of builtin)
      assert.deepEqual(schemas[`Configuration_distributor_${distid}`].properties.distid.enum, [
        distid,
      ])
    const refs = [
      ...JSON.stringify(schemas).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g),
    ].map(([, name]) => name!)
    assert.deepEqual(
      refs.filter((name) => !(name in schemas)),
      [],
    )
    assert.deepEqual(schemas.Configuration.required, [
      'distributors',
      'targets',
      'notification_email',
      'pricing',
      'product_restrictions',
    ])
  })
})

describe('the registry', () => {
  const AUTOMATED = {
    LIP: true,
    ZND: true,
    DAV: false,
    RSR: true,
    '2AW': true,
    AMC: false,
    BILL: true,
    CSSI: true,
    TSW: true,
    CAM4: false,
    ORI: true,
    HIX: true,
  }
  const mine = defineDistributor({
    distid: 'MINE',
    name: 'My Own',
    automatedFulfillment: false,
    requiredSections: ['fulfillment'],
    settings: {
      token: {
        type: 'string',
        label: 'Token',
        path: 'fulfillment-token',
        required: true,
        secret: true,
      },
      lanes: { type: 'number', label: 'Lanes', path: 'fulfillment-not-lanes', required: true },
    },
  })

  test('has the ten of the contract and two more, and each template passes once its blanks are filled', async () => {
    await using t = await createTestApp()
    const entries = await t.remote.distributors()
    assert.deepEqual(Object.keys(entries), Object.keys(FULL.distributors))
    assert.deepEqual(
      Object.fromEntries(
        Object.values(entries).map(({ distid, automated_fulfillment: automated }) => [
          distid,
          automated,
        ]),
      ),
      AUTOMATED,
    )
    for (const [
      name,
      { distid, default_config: template, config_schema: settings },
    ] of Object.entries(entries)) {
      const filled = JSON.parse(JSON.stringify(template), (_, value: unknown) =>
        value === ''
          ? 'x'
          : Array.isArray(value) && value.length === 0
            ? ['a@shop.example']
            : value,
      ) as Json
      assert.deepEqual(check({ ...FULL, distributors: { [name]: filled } }), [], name)
      assert.deepEqual([filled['distid'], filled['active']], [distid, false])
      const schema = (configurationSchema(registry)['definitions'] as Record<string, Schema>)[
        `distributor_${distid}`
      ]!
      for (const { config_key: key } of Object.values(settings)) {
        assert.ok(
          key
            .split('-')
            .reduce<Schema | undefined>(
              (at, segment) =>
                (at?.['properties'] as Record<string, Schema> | undefined)?.[segment],
              schema,
            ),
          `${name}: ${key}`,
        )
      }
    }
  })

  test('a distributor of an embedder appears in registry, schema and documentation', async () => {
    await using t = await createTestApp({ distributors: [...builtin, mine] })
    const { 'My Own': shown } = await t.shop.distributors()
    assert.deepEqual(
      [shown!.distid, shown!.config_schema['token']!.config_key],
      ['MINE', 'fulfillment-token'],
    )
    assert.ok(
      'My Own' in
        ((await t.shop.config.schema())['properties'] as { distributors: { properties: Json } })
          .distributors.properties,
    )
    assert.ok(
      'Configuration_distributor_MINE' in
        (await t.json('/v1/openapi.json', { key: null })).body.components.schemas,
    )
    const candidate = (fulfillment: Json) => ({
      configuration: { ...FULL, distributors: { 'My Own': { ...entry('MINE'), fulfillment } } },
    })
    assert.deepEqual(await t.shop.config.validate(candidate({ token: 'x', not: { lanes: 2 } })), {
      dry_run: true,
      schema_valid: true,
      errors: [],
    })
    const { errors } = (await t.shop.config.validate(
      candidate({ token: 'x', not: { lanes: 'two', more: 1 } }),
    )) as { errors: { path: string }[] }
    assert.deepEqual(
      errors.map(({ path }) => path.split('/').slice(3).join('/')),
      ['fulfillment/not/more', 'fulfillment/not/lanes'],
    )
  })
})

describe('properties', () => {
  const schema = configurationSchema(registry)
  const resolve = (part: Schema): Schema =>
    typeof part['$ref'] === 'string'
      ? (schema['definitions'] as Record<string, Schema>)[
          part['$ref'].replace('#/definitions/', '')
        ]!
      : part
  const hasReservedName = (value: unknown) =>
    /"(__proto__|constructor|prototype)":/.test(JSON.stringify(value))
  const step = (name: string) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

  /** Objects of a document that refuse unknown members, with the names that they know. */
  function closedPlaces(
    part: Schema,
    value: unknown,
    path: string[],
  ): { path: string[]; known: string[] }[] {
    const {
      properties = {},
      patternProperties = {},
      additionalProperties,
      items,
    } = resolve(part) as {
      properties?: Record<string, Schema>
      patternProperties?: Record<string, Schema>
      additionalProperties?: Schema | false
      items?: Schema
    }
    if (Array.isArray(value))
      return value.flatMap((item, i) =>
        items ? closedPlaces(items, item, [...path, String(i)]) : [],
      )
    if (typeof value !== 'object' || value === null) return []
    const inner = Object.entries(value).flatMap(([name, member]) => {
      const fitting =
        properties[name] ??
        Object.values(patternProperties)[0] ??
        (additionalProperties || undefined)
      return fitting ? closedPlaces(fitting, member, [...path, name]) : []
    })
    return additionalProperties === false
      ? [{ path, known: Object.keys(properties) }, ...inner]
      : inner
  }
  const places = closedPlaces(schema, FULL, [])
  const open = [
    'targets',
    'targets/woo',
    'targets/odoo',
    'fulfillment',
    'fulfillment/ship_to_store',
    'bound_book',
    'distributors/RSR Group/shipping',
    'distributors/RSR Group/shipping/flat_rate',
  ]

  test('one unknown member at any closed object is refused at exactly that path', () => {
    assert.ok(places.length > 200, `${places.length} closed objects`)
    assert.deepEqual(
      open.filter((path) => places.some((place) => place.path.join('/') === path)),
      [],
    )
    // A margin group is named in letters, so letters are not unknown member there.
    const name = fc.string({ minLength: 1, maxLength: 30 }).map((text) => `${text}1`)
    fc.assert(
      fc.property(
        fc.constantFrom(...places),
        name,
        fc.jsonValue(),
        ({ path, known }, unknown, value) => {
          fc.pre(!known.includes(unknown) && !hasReservedName(value))
          const document = structuredClone(FULL)
          const at = path.reduce<Json>((object, segment) => object[segment] as Json, document)
          at[unknown] = value
          assert.deepEqual(
            check(document).map((fault) => fault.path),
            [path.map(step).join('') + step(unknown)],
          )
        },
      ),
      { numRuns: 300 },
    )
  })

  const pointers = (value: unknown, path: string[]): string[][] =>
    typeof value === 'object' && value !== null
      ? [
          path,
          ...Object.entries(value).flatMap(([name, member]) => pointers(member, [...path, name])),
        ]
      : [path]

  test('whatever a document says, faults are told exactly when the schema refuses it, each at its place', () => {
    const validate = makeValidator().compile(schema)
    const many = fc
      .tuple(fc.jsonValue(), fc.integer({ min: 1, max: 300 }))
      .map(([value, n]) => Array<unknown>(n).fill(value))
    const members = fc.dictionary(
      fc.constantFrom(
        'active',
        'distid',
        'sku',
        'include',
        'type',
        'default',
        'flat_rate',
        'not',
        'x',
      ),
      fc.jsonValue(),
    )
    let refused = 0
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.constantFrom(...pointers(FULL, []).slice(1)),
            fc.oneof(fc.jsonValue(), many, members),
          ),
          { minLength: 1, maxLength: 5 },
        ),
        (changes) => {
          const document = structuredClone(FULL) as Json
          for (const [path, value] of changes) {
            const parent = path
              .slice(0, -1)
              .reduce<unknown>(
                (at, name) =>
                  typeof at === 'object' && at !== null ? (at as Json)[name] : undefined,
                document,
              )
            if (typeof parent === 'object' && parent !== null)
              (parent as Json)[path.at(-1)!] = structuredClone(value)
          }
          fc.pre(!hasReservedName(document))
          const faults = check(document)
          // JSON Schema cannot say "two decimals" of numbers such as 19.99: that alone it leaves to
          // words.
          const told = faults.filter(
            ({ message }) => !message.includes('must have at most two decimals'),
          )
          assert.equal(told.length > 0, !validate(document))
          assert.ok(faults.length <= 100)
          if (faults.length > 0) refused++
          for (const { path, message } of faults) {
            const parent = path
              .split('/')
              .slice(1, -1)
              .reduce<unknown>(
                (at, name) => (at as Json)[name.replaceAll('~1', '/').replaceAll('~0', '~')],
                document,
              )
            assert.ok(typeof parent === 'object' && parent !== null && message.length > 10, path)
          }
        },
      ),
      { numRuns: 400 },
    )
    assert.ok(refused > 200)
  })

  test('a candidate that is not a document at all is refused at the root', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!hasReservedName(value))
        const faults = check(value)
        assert.ok(faults.length > 0 && faults.length <= 100)
        if (typeof value !== 'object' || value === null || Array.isArray(value))
          assert.deepEqual(faults, [{ path: '', message: 'the document must be a JSON object' }])
      }),
    )
  })
})
