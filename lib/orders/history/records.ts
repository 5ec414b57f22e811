/** Rows of the history as the wire has them. */
import type { Selectable } from 'kysely'
import type { OrdersCtx } from '../ctx.js'
import { together } from '../../db/together.js'
import type { FailedPlacement, FulfillmentOrder } from './shapes.js'
import type { FailedPlacementTable, FulfillmentOrderTable } from '../../db/tables/fulfillment.js'

export type StoredOrder = Selectable<FulfillmentOrderTable>
export type StoredFailure = Selectable<FailedPlacementTable>

/** `YYYY-MM-DD HH:MM:SS`, UTC. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
}

/** A fulfillment order as its record. */
export function recordOf(row: StoredOrder): FulfillmentOrder {
  return {
    order_date: timeText(row.order_date),
    order_id: row.order_id,
    distid: row.distid,
    distributor_order_id: row.distributor_order_id,
    ffl: row.ffl,
    customer_name: row.customer_name,
    order_status: row.order_status,
    order_source: row.order_source,
    po_number: row.po_number,
    ship_date: row.ship_date,
    ship_company: row.ship_company,
    ship_method: row.ship_method,
    ship_status: row.ship_status,
    ship_tracking_number: row.ship_tracking_number,
    ship_tracking_url: row.ship_tracking_url,
    ship_to_store: flag(row.ship_to_store),
    ffl_required: flag(row.ffl_required),
    dist_order_items: row.dist_order_items,
  }
}

/** A failed placement as its record. */
export function failureOf(row: StoredFailure): FailedPlacement {
  return {
    failure_timestamp: timeText(row.failed_at),
    order_source: row.order_source,
    order_id: row.order_id,
    po_number: row.po_number,
    distid: row.distid,
    failure_reason: row.reason,
  }
}

const flag = (value: number): 0 | 1 => (value === 1 ? 1 : 0)

export interface RecordsOfPlacement {
  orders: FulfillmentOrder[]
  errors: FailedPlacement[]
}

/** What came of one placement, in the order of its split. */
export async function recordsOfPlacement(
  { read }: Pick<OrdersCtx, 'read'>,
  placementId: number,
): Promise<RecordsOfPlacement> {
  const [orders, errors] = await together([
    read
      .selectFrom('fulfillment_order')
      .selectAll()
      .where('placement_id', '=', placementId)
      .where('visible', '=', 1)
      .orderBy('group_no')
      .execute(),
    read
      .selectFrom('failed_placement')
      .selectAll()
      .where('placement_id', '=', placementId)
      .orderBy('id')
      .execute(),
  ])
  return { orders: orders.map(recordOf), errors: errors.map(failureOf) }
}
