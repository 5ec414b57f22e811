/** The course of an item, for an operator. */
import { gtinKey } from '../../core/gtin.js'
import { invalid } from '../../core/errors.js'
import { toDollars } from '../../core/money.js'
import { startAnalytics } from '../builds/child-start.js'
import type { AnalyticsCtx } from '../ctx.js'
import type { ItemCourse } from './item.js'

/** As `ItemCourse`, with prices in dollars. */
export type ShownItem = ItemCourse

/**
 * Price (dollars) and stock of a UPC at each distributor at the end of each of the last 91 days, the
 * current one among them, read by a process of its own. Throws 400 for what is no UPC.
 */
export async function showItem(ctx: AnalyticsCtx, upc: string): Promise<ShownItem> {
  const gtin = gtinKey(upc)
  if (gtin === null) throw invalid('upc', `"${upc}" is not a UPC: it must be 8 to 14 digits`)
  const { days, distributors, damaged } = await startAnalytics(
    ctx,
    { task: 'item', gtin },
    { signal: ctx.analytics.closing, ...ctx.analytics.process },
  )
  return {
    days,
    distributors: distributors.map(({ price, ...course }) => ({
      ...course,
      price: price.map((cents) => (cents === null ? null : toDollars(cents))),
    })),
    damaged,
  }
}
