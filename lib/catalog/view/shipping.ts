/**
 * The subscriber's shipping model (contract "Configuration document").
 * Cents.
 */
import { toCents } from '../../core/money.js'
import type { Shipping, ShippingLevel } from '../../configuration/document/document.js'
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

/**
 * Shipping of a line of `qty` units in cents: base rate once, insurance pro rata, handling once
 * when the line is below its threshold.
 */
export type ShippingModel = (shipped: Shipped, qty: number) => number

/** Compiles a model: its dollars become cents once, not with every offer that is shown. */
export function shippingModel(shipping: Shipping): ShippingModel {
  const { insurance, handling } = shipping
  const perHundred = insurance?.include ? (insurance.cost_per_hundred ?? 0) : 0
  const handled = handling && !handling.add_handling_to_unit_cost ? toCents(handling.amount) : 0
  const threshold = handling ? toCents(handling.order_threshold) : 0
  const base = baseRate(shipping)
  return (shipped, qty) => {
    const line = shipped.cost * qty
    return (
      base(shipped) +
      (perHundred > 0 ? roundHalfUp((perHundred * line) / 100) : 0) +
      (line < threshold ? handled : 0)
    )
  }
}

/** The two spellings of the levels member mean the same. */
export function shippingLevels(shipping: Shipping): readonly ShippingLevel[] {
  return shipping.price_based_shipping ?? shipping.price_based_shipping_levels ?? []
}

function baseRate(shipping: Shipping): (shipped: Shipped) => number {
  const levels = shippingLevels(shipping).map((level) => ({
    fits: fits(level),
    rate: toCents(level.flat_rate.cost),
  }))
  const flat = shipping.flat_rate ? toCents(shipping.flat_rate.cost) : null
  // Nothing fits: the dearest level, since a shop that ships for less than it pays loses money on
  // every order.
  const dearest = Math.max(0, ...levels.map(({ rate }) => rate))
  return (shipped) => {
    for (const { fits, rate } of levels) if (fits(shipped)) return rate
    if (flat !== null) return flat
    return shipped.feedEstimate >= 0 ? shipped.feedEstimate : dearest
  }
}

/** The costs of a level, cents. Bounds are whole dollars: a level up to 99 holds 99.99 too. */
export function levelBounds({ min_unit_cost: least, max_unit_cost: most }: ShippingLevel): {
  least: number
  below: number
} {
  return { least: toCents(least), below: most === undefined ? Infinity : toCents(most + 1) }
}

function fits(level: ShippingLevel): (shipped: Shipped) => boolean {
  const { least, below } = levelBounds(level)
  const { product_class: classes = [], category: categories = [] } = level
  return ({ cost, productClass, category }) =>
    cost >= least &&
    cost < below &&
    (classes.length === 0 || classes.includes(productClass)) &&
    (categories.length === 0 || categories.includes(category))
}
