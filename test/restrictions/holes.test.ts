/** Spellings, units and contradictions by which an item must not slip through. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { itemFacts } from '../../lib/restrictions/item-facts.js'
import { judge } from '../../lib/restrictions/check.js'
import { indexRules } from '../../lib/restrictions/rules/compile.js'
import { placeOf } from '../../lib/restrictions/destination.js'
import type { Address } from '../../lib/restrictions/destination.js'
import { numberOf } from '../../lib/restrictions/attributes.js'
import { Rule } from '../../lib/restrictions/rules/rule.js'
import type { CheckItem } from '../../lib/restrictions/shapes.js'
import { starterRules } from '../../lib/restrictions/rules/starter.js'
import { createTestApp } from '../../server/testing/index.js'
import { cpuTime } from '../harness/cpu-time.js'

const TODAY = '2026-11-21'
const starter = { digest: '', index: indexRules(starterRules().rules) }
const verdict = (active: typeof starter, item: object, where: Address) => {
  const { approved, blocking_rules: blocked } = judge(
    { active, overrides: [] },
    itemFacts(item as CheckItem, { snapshot: null, readAttributes: () => null }),
    { place: placeOf(where), day: TODAY },
    {},
  )
  return approved ? 'approved' : blocked.length > 0 ? 'blocked' : 'held'
}
const pistol = (attributes: object) => ({
  product_class: 'FA',
  attributes: {
    firearm_type: 'handgun',
    action: 'semi-auto',
    caliber: '9mm',
    capacity: 5,
    restricted_features: 'none',
    machinegun_convertible: 'no',
    ...attributes,
  },
})
const fifty = (caliber: string) => ({
  product_class: 'FA',
  attributes: { firearm_type: 'rifle', action: 'bolt', capacity: 5, caliber },
})
const magazine = { product_class: 'MG', attributes: { magazine_capacity: 30 } }

describe('under the starter rules', () => {
  const rows: [what: string, item: object, where: Address][] = [
    [
      "a barrel in millimetres is not a long gun's",
      pistol({ 'Barrel Length': '102 mm' }),
      { state: 'CA' },
    ],
    ...[
      '50 BMG (12.7x99 NATO)',
      '.50 Browning Machine Gun',
      '50 Cal BMG',
      '12.7x99 mm',
      'N/A',
      'unknown',
    ].map((caliber): [string, object, Address] => [
      `a .50 rifle called "${caliber}"`,
      fifty(caliber),
      { state: 'CA' },
    ]),
    [
      'two actions at once',
      {
        product_class: 'FA',
        attributes: {
          firearm_type: 'rifle',
          restricted_features: 'pistol grip',
          action: ['bolt', 'semi-auto'],
        },
      },
      { state: 'CA' },
    ],
    [
      'an action under two names',
      {
        product_class: 'FA',
        attributes: {
          firearm_type: 'rifle',
          restricted_features: 'pistol grip',
          action: 'semi-auto',
          'Action Type': 'bolt',
        },
      },
      { state: 'CA' },
    ],
    [
      'no feature and one',
      {
        product_class: 'FA',
        attributes: {
          firearm_type: 'rifle',
          action: 'semi-auto',
          capacity: 5,
          restricted_features: ['none', 'pistol grip'],
        },
      },
      { state: 'CA' },
    ],
    [
      'a receiver of an unknown word',
      { product_class: 'FP', attributes: { frame_receiver: '80% lower' } },
      { state: 'CA' },
    ],
    ['a class that says nothing', { product_class: 'OT' }, { state: 'CA' }],
    ['a city with its state behind it', magazine, { state: 'CO', city: 'Denver CO', zip: '80202' }],
    ['a city called by its charter', magazine, { state: 'CO', city: 'City of Boulder' }],
    ['a part of a city', magazine, { state: 'CO', city: 'LoDo', zip: '80202' }],
    ['a slip of the hand', magazine, { state: 'OH', city: 'Colombus', zip: '43215' }],
    [
      'a negative capacity',
      { product_class: 'MG', attributes: { magazine_capacity: -30 } },
      { state: 'CA' },
    ],
  ]
  for (const [what, item, where] of rows)
    test(`${what} is not approved`, () =>
      assert.notEqual(verdict(starter, item, where), 'approved'))

  test('the same items are approved where the facts are plain', () => {
    assert.equal(verdict(starter, fifty('308 Win'), { state: 'TX' }), 'approved')
    assert.equal(
      verdict(starter, magazine, { state: 'TX', city: 'Austin', zip: '78701' }),
      'approved',
    )
    assert.equal(
      verdict(
        starter,
        { product_class: 'MG', attributes: { magazine_capacity: '10 rd' } },
        { state: 'CA' },
      ),
      'approved',
    )
  })
})

describe('numbers', () => {
  const rows: [value: string, name: string, expected: number | null][] = [
    ['10+1', 'magazine_capacity', 10],
    ['30 rd', 'magazine_capacity', 30],
    ['1,000 rounds', 'magazine_capacity', 1_000],
    ['30 mm', 'magazine_capacity', null],
    ['16"', 'barrel_length_in', 16],
    ['16 in.', 'barrel_length_in', 16],
    ['406.4 mm', 'barrel_length_in', 16],
    ['16 rd', 'barrel_length_in', null],
    ['700 fps', 'airgun_velocity_fps', 700],
    ['2 lbs', 'weight_oz', 32],
    ['-30', 'x', null],
    ['10/30', 'x', null],
    [`${' '.repeat(10_000)}x`, 'x', null],
    [`1${' '.repeat(10_000)}x`, 'x', null],
  ]
  test('hold one value in the unit of their attribute, or none', () => {
    for (const [value, name, expected] of rows) {
      const found = numberOf(value, name)
      assert.ok(
        expected === null ? found === null : Math.abs(found! - expected) < 1e-6,
        `${value.slice(0, 20)} of ${name}: ${found}`,
      )
    }
  })

  test('are read in no time, whatever they look like', () => {
    const started = cpuTime()
    for (let i = 0; i < 1_000; i++) numberOf(`${' '.repeat(995)}x${i}`, 'x')
    assert.ok(cpuTime() - started < 5_000)
  })
})

test('a distributor is known by any spelling, an unknown one is as if not given; an offer keeps its UPC', async () => {
  await using t = await createTestApp()
  await t.stock([
    { distid: 'RSR', stockid: 'A', upc: '012345678905', productClass: 'KN' },
    { distid: 'RSR', stockid: 'B', upc: '036000291452', productClass: 'KN' },
  ])
  const rule = (id: string, match: object) =>
    Rule.parse({
      rule_id: id,
      kind: 'BLOCK',
      scope: { state: ['TX'] },
      match,
      customer_message: 'No.',
      legal_status: 'policy',
    })
  await t.app.operator.rules.import({
    text: JSON.stringify([
      rule('dist', { distid: ['RSR'], product_class: ['KN'] }),
      rule('upc', { upc: ['036000291452'] }),
    ]),
    origin: 'test',
  })
  const check = async (item: object) =>
    (
      await t.json('/v1/restrictions/check', {
        method: 'POST',
        body: JSON.stringify({ shipping: { state: 'TX' }, items: [item] }),
      })
    ).body.data.items[0]
  for (const distid of ['RSR', 'rsr', 'RSR Group', 'rsr group'])
    assert.equal(
      (await check({ distid, product_class: 'KN', upc: '1' })).blocking_rules[0]?.rule_id,
      'dist',
      distid,
    )
  assert.equal(
    (await check({ distid: 'ZZZ', product_class: 'KN', upc: '1' })).manual_review[0].rule_id,
    'dist',
  )
  for (const upc of [undefined, '036000291452', '#036000291452#', '012345678905'])
    assert.equal(
      (await check({ distid: 'RSR', sku: 'B', product_class: 'AC', upc })).approved,
      false,
      String(upc),
    )
})
