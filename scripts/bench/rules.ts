/**
 * Requests of 100 items against 10,000 generated rules: by the index, by a loop over all rules with
 * the same evaluation, and by json-rules-engine, in turns; the hits must agree. Goal: the index <=
 * 0.05 x the loop.
 *   npx tsx scripts/bench/rules.ts [rules] [requests]
 * json-rules-engine takes part when it is installed: npm install --no-save json-rules-engine@7
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { CLASS_CODES } from '../../lib/distributors/product-classes.js'
import { judge } from '../../lib/restrictions/check.js'
import { indexRules, isEffective } from '../../lib/restrictions/rules/compile.js'
import type { CompiledRule } from '../../lib/restrictions/rules/compile.js'
import { placeOf } from '../../lib/restrictions/destination.js'
import type { Address, Place } from '../../lib/restrictions/destination.js'
import type { ItemFacts } from '../../lib/restrictions/rules/predicates.js'
import { itemFacts } from '../../lib/restrictions/item-facts.js'
import type { ActiveRules } from '../../lib/restrictions/ctx.js'
import { Rule, countyCodes } from '../../lib/restrictions/rules/rule.js'
import type { CheckItem } from '../../lib/restrictions/shapes.js'
import { STATES } from '../../lib/places/states.js'
import { BENCH_DISTIDS, randomFrom } from './offers.js'

const RULES = Number(process.argv[2] ?? 10_000)
const REQUESTS = Number(process.argv[3] ?? 40)
const ITEMS = 100
/**
 * Items of a request that json-rules-engine is asked for: it needs some hundred milliseconds for
 * one.
 */
const ITEMS_OF_OTHER = 2
const DAY = '2026-11-21'
const PRODUCTS = 40_000

const random = randomFrom(7)
const pick = <T>(values: readonly T[]): T => values[random.below(values.length)]!
const some = <T>(most: number, make: () => T): T[] =>
  Array.from({ length: 1 + random.below(most) }, make)

const states = Object.keys(STATES).slice(0, 51)
const CATEGORIES = [
  'Rifles',
  'Pistols',
  'Shotguns',
  'Magazines',
  'Ammunition',
  'Knives',
  'Air Guns',
  'Suppressors',
  'Body Armor',
  'Optics',
  'Holsters',
  'Parts',
  'Kits',
  'Reloading',
  'Primers',
]
const CLASSES = ['FA', 'MG', 'AO', 'KN', 'AG', 'FP', 'SO', 'HZ', 'BP', 'RL'] as const
/** OT tells nothing of an item. */
const NAMED_CLASSES = CLASS_CODES.filter((code) => code !== 'OT')
/** Destinations: places with a county of the same state, a city and a ZIP of it. */
const PLACES: Address[] = [
  { state: 'CA', city: 'Los Angeles', zip: '90012' },
  { state: 'CA', city: 'Fresno', zip: '93701' },
  { state: 'IL', city: 'Chicago', zip: '60601' },
  { state: 'NY', city: 'Brooklyn', zip: '11201' },
  { state: 'NY', city: 'Buffalo', zip: '14201' },
  { state: 'TX', city: 'Houston', zip: '77002' },
  { state: 'CO', city: 'Denver', zip: '80202' },
  { state: 'MA', city: 'Boston', zip: '02108' },
  { state: 'FL', city: 'Miami', zip: '33130' },
  { state: 'WA', city: 'Seattle', zip: '98101' },
  { state: 'GA', city: 'Atlanta', zip: '30303' },
  { state: 'OH', city: 'Columbus', zip: '43215' },
]
const COUNTIES: Record<string, string> = {
  CA: 'Los Angeles',
  IL: 'Cook',
  NY: 'Kings',
  TX: 'Harris',
  CO: 'Denver',
  MA: 'Suffolk',
  FL: 'Miami-Dade',
  WA: 'King',
  GA: 'Fulton',
  OH: 'Franklin',
}

const OPERATORS: Record<string, string> = {
  eq: 'equal',
  ne: 'notEqual',
  in: 'in',
  gt: 'greaterThan',
  gte: 'greaterThanInclusive',
  lt: 'lessThan',
  lte: 'lessThanInclusive',
}

const upcOf = (product: number) => String(700_000_000_000 + product * 37)
const skuOf = (product: number) => `SKU-${product}`

/**
 * Most rules are a distributor's or a shop's lists of items by state; the law and carriers have the
 * others.
 */
function makeRule(number: number): Rule {
  const share = random.below(100)
  const { state, city, zip } = pick(PLACES)
  const local = {
    state: [state],
    ...[{ county: [COUNTIES[state]!] }, { city: [city!] }, { zip: [zip!, `${zip!.slice(0, 3)}*`] }][
      random.below(3)
    ],
  }
  const capacity = {
    name: 'magazine_capacity',
    op: pick(['gt', 'gte']),
    value: pick([7, 10, 12, 15, 17, 20]),
  }
  const attributes = pick([
    [capacity],
    [capacity, { name: 'action', op: 'ne', value: 'bolt' }],
    [{ name: 'threaded_barrel', op: 'eq', value: true }],
    [
      { name: 'action', op: 'eq', value: 'semi' },
      { name: 'features', op: 'in', value: ['pistol grip', 'folding stock'] },
    ],
    [{ name: 'blade_length_in', op: 'gt', value: pick([2, 3, 4]) }],
    [{ name: 'barrel_length_in', op: 'lt', value: pick([16, 18]) }],
  ])
  const [scope, match] =
    share < 35
      ? [
          { state: some(2, () => pick(states)) },
          { sku: some(20, () => skuOf(random.below(PRODUCTS))), distid: [pick(BENCH_DISTIDS)] },
        ]
      : share < 60
        ? [
            { state: some(8, () => pick(states)) },
            { upc: some(20, () => upcOf(random.below(PRODUCTS))) },
          ]
        : share < 80
          ? [
              { state: some(3, () => pick(states)) },
              { product_class: some(2, () => pick(CLASSES)), attributes },
            ]
          : share < 88
            ? [
                { state: some(3, () => pick(states)) },
                { category: some(2, () => pick(CATEGORIES)) },
              ]
            : share < 97
              ? [
                  local,
                  { product_class: [pick(CLASSES)], ...(random.below(2) === 0 && { attributes }) },
                ]
              : share < 99
                ? [{}, { product_class: [pick(CLASSES)], attributes }]
                : [
                    { place: [pick(['po_box', 'military', 'territory'])] },
                    { product_class: [pick(CLASSES)] },
                  ]
  return Rule.parse({
    rule_id: `r${number}`,
    kind: pick(['BLOCK', 'BLOCK', 'BLOCK', 'WARNING', 'MANUAL_REVIEW']),
    scope,
    match,
    legal_status: 'policy',
    customer_message: 'This item cannot be shipped there.',
    destination: pick(['any', 'any', 'any', 'consumer', 'ffl']),
    ...pick([
      {},
      {},
      { effective_from: '2020-01-01' },
      { effective_from: '2026-11-21' },
      { effective_from: '2027-01-01' },
      { effective_from: '2013-07-01', effective_to: '2026-11-20' },
    ]),
  })
}

function makeItem(isComplete: boolean): CheckItem {
  const product = random.below(PRODUCTS)
  const attributes = {
    magazine_capacity: pick([5, 10, 15, 30]),
    action: pick(['bolt', 'semi', 'pump']),
    threaded_barrel: pick([true, false]),
    features: pick(['none', 'pistol grip']),
    blade_length_in: 3.5,
    barrel_length_in: pick([10, 16, 20]),
  }
  const known = {
    upc: upcOf(product),
    sku: skuOf(product),
    distid: pick(BENCH_DISTIDS),
    product_class: random.below(2) === 0 ? pick(CLASSES) : pick(NAMED_CLASSES),
    category: pick(CATEGORIES),
    attributes,
  }
  if (isComplete || random.below(5) > 0) return known
  return {
    ...known,
    ...pick([{ attributes: undefined }, { category: undefined }, { sku: undefined }]),
  }
}

const rules = Array.from({ length: RULES }, (_, i) => makeRule(i))
let start = performance.now()
for (let i = 0; i < 5; i++) indexRules(rules)
console.log(
  `index of ${RULES.toLocaleString('en-US')} rules: ${((performance.now() - start) / 5).toFixed(0)} ms`,
)

const index = indexRules(rules)
const byIndex: ActiveRules = { digest: '', index }
const byLoop: ActiveRules = {
  digest: '',
  index: {
    rules: index.rules,
    candidates: (_item, _place, day) => index.rules.filter(({ rule }) => isEffective(rule, day)),
  },
}
const other = await otherEngine(index.rules)

const spent = { index: 0, loop: 0, indexOfSame: 0, other: 0 }
let [hits, hitsOfSame, asked] = [0, 0, 0]
for (let request = 0; request < REQUESTS; request++) {
  const place = placeOf(pick(PLACES))
  const items = Array.from({ length: ITEMS }, (_, i) =>
    itemFacts(makeItem(i < ITEMS_OF_OTHER), { snapshot: null, readAttributes: () => null }),
  )
  const all = (active: ActiveRules, which: readonly ItemFacts[]) =>
    which.map((facts) => judge({ active, overrides: [] }, facts, { place, day: DAY }, {}))
  const counts = request >= REQUESTS / 5
  const clock = <T>(name: keyof typeof spent, run: () => T): T => {
    const start = performance.now()
    const result = run()
    if (counts) spent[name] += performance.now() - start
    return result
  }
  // Whoever comes second finds the processor's caches the warmer.
  const loopFirst = request % 2 === 0 ? clock('loop', () => all(byLoop, items)) : null
  const found = clock('index', () => all(byIndex, items))
  const looped = loopFirst ?? clock('loop', () => all(byLoop, items))
  if (!isDeepStrictEqual(found, looped))
    throw new Error(`the index and the loop differ in request ${request}`)
  if (counts)
    [hits, asked] = [hits + found.reduce((sum, item) => sum + hitsOf(item).length, 0), asked + 1]
  if (!other) continue
  for (const facts of items.slice(0, ITEMS_OF_OTHER)) {
    const [own] = clock('indexOfSame', () => all(byIndex, [facts]))
    const start = performance.now()
    const theirs = await other(facts, place)
    if (counts) spent.other += performance.now() - start
    const ours = hitsOf(own!)
      .filter(({ missing }) => missing.length === 0)
      .map(({ rule_id: id }) => id)
      .sort()
    if (ours.join() !== theirs.sort().join())
      throw new Error(
        `the index finds ${ours.join() || 'nothing'}, json-rules-engine ${theirs.join() || 'nothing'}`,
      )
    if (counts) hitsOfSame += ours.length
  }
}

function hitsOf({
  blocking_rules: blocked,
  warnings,
  manual_review: held,
}: ReturnType<typeof judge>) {
  return [...blocked, ...warnings, ...held]
}

const each = (ms: number, items: number) =>
  `${((ms / asked / items) * 1_000).toFixed(0)} us an item`
console.log(
  `${asked} requests of ${ITEMS} items, ${(hits / asked / ITEMS).toFixed(1)} hits an item: ` +
    `index ${each(spent.index, ITEMS)}, loop ${each(spent.loop, ITEMS)}, ratio ` +
    `${(spent.index / spent.loop).toFixed(4)} (goal <= 0.05)`,
)
if (other)
  console.log(
    `${ITEMS_OF_OTHER} items of each, ${(hitsOfSame / asked / ITEMS_OF_OTHER).toFixed(1)} ` +
      `hits an item: index ${each(spent.indexOfSame, ITEMS_OF_OTHER)}, json-rules-engine ` +
      `${each(spent.other, ITEMS_OF_OTHER)}, ratio ` +
      `${(spent.indexOfSame / spent.other).toFixed(6)}`,
  )

type Condition = { fact: string; operator: string; value: unknown; path?: string }
interface OtherEngine {
  addRule(rule: { conditions: { all: Condition[] }; event: { type: string } }): void
  addOperator(name: string, test: (fact: never, value: never) => boolean): void
  run(facts: Record<string, unknown>): Promise<{ events: { type: string }[] }>
}

/**
 * The same rules in json-rules-engine's form, where every fact is known; null where it is not
 * installed.
 */
async function otherEngine(
  compiled: readonly CompiledRule[],
): Promise<((item: ItemFacts, place: Place) => Promise<string[]>) | null> {
  let made: OtherEngine
  try {
    const { Engine } = createRequire(join(process.cwd(), 'rules.js'))('json-rules-engine') as {
      Engine: new (rules: [], options: object) => OtherEngine
    }
    made = new Engine([], { allowUndefinedFacts: true })
  } catch {
    console.log(
      'json-rules-engine is not installed and does not take part: npm install --no-save json-rules-engine@7',
    )
    return null
  }
  made.addOperator('anyIn', (fact: string[], values: string[]) =>
    fact.some((one) => values.includes(one)),
  )
  made.addOperator(
    'allIn',
    (fact: string[], values: string[]) =>
      fact.length > 0 && fact.every((one) => values.includes(one)),
  )
  made.addOperator('startsWithAny', (fact: string, values: string[]) =>
    values.some((value) =>
      value.endsWith('*') ? fact.startsWith(value.slice(0, -1)) : fact === value,
    ),
  )
  made.addOperator('notBefore', (fact: string, value: string) => fact >= value)
  made.addOperator('notAfter', (fact: string, value: string) => fact <= value)
  for (const { rule, states, upcs, skus, distids, classes, categories, predicates } of compiled) {
    const { scope } = rule
    const counties = countyCodes(rule)
    const isOne = (
      fact: string,
      values: ReadonlySet<unknown> | readonly unknown[] | null | undefined,
    ): Condition[] => (values ? [{ fact, operator: 'in', value: [...values] }] : [])
    made.addRule({
      conditions: {
        all: [
          { fact: 'country', operator: 'equal', value: scope.country },
          ...isOne('state', states),
          ...(scope.place ? [{ fact: 'kinds', operator: 'anyIn', value: scope.place }] : []),
          ...(counties ? [{ fact: 'counties', operator: 'allIn', value: [...counties] }] : []),
          ...(scope.zip ? [{ fact: 'zip', operator: 'startsWithAny', value: scope.zip }] : []),
          ...isOne(
            'city',
            scope.city?.map((city) => placeOf({ state: scope.state![0]!, city }).city),
          ),
          ...(rule.destination === 'any'
            ? []
            : [{ fact: 'destination', operator: 'equal', value: rule.destination }]),
          ...isOne('product_class', classes),
          ...isOne('category', categories),
          ...isOne('upc', upcs),
          ...isOne('distid', distids),
          ...isOne('sku', skus),
          ...predicates.map(({ name, predicate: { op, value } }) => ({
            fact: 'attributes',
            path: `$.${name}`,
            operator: OPERATORS[op]!,
            value,
          })),
          ...(rule.effective_from
            ? [{ fact: 'day', operator: 'notBefore', value: rule.effective_from }]
            : []),
          ...(rule.effective_to
            ? [{ fact: 'day', operator: 'notAfter', value: rule.effective_to }]
            : []),
        ],
      },
      event: { type: rule.rule_id },
    })
  }
  const one = <T>({ values }: { values: ReadonlySet<T> }) => [...values][0]
  return async (item, place) =>
    (
      await made.run({
        country: place.country,
        state: one(place.states),
        kinds: [...place.kinds],
        counties: [...place.counties.values],
        zip: place.zip,
        city: place.city,
        day: DAY,
        destination: one(item.destination),
        product_class: one(item.productClass),
        category: one(item.category),
        upc: one(item.upc),
        distid: one(item.distid),
        sku: one(item.sku),
        attributes: Object.fromEntries(
          [...item.attributes].map(([name, fact]) => [name, fact[0]![0]!.value]),
        ),
      })
    ).events.map(({ type }) => type)
}
