/**
 * A few rows of a snapshot as a small one of their own, so that the rules which judge a whole
 * snapshot judge just the rows that a feed has moved, in their share of the time. Rows of the slice
 * are places in `rows`.
 */
import { firstPlace } from '../../core/binary-search.js'
import { Bits } from './bits.js'
import { groupBy, identity } from './permutation.js'
import { CLASS_CODES } from '../../distributors/product-classes.js'
import type { Row, Snapshot } from './snapshot.js'

/** What rules look at: a snapshot has it, and so has a slice. */
export type RuleRows = Pick<
  Snapshot,
  | 'rows'
  | 'distids'
  | 'brands'
  | 'categories'
  | 'qty'
  | 'price'
  | 'dropShip'
  | 'byPrice'
  | 'distributorRows'
  | 'classRows'
  | 'brandRows'
  | 'categoryRows'
  | 'upcRows'
  | 'skuRows'
  | 'ownPrices'
>

export interface Slice extends RuleRows {
  /** Rows of the snapshot, ascending. */
  readonly of: Uint32Array
}

/** Takes these rows, given in ascending order. */
export function sliceOf(snapshot: Snapshot, of: Uint32Array): Slice {
  const rows = of.length
  const dropShip = new Bits(rows)
  of.forEach((row, place) => snapshot.dropShip.has(row) && dropShip.add(place))
  const price = pick(snapshot.price, of)
  const placed = (all: ArrayLike<Row>) => {
    const found: number[] = []
    for (let i = 0; i < all.length; i++) {
      const place = firstPlace(rows, (at) => of[at]! >= all[i]!)
      if (of[place] === all[i]) found.push(place)
    }
    return found
  }
  return {
    of,
    rows,
    price,
    dropShip,
    distids: snapshot.distids,
    brands: snapshot.brands,
    categories: snapshot.categories,
    qty: pick(snapshot.qty, of),
    // Only for its rows without a price, which stand first: the rest is in no order.
    byPrice: unpricedFirst(price),
    distributorRows: bitsBy(of, snapshot.distributor, snapshot.distids.length),
    classRows: bitsBy(of, snapshot.productClass, CLASS_CODES.length),
    brandRows: listsBy(of, snapshot.brand, snapshot.brands.length + 1),
    categoryRows: listsBy(of, snapshot.category, snapshot.categories.length),
    upcRows: (key) => placed(snapshot.upcRows(key)),
    skuRows: (sku) => placed(snapshot.skuRows(sku)),
    ownPrices: () => undefined,
  }
}

function unpricedFirst(price: Int32Array): Uint32Array {
  const order = new Uint32Array(price.length)
  let front = 0
  let back = price.length
  for (let place = 0; place < price.length; place++)
    order[price[place]! < 0 ? front++ : --back] = place
  return order
}

/** What a column has for these rows. */
export function pick(column: Int32Array, of: Uint32Array): Int32Array {
  const picked = new Int32Array(of.length)
  for (let place = 0; place < of.length; place++) picked[place] = column[of[place]!]!
  return picked
}

function bitsBy(of: Uint32Array, column: Uint8Array, values: number): (value: number) => Bits {
  const sets = Array.from({ length: values }, () => new Bits(of.length))
  for (let place = 0; place < of.length; place++) sets[column[of[place]!]!]!.add(place)
  const none = new Bits(of.length)
  return (value) => sets[value] ?? none
}

/** Ascending places of each value; put together on first use, since few documents ask for them. */
function listsBy(
  of: Uint32Array,
  column: Uint32Array,
  values: number,
): (value: number) => Uint32Array {
  let groups: ReturnType<typeof groupBy> | undefined
  const group = () => {
    const key = new Uint32Array(of.length)
    for (let place = 0; place < of.length; place++) key[place] = column[of[place]!]!
    return groupBy(identity(of.length), key, values)
  }
  return (value) => {
    const { items, starts } = (groups ??= group())
    return items.subarray(starts[value], starts[value + 1])
  }
}
