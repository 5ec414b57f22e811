/** Failed placements of the history (contract "Failed-placement record"). */
import { DAY } from '../../core/clock.js'
import type { OrdersCtx } from '../ctx.js'
import { pipelined } from '../../db/together.js'
import type { Reading } from '../../db/query.js'
import { all } from '../../db/reading.js'
import { failures } from './queries.js'
import { failureOf } from './records.js'
import type { StoredOrder } from './records.js'
import type { StoredPo } from '../stored.js'
import type { FailedPlacement } from './shapes.js'

/** Lists a purchase order of which nothing came, in the transaction that ends it. */
export async function listFailure(
  tx: OrdersCtx,
  record: StoredOrder,
  { reason }: Pick<StoredPo, 'state' | 'reason'>,
): Promise<void> {
  await pipelined(tx.db, [
    tx.db.insertInto('failed_placement').values({
      placement_id: record.placement_id,
      fulfillment_order_id: record.id,
      subscriber_id: record.subscriber_id,
      failed_at: tx.now(),
      order_source: record.order_source,
      order_id: record.order_id,
      po_number: record.po_number,
      po_given: record.po_given,
      distid: record.distid,
      reason: reason ?? 'refused',
    }),
  ])
}

export interface FailureQuery {
  reference?: string | undefined
  order_id?: string | undefined
  po_number?: string | undefined
  distid?: string | undefined
  order_source?: string | undefined
  /** Days since 1970, UTC, both inclusive. */
  fromDay?: number | undefined
  toDay?: number | undefined
  limit: number
}

/** The newest failed placements that fit, at most `limit`. */
export function* failuresOf(
  subscriber: string,
  { limit, fromDay, toDay, ...given }: FailureQuery,
): Reading<FailedPlacement[]> {
  const narrowing = {
    ...given,
    from: fromDay === undefined ? undefined : fromDay * DAY,
    to: toDay === undefined ? undefined : (toDay + 1) * DAY,
  }
  const rows = yield* all(failures(narrowing), { ...narrowing, subscriber, limit })
  return rows.map(failureOf)
}
