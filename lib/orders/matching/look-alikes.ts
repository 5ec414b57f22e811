/**
 * A distributor that takes files gives no reference back: an order of it may belong to any of ours
 * that still has no number.
 */
import { DAY } from '../../core/clock.js'
import { all } from '../../db/reading.js'
import type { OrdersCtx } from '../ctx.js'
import type { FoundOrder, PurchaseOrder } from '../../distributors/fulfillment.js'
import { contentOrNull } from '../sealed-content.js'
import { MAX_LOOK_ALIKES, numberless } from './queries.js'
import { matchOrder } from './match.js'
import type { StoredPo } from '../stored.js'

/**
 * A purchase order of the same account to which a distributor's order without a reference may
 * belong as well.
 */
export interface LookAlike {
  /** It was taken in, and only its number is missing; else its outcome is not known either. */
  isPlaced: boolean
  /** Null where it cannot be read. */
  content: PurchaseOrder | null
}

/**
 * Only what has a number can be given to one of two whose outcome is not known: the other then sees
 * that it is taken.
 */
export function mayBelongTo({ isPlaced, content }: LookAlike, candidate: FoundOrder): boolean {
  if (!isPlaced && candidate.number !== null) return false
  return (
    content === null ||
    matchOrder(candidate, content, {
      firstSentAt: content.takenAt,
      poIsAlone: false,
      hasOtherParts: false,
      isTaken: false,
      recovery: 'file',
    }) === 'ours'
  )
}

/** Purchase orders that are alike in all that such an order tells, the newest first. */
export async function lookAlikesOf(
  ctx: OrdersCtx,
  {
    id,
    subscriber_id: owner,
    account,
    distid,
    mode,
    first_sent_at: sentAt,
    planned_at: plannedAt,
  }: StoredPo,
  found: readonly FoundOrder[],
): Promise<LookAlike[]> {
  // What is shown without a time may be as old as any that still has no number.
  const since = found.every(({ placedAt }) => placedAt !== undefined)
    ? (sentAt ?? plannedAt) - 3 * DAY
    : 0
  const rows = await ctx.engine.look(() =>
    all(numberless, { id, distid, mode, subscriber: owner, account, plannedAfter: since }),
  )
  const lookAlikes = rows.map((row) => ({
    isPlaced: row.state === 'placed',
    content: contentOrNull(ctx, row),
  }))
  return rows.length === MAX_LOOK_ALIKES
    ? [...lookAlikes, { isPlaced: true, content: null }]
    : lookAlikes
}
