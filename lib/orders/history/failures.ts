/** Failed placements of the history (contract "Failed-placement record", decisions 8.12). */
import { DAY } from '../../core/clock.js'
import type { OrdersCtx } from '../ctx.js'
import type { RawHandle } from '../../db/engine.js'
import { failureOf } from './records.js'
import type { StoredFailure, StoredOrder } from './records.js'
import type { StoredPo } from '../stored.js'
import type { FailedPlacement } from './shapes.js'

/** Lists a purchase order of which nothing came, in the transaction that ends it. */
export async function listFailure(
  tx: OrdersCtx,
  record: StoredOrder,
  { reason }: Pick<StoredPo, 'state' | 'reason'>,
): Promise<void> {
  await tx.db
    .insertInto('failed_placement')
    .values({
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
    })
    .execute()
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

const byText = (columns: readonly string[]) =>
  columns
    .map(
      (column) => `SELECT id FROM failed_placement WHERE subscriber_id = @subscriber AND ${column}`,
    )
    .join(' UNION ')
const TEXTS = {
  reference: byText(['order_id = @reference', 'po_number = @reference', 'po_given = @reference']),
  order_id: byText(['order_id = @order_id']),
  po_number: byText(['po_number = @po_number', 'po_given = @po_number']),
} as const

/** The newest failed placements that fit, at most `limit`. */
export function failuresOf(
  { prepare }: RawHandle,
  subscriber: string,
  { limit, fromDay, toDay, ...given }: FailureQuery,
): FailedPlacement[] {
  const terms = (['reference', 'order_id', 'po_number'] as const)
    .filter((name) => given[name] !== undefined)
    .map((name) => `id IN (${TEXTS[name]})`)
  // Few have a text, so they are sorted; the plus keeps SQLite from walking all failures by date
  // instead.
  const date = terms.length > 0 ? '+failed_at' : 'failed_at'
  for (const name of ['distid', 'order_source'] as const)
    if (given[name] !== undefined) terms.push(`${name} = @${name}`)
  if (fromDay !== undefined) terms.push(`${date} >= @from`)
  if (toDay !== undefined) terms.push(`${date} < @to`)
  const rows = prepare(
    `SELECT * FROM failed_placement WHERE subscriber_id = @subscriber${terms.map((term) => ` AND ${term}`).join('')} ORDER BY ${date} DESC, id DESC LIMIT @limit`,
  ).all({
    ...given,
    subscriber,
    limit,
    from: (fromDay ?? 0) * DAY,
    to: ((toDay ?? 0) + 1) * DAY,
  }) as StoredFailure[]
  return rows.map(failureOf)
}
