/**
 * `POST /v1/restrictions/check`: its answer, its refusals, what it takes from the catalog, and what
 * it writes down.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { meterSchema } from '../../lib/db/migrations/meter.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import type { App } from '../../lib/app/open.js'
import { restoreBackup } from '../../lib/app/backup/restore.js'
import fc from 'fast-check'
import { CLASS_CODES } from '../../lib/distributors/product-classes.js'
import { DAY } from '../../lib/core/clock.js'
import { openForTest as open } from '../../server/testing/open.js'
import { judge } from '../../lib/restrictions/check.js'
import { indexRules } from '../../lib/restrictions/rules/compile.js'
import { placeOf } from '../../lib/restrictions/destination.js'
import { itemFacts } from '../../lib/restrictions/item-facts.js'
import { Rule } from '../../lib/restrictions/rules/rule.js'
import type { CheckItem } from '../../lib/restrictions/shapes.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp, TestOffer } from '../../server/testing/index.js'
import { heardByOthers, oneFolder } from '../harness/record.js'

const UPC = '012345678905'
const OTHER = '012345678912'
const EMPTY_DIGEST = '4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945'

type Input = Parameters<TestApp['shop']['restrictions']['check']>[0]

const rule = (id: string, parts: object = {}) => ({
  rule_id: id,
  kind: 'BLOCK',
  legal_status: 'policy',
  customer_message: `${id} says no.`,
  ...parts,
})
const over = (name: string, value: number) => ({ attributes: [{ name, op: 'gt', value }] })

async function withRules(
  rules: readonly object[],
  offers: readonly TestOffer[] = [],
): Promise<TestApp> {
  const t = await createTestApp()
  if (offers.length > 0) await t.stock(offers)
  await activate(t, rules)
  return t
}

const activate = (t: TestApp, rules: readonly object[]) =>
  t.app.operator.rules.import({ text: JSON.stringify(rules), origin: 'test', replace: true })
const post = (t: TestApp, body: unknown) =>
  t.json('/v1/restrictions/check', {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
const logged = ({ ctx }: App) =>
  ctx.engine.decisions.db.selectFrom('restriction_decision').selectAll().orderBy('seq').execute()
const decisions = (t: TestApp) => logged(t.app)

/** Of each item `-`, `block`, `warn` or `hold: ` with what is missing. */
async function verdicts(
  t: TestApp,
  items: Input['items'],
  shipping: Input['shipping'] = { state: 'CA' },
): Promise<string[]> {
  const { items: judged } = await t.shop.restrictions.check({ shipping, items })
  return judged.map(({ blocking_rules: blocked, warnings, manual_review: [held] }) =>
    blocked.length > 0
      ? 'block'
      : held
        ? `hold: ${held.missing.join(', ')}`
        : warnings.length > 0
          ? 'warn'
          : '-',
  )
}

describe('a check', () => {
  test('answers for each item in its order, the same by library and HTTP', async () => {
    await using t = await withRules([
      rule('mags', {
        scope: { state: ['CA'] },
        match: { product_class: ['MG'], ...over('magazine_capacity', 10) },
        citations: [{ cite: 'Some Code 1', url: 'https://law.example/1', retrieved: '2026-11-01' }],
        effective_from: '2000-01-01',
      }),
      rule('adults', { kind: 'WARNING', match: { product_class: ['MG', 'AO'] } }),
    ])
    const warning = {
      rule_id: 'adults',
      kind: 'WARNING',
      customer_message: 'adults says no.',
      missing: [],
      would_change: [],
      citations: [],
      effective_from: null,
    }
    for (const caller of [t.shop, t.remote]) {
      assert.deepEqual(
        await caller.restrictions.check({
          shipping: {
            state: 'California',
            city: null,
            county: null,
            zip: '90210-1234',
            country: null,
          },
          target: null,
          items: [
            { upc: UPC, sku: 'A', product_class: 'MG', attributes: { magazine_capacity: 30 } },
            {
              upc: null,
              sku: null,
              distid: null,
              product_class: 'AO',
              category: null,
              attributes: null,
            },
            { product_class: 'OP' },
          ],
        }),
        {
          approved: false,
          items: [
            {
              upc: UPC,
              sku: 'A',
              approved: false,
              manual_review: [],
              warnings: [{ ...warning, reason: 'product_class is MG' }],
              blocking_rules: [
                {
                  rule_id: 'mags',
                  kind: 'BLOCK',
                  customer_message: 'mags says no.',
                  reason:
                    'state is CA; product_class is MG; magazine_capacity 30 is greater than 10',
                  missing: [],
                  would_change: ['a magazine_capacity of at most 10'],
                  citations: [
                    { cite: 'Some Code 1', url: 'https://law.example/1', retrieved: '2026-11-01' },
                  ],
                  effective_from: '2000-01-01',
                },
              ],
            },
            {
              upc: null,
              sku: null,
              approved: true,
              blocking_rules: [],
              manual_review: [],
              warnings: [{ ...warning, reason: 'product_class is AO' }],
            },
            {
              upc: null,
              sku: null,
              approved: true,
              blocking_rules: [],
              manual_review: [],
              warnings: [],
            },
          ],
        },
      )
    }
  })

  test('is approved before any rule is imported, and takes 100 items', async () => {
    await using t = await createTestApp()
    assert.deepEqual(
      await t.remote.restrictions.check({ shipping: { state: 'CA' }, items: [{}] }),
      {
        approved: true,
        items: [
          {
            upc: null,
            sku: null,
            approved: true,
            blocking_rules: [],
            warnings: [],
            manual_review: [],
          },
        ],
      },
    )
    assert.equal(
      (
        await t.remote.restrictions.check({
          shipping: { state: 'CA' },
          items: Array.from({ length: 100 }, () => ({})),
        })
      ).items.length,
      100,
    )
  })

  test('of an unknown item is for a person to decide where a rule could apply, and nowhere else', async () => {
    await using t = await withRules([
      rule('a', { scope: { state: ['CA'] }, match: { product_class: ['MG'] } }),
      rule('b', { scope: { state: ['NY'], county: ['Kings'] }, match: { upc: [UPC] } }),
    ])
    assert.deepEqual(
      [
        await verdicts(t, [{}]),
        await verdicts(t, [{}], { state: 'TX' }),
        await verdicts(t, [{}], { state: 'NY' }),
        await verdicts(t, [{}], { state: 'NY', zip: '14201' }),
      ],
      [['hold: product_class'], ['-'], ['hold: county, upc'], ['-']],
    )
    assert.equal(
      (await t.shop.restrictions.check({ shipping: { state: 'CA' }, items: [{}] })).approved,
      false,
    )
  })

  test('of a past or a coming day asks the rules of that day', async () => {
    await using t = await withRules([rule('a', { effective_from: '2026-11-22' })])
    const on = async (asOf?: string) =>
      (
        await t.app.operator.rules.test(t.subscriber, {
          shipping: { state: 'CA' },
          items: [{} as CheckItem],
          ...(asOf !== undefined && { asOf }),
        })
      ).approved
    assert.deepEqual(
      [await on(), await on('2026-11-22'), await on('2026-11-21')],
      [true, false, true],
    )
    t.clock.advance(DAY)
    assert.deepEqual([await on(), await on('2026-11-21')], [false, true])
    for (const asOf of ['soon', '2026-13-01', '2026-02-30', '2026-1-1', ''])
      await assert.rejects(on(asOf), { code: 'invalid_parameter' }, asOf)
  })

  test('of a placement asks where the item really goes', async () => {
    await using t = await withRules([rule('a', { destination: 'consumer' })])
    const to = async (to?: 'consumer' | 'ffl') =>
      (
        await t.app.operator.rules.test(t.subscriber, {
          shipping: { state: 'CA' },
          items: [{ product_class: 'FA', ...(to && { to }) } as CheckItem],
        })
      ).approved
    assert.deepEqual([await to(), await to('consumer'), await to('ffl')], [true, false, true])
  })
})

describe('a request that is wrong is a 400 that names the member', () => {
  const shipping = { state: 'CA' }
  const CLASSES = CLASS_CODES.join(', ')
  const VALUE =
    'must be a text of at most 1,000 characters, a number, true or false, an object, or a list of at most 100 of these'
  const cases: [label: string, body: unknown, ...faults: [path: string, message: string][]][] = [
    ['no items', { shipping }, ['items', 'is required']],
    ['0 items', { shipping, items: [] }, ['items', 'must have at least 1 entry']],
    [
      '101 items',
      { shipping, items: Array.from({ length: 101 }, () => ({})) },
      ['items', 'must have at most 100 entries'],
    ],
    ['items that are not list', { shipping, items: {} }, ['items', 'must be a list']],
    ['an item that is not an object', { shipping, items: [1] }, ['items[0]', 'must be an object']],
    ['an empty object', {}, ['shipping', 'is required'], ['items', 'is required']],
    ['no state', { shipping: {}, items: [{}] }, ['shipping.state', 'is required']],
    [
      'null for the state',
      { shipping: { state: null }, items: [{}] },
      ['shipping.state', 'must be a text'],
    ],
    [
      'an unknown state',
      { shipping: { state: 'ZZ' }, items: [{}] },
      ['shipping.state', '"ZZ" is not a state; send its two letters'],
    ],
    [
      'an empty state',
      { shipping: { state: '' }, items: [{}] },
      ['shipping.state', 'must have at least 1 character'],
    ],
    [
      'a long state',
      { shipping: { state: 'x'.repeat(61) }, items: [{}] },
      ['shipping.state', 'must have at most 60 characters'],
    ],
    [
      'a country of three letters',
      { shipping: { state: 'CA', country: 'USA' }, items: [{}] },
      ['shipping.country', 'must have at most 2 characters'],
    ],
    [
      'a country of digits',
      { shipping: { state: 'CA', country: '1' }, items: [{}] },
      ['shipping.country', 'must be the two letters of a country'],
    ],
    ...['9021', '902101', 'ABCDE', '90210-12'].map((zip): [string, unknown, [string, string]] => [
      `ZIP ${zip}`,
      { shipping: { state: 'CA', zip }, items: [{}] },
      ['shipping.zip', 'must be 5 digits, or 5 and 4'],
    ]),
    [
      'a ZIP of 11 characters',
      { shipping: { state: 'CA', zip: '90210-12345' }, items: [{}] },
      ['shipping.zip', 'must have at most 10 characters'],
    ],
    [
      'a ZIP that is a number',
      { shipping: { state: 'CA', zip: 90210 }, items: [{}] },
      ['shipping.zip', 'must be a text'],
    ],
    [
      'a ZIP of another state',
      { shipping: { state: 'CA', zip: '10001' }, items: [{}] },
      ['shipping.zip', '10001 does not lie in CA: one of the two is wrong'],
    ],
    [
      'a ZIP of another county',
      { shipping: { state: 'IL', zip: '60601', county: 'DuPage' }, items: [{}] },
      ['shipping.county', '"DuPage" and ZIP 60601 do not meet: one of the two is wrong'],
    ],
    [
      'unknown members',
      {
        shipping: { state: 'CA', zipcode: '90210', counti: 'x' },
        items: [{ class: 'MG', atributes: {} }],
        targets: 'x',
      },
      ['shipping.zipcode', 'is not a known member; known are state, city, county, zip, country'],
      ['shipping.counti', 'is not a known member; did you mean county?'],
      [
        'items[0].class',
        'is not a known member; known are upc, sku, distid, product_class, category, attributes',
      ],
      ['items[0].atributes', 'is not a known member; did you mean attributes?'],
      ['targets', 'is not a known member; did you mean target?'],
    ],
    [
      'an unknown class',
      { shipping, items: [{ product_class: 'XX' }] },
      ['items[0].product_class', `must be one of ${CLASSES}`],
    ],
    [
      'a class in lower case',
      { shipping, items: [{ product_class: 'mg' }] },
      ['items[0].product_class', `must be one of ${CLASSES}`],
    ],
    [
      'a UPC that is a number',
      { shipping, items: [{ upc: 12345678905 }] },
      ['items[0].upc', 'must be a text'],
    ],
    [
      'texts that are too long',
      {
        shipping,
        items: [
          {
            upc: '1'.repeat(41),
            sku: 'x'.repeat(101),
            distid: 'x'.repeat(21),
            category: 'x'.repeat(201),
          },
        ],
      },
      ['items[0].upc', 'must have at most 40 characters'],
      ['items[0].sku', 'must have at most 100 characters'],
      ['items[0].distid', 'must have at most 20 characters'],
      ['items[0].category', 'must have at most 200 characters'],
    ],
    [
      'attributes that hold a list of lists',
      { shipping, items: [{ attributes: { size: [['a']] } }] },
      ['items[0].attributes.size', VALUE],
    ],
    [
      'an attribute of 1,001 characters',
      { shipping, items: [{ attributes: { size: 'x'.repeat(1_001) } }] },
      ['items[0].attributes.size', 'must have at most 1000 characters'],
    ],
    [
      'an attribute of 101 values',
      { shipping, items: [{ attributes: { size: Array(101).fill('a') } }] },
      ['items[0].attributes.size', VALUE],
    ],
    [
      'a target of 61 characters',
      { shipping, items: [{}], target: 'x'.repeat(61) },
      ['target', 'must have at most 60 characters'],
    ],
    [
      'a target that is not text',
      { shipping, items: [{}], target: 1 },
      ['target', 'must be a text'],
    ],
    [
      'a control character',
      { shipping, items: [{ sku: 'a\u0000b' }] },
      ['items[0].sku', 'holds the control character U+0000; remove it'],
    ],
    [
      'half a surrogate pair',
      `{"shipping":{"state":"CA","city":"\\ud800"},"items":[{}]}`,
      ['shipping.city', 'holds half of a surrogate pair; send well-formed Unicode'],
    ],
  ]

  test('with every fault', async () => {
    await using t = await createTestApp()
    for (const [label, body, ...faults] of cases) {
      const { status, body: answer } = await post(t, body)
      assert.deepEqual(
        [label, status, answer.error?.code, answer.error?.details],
        [label, 400, 'invalid_parameter', faults.map(([path, message]) => ({ path, message }))],
      )
    }
    for (const attributes of [[], 'red', 5]) {
      const { status, body } = await post(t, { shipping, items: [{ attributes }] })
      assert.deepEqual([status, body.error.details[0].path], [400, 'items[0].attributes'])
    }
    assert.deepEqual(
      [
        (await post(t, '{')).body.error.code,
        (await post(t, '')).body.error.code,
        (await t.json('/v1/restrictions/check')).body.error.code,
      ],
      ['invalid_json', 'invalid_json', 'method_not_allowed'],
    )
    assert.deepEqual(await decisions(t), [], 'what is refused decides nothing')
  })

  test('what is at a bound is taken', async () => {
    await using t = await createTestApp()
    for (const body of [
      { shipping: { state: 'ca', zip: '90210' }, items: [{}], target: 'x'.repeat(60) },
      {
        shipping: { state: 'CA', zip: '90210-1234', city: '', county: '' },
        items: [{}],
        target: null,
      },
      { shipping, items: [{ upc: 'none', sku: '', attributes: {} }] },
      {
        shipping,
        items: [
          {
            attributes: {
              a: null,
              b: [],
              c: 'x'.repeat(1_000),
              d: Array(100).fill(1),
              e: 1.5,
              f: false,
              constructor: 'toString',
              ['g'.repeat(100)]: 1,
            },
          },
        ],
      },
      { shipping: { state: 'AE', city: 'APO', zip: '09012' }, items: [{}] },
      { shipping: { state: 'GU', zip: '96910' }, items: [{}] },
    ])
      assert.equal((await post(t, body)).status, 200, JSON.stringify(body).slice(0, 200))
  })
})

describe('what the request does not say comes from the catalog', () => {
  const offers: TestOffer[] = [
    {
      distid: 'RSR',
      stockid: 'R1',
      upc: UPC,
      productClass: 'MG',
      categoryName: 'Magazines',
      attributes: { Capacity: '30 rd', 'Barrel Length': '', Action: 'Semi' },
    },
    {
      distid: 'LIP',
      stockid: 'L1',
      upc: '0012345678905',
      productClass: 'MG',
      attributes: { Action: 'Bolt', Hazardous: 'Y' },
    },
    {
      distid: 'RSR',
      stockid: 'R2',
      upc: OTHER,
      productClass: 'FP',
      fflReq: true,
      attributes: { Capacity: '10' },
    },
    {
      distid: 'LIP',
      stockid: 'L2',
      upc: OTHER,
      productClass: 'AC',
      attributes: { Capacity: '30' },
    },
    {
      distid: 'ZAN',
      stockid: 'Z1',
      productClass: 'AO',
      categoryName: 'Ammunition',
      attributes: { Caliber: '9mm' },
    },
  ]

  test('by UPC in any form, or by (distid, sku); the request wins; offers that differ hold the item', async () => {
    await using t = await withRules([], offers)
    for (const [match, item, expected] of [
      [{ product_class: ['MG'] }, { upc: UPC }, 'block'],
      [{ product_class: ['MG'] }, { upc: '12345678905' }, 'block'],
      [{ product_class: ['MG'] }, { upc: '0-12345-67890-5' }, 'block'],
      [{ product_class: ['MG'] }, { distid: 'RSR', sku: 'r1' }, 'block'],
      [{ product_class: ['MG'] }, { sku: 'R1' }, 'hold: product_class'],
      [{ product_class: ['MG'] }, { upc: '999999999993' }, 'hold: product_class'],
      [{ product_class: ['MG'] }, { upc: UPC, product_class: 'AC' }, '-'],
      [{ product_class: ['MG'] }, { distid: 'RSR', sku: 'none', upc: UPC }, 'block'],
      [{ product_class: ['MG'] }, { distid: 'ORI', upc: UPC }, 'block'],
      [over('magazine_capacity', 10), { upc: UPC }, 'block'],
      [over('Magazine Capacity', 10), { upc: UPC, attributes: { capacity: 10 } }, '-'],
      [over('magazine_capacity', 10), { upc: UPC, attributes: { capacity: null } }, 'block'],
      [over('barrel_length', 10), { upc: UPC }, 'hold: barrel_length'],
      [{ category: ['magazines'] }, { upc: UPC }, 'block'],
      [{ category: ['magazines'] }, { distid: 'LIP', sku: 'L1' }, 'block'],
      [{ category: ['magazines'] }, { upc: OTHER }, 'hold: category'],
      [{ upc: [UPC] }, { distid: 'LIP', sku: 'L1' }, 'block'],
      [{ upc: [UPC] }, { distid: 'ZAN', sku: 'Z1' }, 'hold: upc'],
      [{ sku: ['R1'] }, { upc: UPC, distid: 'RSR' }, 'block'],
      [{ sku: ['R1'] }, { upc: UPC }, 'hold: sku'],
      [{ distid: ['RSR', 'LIP'] }, { upc: UPC }, 'block'],
      [{ distid: ['RSR'] }, { upc: UPC }, 'hold: distid'],
      [{ product_class: ['FP'] }, { upc: OTHER }, 'hold: product_class'],
      [{ product_class: ['FP', 'AC'] }, { upc: OTHER }, 'block'],
      [{ product_class: ['FP'] }, { upc: OTHER, distid: 'RSR' }, 'block'],
      [{ product_class: ['FP'] }, { upc: OTHER, distid: 'LIP' }, '-'],
      [over('capacity', 10), { upc: OTHER }, 'hold: capacity'],
      [over('capacity', 10), { distid: 'RSR', sku: 'R2' }, '-'],
      [over('capacity', 10), { distid: 'LIP', sku: 'L2' }, 'block'],
      [over('capacity', 5), { upc: OTHER }, 'block'],
      ...(['eq', 'ne'] as const).flatMap((op) => [
        [
          { attributes: [{ name: 'action', op, value: 'bolt' }] },
          { upc: UPC },
          'hold: action',
        ] as const,
        [
          { attributes: [{ name: 'action', op, value: 'bolt' }] },
          { upc: UPC, distid: 'LIP' },
          op === 'eq' ? 'block' : '-',
        ] as const,
      ]),
      // What one offer does not tell, another of the same UPC does.
      [
        { attributes: [{ name: 'hazmat', op: 'eq', value: true }] },
        { distid: 'RSR', sku: 'R1' },
        'block',
      ],
      [over('capacity', 10), { distid: 'LIP', sku: 'L1' }, 'block'],
    ] as const) {
      await activate(t, [rule('a', { match })])
      assert.deepEqual(
        await verdicts(t, [item]),
        [expected],
        `${JSON.stringify(match)} and ${JSON.stringify(item)}`,
      )
    }
  })

  test('a rule that fits several offers of an item is told once', async () => {
    await using t = await withRules(
      [
        rule('a', { match: { product_class: ['FP', 'AC'] } }),
        rule('b', { match: { distid: ['RSR', 'LIP'] } }),
      ],
      offers,
    )
    const {
      items: [judged],
    } = await t.shop.restrictions.check({ shipping: { state: 'CA' }, items: [{ upc: OTHER }] })
    assert.deepEqual(
      judged!.blocking_rules.map(({ reason }) => reason),
      ['product_class is AC, FP', 'distid is LIP, RSR'],
    )
  })

  test('an item goes to a dealer when its offer has ffl_req 1, or its class is FA or SO', async () => {
    await using t = await withRules(
      [rule('a', { destination: 'consumer' })],
      [
        ...offers,
        { distid: 'RSR', stockid: 'G', productClass: 'FA' },
        { distid: 'RSR', stockid: 'S', productClass: 'SO' },
      ],
    )
    assert.deepEqual(
      await verdicts(t, [
        { distid: 'RSR', sku: 'G' },
        { distid: 'RSR', sku: 'S' },
        { distid: 'RSR', sku: 'R2' },
        { distid: 'LIP', sku: 'L2' },
        { upc: UPC },
        { upc: OTHER },
        { product_class: 'AO' },
        { product_class: 'FA' },
        {},
        { distid: 'ZAN', sku: 'Z1', product_class: 'FA' },
        { upc: OTHER, product_class: 'AC' },
        // RSR's offer of the last UPC goes to a dealer, and so does the other distributor's of the
        // same.
      ]),
      ['-', '-', '-', '-', 'block', '-', 'block', '-', 'hold: product_class', '-', '-'],
    )
  })

  test('removing any fact never turns approved: false into true, as long as the item is found', async () => {
    const pick = <T>(values: readonly T[], i: number) => values[i % values.length]!
    const many = Array.from({ length: 60 }, (_, i): TestOffer => ({
      distid: pick(['RSR', 'LIP', 'ZAN'], i),
      stockid: `S${i}`,
      upc: pick([UPC, OTHER, '012345678929', null], i * 7 + (i >> 3)),
      productClass: pick(['MG', 'FP', 'AC'], i * 5 + (i >> 2)),
      categoryName: pick(['Magazines', 'Parts', 'Uncategorized'], i * 11 + (i >> 4)),
      fflReq: i % 4 === 1,
      attributes: {
        ...(i % 3 > 0 && { Capacity: pick(['5', '10', '30 rd'], i * 3 + (i >> 3)) }),
        ...(i % 5 > 1 && { Action: pick(['bolt', 'semi'], i >> 1) }),
      },
    }))
    await using t = await withRules([], many)
    const snapshot = t.app.ctx.catalog.current()!
    const stored = t.app.ctx.engine.catalog
      .prepare('SELECT attributes FROM fragment WHERE id = ?')
      .pluck()
    const facts = (item: object) =>
      itemFacts(item as CheckItem, {
        snapshot,
        readAttributes: (fragment) => stored.get(fragment) as string | null,
      })
    const predicate = fc.oneof(
      fc.record({
        name: fc.constant('capacity'),
        op: fc.constantFrom('gt', 'lte', 'eq', 'ne'),
        value: fc.constantFrom(5, 10),
      }),
      fc.record({
        name: fc.constantFrom('action', 'capacity'),
        op: fc.constantFrom('eq', 'ne'),
        value: fc.constantFrom('bolt', 'semi'),
      }),
      fc.record({
        name: fc.constantFrom('action', 'capacity'),
        op: fc.constant('exists'),
        value: fc.boolean(),
      }),
    )
    const rules = fc.array(
      fc.record({
        match: fc.record(
          {
            upc: fc.constant([UPC]),
            sku: fc.constant(['S1', 'S2', 'S3', 'S5']),
            distid: fc.constantFrom(['RSR'], ['LIP', 'ZAN']),
            product_class: fc.constantFrom(['MG'], ['FP', 'AC']),
            category: fc.constantFrom(['magazines'], ['parts']),
            attributes: fc.array(predicate, { minLength: 1, maxLength: 2 }),
          },
          { requiredKeys: [] },
        ),
        destination: fc.constantFrom('any', 'consumer', 'ffl'),
        unknown_attribute: fc.constantFrom('review', 'block'),
      }),
      { minLength: 1, maxLength: 2 },
    )
    const place = placeOf({ state: 'CA' })
    fc.assert(
      fc.property(
        rules,
        fc.constantFrom(...many),
        fc.subarray(['upc', 'sku', 'distid', 'product_class', 'category', 'attributes'], {
          minLength: 1,
        }),
        (inputs, offer, removed) => {
          const active = {
            digest: '',
            index: indexRules(inputs.map((input, i) => Rule.parse(rule(`r${i}`, input)))),
          }
          const whole = {
            upc: offer.upc ?? undefined,
            sku: offer.stockid,
            distid: offer.distid,
            product_class: offer.productClass,
            category: offer.categoryName,
            attributes: offer.attributes,
          }
          const rest = Object.fromEntries(
            Object.entries(whole).filter(([name]) => !removed.includes(name)),
          )
          fc.pre(
            (rest['sku'] !== undefined && rest['distid'] !== undefined) ||
              rest['upc'] !== undefined,
          )
          const [full, less] = [whole, rest].map((item) =>
            judge({ active, overrides: [] }, facts(item), { place, day: '2026-11-21' }, {}),
          ) as [ReturnType<typeof judge>, ReturnType<typeof judge>]
          assert.ok(full.approved || !less.approved)
        },
      ),
      { numRuns: 1_000 },
    )
  })
})

describe('every decision is written down', () => {
  test('with who asked, where to, by which rules, and the digest of the set', async () => {
    await using t = await createTestApp()
    const { id } = (await t.app.operator.subscribers.list())[0]!
    await t.remote.restrictions.check({
      shipping: { state: 'CA', zip: '90210-1234', city: 'Beverly Hills' },
      items: [{ upc: UPC }],
      target: 'cart',
    })
    const { digest } = await activate(t, [
      rule('a', { match: { product_class: ['MG'] } }),
      rule('w', { kind: 'WARNING' }),
    ])
    await t.shop.restrictions.check({
      shipping: { state: 'New York' },
      items: [{ sku: 'A', product_class: 'MG' }, {}],
    })
    const { digest: next } = await activate(t, [rule('a', { match: { product_class: ['AO'] } })])
    await t.shop.restrictions.check({
      shipping: { state: 'ON', country: 'CA' },
      items: [{ product_class: 'MG' }],
      target: null,
    })
    const common = { at: t.clock.ms, subscriber_id: id }
    assert.deepEqual(
      (await decisions(t)).map(({ seq: _, items, ...row }) => ({
        ...row,
        items: JSON.parse(items as string) as unknown,
      })),
      [
        {
          ...common,
          digest: EMPTY_DIGEST,
          state: 'CA',
          zip: '90210',
          target: 'cart',
          approved: 1,
          items: [{ upc: UPC, sku: null, approved: true, rules: [] }],
        },
        {
          ...common,
          digest,
          state: 'NY',
          zip: null,
          target: null,
          approved: 0,
          items: [
            { upc: null, sku: 'A', approved: false, rules: ['a'] },
            { upc: null, sku: null, approved: false, rules: ['a'] },
          ],
        },
        {
          ...common,
          digest: next,
          state: 'ON',
          zip: null,
          target: null,
          approved: 0,
          items: [{ upc: null, sku: null, approved: false, rules: ['builtin.abroad'] }],
        },
      ],
    )
    assert.equal(new Set([EMPTY_DIGEST, digest, next]).size, 3)
    assert.ok(
      (await decisions(t)).every((row) => !JSON.stringify(row).includes('Beverly')),
      'no address but the ZIP',
    )
  })

  test('and is kept for 400 days', async () => {
    await using t = await createTestApp()
    await t.shop.restrictions.check({ shipping: { state: 'CA' }, items: [{}] })
    t.clock.advance(400 * DAY)
    await t.app.jobs.run('restriction decisions')
    assert.equal((await decisions(t)).length, 1)
    t.clock.advance(1)
    await t.app.jobs.run('restriction decisions')
    assert.equal((await decisions(t)).length, 0)
  })

  test('rules that another process imports hold for the next check', async () => {
    await using t = await createTestApp()
    assert.deepEqual(await verdicts(t, [{}]), ['-'])
    await using other = await open({ dir: t.app.dir, worker: false })
    await other.operator.rules.import({ text: JSON.stringify([rule('a')]), origin: 'there' })
    await heardByOthers(async () => (await verdicts(t, [{}]))[0] === 'block')
    assert.deepEqual(await verdicts(t, [{}]), ['block'])
    await activate(t, [])
    const isApproved = async () =>
      (await other.as(t.subscriber).restrictions.check({ shipping: { state: 'CA' }, items: [{}] }))
        .approved
    await heardByOthers(isApproved)
    assert.equal(await isApproved(), true)
  })
})

describe('the log of decisions', { skip: oneFolder }, () => {
  const tablesOf = (path: string) => {
    const raw = openFile(path, { synchronous: 'NORMAL', readonly: true })
    const names = raw.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all()
    raw.close()
    return names
  }

  async function shopIn(dir: string): Promise<App> {
    const app = await open({ dir, worker: false })
    if ((await app.operator.subscribers.list()).length === 0)
      await app.operator.subscribers.create({ name: 'Shop', email: 'a@shop.example' })
    return app
  }
  const check = (app: App, zip: string) =>
    app.as('Shop').restrictions.check({
      shipping: { state: 'CA', zip },
      items: [{ upc: '012345678905', sku: zip }],
    })

  /** A folder as the release before left it: its log stands in meter.db. */
  function toOlder(dir: string): void {
    const { meter, decisions } = filesIn(dir)
    const [from, to] = [
      openFile(decisions, { synchronous: 'NORMAL' }),
      openFile(meter, { synchronous: 'NORMAL' }),
    ]
    to.exec(meterSchema[1])
    to.pragma(`user_version = ${meterSchema.length - 1}`)
    for (const row of from.prepare('SELECT * FROM restriction_decision').raw().all() as unknown[][])
      to.prepare('INSERT INTO restriction_decision VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)').run(...row)
    from.close()
    to.close()
  }

  async function withFolder(run: (dir: string) => Promise<void>): Promise<void> {
    const dir = mkdtempSync(join(tmpdir(), 'qm-decisions-'))
    try {
      await run(dir)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  }

  test('is in a file of its own, into which that of an older release comes without a loss', async () => {
    await withFolder(async (dir) => {
      const first = await shopIn(dir)
      for (const zip of ['90001', '90002', '90003']) await check(first, zip)
      const before = await logged(first)
      assert.equal(before.length, 3)
      await first.close()
      toOlder(dir)
      rmSync(filesIn(dir).decisions)
      const upgraded = await shopIn(dir)
      assert.deepEqual(await logged(upgraded), before)
      await check(upgraded, '90004')
      assert.deepEqual(
        (await logged(upgraded)).map(({ zip }) => zip),
        ['90001', '90002', '90003', '90004'],
      )
      await upgraded.close()
      assert.ok(!tablesOf(filesIn(dir).meter).includes('restriction_decision'))
    })
  })

  test('an upgrade that was cut off between the copy and the end of the old table copies nothing twice', async () => {
    await withFolder(async (dir) => {
      const first = await shopIn(dir)
      for (const zip of ['90001', '90002']) await check(first, zip)
      const before = await logged(first)
      await first.close()
      toOlder(dir)
      const upgraded = await shopIn(dir)
      assert.deepEqual(await logged(upgraded), before)
      await upgraded.close()
    })
  })

  test('rows of a backup that was put back beside an older meter.db stay, and so do those of meter.db', async () => {
    await withFolder(async (dir) => {
      const first = await shopIn(dir)
      for (const zip of ['90001', '90002']) await check(first, zip)
      await first.close()
      toOlder(dir)
      const raw = openFile(filesIn(dir).decisions, { synchronous: 'NORMAL' })
      raw.exec("UPDATE restriction_decision SET zip = '80001' WHERE seq = 1")
      raw.close()
      const upgraded = await shopIn(dir)
      assert.deepEqual((await logged(upgraded)).map(({ zip }) => zip).sort(), [
        '80001',
        '90001',
        '90002',
      ])
      await upgraded.close()
    })
  })

  test('comes back with a restore; one that goes on from the backup is kept', async () => {
    await withFolder(async (dir) => {
      const [state, backup, elsewhere] = [
        join(dir, 'state'),
        join(dir, 'backup'),
        join(dir, 'elsewhere'),
      ]
      const app = await shopIn(state)
      await check(app, '90001')
      await app.operator.backup({ to: backup })
      await check(app, '90002')
      await app.close()
      const zips = async (of: string) => {
        const opened = await open({ dir: of, worker: false })
        const found = (await logged(opened)).map(({ zip }) => zip)
        await opened.close()
        return found
      }
      await restoreBackup({ backup, dir: elsewhere, keys: join(state, 'keys') })
      assert.deepEqual(await zips(elsewhere), ['90001'])
      await restoreBackup({ backup, dir: state })
      assert.deepEqual(await zips(state), ['90001', '90002'])
      // Another log, and a damaged one, are moved aside.
      for (const spoil of [
        (path: string) => {
          const raw = openFile(path, { synchronous: 'NORMAL' })
          raw.exec("UPDATE restriction_decision SET zip = '80001' WHERE seq = 1")
          raw.close()
        },
        (path: string) => {
          for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
          writeFileSync(path, 'x'.repeat(8_192))
        },
      ]) {
        spoil(filesIn(state).decisions)
        const { replaced } = await restoreBackup({ backup, dir: state })
        assert.ok(existsSync(join(replaced!, 'decisions.db')))
        assert.deepEqual(await zips(state), ['90001'])
      }
    })
  })

  test("a backup of a release that had no such file leaves the folder's own", async () => {
    await withFolder(async (dir) => {
      const [state, backup] = [join(dir, 'state'), join(dir, 'backup')]
      const app = await shopIn(state)
      await check(app, '90001')
      await app.operator.backup({ to: backup })
      await app.close()
      rmSync(join(backup, 'decisions.db'))
      const manifest = JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8')) as {
        files: { path: string }[]
      }
      writeFileSync(
        join(backup, 'manifest.json'),
        JSON.stringify({
          ...manifest,
          files: manifest.files.filter(({ path }) => path !== 'decisions.db'),
        }),
      )
      await restoreBackup({ backup, dir: state })
      const again = await open({ dir: state, worker: false })
      assert.deepEqual(
        (await logged(again)).map(({ zip }) => zip),
        ['90001'],
      )
      await again.close()
    })
  })
})
