/**
 * Retail prices from the main pricing settings. Website-target adjustments never
 * enter. Cents.
 */
import { gtinKey } from '../../core/gtin.js'
import { toCents } from '../../core/money.js'
import type { MarginGroup, PriceRange, Pricing } from '../../configuration/document/document.js'
import { roundHalfUp } from './costs.js'

/** What the price rule looks at; a member may be computed when it is read. */
export interface Priced {
  distid: string
  sku: string
  upcKey: number
  brand: string | null
  category: string
  productClass: string
  /** Before handling: it chooses the range. */
  cost: number
  /** As shown: the price starts from it. */
  unitPrice: number
  shippingCost: number
  /** -1 for none. */
  map: number
}

/** Filters of a margin group, most specific first. */
const FILTERS = ['sku', 'upc', 'brand', 'category', 'product_class', 'distributor'] as const

/** A compiled price rule: cents of one offer. Null when the document asks for no retail price. */
export function retailRule(pricing: Pricing): ((offer: Priced) => number) | null {
  const { margin } = pricing
  if (!margin?.default) return null
  const groups = marginGroups(margin).map(({ group }) => ({
    price: marginPrice(pricing, group),
    matches: groupMatcher(group),
  }))
  const standard = marginPrice(pricing, margin.default)
  const finish = withFees(pricing)
  const freeOfMap = new Set(pricing.ignore_map_brands ?? [])
  return (offer) => {
    const hasMap = offer.map >= 0
    if (pricing.sell_at_map && hasMap) return offer.map
    let marginOf = standard
    for (const { matches, price } of groups) {
      if (!matches(offer)) continue
      marginOf = price
      break
    }
    const price = Math.max(0, roundPrice(finish(marginOf(offer)), pricing.rounding))
    const bound = hasMap && !(offer.brand !== null && freeOfMap.has(offer.brand))
    return bound ? Math.max(price, offer.map) : price
  }
}

/**
 * The groups beside the default in the order in which they are tried: the most specific first, then
 * as in the document.
 */
export function marginGroups(
  margin: Record<string, MarginGroup>,
): { name: string; group: MarginGroup }[] {
  return (
    Object.entries(margin)
      .filter(([name]) => name !== 'default')
      .map(([name, group], order) => ({
        name,
        group,
        order,
        specificity: FILTERS.findIndex((filter) => (group[filter]?.length ?? 0) > 0),
      }))
      // A group that names nothing would be a second default; the schema's default is the one.
      .filter(({ specificity }) => specificity >= 0)
      .sort((a, b) => a.specificity - b.specificity || a.order - b.order)
  )
}

/** All filters that a group gives must hold. */
function groupMatcher(group: MarginGroup): (offer: Priced) => boolean {
  const values = (list: readonly (string | number)[] | undefined) =>
    list && list.length > 0 ? new Set(list.map(String)) : null
  const skus = values(group.sku?.map((sku) => String(sku).toLowerCase()))
  const upcs = group.upc?.length
    ? new Set(group.upc.map((upc) => gtinKey(String(upc).padStart(8, '0'))))
    : null
  const tests: ((offer: Priced) => boolean)[] = []
  if (skus) tests.push((offer) => skus.has(offer.sku.toLowerCase()))
  if (upcs) tests.push((offer) => offer.upcKey > 0 && upcs.has(offer.upcKey))
  for (const [filter, pick] of [
    ['brand', (offer: Priced) => offer.brand],
    ['category', (offer: Priced) => offer.category],
    ['product_class', (offer: Priced) => offer.productClass],
    ['distributor', (offer: Priced) => offer.distid],
  ] as const) {
    const wanted = values(group[filter])
    if (!wanted) continue
    tests.push((offer) => {
      const value = pick(offer)
      return value !== null && wanted.has(value)
    })
  }
  return (offer) => tests.every((test) => test(offer))
}

/** Compiled: the price before fees, by the fitting range of the group or the group itself. */
function marginPrice(pricing: Pricing, group: MarginGroup): (offer: Priced) => number {
  const withShipping = pricing.include_shipping_in_price === true
  const ranges = group.price_based_margin ?? []
  const margins = ranges.map(marginOf)
  const rangeOf = rangeFinder(ranges.map(boundsOf))
  const own = marginOf(group)
  return (offer) => {
    const { share, dollars } = margins.length === 0 ? own : (margins[rangeOf(offer.cost)] ?? own)
    return (offer.unitPrice + (withShipping ? offer.shippingCost : 0)) / (1 - share) + dollars
  }
}

function marginOf({ margin_percentage: share = 0, margin_dollar: dollars = 0 }: PriceRange): {
  share: number
  dollars: number
} {
  return { share, dollars: toCents(dollars) }
}

export interface RangeBounds {
  least: number
  most: number
  below: number
}

/** Which range a cost falls into: its place, -1 for none. */
export function rangeFinder(bounds: readonly RangeBounds[]): (cost: number) => number {
  return (cost) => {
    const exact = bounds.findIndex(({ least, most }) => cost >= least && cost <= most)
    return exact >= 0
      ? exact
      : bounds.findIndex(({ least, below }) => cost >= least && cost < below)
  }
}

/**
 * Ranges in whole dollars, 0-9 and 10-99, leave no gap for 9.50 between them: `below` is a dollar
 * above such a maximum.
 */
export function boundsOf({
  minimum_unit_cost: least = 0,
  maximum_unit_cost: most,
}: PriceRange): RangeBounds {
  if (most === undefined) return { least: toCents(least), most: Infinity, below: Infinity }
  return {
    least: toCents(least),
    most: toCents(most),
    below: Number.isInteger(most) ? toCents(most + 1) : 0,
  }
}

/** A share of fees and tax that nothing is left beside has no price; this is where it ends. */
const MOST_FEES = 0.99

/**
 * The price at which the shop still has its margin after the card company took its share of price
 * and sales tax.
 */
function withFees(pricing: Pricing): (price: number) => number {
  if (!pricing.include_credit_card_fees_in_price) return (price) => price
  const share = (pricing.credit_card_fee_percent ?? 0) * (1 + (pricing.sales_tax_assumption ?? 0))
  const transaction = toCents(pricing.credit_card_fee_transaction ?? 0)
  return (price) => (price + transaction) / (1 - Math.min(share, MOST_FEES))
}

function roundPrice(price: number, rounding: Pricing['rounding']): number {
  if (rounding === 'round_to_nearest_dollar')
    return Math.floor(roundHalfUp(price) / 100 + 0.5) * 100
  if (rounding === 'round_up_to_99_cents')
    return Math.ceil((roundHalfUp(price) - 99) / 100) * 100 + 99
  return roundHalfUp(price)
}
