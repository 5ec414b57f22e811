/**
 * SQL and combination together agree with plain loops, whatever the history and whichever
 * distributors are active.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { orderOf } from '../../lib/analytics/answers/combine.js'
import { METRICS } from '../../lib/analytics/metrics/index.js'
import { WINDOWS } from '../../lib/analytics/metrics/metric.js'
import { expected } from './oracle.js'
import { ago, rigOf } from './rig.js'
import type { OfferRow, World } from './rig.js'

const ALL = ['A', 'B', 'C', 'D']
const gtin = fc.integer({ min: 1, max: 4 })
const distid = fc.constantFrom(...ALL)
// Few different values, so that thresholds and ties are met.
const cents = fc.constantFrom(7_000, 9_000, 9_500, 9_499, 10_000, 10_001, 12_000)
const price = fc.oneof({ weight: 8, arbitrary: cents }, { weight: 1, arbitrary: fc.constant(null) })
const units = fc.constantFrom(0, 0, 1, 2, 5, 12)
const daysAgo = fc.oneof(
  fc.constantFrom(0, 1, 6, 7, 29, 30, 59, 60, 89, 90, 91),
  fc.integer({ min: 0, max: 95 }),
)
const moment = fc
  .tuple(fc.constantFrom(0, 1, 5, 6, 7, 20, 29, 30, 70), fc.integer({ min: 0, max: 3 }))
  .map(([days, more]) => ago(days) - more * 3_600_000)
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 3 })

const offers = fc.array(
  fc.record({ gtin, distid, price: cents, qty: units, map: maybe(cents), msrp: maybe(cents) }),
  { minLength: 1, maxLength: 30, size: 'max' },
)
const days = fc.uniqueArray(
  fc.record({
    gtin,
    distid,
    ago: daysAgo,
    price,
    sold: units,
    restocks: fc.constantFrom(0, 0, 1, 3),
    listed: fc.boolean(),
    price_before: price,
  }),
  {
    maxLength: 120,
    size: 'max',
    selector: ({ gtin: upc, distid: at, ago: when }) => `${upc} ${at} ${when}`,
  },
)
const items = fc.uniqueArray(
  fc.record({
    gtin,
    distid,
    price,
    qty: units,
    zero_since: maybe(moment),
    back_at: maybe(moment),
    first_at: fc.oneof({ weight: 3, arbitrary: moment }, fc.constant(ago(400)), fc.constant(null)),
    listed: fc.boolean(),
  }),
  { maxLength: 16, size: 'max', selector: ({ gtin: upc, distid: at }) => `${upc} ${at}` },
)

/**
 * A history knows every distributor that it has days of, and most offers cost what the last of
 * their days says.
 */
function complete(world: World): World {
  const known = new Set(world.items!.map((row) => row.distid))
  const lastPrice = ({ gtin: upc, distid: at }: OfferRow) =>
    world
      .days!.filter((row) => row.gtin === upc && row.distid === at)
      .toSorted((a, b) => a.ago - b.ago)[0]?.price
  return {
    ...world,
    offers: world.offers.map((offer, place) => ({
      ...offer,
      price: place % 4 === 0 ? offer.price : (lastPrice(offer) ?? offer.price),
    })),
    items: [
      ...world.items!,
      ...ALL.filter((at) => !known.has(at)).map((at) => ({ gtin: 99, distid: at })),
    ],
  }
}

/** A world in which each metric has a result: chance alone may leave one out. */
const eventful: Required<World> = {
  offers: [
    ...['A', 'B', 'C'].map((at) => ({
      gtin: 1,
      distid: at,
      price: at === 'B' ? 7_000 : 10_000,
      qty: 5,
      map: 12_000,
      msrp: null,
    })),
    ...[2, 3, 4].map((upc) => ({
      gtin: upc,
      distid: 'A',
      price: 9_000,
      qty: 5,
      map: null,
      msrp: null,
    })),
  ],
  days: [
    {
      gtin: 2,
      distid: 'A',
      ago: 20,
      price: 12_000,
      sold: 1,
      restocks: 0,
      listed: true,
      price_before: null,
    },
    {
      gtin: 2,
      distid: 'A',
      ago: 1,
      price: 9_000,
      sold: 5,
      restocks: 0,
      listed: true,
      price_before: 12_000,
    },
  ],
  items: [2, 3, 4].map((upc) => ({
    gtin: upc,
    distid: 'A',
    price: 9_000,
    qty: 5,
    zero_since: upc === 4 ? ago(20) : null,
    back_at: upc === 4 ? ago(1) : null,
    first_at: upc === 3 ? ago(2) : ago(400),
    listed: true,
  })),
}

test('every metric equals plain loops over random histories and random sets of distributors', async () => {
  const seen = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(
      fc.record({ offers, days, items }),
      fc.array(fc.subarray(ALL, { minLength: 1 }), { minLength: 2, maxLength: 3 }),
      async (random, sets) => {
        const world = complete(random)
        const rig = await rigOf(world)
        for (const { slug, hasWindow } of METRICS) {
          for (const window of hasWindow ? WINDOWS : [0]) {
            for (const distids of sets) {
              const found = await rig.results(slug, { days: window, distids })
              assert.deepEqual(
                found,
                expected(slug, world, window, distids),
                `${slug} ${window} ${distids.join()}`,
              )
              seen.set(slug, (seen.get(slug) ?? 0) + found.length)
            }
          }
        }
      },
    ),
    { numRuns: 20, examples: [[eventful as never, [ALL, ['A', 'B', 'C']]]] },
  )
  for (const { slug } of METRICS) assert.ok(seen.get(slug)! > 0, `${slug} was not met`)
})

test('results are sorted as a plain comparison sorts them, also by times and with null among them', async () => {
  const measure = fc.oneof(
    fc.integer({ min: 0, max: 3 }),
    fc.constant(NaN),
    fc.constantFrom(2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, ago(3), ago(3) + 1, ago(200)),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(measure, measure), { maxLength: 40 }), async (rows) => {
      const values = {
        a: Float64Array.from(rows, ([a]) => a),
        b: Float64Array.from(rows, ([, b]) => b),
      }
      const key = (value: number) => (Number.isNaN(value) ? -1 : value)
      const plain = rows
        .map((_, place) => place)
        .sort(
          (x, y) =>
            key(rows[y]![0]) - key(rows[x]![0]) || key(rows[y]![1]) - key(rows[x]![1]) || x - y,
        )
      assert.deepEqual(
        [...(await orderOf({ items: new Uint32Array(rows.length), values }, ['a', 'b']))],
        plain,
      )
    }),
  )
})
