/** "Why is it hidden?" for one product of one subscriber. */
import type { Subscriber } from '../accounts/caller.js'
import { itemsOf, restrictedStatesOf } from '../catalog/queries.js'
import type { Snapshot } from '../catalog/snapshot/snapshot.js'
import { explainOffers } from '../catalog/view/explain.js'
import type { Explanation } from '../catalog/view/explain.js'
import type { ConfigurationCtx } from './ctx.js'
import { ApiError, invalid } from '../core/errors.js'
import { gtinKey } from '../core/gtin.js'
import { statesIn } from '../places/state-set.js'
import type { StateCode } from '../places/states.js'
import { borrowedBy } from '../catalog/snapshot/lending.js'
import type { Borrowed } from '../catalog/snapshot/lending.js'
import { distidOf, fragmentOf } from '../catalog/snapshot/offer.js'

/**
 * An offer, and what it is shown with because other offers of its UPC say so; null
 * where its own feed told all.
 */
export interface ExplainedOffer extends Explanation {
  borrowed: Borrowed | null
  /** Where its distributor does not ship it to; null where its feed does not tell. */
  restricted_states: StateCode[] | null
}

/**
 * Every offer of a UPC that any feed has, whether the subscriber sees it, and the rules that hide
 * it with their place in the document. An empty list: no feed has the UPC. Throws 400 for what is
 * no UPC, 503 before the first feed.
 */
export async function explainProduct(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  upc: string,
): Promise<ExplainedOffer[]> {
  if (!/^\d{8,14}$/.test(upc))
    throw invalid('upc', `"${upc}" is not a UPC: it must be 8 to 14 digits`)
  await ctx.catalog.refresh()
  const snapshot = ctx.catalog.current()
  if (!snapshot)
    throw new ApiError('feed_unavailable', { message: 'No feed has been taken in yet.' })
  const { document, eligible } = await ctx.configurations.of(subscriber)
  const textOf = itemsOf(ctx.engine.catalog)
  const borrowed = borrowedBy(ctx.engine.catalog.raw, upc)
  const states = statesByOffer(ctx, snapshot, upc)
  return explainOffers(
    snapshot,
    { subscriberId: subscriber.id, document, eligible },
    upc,
    (fragment) => textOf(fragment)?.name ?? '',
  ).map((offer) => ({
    ...offer,
    borrowed: borrowed.get(`${offer.distid} ${offer.stockid}`) ?? null,
    restricted_states: states.get(`${offer.distid} ${offer.stockid}`) ?? null,
  }))
}

/** By `DISTID STOCKID`; an offer whose feed does not tell is not there. */
function statesByOffer(
  { engine }: ConfigurationCtx,
  snapshot: Snapshot,
  upc: string,
): Map<string, StateCode[]> {
  const read = restrictedStatesOf(engine.catalog)
  const key = gtinKey(upc)
  return new Map(
    (key === null ? [] : snapshot.upcRows(key)).flatMap((row) => {
      const states = read(fragmentOf(snapshot, row)) ?? null
      const distid = distidOf(snapshot, row)
      return states === null ? [] : [[`${distid} ${snapshot.stockid(row)}`, statesIn(states)]]
    }),
  )
}
