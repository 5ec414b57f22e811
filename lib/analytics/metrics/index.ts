/** Every metric, in the order of the contract. */
import { marginOpportunities } from './margin-opportunities.js'
import type { Metric } from './metric.js'
import { newArrivals } from './new-arrivals.js'
import { newlyAvailable } from './newly-available.js'
import { onSale } from './on-sale.js'
import { priceGaps } from './price-gaps.js'
import { topProducts } from './top-products.js'
import { trending } from './trending.js'

export const METRICS: readonly Metric[] = [
  topProducts,
  onSale,
  marginOpportunities,
  trending,
  newArrivals,
  newlyAvailable,
  priceGaps,
]

export const SLUGS = METRICS.map(({ slug }) => slug)

export function findMetric(slug: string): Metric | undefined {
  return METRICS.find((metric) => metric.slug === slug)
}
