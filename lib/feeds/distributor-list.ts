/** The distributors that the program knows, as the operator sees them. */
import { offersOf } from '../catalog/queries.js'
import type { Mode } from '../db/tables/column-types.js'
import type { FeedsCtx } from './ctx.js'

export interface ListedDistributor {
  distid: string
  name: string
  mode: Mode
  /** Which orders can be placed with it: `live or simulator`, or one of them, or `none`. */
  orders: string
  automated_fulfillment: boolean
  offers: number
}

/** By name, with their modes, and how many offers each has. */
export async function listDistributors({
  engine,
  distributors,
  modes,
}: FeedsCtx): Promise<{ service: Mode | 'mixed'; distributors: ListedDistributor[] }> {
  const offers = offersOf(engine.catalog)
  return {
    service: modes.service,
    distributors: distributors.all.map(
      ({ distid, name, automatedFulfillment, fulfillment, simulator }) => ({
        distid,
        name,
        mode: modes.of(distid),
        orders:
          [fulfillment && 'live', simulator && 'simulator'].filter(Boolean).join(' or ') || 'none',
        automated_fulfillment: automatedFulfillment,
        offers: offers(distid),
      }),
    ),
  }
}
