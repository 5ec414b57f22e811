/**
 * The rule engine: what one rule says of one item and one destination, and what holds of every set
 * of rules.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { AttributeValue } from '../../lib/restrictions/attributes.js'
import { judge } from '../../lib/restrictions/check.js'
import { indexRules, isEffective } from '../../lib/restrictions/rules/compile.js'
import { placeOf } from '../../lib/restrictions/destination.js'
import type { Address } from '../../lib/restrictions/destination.js'
import { itemFacts } from '../../lib/restrictions/item-facts.js'
import { readOverride } from '../../lib/restrictions/rules/overrides.js'
import type { ActiveRules, Override } from '../../lib/restrictions/ctx.js'
import { Rule } from '../../lib/restrictions/rules/rule.js'
import type { CheckItem } from '../../lib/restrictions/shapes.js'

type RuleInput = Parameters<typeof Rule.parse>[0] & object
type Item = Partial<CheckItem>
type Judged = ReturnType<typeof judge>

const TODAY = '2026-11-21'
const UPC = '012345678905'

const makeRule = (parts: RuleInput = {}): Rule =>
  Rule.parse({
    rule_id: 'r',
    kind: 'BLOCK',
    legal_status: 'policy',
    customer_message: 'No.',
    ...parts,
  })
const active = (rules: readonly Rule[]): ActiveRules => ({ digest: '', index: indexRules(rules) })

interface Asked {
  day?: string
  to?: 'consumer' | 'ffl' | undefined
  overrides?: readonly Override[]
}

function check(
  rules: readonly Rule[],
  item: Item,
  address: Address,
  { day = TODAY, to, overrides = [] }: Asked = {},
): Judged {
  return judge(
    { active: active(rules), overrides },
    itemFacts(item as CheckItem, { snapshot: null, readAttributes: () => null }, to),
    { place: placeOf(address), day },
    item,
  )
}

/** `BLOCK` and why, `HOLD` and what is missing, or `approved`. */
function verdict(
  parts: RuleInput,
  item: Item = {},
  address: Address = { state: 'CA' },
  asked: Asked = {},
): string {
  const {
    approved,
    blocking_rules: [blocked],
    warnings: [warned],
    manual_review: [held],
  } = check([makeRule(parts)], item, address, asked)
  assert.equal(approved, !blocked && !held)
  return blocked
    ? `BLOCK ${blocked.reason}`
    : held
      ? `HOLD ${held.missing.join(', ')}`
      : warned
        ? `WARNING ${warned.missing.join(', ')}`
        : 'approved'
}

describe('a rule of each kind', () => {
  const parts = {
    scope: { state: ['CA'] },
    match: {
      product_class: ['MG'],
      attributes: [{ name: 'magazine_capacity', op: 'gt', value: 10 }],
    },
    citations: [{ cite: 'Some Code 1' }],
    effective_from: '2000-01-01',
    destination: 'consumer',
  }
  const matched = {
    rule_id: 'r',
    customer_message: 'No.',
    reason:
      'state is CA; ships to the consumer; product_class is MG; magazine_capacity 30 is greater than 10',
    missing: [],
    would_change: ['a magazine_capacity of at most 10', 'shipment to a licensed dealer'],
    citations: [{ cite: 'Some Code 1', url: null, retrieved: null }],
    effective_from: '2000-01-01',
  }
  const held = {
    ...matched,
    kind: 'MANUAL_REVIEW',
    reason:
      'would apply, depending on magazine_capacity, which is not known (state is CA; ships to ' +
      'the consumer; product_class is MG)',
    missing: ['magazine_capacity'],
  }
  const known = { product_class: 'MG', attributes: { Capacity: 30 } } as const

  test('stands in its list with reason, citations and what would change the answer; only a warning approves', () => {
    for (const [kind, item, expected] of [
      [
        'BLOCK',
        known,
        {
          approved: false,
          blocking_rules: [{ ...matched, kind: 'BLOCK' }],
          warnings: [],
          manual_review: [],
        },
      ],
      [
        'WARNING',
        known,
        {
          approved: true,
          blocking_rules: [],
          warnings: [{ ...matched, kind: 'WARNING' }],
          manual_review: [],
        },
      ],
      [
        'MANUAL_REVIEW',
        known,
        {
          approved: false,
          blocking_rules: [],
          warnings: [],
          manual_review: [{ ...matched, kind: 'MANUAL_REVIEW' }],
        },
      ],
      [
        'BLOCK',
        { product_class: 'MG' },
        { approved: false, blocking_rules: [], warnings: [], manual_review: [held] },
      ],
      [
        'WARNING',
        { product_class: 'MG' },
        {
          approved: true,
          blocking_rules: [],
          warnings: [{ ...held, kind: 'WARNING' }],
          manual_review: [],
        },
      ],
      [
        'MANUAL_REVIEW',
        { product_class: 'MG' },
        { approved: false, blocking_rules: [], warnings: [], manual_review: [held] },
      ],
      [
        'BLOCK',
        { product_class: 'AC' },
        { approved: true, blocking_rules: [], warnings: [], manual_review: [] },
      ],
    ] as const)
      assert.deepEqual(
        check([makeRule({ ...parts, kind })], item, { state: 'CA' }),
        { upc: null, sku: null, ...expected },
        kind,
      )
  })

  test('every rule that matches is in the answer, in the order of the set', () => {
    const rules = ['b', 'a', 'c', 'd'].map((id, i) =>
      makeRule({
        rule_id: id,
        kind: i === 2 ? 'WARNING' : 'BLOCK',
        match: i === 1 ? { product_class: ['MG'] } : {},
      }),
    )
    const { blocking_rules: blocked, warnings } = check(
      rules,
      { product_class: 'MG', upc: UPC, sku: 'A' },
      { state: 'TX' },
    )
    assert.deepEqual(
      [blocked.map(({ rule_id: id }) => id), warnings.map(({ rule_id: id }) => id)],
      [['b', 'a', 'd'], ['c']],
    )
  })

  test('no rules approve, but for an address abroad', () => {
    assert.equal(check([], {}, { state: 'CA' }).approved, true)
    const {
      approved,
      manual_review: [held],
    } = check([], {}, { state: 'ON', country: 'CA' })
    assert.deepEqual(
      [approved, held!.rule_id, held!.kind, held!.would_change],
      [false, 'builtin.abroad', 'MANUAL_REVIEW', ['a destination in the United States']],
    )
  })
})

describe('the scope of a rule', () => {
  test('is a country, states, counties, cities, ZIPs or kinds of places; what is unknown is named', () => {
    const cook = { state: ['IL'], county: ['Cook'] }
    const chicago = { state: ['IL'], city: ['Chicago'] }
    for (const [scope, address, expected] of [
      [{}, { state: 'TX' }, 'BLOCK it holds for every item and destination'],
      [{}, { state: 'ON', country: 'CA' }, 'HOLD '],
      [{ country: 'CA' }, { state: 'ON', country: 'CA' }, 'BLOCK country is CA'],
      [{ country: 'CA' }, { state: 'CA' }, 'approved'],
      [{ state: ['CA', 'NY'] }, { state: 'ny' }, 'BLOCK state is NY'],
      [{ state: ['CA', 'NY'] }, { state: 'New York' }, 'BLOCK state is NY'],
      [{ state: ['CA', 'NY'] }, { state: 'NJ' }, 'approved'],
      [{ state: ['PR'] }, { state: 'Puerto Rico' }, 'BLOCK state is PR'],
      [cook, { state: 'IL', county: 'COOK COUNTY' }, 'BLOCK state is IL; county is Cook County'],
      [cook, { state: 'IL', county: 'DuPage' }, 'approved'],
      [cook, { state: 'IL' }, 'HOLD county'],
      [cook, { state: 'IL', county: 'Coook' }, 'HOLD county'],
      [cook, { state: 'IL', zip: '60601' }, 'BLOCK state is IL; county is Cook County'],
      [cook, { state: 'IL', zip: '60007' }, 'HOLD county'],
      [
        { state: ['IL'], county: ['Cook', '17043'] },
        { state: 'IL', zip: '60007' },
        'BLOCK state is IL; county is Cook County, DuPage County',
      ],
      [cook, { state: 'IL', zip: '62701' }, 'approved'],
      [cook, { state: 'MN', county: 'Cook' }, 'approved'],
      [
        { state: ['MD'], county: ['City of Baltimore'] },
        { state: 'MD', county: 'Baltimore' },
        'HOLD county',
      ],
      [
        { state: ['MD'], county: ['City of Baltimore'] },
        { state: 'MD', county: 'Baltimore County' },
        'approved',
      ],
      [
        { state: ['LA'], county: ['Orleans'] },
        { state: 'LA', county: 'Orleans Parish' },
        'BLOCK state is LA; county is Orleans Parish',
      ],
      [
        { state: ['AK'], county: ['Juneau'] },
        { state: 'AK', county: 'Juneau City and Borough' },
        'BLOCK state is AK; county is Juneau City and Borough',
      ],
      [
        { state: ['NY'], county: ['New York County'] },
        { state: 'NY', zip: '10008' },
        'BLOCK state is NY; county is New York County',
      ],
      [chicago, { state: 'IL', city: 'chicago' }, 'BLOCK state is IL; city is chicago'],
      [chicago, { state: 'IL', city: 'Cicero' }, 'HOLD zip'],
      [chicago, { state: 'IL', city: 'Cicero', zip: '62701' }, 'approved'],
      [chicago, { state: 'IL', city: 'Loop', zip: '60601' }, 'HOLD city'],
      [chicago, { state: 'IL', zip: '60601' }, 'BLOCK state is IL; city is chicago'],
      [chicago, { state: 'IL', zip: '60707' }, 'HOLD city'],
      [chicago, { state: 'IL' }, 'HOLD city'],
      [
        { state: ['NY'], city: ['New York'] },
        { state: 'NY', city: 'Brooklyn' },
        'BLOCK state is NY; city is new york',
      ],
      [
        { state: ['MO'], city: ['St. Louis'] },
        { state: 'MO', city: 'Saint Louis' },
        'BLOCK state is MO; city is saint louis',
      ],
      [
        { state: ['TX'], city: ['Fort Worth'] },
        { state: 'TX', city: 'Ft. Worth' },
        'BLOCK state is TX; city is fort worth',
      ],
      [{ state: ['TX'], city: ['Fort Worth'] }, { state: 'TX', city: 'Dallas' }, 'approved'],
      // Without a ZIP, the state decides where it is known which states the ZIPs of a rule lie in.
      [{ zip: ['85001'] }, { state: 'FL' }, 'approved'],
      [{ zip: ['85001'] }, { state: 'AZ' }, 'HOLD zip'],
      [{ zip: ['85001', '33101'] }, { state: 'FL' }, 'HOLD zip'],
      [{ zip: ['606*'] }, { state: 'FL' }, 'approved'],
      [{ zip: ['606*'] }, { state: 'IL' }, 'HOLD zip'],
      [{ zip: ['86515'] }, { state: 'NM' }, 'HOLD zip'],
      [{ zip: ['86515'] }, { state: 'FL' }, 'approved'],
      [{ zip: ['09012'] }, { state: 'FL' }, 'HOLD zip'],
      [{ zip: ['0*'] }, { state: 'FL' }, 'HOLD zip'],
      [{ zip: ['00901'] }, { state: 'FL' }, 'approved'],
      [{ zip: ['00901'] }, { state: 'PR' }, 'HOLD zip'],
      [{ zip: ['85001'] }, { state: 'PR' }, 'approved'],
      [{ zip: ['967*'] }, { state: 'AS' }, 'HOLD zip'],
      [{ zip: ['60601'] }, { state: 'IL', zip: '60601-1234' }, 'BLOCK ZIP is 60601'],
      [{ zip: ['606*', '1*'] }, { state: 'NY', zip: '11201' }, 'BLOCK ZIP is 11201'],
      [{ zip: ['606*'] }, { state: 'IL', zip: '60701' }, 'approved'],
      [{ zip: ['60601'] }, { state: 'IL' }, 'HOLD zip'],
      [
        { place: ['po_box'] },
        { state: 'TX', lines: ['P.O. Box 12'] },
        'BLOCK the place is of the kind po box',
      ],
      [{ place: ['po_box'] }, { state: 'TX', lines: ['12 Main St'] }, 'approved'],
      [
        { place: ['military', 'territory'] },
        { state: 'AE', city: 'APO', zip: '09012' },
        'BLOCK the place is of the kind military',
      ],
      [{ place: ['territory'] }, { state: 'GU' }, 'BLOCK the place is of the kind territory'],
      [{ place: ['territory'] }, { state: 'HI' }, 'approved'],
      [
        { state: ['NY'], place: ['military'] },
        { state: 'NY', city: 'APO' },
        'BLOCK state is NY; the place is of the kind military',
      ],
    ] as const)
      assert.equal(
        verdict({ scope }, {}, address),
        expected,
        `${JSON.stringify(scope)} and ${JSON.stringify(address)}`,
      )
  })
})

describe('the match of a rule', () => {
  test('is UPCs, SKUs, distids, classes, categories; a fact that is not known is named', () => {
    for (const [match, item, expected] of [
      [{ upc: [UPC] }, { upc: '0012345678905' }, 'BLOCK its UPC is listed'],
      [{ upc: ['00012345678905'] }, { upc: '12345678905' }, 'BLOCK its UPC is listed'],
      [{ upc: [UPC] }, { upc: '0-12345-67890-5' }, 'BLOCK its UPC is listed'],
      [{ upc: [UPC] }, { upc: '012345678912' }, 'approved'],
      [{ upc: [UPC] }, { upc: 'no UPC' }, 'approved'],
      [{ upc: [UPC] }, {}, 'HOLD upc'],
      [{ upc: [UPC] }, { upc: ' ' }, 'HOLD upc'],
      [{ sku: ['AB-1'] }, { sku: ' ab-1 ' }, 'BLOCK sku is ab-1'],
      [{ sku: ['AB-1'] }, { sku: 'AB-2' }, 'approved'],
      [{ sku: ['AB-1'] }, { sku: '' }, 'HOLD sku'],
      [
        { distid: ['RSR'], sku: ['AB-1'] },
        { distid: 'RSR', sku: 'AB-1' },
        'BLOCK distid is RSR; sku is ab-1',
      ],
      [{ distid: ['RSR'], sku: ['AB-1'] }, { distid: 'LIP', sku: 'AB-1' }, 'approved'],
      [{ distid: ['RSR'], sku: ['AB-1'] }, {}, 'HOLD distid, sku'],
      [{ distid: ['RSR'] }, { sku: 'AB-1' }, 'HOLD distid'],
      [{ product_class: ['MG', 'FA'] }, { product_class: 'FA' }, 'BLOCK product_class is FA'],
      [{ product_class: ['MG', 'FA'] }, { product_class: 'AC' }, 'approved'],
      [{ product_class: ['MG'] }, {}, 'HOLD product_class'],
      [{ category: ['Knives'] }, { category: 'KNIVES' }, 'BLOCK category is knives'],
      [{ category: ['Knives'] }, { category: 'Knife Sheaths' }, 'approved'],
      [{ category: ['Knives'] }, {}, 'HOLD category'],
      [{ category: ['Knives'] }, { category: 'Uncategorized' }, 'HOLD category'],
      [{ upc: [UPC], product_class: ['MG'] }, { upc: UPC, product_class: 'AC' }, 'approved'],
      [{ upc: [UPC], product_class: ['MG'] }, { product_class: 'MG' }, 'HOLD upc'],
    ] as const)
      assert.equal(
        verdict({ match }, item),
        expected,
        `${JSON.stringify(match)} and ${JSON.stringify(item)}`,
      )
  })

  test('an attribute meets a predicate of any kind; a value that cannot tell holds the item', () => {
    const cases: [
      op: string,
      value: AttributeValue | AttributeValue[],
      rows: [
        given: AttributeValue | AttributeValue[] | null | undefined,
        expected: boolean | null,
      ][],
    ][] = [
      [
        'eq',
        30,
        [
          [30, true],
          ['30', true],
          ['30.0', true],
          ['30 rd', true],
          ['30 Rounds', true],
          [10, false],
          ['10rd', false],
          ['10/30', null],
          ['many', null],
          [undefined, null],
          [null, null],
          ['', null],
          [' ', null],
          [[], null],
        ],
      ],
      [
        'ne',
        30,
        [
          [30, false],
          ['30 rd', false],
          [10, true],
          ['10/30', null],
          [undefined, null],
        ],
      ],
      [
        'eq',
        'bolt',
        [
          [' ', null],
          ['bolt', true],
          [' BOLT ', true],
          ['semi', false],
          [1, false],
          [['bolt', 'pump'], true],
          [['semi', 'pump'], false],
          [undefined, null],
        ],
      ],
      [
        'ne',
        'bolt',
        [
          ['bolt', false],
          ['semi', true],
          [['bolt', 'pump'], false],
          [['semi', 'pump'], true],
          [undefined, null],
        ],
      ],
      [
        'eq',
        true,
        [
          [true, true],
          ['yes', true],
          ['Y', true],
          ['TRUE', true],
          [1, true],
          ['1', true],
          [false, false],
          ['no', false],
          ['0', false],
          ['perhaps', null],
          [undefined, null],
        ],
      ],
      [
        'ne',
        true,
        [
          [true, false],
          ['No', true],
          ['perhaps', null],
        ],
      ],
      [
        'eq',
        false,
        [
          [false, true],
          ['n', true],
          [0, true],
          [true, false],
        ],
      ],
      [
        'in',
        ['pistol grip', 'barrel shroud'],
        [
          ['Pistol Grip', true],
          [['none', 'barrel shroud'], true],
          ['none', false],
          [['none'], false],
          [undefined, null],
        ],
      ],
      [
        'in',
        [9, 10],
        [
          ['9mm', true],
          [10, true],
          [45, false],
          ['.45', false],
          ['9x19', null],
        ],
      ],
      [
        'gt',
        10,
        [
          [10, false],
          [11, true],
          ['10', false],
          ['10.5', true],
          ['30 rd', true],
          ['1,000 rounds', true],
          ['+30', true],
          ['10/30', null],
          ['10+1', false],
          ['17 + 1', true],
          ['10+2', null],
          [true, null],
          [[15, 30], true],
          [[5, 30], null],
          [undefined, null],
        ],
      ],
      [
        'gte',
        10,
        [
          [10, true],
          [9, false],
          ['9.99', false],
        ],
      ],
      [
        'lt',
        16,
        [
          ['15.9"', true],
          ['16"', false],
          ['16 in.', false],
          ['10.5 inches', true],
          ['.5', true],
          ['16 1/2"', null],
        ],
      ],
      [
        'lte',
        16,
        [
          [16, true],
          ['16.1', false],
          ['350 fps', false],
        ],
      ],
      [
        'exists',
        true,
        [
          ['x', true],
          [false, true],
          [undefined, null],
          ['', null],
        ],
      ],
      [
        'exists',
        false,
        [
          ['x', false],
          [0, false],
          [undefined, true],
          [null, true],
        ],
      ],
    ]
    for (const [op, value, rows] of cases) {
      for (const [given, expected] of rows) {
        const said = verdict(
          { match: { attributes: [{ name: 'x', op, value }] } },
          { attributes: { x: given as never } },
        )
        assert.equal(
          said.split(' ')[0],
          expected === null ? 'HOLD' : expected ? 'BLOCK' : 'approved',
          `${JSON.stringify(given)} ${op} ${JSON.stringify(value)}: ${said}`,
        )
      }
    }
  })

  test('says which predicate met which value, and what would keep the rule from applying', () => {
    for (const [predicate, given, reason, change] of [
      [{ op: 'eq', value: 'bolt' }, 'Bolt', 'x Bolt is bolt', 'a x other than bolt'],
      [{ op: 'ne', value: 'bolt' }, 'semi', 'x semi is not bolt', 'a x of bolt'],
      [{ op: 'in', value: ['a', 'b'] }, ['c', 'b'], 'x c, b is one of a, b', 'a x other than a, b'],
      [{ op: 'gt', value: 10 }, '30 rd', 'x 30 rd is greater than 10', 'a x of at most 10'],
      [{ op: 'gte', value: 10 }, 10, 'x 10 is at least 10', 'a x below 10'],
      [{ op: 'lt', value: 16 }, 10, 'x 10 is less than 16', 'a x of at least 16'],
      [{ op: 'lte', value: 16 }, 16, 'x 16 is at most 16', 'a x above 16'],
      [{ op: 'exists', value: true }, 1, 'x is given', 'no x'],
      [{ op: 'exists', value: false }, null, 'x is not given', 'a x'],
    ] as const) {
      const [blocked] = check(
        [makeRule({ match: { attributes: [{ name: 'x', ...predicate }] } })],
        { attributes: { x: given as never } },
        { state: 'CA' },
      ).blocking_rules
      assert.deepEqual([blocked!.reason, blocked!.would_change], [reason, [change]])
    }
  })

  test('a fact that two conditions ask for is named once', () => {
    const [held] = check(
      [makeRule({ destination: 'ffl', match: { product_class: ['FA'] } })],
      {},
      { state: 'CA' },
    ).manual_review
    assert.deepEqual(
      [held!.reason, held!.missing],
      ['would apply, depending on product_class, which is not known', ['product_class']],
    )
  })

  test('all predicates must hold, and names are those of feeds and shops', () => {
    const attributes = [
      { name: 'magazine_capacity', op: 'gt', value: 10 },
      { name: 'Action Type', op: 'ne', value: 'bolt' },
    ]
    for (const [given, expected] of [
      [
        { Capacity: '30 rd', Action: 'semi' },
        'BLOCK magazine_capacity 30 rd is greater than 10; Action Type semi is not bolt',
      ],
      [{ 'Magazine Capacity': 30, action: 'bolt' }, 'approved'],
      [{ mag_capacity: 30 }, 'HOLD Action Type'],
      [{ action: 'bolt' }, 'approved'],
      [{}, 'HOLD magazine_capacity, Action Type'],
    ] as const)
      assert.equal(verdict({ match: { attributes } }, { attributes: given }), expected)
  })

  test('unknown_attribute says what becomes of the unknown; an unknown class is always reviewed', () => {
    const attributes = [{ name: 'x', op: 'gt', value: 10 }]
    for (const [unknown, item, expected] of [
      ['review', {}, 'HOLD x'],
      ['ignore', {}, 'approved'],
      ['block', {}, 'BLOCK x is not known, and the rule holds until it is'],
      ['review', { attributes: { x: '10/30' } }, 'HOLD x'],
      ['ignore', { attributes: { x: '10/30' } }, 'HOLD x'],
      [
        'block',
        { attributes: { x: 'odd' } },
        'BLOCK x is not known, and the rule holds until it is',
      ],
      ...(['review', 'ignore', 'block'] as const).flatMap((unknown) => [
        [unknown, { attributes: { x: 11 } }, 'BLOCK x 11 is greater than 10'] as const,
        [unknown, { attributes: { x: 10 } }, 'approved'] as const,
      ]),
    ] as const)
      assert.equal(
        verdict({ match: { attributes }, unknown_attribute: unknown }, item),
        expected,
        `${unknown} ${JSON.stringify(item)}`,
      )
    for (const unknown of ['review', 'ignore', 'block'])
      assert.equal(
        verdict({ match: { product_class: ['MG'] }, unknown_attribute: unknown }),
        'HOLD product_class',
      )
  })
})

describe('the destination of an item', () => {
  test('is a dealer for classes FA and SO, else the consumer; a placement says where it really goes', () => {
    for (const [destination, item, to, expected] of [
      ['ffl', { product_class: 'FA' }, undefined, 'BLOCK ships to a licensed dealer'],
      ['ffl', { product_class: 'SO' }, undefined, 'BLOCK ships to a licensed dealer'],
      ['ffl', { product_class: 'MG' }, undefined, 'approved'],
      ['consumer', { product_class: 'FA' }, undefined, 'approved'],
      ['consumer', { product_class: 'MG' }, undefined, 'BLOCK ships to the consumer'],
      ['consumer', {}, undefined, 'HOLD product_class'],
      ['ffl', {}, undefined, 'HOLD product_class'],
      ['any', {}, undefined, 'BLOCK it holds for every item and destination'],
      ['consumer', { product_class: 'FA' }, 'consumer', 'BLOCK ships to the consumer'],
      ['ffl', { product_class: 'MG' }, 'ffl', 'BLOCK ships to a licensed dealer'],
      ['consumer', {}, 'ffl', 'approved'],
    ] as const)
      assert.equal(
        verdict({ destination }, item, { state: 'CA' }, { to }),
        expected,
        `${destination} ${JSON.stringify(item)} ${to}`,
      )
  })
})

describe('the days of a rule', () => {
  test('are inclusive on both sides, and either may be open', () => {
    const days = ['2025-12-31', '2026-01-01', '2026-06-15', '2026-12-31', '2027-01-01']
    for (const [from, to, holds] of [
      ['2026-01-01', '2026-12-31', '01110'],
      ['2026-01-01', null, '01111'],
      [null, '2026-12-31', '11110'],
      [null, null, '11111'],
      ['2026-06-15', '2026-06-15', '00100'],
    ] as const) {
      assert.equal(
        days
          .map((day) =>
            verdict({ effective_from: from, effective_to: to }, {}, { state: 'CA' }, { day }) ===
            'approved'
              ? '0'
              : '1',
          )
          .join(''),
        holds,
        `${from} to ${to}`,
      )
    }
  })

  test('of two versions of a rule the one of the day holds', () => {
    const rules = [
      makeRule({ version: 1, effective_to: '2026-06-30', match: { product_class: ['MG'] } }),
      makeRule({ version: 2, effective_from: '2026-07-01', match: { product_class: ['AO'] } }),
    ]
    const blocked = (day: string) =>
      (['MG', 'AO'] as const).filter(
        (product_class) => !check(rules, { product_class }, { state: 'CA' }, { day }).approved,
      )
    assert.deepEqual([blocked('2026-06-30'), blocked('2026-07-01')], [['MG'], ['AO']])
  })
})

describe('of every set of rules, item and destination', () => {
  const list = <T>(...values: T[]) =>
    fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 2 })
  const predicate = fc.oneof(
    fc.record({
      name: fc.constantFrom('magazine_capacity', 'barrel_length_in'),
      op: fc.constantFrom('gt', 'gte', 'lt', 'lte', 'eq', 'ne'),
      value: fc.constantFrom(10, 16, 30),
    }),
    fc.record({
      name: fc.constantFrom('action', 'features'),
      op: fc.constantFrom('eq', 'ne'),
      value: fc.constantFrom('bolt', 'semi', 'pistol grip'),
    }),
    fc.record({
      name: fc.constantFrom('action', 'features'),
      op: fc.constant('in'),
      value: list('bolt', 'semi', 'pistol grip'),
    }),
    fc.record({
      name: fc.constantFrom('hazmat', 'action'),
      op: fc.constantFrom('eq', 'ne', 'exists'),
      value: fc.boolean(),
    }),
  )
  const scope = fc.constantFrom(
    {},
    {},
    { state: ['IL'] },
    { state: ['IL', 'NY', 'MO'] },
    { state: ['CA'] },
    { state: ['IL'], county: ['Cook'] },
    { state: ['IL'], county: ['DuPage'] },
    { state: ['IL'], county: ['Cook', 'DuPage'] },
    { state: ['IL'], city: ['Chicago'] },
    { state: ['NY'], city: ['New York', 'Buffalo'] },
    { state: ['MO', 'IL'], city: ['St. Louis'] },
    { state: ['MO'], county: ['City of St. Louis'] },
    { zip: ['60601', '112*'] },
    { zip: ['0*'] },
    { place: ['military', 'territory'] },
    { country: 'CA' },
  )
  const match = fc.record(
    {
      upc: list(UPC, '012345678912'),
      sku: list('A', 'B'),
      distid: list('RSR', 'LIP'),
      product_class: list('MG', 'FA', 'AO'),
      category: list('Magazines', 'Rifles'),
      attributes: fc.array(predicate, { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: [] },
  )
  const ruleOf = (unknown: string[]) =>
    fc
      .record({
        kind: fc.constantFrom('BLOCK', 'BLOCK', 'WARNING', 'MANUAL_REVIEW'),
        scope,
        match,
        destination: fc.constantFrom('any', 'any', 'consumer', 'ffl'),
        unknown_attribute: fc.constantFrom(...unknown),
        dates: fc.constantFrom(
          {},
          {},
          { effective_from: TODAY },
          { effective_to: TODAY },
          { effective_from: '2026-11-22' },
          { effective_to: '2026-11-20' },
        ),
      })
      .map(({ dates, ...parts }) => ({ ...parts, ...dates }))
  const numbered = (parts: readonly object[]) =>
    parts.map((one, i) => makeRule({ rule_id: `r${i}`, ...one }))
  const rulesOf = (...unknown: string[]) =>
    fc.array(ruleOf(unknown), { minLength: 1, maxLength: 12 }).map(numbered)
  const anyRules = rulesOf('review', 'ignore', 'block')
  /** Consistent in all of their parts. */
  const address = fc.constantFrom<Address>(
    { state: 'IL', county: 'Cook', city: 'Chicago', zip: '60601' },
    { state: 'IL', county: 'DuPage', city: 'Elk Grove Village', zip: '60007' },
    { state: 'IL', county: 'Cook', city: 'Oak Park', zip: '60301' },
    { state: 'NY', county: 'Kings', city: 'Brooklyn', zip: '11201' },
    { state: 'NY', county: 'Erie', city: 'Buffalo', zip: '14201' },
    { state: 'MO', county: 'St. Louis City', city: 'St Louis', zip: '63101' },
    { state: 'MO', county: 'St. Louis County', city: 'Ladue', zip: '63124' },
    { state: 'NY', county: 'New York', city: 'New York', zip: '10008' },
    { state: 'AE', city: 'APO', zip: '09012' },
    { state: 'PR', county: 'San Juan', city: 'San Juan', zip: '00901' },
    { state: 'ON', country: 'CA', city: 'Toronto', zip: 'K1A' },
  )
  const item = fc.record(
    {
      upc: fc.constantFrom(UPC, '012345678912', '012345678929'),
      sku: fc.constantFrom('a', 'B', 'C'),
      distid: fc.constantFrom('RSR', 'LIP', 'ZAN'),
      product_class: fc.constantFrom('MG' as const, 'FA' as const, 'AO' as const, 'AC' as const),
      category: fc.constantFrom('magazines', 'Rifles', 'Other'),
      attributes: fc.record(
        {
          Capacity: fc.constantFrom<AttributeValue>(5, 10, 16, '30 rd', '10/30'),
          barrel_length_in: fc.constantFrom<AttributeValue>(10, '16"', 30),
          action: fc.constantFrom('bolt', 'semi'),
          features: fc.subarray(['pistol grip', 'semi', 'none'], { minLength: 1 }),
          hazmat: fc.constantFrom<AttributeValue>(true, 'no', 0),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  )
  const to = fc.constantFrom(undefined, undefined, 'consumer' as const, 'ffl' as const)
  const override = (effect: 'allow' | 'block') =>
    fc
      .record({
        scope,
        match,
        destination: fc.constantFrom('any', 'consumer', 'ffl'),
        rule_ids: fc.subarray(Array.from({ length: 12 }, (_, i) => `r${i}`)),
      })
      .filter(
        ({ match: { attributes = [] } }) =>
          effect === 'block' ||
          !attributes.some(({ op, value }) => op === 'exists' && value === false),
      )
      .map((detail): Override =>
        readOverride({
          id: 'o',
          effect,
          detail: JSON.stringify({ customer_message: 'No.', ...detail }),
          author: 'Ann',
          reason: 'Tested.',
          expires_at: null,
        }),
      )
  const overrides = fc.array(fc.oneof(override('allow'), override('block')), { maxLength: 2 })
  const ids = (rules: Judged['warnings']) => rules.map(({ rule_id: id }) => id)
  const runs = { numRuns: 600 }

  test('removing any fact never turns approved: false into true', () => {
    const facts = [
      'upc',
      'sku',
      'distid',
      'product_class',
      'category',
      'Capacity',
      'barrel_length_in',
      'action',
      'features',
      'hazmat',
      'county',
      'city',
      'zip',
    ]
    fc.assert(
      fc.property(
        rulesOf('review', 'block'),
        item,
        address,
        overrides,
        to,
        fc.subarray(facts, { minLength: 1, maxLength: 4 }),
        (rules, item, address, overrides, to, removed) => {
          const without = <T extends object>(whole: T): T =>
            Object.fromEntries(
              Object.entries(whole).filter(([name]) => !removed.includes(name)),
            ) as T
          const full = check(rules, item, address, { overrides, to })
          const rest = check(
            rules,
            { ...without(item), attributes: without(item.attributes ?? {}) },
            without(address),
            { overrides, to },
          )
          assert.ok(full.approved || !rest.approved)
        },
      ),
      { numRuns: 1_500 },
    )
  })

  test('the index gives exactly what a loop over all rules gives', () => {
    fc.assert(
      fc.property(anyRules, item, address, overrides, (rules, item, address, overrides) => {
        const { index } = active(rules)
        const everyRule: ActiveRules = {
          digest: '',
          index: {
            rules: index.rules,
            candidates: (_item, _place, day) =>
              index.rules.filter(({ rule }) => isEffective(rule, day)),
          },
        }
        const facts = itemFacts(item as CheckItem, { snapshot: null, readAttributes: () => null })
        const found = judge(
          { active: { digest: '', index }, overrides },
          facts,
          { place: placeOf(address), day: TODAY },
          item,
        )
        assert.deepEqual(
          found,
          judge(
            { active: everyRule, overrides },
            facts,
            { place: placeOf(address), day: TODAY },
            item,
          ),
        )
        for (const rules of [found.blocking_rules, found.manual_review]) {
          const order = ids(rules)
            .filter((id) => /^r\d/.test(id))
            .map((id) => Number(id.slice(1)))
          assert.deepEqual(
            order,
            [...order].sort((a, b) => a - b),
          )
        }
      }),
      runs,
    )
  })

  test('adding a rule never turns approved: false into true', () => {
    fc.assert(
      fc.property(
        anyRules,
        ruleOf(['review', 'ignore', 'block']),
        item,
        address,
        overrides,
        (rules, added, item, address, overrides) => {
          const more = [...rules, makeRule({ rule_id: 'added', ...added })]
          assert.ok(
            check(rules, item, address, { overrides }).approved ||
              !check(more, item, address, { overrides }).approved,
          )
        },
      ),
      runs,
    )
  })

  test('the answer is the same for every order of the rules', () => {
    fc.assert(
      fc.property(
        anyRules.chain((rules) =>
          fc.tuple(fc.constant(rules), fc.shuffledSubarray(rules, { minLength: rules.length })),
        ),
        item,
        address,
        ([rules, shuffled], item, address) => {
          const sorted = ({
            blocking_rules: blocked,
            warnings,
            manual_review: held,
            ...rest
          }: Judged) => ({
            ...rest,
            lists: [blocked, warnings, held].map((rules) =>
              rules.toSorted((a, b) => (a.rule_id < b.rule_id ? -1 : 1)),
            ),
          })
          assert.deepEqual(
            sorted(check(shuffled, item, address)),
            sorted(check(rules, item, address)),
          )
        },
      ),
      runs,
    )
  })

  test('an allow never adds a block, and a block never takes one away', () => {
    fc.assert(
      fc.property(
        anyRules,
        item,
        address,
        override('allow'),
        override('block'),
        (rules, item, address, allow, block) => {
          const [plain, allowed, blocked] = [[], [allow], [block]].map((overrides) =>
            check(rules, item, address, { overrides }),
          ) as [Judged, Judged, Judged]
          for (const name of ['blocking_rules', 'manual_review'] as const) {
            assert.ok(ids(allowed[name]).every((id) => ids(plain[name]).includes(id)))
            assert.ok(ids(plain[name]).every((id) => ids(blocked[name]).includes(id)))
          }
          assert.ok(plain.approved || !blocked.approved)
          // What was lifted is told.
          assert.equal(
            [...allowed.blocking_rules, ...allowed.manual_review, ...allowed.warnings].length,
            [...plain.blocking_rules, ...plain.manual_review, ...plain.warnings].length,
          )
        },
      ),
      runs,
    )
  })
})
