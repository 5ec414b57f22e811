/**
 * What is known of each purchase order of a record, and what follows from it for the record.
 */
import { FAILED } from '../stored.js'
import type { OrdersCtx } from '../ctx.js'
import type { OrderStatus } from '../../db/tables/column-types.js'
import type { PoState } from '../../db/tables/orders.js'
import type { StoredOrder } from './records.js'
import type { Dated } from './statuses.js'

export interface KnownPart {
  id: number
  /** Null while it is not known whether the part was placed. */
  status: Dated<OrderStatus> | null
  /** Of a part that was placed. */
  number: string | null
  /** It was refused, or never sent. */
  isFailed: boolean
}

export interface PartRow {
  id: number
  state: PoState
  sends: number
  distributor_order_id: string | null
  /** What a distributor told of it, and when; null where none did. */
  order_status: OrderStatus | null
  at: number | null
}

/** The purchase orders of a record, in their order. In the transaction that changes one of them. */
export async function partRows({ db }: OrdersCtx, recordId: number): Promise<PartRow[]> {
  return db
    .selectFrom('purchase_order')
    .leftJoin('lane_status', 'lane_status.purchase_order_id', 'purchase_order.id')
    .select([
      'purchase_order.id',
      'state',
      'sends',
      'distributor_order_id',
      'lane_status.order_status',
      'lane_status.at',
    ])
    .where('fulfillment_order_id', '=', recordId)
    .orderBy('purchase_order.id')
    .execute()
}

/** What is known of them. */
export function knownParts(
  rows: readonly PartRow[],
  record: Pick<StoredOrder, 'order_status'>,
): KnownPart[] {
  return rows.map((row) => ({
    id: row.id,
    number: row.state === 'placed' ? row.distributor_order_id : null,
    isFailed: FAILED.includes(row.state),
    status: statusOf(row, rows.length === 1 ? record : null),
  }))
}

/** `alone` is the record of a part that is the only one. */
function statusOf(
  {
    state,
    order_status: status,
    at,
  }: { state: PoState; order_status: OrderStatus | null; at: number | null },
  alone: Pick<StoredOrder, 'order_status'> | null,
): Dated<OrderStatus> | null {
  if (FAILED.includes(state)) return { status: 'Not Fulfilled', at: 0 }
  if (state !== 'placed') return null
  if (status !== null) return { status, at: at ?? 0 }
  return {
    status: alone && alone.order_status !== 'Pending' ? alone.order_status : 'Submitted',
    at: 0,
  }
}
