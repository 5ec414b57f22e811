/** Made from the migrations by `npm run tables`. */
import type { Generated } from 'kysely'
import type { Mode } from './column-types.js'

export interface DistributorModeTable {
  distid: string
  mode: Mode
  changed_at: number
  changed_by: string
}

/** What went over the wire for a purchase order: one send, or one search for it. */
export interface TranscriptTable {
  id: Generated<number>
  purchase_order_id: number
  kind: 'send' | 'search'
  at: number
  /** Sealed JSON of the calls. */
  payload: string
}

/** One accepted POST of an order. */
export interface PlacementTable {
  id: Generated<number>
  subscriber_id: string
  order_id: string
  /**
   * 1, and one more for every placement of this order_id that was refused: what the PO says as
   * `-2`.
   */
  attempt: number
  key_id: string | null
  mode: Mode
  /** SHA-256 of the request, to tell a retry from another order. */
  request_digest: string
  placed_at: number
  /** 1 while nobody else may place this order_id: for ever, unless nothing came of it. */
  holds_id: number
  /** 1: a distributor refused something of it. */
  was_refused: number
}

/** What the sender knows of one purchase order. */
export type PoState =
  | 'planned'
  | 'sending'
  | 'placed'
  | 'rejected'
  | 'unknown'
  | 'review'
  | 'expired'

/** One purchase order: what is sent to a distributor, a shipment part of a fulfillment order. */
export interface PurchaseOrderTable {
  id: Generated<number>
  fulfillment_order_id: number
  placement_id: number
  subscriber_id: string
  distid: string
  mode: Mode
  lane: string
  client_ref: string
  po_number: string
  /** The frozen content, sealed: it names a person. */
  payload: string
  /** SHA-256 of the content before it was sealed. */
  payload_digest: string
  state: PoState
  /** Sends that began. */
  sends: number
  /** Which life of which process is sending it. */
  owner: string | null
  /** Tells the account that it was first sent with; what another account shows proves nothing. */
  account: string | null
  /** The distributor's number of a staged order. */
  stage: string | null
  distributor_order_id: string | null
  /** 1: some send had no known outcome; from then on a refusal alone proves nothing. */
  ever_unknown: number
  unknown_since: number | null
  /**
   * How the distributor refused a send that followed one without a known outcome: no proof that it
   * has no order.
   */
  refusal: string | null
  /**
   * Looks at the distributor that showed nothing, after it should have; `missed_at` is when the
   * last one was.
   */
  misses: number
  missed_at: number | null
  next_at: number | null
  /** Sends or looks in a row that failed to reach the distributor. */
  failures: number
  reason: string | null
  planned_at: number
  first_sent_at: number | null
  updated_at: number
}

/** One accepted order of a key, for its rolling quotas. */
export interface OrderCountTable {
  key_id: string
  placement_id: number
  at: number
}

/** The order journal as the database has it; the file is its second copy. */
export interface JournalTable {
  seq: number
  line: string
}

/**
 * Single facts of the order engine: `journaled` (the seq that the file has for sure), `paused` (why
 * nothing is placed), `known_damage` (with which it is placed again).
 */
export interface OrderEngineTable {
  name: 'journaled' | 'paused' | 'known_damage'
  value: string
}
