import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CheckItem } from '../../lib/restrictions/shapes.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp, TestOffer } from '../../server/testing/index.js'

const rule = (rule_id: string, state: string[], match: object, more: object = {}) => ({
  rule_id,
  kind: 'BLOCK',
  scope: { state },
  match,
  customer_message: 'No.',
  legal_status: 'policy',
  ...more,
})
const over = (value: number) => ({
  product_class: ['MG'],
  attributes: [{ name: 'magazine_capacity', op: 'gt', value }],
})

const BEFORE = [
  rule('mag', ['CA', 'NY'], over(10)),
  rule('knife', ['NY'], { product_class: ['KN'] }),
]
const AFTER = [
  rule('mag', ['CA', 'NY'], over(15)),
  rule('one', ['TX'], { upc: ['036000291452'] }),
  rule('sku', ['TX'], { sku: ['mg-3'], distid: ['LIP'] }),
  rule('city', ['OH'], { product_class: ['AG'] }, { scope: { state: ['OH'], city: ['Columbus'] } }),
  rule('guns', ['CA'], { category: ['Pistols'] }, { kind: 'MANUAL_REVIEW' }),
  rule('warned', ['ME'], {}, { kind: 'WARNING' }),
]

/** Offers that are alike in some of what rules ask of, and differ in the rest. */
const OFFERS: TestOffer[] = [
  ...['10', '12', '30', '10/30', undefined].map((capacity, i): TestOffer => ({
    distid: i % 2 ? 'LIP' : 'RSR',
    stockid: `MG-${i}`,
    upc: null,
    productClass: 'MG',
    attributes: capacity === undefined ? {} : { Capacity: capacity, Finish: `f${i}` },
  })),
  {
    distid: 'LIP',
    stockid: 'MG-3B',
    upc: '036000291452',
    productClass: 'MG',
    attributes: { Capacity: '10' },
  },
  {
    distid: 'LIP',
    stockid: 'MG-3D',
    upc: null,
    productClass: 'MG',
    attributes: { Capacity: '10/30' },
  },
  {
    distid: 'LIP',
    stockid: 'MG-3C',
    upc: '614141000036',
    productClass: 'MG',
    attributes: { Capacity: '10' },
  },
  { distid: 'RSR', stockid: 'KN-1', upc: '012345678905', productClass: 'KN' },
  { distid: 'RSR', stockid: 'AG-1', upc: null, productClass: 'AG' },
  {
    distid: 'RSR',
    stockid: 'FA-1',
    upc: null,
    productClass: 'FA',
    fflReq: true,
    categoryName: 'Pistols',
  },
  {
    distid: 'RSR',
    stockid: 'FA-2',
    upc: null,
    productClass: 'FA',
    fflReq: true,
    categoryName: 'Rifles',
  },
  { distid: 'RSR', stockid: 'AC-1', upc: null, productClass: 'AC' },
  { distid: 'LIP', stockid: 'AC-2', upc: null, productClass: 'AC' },
  { distid: 'RSR', stockid: 'OT-1', upc: null, productClass: 'OT' },
]

/** What a check says of each offer by itself, counted. */
async function counted(t: TestApp, state: string) {
  const verdicts = await Promise.all(
    OFFERS.map(async ({ distid, stockid }) => {
      const {
        items: [item],
      } = await t.app.operator.rules.test(t.subscriber, {
        shipping: { state },
        items: [{ distid, sku: stockid } as CheckItem],
      })
      return item!.approved ? 'approved' : item!.blocking_rules.length > 0 ? 'blocked' : 'held'
    }),
  )
  return {
    verdicts,
    counts: {
      approved: 0,
      held: 0,
      blocked: 0,
      ...Object.fromEntries(
        ['approved', 'held', 'blocked'].map((name) => [
          name,
          verdicts.filter((verdict) => verdict === name).length,
        ]),
      ),
    },
  }
}

test('the impact of a change is what a check says of every offer before and after it, by state', async () => {
  await using t = await createTestApp()
  await t.stock(OFFERS)
  await t.app.operator.rules.import({ text: JSON.stringify(BEFORE), origin: 'before' })
  const states = ['CA', 'NY', 'TX', 'OH', 'ME', 'FL']
  const before = new Map(
    await Promise.all(states.map(async (state) => [state, await counted(t, state)] as const)),
  )
  const { rules } = t.app.operator.rules.diff({ text: JSON.stringify(AFTER), replace: true })
  const impact = await t.app.operator.rules.impact(rules)
  await t.app.operator.rules.import({ text: JSON.stringify(AFTER), origin: 'after', replace: true })
  assert.equal(impact.offers, OFFERS.length)
  assert.deepEqual(
    impact.states.map(({ state }) => state).sort(),
    ['CA', 'NY', 'OH', 'TX'],
    'a warning, and a state without rules, change nothing',
  )
  for (const state of states) {
    const [was, is] = [before.get(state)!, await counted(t, state)]
    const found = impact.states.find((one) => one.state === state)
    const changed = was.verdicts.filter((verdict, i) => verdict !== is.verdicts[i]).length
    if (changed === 0) assert.equal(found, undefined, state)
    else assert.deepEqual(found, { state, before: was.counts, after: is.counts, changed })
  }
  assert.ok(
    impact.states.some(({ after }) => after.blocked > 0) &&
      impact.states.some(({ after }) => after.held > 0),
  )
})

test('a change of nothing has no impact, and without a catalog there is none to tell', async () => {
  await using t = await createTestApp()
  const { rules } = t.app.operator.rules.diff({ text: JSON.stringify(AFTER) })
  assert.deepEqual(await t.app.operator.rules.impact(rules), { offers: 0, states: [] })
  await t.stock(OFFERS)
  await t.app.operator.rules.import({ text: JSON.stringify(AFTER), origin: 'a' })
  assert.deepEqual(await t.app.operator.rules.impact(rules), { offers: OFFERS.length, states: [] })
})
