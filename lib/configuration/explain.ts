/** "Why is it hidden?" for one product of one subscriber. */
import type { Subscriber } from '../accounts/caller.js'
import { itemsOf } from '../catalog/queries.js'
import { explainOffers } from '../catalog/view/explain.js'
import type { Explanation } from '../catalog/view/explain.js'
import type { ConfigurationCtx } from './ctx.js'
import { ApiError, invalid } from '../core/errors.js'
import { borrowedBy } from '../catalog/snapshot/lending.js'
import type { Borrowed } from '../catalog/snapshot/lending.js'

/**
 * An offer, and what it is shown with because other offers of its UPC say so; null
 * where its own feed told all.
 */
export interface ExplainedOffer extends Explanation {
  borrowed: Borrowed | null
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
  const { document, eligible } = ctx.configurations.of(subscriber)
  const textOf = itemsOf(ctx.engine.catalog)
  const borrowed = borrowedBy(ctx.engine.catalog.raw, upc)
  return explainOffers(
    snapshot,
    { subscriberId: subscriber.id, document, eligible },
    upc,
    (fragment) => textOf(fragment)?.name ?? '',
  ).map((offer) => ({
    ...offer,
    borrowed: borrowed.get(`${offer.distid} ${offer.stockid}`) ?? null,
  }))
}
