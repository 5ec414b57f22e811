/**
 * A subscriber's dealer costs. Columns of cents by row, -1 where there is no price.
 */
import { toCents } from '../../core/money.js'
import type { CostAdjustment } from '../../configuration/document/document.js'
import type { EligibleDistributor } from '../../configuration/document/saved.js'
import { Bits } from '../snapshot/bits.js'
import { CLASS_CODES } from '../../distributors/product-classes.js'
import type { ProductClass } from '../../distributors/product-classes.js'
import type { RuleRows } from '../snapshot/slice.js'

/**
 * The cost that every rule looks at: the subscriber's own feed price, else the operator's, plus all
 * cost adjustments that match. The snapshot's own column where nothing differs.
 */
export function costColumn(
  snapshot: RuleRows,
  subscriberId: string,
  adjustments: readonly CostAdjustment[],
): Int32Array {
  const own = snapshot.ownPrices(subscriberId)
  if (!own && adjustments.length === 0) return snapshot.price
  const costs = snapshot.price.slice()
  if (own) for (let row = 0; row < costs.length; row++) if (own[row]! >= 0) costs[row] = own[row]!
  return adjustments.length === 0 ? costs : adjust(snapshot, costs, adjustments)
}

/** The dearest cost of a column; what handling and shipping add to it must still fit. */
const MOST_CENTS = 1_000_000_000

/** Percents and dollars of all matching adjustments add up; a cost never falls below zero. */
function adjust(
  snapshot: RuleRows,
  costs: Int32Array,
  adjustments: readonly CostAdjustment[],
): Int32Array {
  const percent = new Float64Array(snapshot.rows)
  const cents = new Float64Array(snapshot.rows)
  for (const { filters, share, amount } of merged(adjustments)) {
    adjustedRows(snapshot, filters).forEach((row) => {
      percent[row]! += share
      cents[row]! += amount
    })
  }
  for (let row = 0; row < costs.length; row++) {
    const cost = costs[row]!
    if (cost >= 0)
      costs[row] = Math.min(
        MOST_CENTS,
        Math.max(0, roundHalfUp(cost * (1 + percent[row]!) + cents[row]!)),
      )
  }
  return costs
}

/** Adjustments of the same rows as one, so that each row is added to but a few times. */
function merged(
  adjustments: readonly CostAdjustment[],
): { filters: CostAdjustment; share: number; amount: number }[] {
  const byFilters = new Map<string, { filters: CostAdjustment; share: number; amount: number }>()
  for (const {
    percent = 0,
    dollar = 0,
    distributor,
    product_class,
    brand,
    category,
  } of adjustments) {
    const filters = {
      ...(distributor !== undefined && { distributor }),
      ...(product_class !== undefined && { product_class }),
      ...(brand !== undefined && { brand }),
      ...(category !== undefined && { category }),
    }
    const key = JSON.stringify(filters)
    const known = byFilters.get(key)
    if (known) {
      known.share += percent
      known.amount += toCents(dollar)
    } else byFilters.set(key, { filters, share: percent, amount: toCents(dollar) })
  }
  return [...byFilters.values()]
}

/** Rows that an adjustment matches, priced or not. */
export function adjustedRows(snapshot: RuleRows, adjustment: CostAdjustment): Bits {
  const rows = Bits.full(snapshot.rows)
  const only = (part: Bits) => rows.and(part)
  if (adjustment.distributor !== undefined)
    only(snapshot.distributorRows(snapshot.distids.indexOf(adjustment.distributor)))
  if (adjustment.product_class !== undefined)
    only(snapshot.classRows(CLASS_CODES.indexOf(adjustment.product_class as ProductClass)))
  if (adjustment.brand !== undefined)
    only(
      new Bits(snapshot.rows).addAll(snapshot.brandRows(snapshot.brands.indexOf(adjustment.brand))),
    )
  if (adjustment.category !== undefined) {
    const category = new Bits(snapshot.rows)
    snapshot.categories.forEach(
      ({ name }, place) =>
        name === adjustment.category && category.addAll(snapshot.categoryRows(place)),
    )
    only(category)
  }
  return rows
}

/**
 * Halves go up. A product of decimals may lie a hair beside the half that it is on paper (1.005 x
 * 100), so what is within a billionth of it counts as the half.
 */
export function roundHalfUp(cents: number): number {
  return Math.floor(cents + 0.5 + 1e-9 * Math.max(1, Math.abs(cents)))
}

/** Handling that goes into the shown cost of an offer: cents, 0 for none. */
export function handlingInCost(entry: EligibleDistributor['entry'], cost: number): number {
  const handling = entry.shipping.handling
  return handling?.add_handling_to_unit_cost && cost < toCents(handling.order_threshold)
    ? toCents(handling.amount)
    : 0
}

/**
 * The `unit_price` that is shown: the cost, plus handling where the distributor's entry puts it
 * there.
 */
export function shownColumn(
  snapshot: RuleRows,
  costs: Int32Array,
  distributors: readonly { place: number; entry: EligibleDistributor['entry'] }[],
): Int32Array {
  const adding = distributors.filter(
    ({ entry }) => entry.shipping.handling?.add_handling_to_unit_cost,
  )
  if (adding.length === 0) return costs
  const shown = costs.slice()
  for (const { place, entry } of adding) {
    snapshot.distributorRows(place).forEach((row) => {
      if (costs[row]! >= 0) shown[row]! += handlingInCost(entry, costs[row]!)
    })
  }
  return shown
}
