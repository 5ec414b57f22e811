/** The subscriber's shipping model (contract "Configuration document", decisions 4.5 and 8.1). Cents. */
import { toCents } from '../core/money.js'
import type { Shipping, ShippingLevel } from '../configuration/document.js'
import { roundHalfUp } from './costs.js'

/** What the model looks at. */
export interface Shipped {
  /** Dealer cost of one unit, before handling. */
  cost: number
  productClass: string
  category: string
  /** The distributor's own estimate from its feed, -1 for none. */
  feedEstimate: number
}

/** Shipping of one line: base rate once, insurance pro rata, handling once when the line is below its threshold. */
export function shippingCost(shipping: Shipping, shipped: Shipped, qty: number): number {
  const line = shipped.cost * qty
  const { insurance, handling } = shipping
  const insured = insurance?.include ? roundHalfUp((insurance.cost_per_hundred ?? 0) * line / 100) : 0
  const handled = handling && !handling.add_handling_to_unit_cost && line < toCents(handling.order_threshold) ? toCents(handling.amount) : 0
  return baseRate(shipping, shipped) + insured + handled
}

/** The two spellings of the levels member mean the same (decisions 3.4). */
export function shippingLevels(shipping: Shipping): readonly ShippingLevel[] {
  return shipping.price_based_shipping ?? shipping.price_based_shipping_levels ?? []
}

function baseRate(shipping: Shipping, shipped: Shipped): number {
  const levels = shippingLevels(shipping)
  const level = levels.find((candidate) => fits(candidate, shipped))
  if (level) return toCents(level.flat_rate.cost)
  if (shipping.flat_rate) return toCents(shipping.flat_rate.cost)
  if (shipped.feedEstimate >= 0) return shipped.feedEstimate
  // Nothing fits: the dearest level, since a shop that ships for less than it pays loses money on every order.
  return Math.max(0, ...levels.map((candidate) => toCents(candidate.flat_rate.cost)))
}

/** Bounds are whole dollars: a level up to 99 holds 99.99 too. */
function fits(level: ShippingLevel, { cost, productClass, category }: Shipped): boolean {
  if (cost < toCents(level.min_unit_cost)) return false
  if (level.max_unit_cost !== undefined && cost >= toCents(level.max_unit_cost + 1)) return false
  if (level.product_class?.length && !level.product_class.includes(productClass)) return false
  return !level.category?.length || level.category.includes(category)
}
