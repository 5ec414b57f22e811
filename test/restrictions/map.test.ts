/** The map of the states: what is blocked of a class, counted as a check counts it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { OperationInput, OperationResult } from '../../lib/app/operations/index.js'
import { judge } from '../../lib/restrictions/check.js'
import type { Override } from '../../lib/restrictions/ctx.js'
import { placeOf } from '../../lib/restrictions/destination.js'
import { itemFacts } from '../../lib/restrictions/item-facts.js'
import { indexRules } from '../../lib/restrictions/rules/compile.js'
import { readOverride } from '../../lib/restrictions/rules/overrides.js'
import { Rule } from '../../lib/restrictions/rules/rule.js'
import { blocksOf } from '../../lib/restrictions/state-map.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'

type Input = OperationInput<'rules.map'>
type Told = OperationResult<'rules.map'>

const UPC = '012345678905'
const LARGE = { attributes: [{ name: 'magazine_capacity', op: 'gt', value: 10 }] }
const rule = (id: string, parts: object = {}) => ({
  rule_id: id,
  kind: 'BLOCK',
  legal_status: 'policy',
  customer_message: `${id} says no.`,
  ...parts,
})

async function withRules(...rules: object[]): Promise<TestApp> {
  const t = await createTestApp()
  await t.app.operator.rules.import({ text: JSON.stringify(rules), origin: 'test' })
  return t
}

/** The map of magazines, by default, in the words of `told`. */
async function mapOf(t: TestApp, input: Partial<Input> = {}): Promise<(state: string) => string> {
  const { states } = (await t.app.operate('rules.map', { product_class: 'MG', ...input })) as Told
  return (code) => told(states.find(({ state }) => state === code)!)
}

/** `all: a; some: b by magazine_capacity`, with `lifted: c` behind it; `none` for nothing. */
function told({ extent, blocking, lifted }: Told['states'][number]): string {
  const rules = blocking.map(
    ({ rule_id: id, extent: reach, depends_on: names }) =>
      `${reach}: ${id}${names.length > 0 ? ` by ${names.join(', ')}` : ''}`,
  )
  const gone = lifted.map(({ rule_id: id, author }) => `lifted by ${author}: ${id}`)
  return [rules.length === 0 ? 'none' : `${extent} of it`, ...rules, ...gone].join('; ')
}

describe('the map of the states', () => {
  test('tells rules of one state, and of all, with the rules themselves', async () => {
    await using t = await withRules(
      rule('a-large', { scope: { state: ['CA'] }, match: { product_class: ['MG'], ...LARGE } }),
      rule('b-everything', { scope: { state: ['NY'] }, match: { product_class: ['MG', 'AO'] } }),
      rule('c-knives', { scope: { state: ['NY'] }, match: { product_class: ['KN'] } }),
    )
    const at = await mapOf(t)
    assert.equal(at('CA'), 'some of it; some: a-large by magazine_capacity')
    assert.equal(at('NY'), 'all of it; all: b-everything')
    assert.equal(at('TX'), 'none')
    const { rules, digest } = (await t.app.operate('rules.map', { product_class: 'MG' })) as Told
    assert.deepEqual(rules.map(({ rule_id: id }) => id).sort(), ['a-large', 'b-everything'])
    assert.equal(digest, t.app.ctx.rules.active().digest)
  })

  test('counts a rule for all classes and all states everywhere, territories too', async () => {
    await using t = await withRules(rule('nothing-goes'))
    for (const product_class of ['MG', 'KN', 'OT'] as const) {
      const at = await mapOf(t, { product_class })
      for (const state of ['CA', 'DC', 'PR', 'AE'])
        assert.equal(at(state), 'all of it; all: nothing-goes')
    }
  })

  test('has a rule of a county, a city or a ZIP block only a part of its state', async () => {
    const match = { product_class: ['MG'] }
    await using t = await withRules(
      rule('city', { scope: { state: ['IL'], city: ['Chicago'] }, match }),
      rule('county', { scope: { state: ['WA'], county: ['King'] }, match }),
      rule('zip', { scope: { zip: ['850*'] }, match }),
    )
    const at = await mapOf(t)
    assert.equal(at('IL'), 'some of it; some: city by city')
    assert.equal(at('WA'), 'some of it; some: county by county')
    assert.equal(at('AZ'), 'some of it; some: zip by zip')
    assert.equal(at('FL'), 'none')
  })

  test('has a rule of a territory or of military mail count where it holds', async () => {
    await using t = await withRules(
      rule('islands', { scope: { place: ['territory', 'military'] } }),
    )
    const at = await mapOf(t)
    assert.equal(at('GU'), 'all of it; all: islands')
    assert.equal(at('AP'), 'all of it; all: islands')
    assert.equal(at('HI'), 'none')
  })

  for (const unknown_attribute of ['review', 'ignore', 'block'])
    test(`counts a rule that says ${unknown_attribute} of an attribute nobody knows as one of some items`, async () => {
      await using t = await withRules(rule('large', { match: LARGE, unknown_attribute }))
      assert.equal((await mapOf(t))('CA'), 'some of it; some: large by magazine_capacity')
    })

  test('has a rule of some items, by number, category or distributor, block only some', async () => {
    await using t = await withRules(
      rule('category', { match: { category: ['Drums'] } }),
      rule('distributor', { match: { distid: ['RSR'] } }),
      rule('upc', { match: { upc: [UPC] } }),
    )
    assert.equal(
      (await mapOf(t))('CA'),
      'some of it; some: category by category; some: distributor by distid; some: upc by upc',
    )
  })

  test('takes a class to where a check takes it, or to where you say', async () => {
    await using t = await withRules(
      rule('to-customers', { destination: 'consumer' }),
      rule('to-dealers', { destination: 'ffl' }),
    )
    const customers = 'all of it; all: to-customers'
    const dealers = 'all of it; all: to-dealers'
    assert.equal((await mapOf(t))('CA'), customers)
    assert.equal((await mapOf(t, { to: 'ffl' }))('CA'), dealers)
    assert.equal((await mapOf(t, { product_class: 'FA' }))('CA'), dealers)
    assert.equal((await mapOf(t, { product_class: 'SO', to: 'consumer' }))('CA'), customers)
  })

  test('leaves out rules that do not hold today, and counts those that have a person decide', async () => {
    await using t = await withRules(
      rule('over', { effective_to: '2026-11-20' }),
      rule('not-yet', { effective_from: '2026-11-22' }),
      rule('doubtful', { kind: 'MANUAL_REVIEW', match: LARGE, unknown_attribute: 'ignore' }),
      rule('age', { kind: 'WARNING' }),
    )
    assert.equal((await mapOf(t))('CA'), 'none')
    const { states } = (await t.app.operate('rules.map', { product_class: 'MG' })) as Told
    assert.ok(states.every(({ reviews }) => reviews === 1))
    t.clock.advance(86_400_000)
    assert.equal((await mapOf(t))('CA'), 'all of it; all: not-yet')
  })

  test("counts a shop's overrides, as long as they hold, and no other shop's", async () => {
    await using t = await withRules(rule('mags', { match: { product_class: ['MG'] } }))
    const override = (parts: object) =>
      t.app.operate('rules.override', {
        subscriber: t.subscriber,
        effect: 'allow',
        rule_ids: ['mags'],
        author: 'Pat',
        reason: 'a license',
        ...parts,
      } as never) as Promise<{ id: string }>
    const own = () => mapOf(t, { subscriber: t.subscriber })
    await override({ scope: { state: ['CA'] }, expires: '2026-11-22' })
    assert.equal((await own())('CA'), 'none; lifted by Pat: mags')
    assert.equal((await own())('NV'), 'all of it; all: mags')
    assert.equal((await mapOf(t))('CA'), 'all of it; all: mags', 'for nobody')
    t.clock.advance(2 * 86_400_000)
    assert.equal((await own())('CA'), 'all of it; all: mags', 'after its last day')
    await override({ scope: { state: ['NV'] }, match: { upc: [UPC] } })
    assert.equal((await own())('NV'), 'some of it; some: mags', 'all but one item')
    const block = await override({
      effect: 'block',
      rule_ids: [],
      match: { product_class: ['KN'] },
    })
    const knives = await mapOf(t, { product_class: 'KN', subscriber: t.subscriber })
    assert.equal(knives('TX'), `all of it; all: override.${block.id}`)
    await t.app.operator.rules.withdraw(block.id)
    const again = await mapOf(t, { product_class: 'KN', subscriber: t.subscriber })
    assert.equal(again('TX'), 'none')
  })

  test('is what a check of any item of the class says, whatever the rules and overrides', () => {
    fc.assert(
      fc.property(Rules, Overrides, Item, Place, (rules, overrides, item, address) => {
        const set = { active: { digest: '', index: indexRules(rules) }, overrides }
        const asked = (parts: object) =>
          itemFacts(parts, { snapshot: null, readAttributes: () => null }, 'consumer')
        const day = '2026-11-21'
        const { extent, blocking } = blocksOf(set, asked({ product_class: 'MG' }), {
          place: placeOf({ state: address.state }),
          day,
        })
        const { blocking_rules: met } = judge(
          set,
          asked({ product_class: 'MG', ...item }),
          { place: placeOf(address), day },
          {},
        )
        if (extent === 'all') assert.ok(met.length > 0, 'the map says all')
        const mapped = new Set(blocking.map(({ rule: { rule_id: id } }) => id))
        for (const { rule_id: id } of met) assert.ok(mapped.has(id), `the map does not have ${id}`)
      }),
      { numRuns: 3_000 },
    )
  })
})

const CAPACITY = fc.constantFrom(
  { name: 'magazine_capacity', op: 'gt', value: 10 },
  { name: 'magazine_capacity', op: 'exists', value: true },
)
const MATCH = fc.record(
  {
    product_class: fc.subarray(['MG', 'KN'], { minLength: 1 }),
    upc: fc.constant([UPC]),
    category: fc.constant(['Drums']),
    attributes: fc.array(CAPACITY, { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: [] },
)
const SCOPE = fc.constantFrom(
  {},
  { state: ['IL'] },
  { state: ['IL', 'WA'] },
  { state: ['IL'], city: ['Chicago'] },
  { state: ['WA'], county: ['King'] },
  { zip: ['606*'] },
)
const Rules = fc
  .array(
    fc.record({
      kind: fc.constantFrom('BLOCK', 'BLOCK', 'MANUAL_REVIEW'),
      scope: SCOPE,
      match: MATCH,
      destination: fc.constantFrom('any', 'consumer', 'ffl'),
      unknown_attribute: fc.constantFrom('review', 'ignore', 'block'),
      effective_to: fc.constantFrom(null, null, '2026-11-20'),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((all) => all.map((parts, i) => Rule.parse(rule(`r${i}`, parts))))
const Overrides: fc.Arbitrary<Override[]> = fc
  .array(
    fc.record({
      effect: fc.constantFrom('allow' as const, 'block' as const),
      rule_ids: fc.subarray(['r0', 'r1']),
      scope: SCOPE,
      match: MATCH,
      expires_at: fc.constantFrom(null, Date.UTC(2026, 10, 20)),
    }),
    { maxLength: 2 },
  )
  .map((all) =>
    all.map(({ effect, expires_at, ...detail }, i) =>
      readOverride({
        id: `o${i}`,
        effect,
        author: 'Pat',
        reason: 'a license',
        expires_at,
        detail: JSON.stringify({ destination: 'any', customer_message: 'No.', ...detail }),
      }),
    ),
  )
const Item = fc.record(
  {
    upc: fc.constantFrom(UPC, '012345678912'),
    category: fc.constantFrom('Drums', 'Boxes'),
    attributes: fc.record({ magazine_capacity: fc.constantFrom(5, 10, 30) }),
  },
  { requiredKeys: [] },
)
const Place = fc.constantFrom(
  { state: 'IL' },
  { state: 'IL', city: 'Chicago', zip: '60601' },
  { state: 'IL', city: 'Springfield', zip: '62701' },
  { state: 'WA', zip: '98101' },
  { state: 'WA', zip: '99201' },
)
