/**
 * The restricted subscriber of the benchmarks: twelve distributors, brand and class rules, cost
 * bounds, margins.
 */
import type {
  ConfigurationDocument,
  DistributorEntry,
} from '../../lib/configuration/document/document.js'
import { defineDistributor } from '../../lib/distributors/distributor.js'
import type { Distributor } from '../../lib/distributors/distributor.js'
import type { Shop } from '../../lib/app/shop.js'
import { BENCH_DISTIDS } from './offers.js'

export function benchDistributors(): Distributor[] {
  return BENCH_DISTIDS.map((distid) =>
    defineDistributor({ distid, name: distid, automatedFulfillment: false, settings: {} }),
  )
}

/** `variant` makes different subscribers of the same kind. */
export function benchDocument(
  distids: readonly string[],
  variant = 0,
  brands: readonly string[] = [],
): ConfigurationDocument {
  const entry = (distid: string, i: number): DistributorEntry => ({
    active: true,
    distid,
    drop_ship_only_items: i % 4 === 3,
    shipping: {
      flat_rate: { cost: 10 + i, shipping_class: 'x' },
      insurance: { include: true, cost_per_hundred: 0.5 },
    },
    product_restrictions: { min_quantity_to_list: 1 + ((i + variant) % 3) },
  })
  return {
    distributors: Object.fromEntries(distids.map((distid, i) => [distid, entry(distid, i)])),
    targets: {},
    notification_email: 'bench@shop.example',
    pricing: {
      margin: {
        default: { margin_percentage: 0.2 },
        firearms: { product_class: ['FA'], margin_percentage: 0.12 },
      },
      rounding: 'round_up_to_99_cents',
    },
    product_restrictions: {
      brand: { exclude: brands.filter((_, i) => (i + variant) % 10 === 0) },
      product_class: { exclude: ['KN', 'SO'] },
      cost: {
        global_restrictions: {
          min_distributor_cost: 5 + (variant % 7),
          max_distributor_cost: 2_500,
        },
      },
    },
  }
}

/**
 * Milliseconds of searches, one after the other, for as long as `until` goes on; in ascending
 * order.
 */
export async function searches(shop: Shop, until: Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  let going = true
  void until
    .finally(() => {
      going = false
    })
    .catch(() => {})
  for (let n = 0; going; n++) {
    const start = performance.now()
    await shop.products.search({
      q: ['optic', 'rifle black', '9mm', 'holster'][n % 4]!,
      page_size: 20,
      sort: n % 2 ? 'price' : 'name',
    })
    times.push(performance.now() - start)
    await new Promise(setImmediate)
  }
  return times.sort((a, b) => a - b)
}
