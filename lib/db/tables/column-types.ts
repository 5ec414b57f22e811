/** Types of columns that their SQL does not tell, and words of orders that connectors speak too. */
import type { ColumnType } from 'kysely'

/** `order_status` of a record, in the words that clients test. */
export const ORDER_STATUSES = [
  'Pending',
  'Submitted',
  'FFL Hold',
  'Backordered',
  'Partially Fulfilled',
  'Not Fulfilled',
  'Fulfilled',
  'Cancelled',
] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

export const SHIP_STATUSES = [
  'pre_transit',
  'in_transit',
  'out_for_delivery',
  'delivered',
  'return_to_sender',
  'failure',
] as const
export type ShipStatus = (typeof SHIP_STATUSES)[number]

/** `simulator` on a fresh installation; `live` sends real purchase orders. */
export type Mode = 'simulator' | 'live'

/**
 * What a process keeps in memory, each with a number that a writer raises so that other processes
 * read it again.
 */
export type StateName =
  | 'keys'
  | 'documents'
  | 'sources'
  | 'dealers'
  | 'rules'
  | 'modes'
  | 'fraud'
  // On PostgreSQL alone: what the leader has published of its catalog.
  | 'catalog'

/**
 * 64 bits: written and compared as BigInt, never read into JavaScript, where they would come as
 * rounded numbers.
 */
export type Hash = ColumnType<bigint, bigint, never>
