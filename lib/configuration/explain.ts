/** "Why is it hidden?" for one product of one subscriber. */
import type { Subscriber } from '../accounts/subscribers.js'
import { explainOffers } from '../catalog/explain.js'
import type { Explanation } from '../catalog/explain.js'
import type { OperatorCtx } from '../core/ctx.js'
import { ApiError, invalid } from '../core/errors.js'

/**
 * Every offer of a UPC that any feed has, whether the subscriber sees it, and the rules that hide it with their place in
 * the document. An empty list: no feed has the UPC. Throws 400 for what is no UPC, 503 before the first feed.
 */
export async function explainProduct(ctx: OperatorCtx, subscriber: Subscriber, upc: string): Promise<Explanation[]> {
  if (!/^\d{8,14}$/.test(upc)) throw invalid('upc', `"${upc}" is no UPC: it must be 8 to 14 digits`)
  await ctx.catalog.refresh()
  const snapshot = ctx.catalog.current()
  if (!snapshot) throw new ApiError('feed_unavailable', { message: 'No feed has been taken in yet.' })
  const { document, eligible } = ctx.configurations.of(subscriber)
  const name = ctx.engine.catalog.prepare('SELECT name FROM fragment WHERE id = ?').pluck()
  return explainOffers(snapshot, { subscriberId: subscriber.id, document, eligible }, upc, (fragment) => name.get(fragment) as string)
}
