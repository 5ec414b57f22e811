/**
 * A distributor that takes files gives no reference back: an order of it may belong to any of ours
 * that still has no number.
 */
import { DAY } from '../../core/clock.js'
import type { OrdersCtx } from '../ctx.js'
import type { FoundOrder, PurchaseOrder } from '../../distributors/fulfillment.js'
import { contentOrNull } from './content.js'
import { matchOrder } from '../tracking/match.js'
import type { StoredPo } from '../stored.js'

/**
 * A purchase order of the same account to which a distributor's order without a reference may
 * belong as well.
 */
export interface Twin {
  /** It was taken in, and only its number is missing; else its outcome is not known either. */
  isPlaced: boolean
  /** Null where it cannot be read. */
  content: PurchaseOrder | null
}

/**
 * Only what has a number can be given to one of two whose outcome is not known: the other then sees
 * that it is taken.
 */
export function mayBe({ isPlaced, content }: Twin, candidate: FoundOrder): boolean {
  if (!isPlaced && candidate.number !== null) return false
  return (
    content === null ||
    matchOrder(candidate, content, {
      firstSentAt: content.takenAt,
      poIsAlone: false,
      isTaken: false,
      recovery: 'file',
    }) === 'ours'
  )
}

/** So many are looked at; where there are more, any of the others may be it. */
const MAX_TWINS = 1_000

/** Purchase orders that are alike in all that such an order tells, the newest first. */
export function twinsOf(
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
): Twin[] {
  // What is shown without a time may be as old as any that still has no number.
  const since = found.every(({ placedAt }) => placedAt !== undefined)
    ? (sentAt ?? plannedAt) - 3 * DAY
    : 0
  const rows = ctx.engine.reader
    .prepare(`
    SELECT state, subscriber_id, client_ref, payload, payload_digest FROM purchase_order
    WHERE distid = ? AND mode = ? AND (subscriber_id = ? OR account = ?) AND state IN ('placed', 'sending', 'unknown', 'review') AND distributor_order_id IS NULL AND id <> ? AND planned_at > ?
    ORDER BY id DESC LIMIT ${MAX_TWINS}`)
    .all(distid, mode, owner, account, id, since) as Pick<
    StoredPo,
    'state' | 'subscriber_id' | 'client_ref' | 'payload' | 'payload_digest'
  >[]
  const twins = rows.map((row): Twin => ({
    isPlaced: row.state === 'placed',
    content: contentOrNull(ctx, row),
  }))
  return rows.length === MAX_TWINS ? [...twins, { isPlaced: true, content: null }] : twins
}
