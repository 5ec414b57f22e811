/** Changes of a record, each kept with the time at which we learned of it. */
import type { OrdersCtx } from '../ctx.js'
import type { StoredOrder } from './records.js'
import { pipelined } from '../../db/together.js'

/** Writes what differs; false where nothing does. In the transaction of what changes it. */
export async function changeRecord(
  tx: OrdersCtx,
  record: StoredOrder,
  next: Partial<StoredOrder>,
): Promise<boolean> {
  const changes = (Object.keys(next) as (keyof StoredOrder)[]).filter(
    (field) => next[field] !== record[field],
  )
  if (changes.length === 0) return false
  const text = (value: string | number | null | undefined) =>
    value === null || value === undefined ? null : String(value)
  await pipelined(tx.db, [
    tx.db
      .updateTable('fulfillment_order')
      .set(Object.fromEntries(changes.map((field) => [field, next[field]])))
      .where('id', '=', record.id),
    tx.db.insertInto('fulfillment_change').values(
      changes.map((field) => ({
        fulfillment_order_id: record.id,
        at: tx.now(),
        field,
        before: text(record[field]),
        after: text(next[field]),
      })),
    ),
  ])
  return true
}
