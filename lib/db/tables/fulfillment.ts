/** Made from the migrations by `npm run tables`. */
import type { Generated } from 'kysely'
import type { OrderStatus, ShipStatus, Mode } from './column-types.js'

/**
 * One fulfillment order: a group of an order, one record of the history. Times are milliseconds,
 * days `YYYY-MM-DD`, flags 0 or 1.
 */
export interface FulfillmentOrderTable {
  id: Generated<number>
  placement_id: number
  /** From 0, in the order of the split. */
  group_no: number
  subscriber_id: string
  order_id: string
  order_source: string
  order_date: number
  distid: string
  mode: Mode
  /**
   * 0: it produced no distributor order, so it stands among the failed placements and not in the
   * history.
   */
  visible: number
  order_status: OrderStatus
  /** The distributor's number, several joined by ", "; null until it is known. */
  distributor_order_id: string | null
  /** As sent. */
  po_number: string
  /** Before it was shortened and before a second placement's `-2`. */
  po_given: string
  /** License number of the dealer that it ships to, with dashes. */
  ffl: string | null
  customer_name: string
  ffl_required: number
  ship_to_store: number
  /** JSON of [{distsku, upc, qty}]. */
  dist_order_items: string
  ship_date: string | null
  ship_company: string | null
  ship_method: string | null
  ship_status: ShipStatus | null
  ship_tracking_number: string | null
  ship_tracking_url: string | null
}

/** How many visible records of each kind there are in spans of 1 and of 32 days. */
export interface FulfillmentCountTable {
  subscriber_id: string
  /** Of the span: 1 or 32. */
  days: number
  /** Counted from 1970, UTC. */
  span: number
  distid: string
  order_source: string
  order_status: string
  ship_status: string
  orders: number
}

/** What a search looks into: an index of SQLite over parts of three characters. */
export interface FulfillmentSearchTable {
  /** Id of the record. */
  rowid: number
  text: string
}

/** The index's own table of texts. */
export interface FulfillmentSearchContentTable {
  /** Id of the record. */
  id: Generated<number>
  /** The text. */
  c0: string
}

/** A placement, or a shipment part of one, that produced no distributor order. */
export interface FailedPlacementTable {
  id: Generated<number>
  placement_id: number
  fulfillment_order_id: number
  subscriber_id: string
  failed_at: number
  order_source: string
  order_id: string
  po_number: string
  po_given: string
  distid: string
  reason: string
}

/** One parcel; a fulfillment order may have several. */
export interface ParcelTable {
  fulfillment_order_id: number
  subscriber_id: string
  tracking_number: string
  company: string | null
  method: string | null
  shipped_on: string | null
  url: string | null
  status: ShipStatus | null
  /** When the newest news of it happened. */
  updated_at: number
  /** JSON: when the news that each member shows happened. */
  times: Generated<string>
}

/** What a distributor last said of one of its orders, and when that happened. */
export interface LaneStatusTable {
  purchase_order_id: number
  order_status: OrderStatus
  at: number
}

/** Every change of a record, kept for good. */
export interface FulfillmentChangeTable {
  seq: Generated<number>
  fulfillment_order_id: number
  at: number
  field: string
  before: string | null
  after: string | null
}

/** When one subscriber's account at a distributor is looked at next. */
export interface MonitorTable {
  subscriber_id: string
  distid: string
  mode: Mode
  /** News are asked for from this time on. */
  since: number
  next_at: number
  failures: number
}
