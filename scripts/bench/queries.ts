/**
 * The 46 shapes of the search benchmark. A shape draws its values anew each time, by the share of
 * offers that have them.
 */
import { SearchQuery } from '../../lib/catalog/shapes.js'
import type { Raw } from '../../lib/db/sqlite/sqlite.js'
import { randomFrom } from './offers.js'
import type { Random } from './offers.js'

/** An offer that values are drawn from. */
export interface Sample {
  name: string
  mfgName: string
  distsku: string
  upc: string | null
  productClass: string
  categoryName: string
  distid: string
  cents: number
}

type Shape = (sample: Sample, random: Random) => Partial<SearchQuery>

const words = ({ name }: Sample, count: number) =>
  name
    .split(' ')
    .slice(2)
    .filter((word) => /\w/.test(word))
    .slice(0, count)
    .join(' ')
const around = ({ cents }: Sample, share: number) => ({
  min_price: Math.floor(cents * (1 - share)) / 100,
  max_price: Math.ceil(cents * (1 + share)) / 100,
})
const deep = (random: Random) => ({ page: 1 + random.below(200), page_size: 50 })
const LAST = { page: 100, page_size: 100 }

export const SHAPES: readonly Shape[] = [
  // Everything, in each order: the first page, any page, the last one that may be reached.
  () => ({}),
  () => ({ sort: '-name' }),
  () => ({ sort: 'price' }),
  () => ({ sort: '-price' }),
  () => ({ sort: 'qty' }),
  () => ({ sort: '-qty' }),
  (_, random) => deep(random),
  (_, random) => ({ sort: '-name', ...deep(random) }),
  (_, random) => ({ sort: 'price', ...deep(random) }),
  () => ({ sort: '-price', ...LAST }),
  (_, random) => ({ sort: '-qty', ...deep(random) }),
  // Words.
  (s) => ({ q: words(s, 1) }),
  (s) => ({ q: words(s, 2) }),
  (s) => ({ q: words(s, 3), sort: 'price' }),
  (s) => ({ q: s.name }),
  (s) => ({ q: s.mfgName.slice(0, 1) }),
  (s) => ({ q: s.mfgName.slice(0, 2), sort: '-price' }),
  (s) => ({ q: s.mfgName.slice(0, 3), in_stock: true }),
  (s) => ({ q: `${s.mfgName} ${words(s, 1)}` }),
  (s) => ({ q: `${s.mfgName} ${s.name.split(' ')[1]}`, sort: 'price' }),
  (s) => ({ q: s.distsku }),
  (s) => ({ q: s.distsku.slice(0, 4), sort: '-qty' }),
  (s) => ({ q: words(s, 1), category: s.categoryName, sort: 'price', in_stock: true }),
  (s, random) => ({ q: words(s, 1), sort: '-price', ...deep(random) }),
  (s) => ({ q: words(s, 2), ...around(s, 0.2), sort: 'price' }),
  // One value of a filter.
  (s) => ({ manufacturer: s.mfgName }),
  (s) => ({ manufacturer: s.mfgName, sort: 'price' }),
  (s) => ({ manufacturer: s.mfgName, sort: '-qty', in_stock: true }),
  (s) => ({ manufacturer: s.mfgName, category: s.categoryName, sort: '-price' }),
  (s) => ({ category: s.categoryName }),
  (s) => ({ category: s.categoryName, sort: 'price', in_stock: true }),
  (s, random) => ({ category: s.categoryName, sort: '-name', ...deep(random) }),
  (s) => ({ product_class: s.productClass, sort: '-price' }),
  (s, random) => ({
    product_class: s.productClass,
    ffl_required: false,
    sort: 'price',
    ...deep(random),
  }),
  (s) => ({ distributor: s.distid, sort: 'qty' }),
  (s) => ({ distributor: s.distid, in_stock: true, drop_ship_only: true, sort: 'price' }),
  (s) => ({ distributor: s.distid, manufacturer: s.mfgName, sort: '-name' }),
  // Prices.
  (s) => around(s, 0.01),
  (s) => ({ ...around(s, 0.3), sort: 'price' }),
  (s) => ({ ...around(s, 0.5), in_stock: true, sort: '-price' }),
  (s) => ({ max_price: s.cents / 100, category: s.categoryName, sort: '-price' }),
  // Flags.
  () => ({ in_stock: true, drop_ship_only: true, ffl_required: true, sort: 'price' }),
  () => ({ ffl_required: false, in_stock: true, sort: '-qty', ...LAST }),
  // One item.
  (s) => ({ upc: s.upc ?? '700000000009' }),
  (s) => ({ q: s.upc ?? '700000000009', sort: 'price' }),
  (s) => ({ sku: s.distsku.toLowerCase() }),
]

/** One query of each shape; the same for the same seed. */
export function queriesOf(samples: readonly Sample[], seed: number): SearchQuery[] {
  const random = randomFrom(seed)
  return SHAPES.map((shape) =>
    SearchQuery.parse(shape(samples[random.below(samples.length)]!, random)),
  )
}

/** Some 5,000 offers of a catalog.db, spread over it. */
export function samplesOf(raw: Raw): Sample[] {
  return raw
    .prepare(`
    SELECT f.name, f.mfg_name AS mfgName, f.distsku, f.upc, f.product_class AS productClass,
      f.category_name AS categoryName, f.distid, o.price AS cents
    FROM offer o JOIN fragment f ON f.id = o.fragment
      WHERE o.price IS NOT NULL AND o.id % (1 + (SELECT max(id) FROM offer) / 5000) = 0`)
    .all() as Sample[]
}
