/**
 * How far an order and a parcel have got.
 *
 *     Pending < Submitted < FFL Hold = Backordered < Partially Fulfilled
 *       < Fulfilled = Not Fulfilled = Cancelled
 *     pre_transit < in_transit < out_for_delivery = failure < delivered = return_to_sender
 *
 * News of a lower status never take the place of a higher one, however late they come. Between
 * equal ones the newer news stand; of `delivered` and `return_to_sender` the first one stands for
 * good: what comes back is often reported as delivered, to its sender.
 */
import { SHIP_STATUSES } from '../../db/tables/column-types.js'
import type { OrderStatus, ShipStatus } from '../../db/tables/column-types.js'

const ORDER_RANK: Record<OrderStatus, number> = {
  Pending: 0,
  Submitted: 1,
  'FFL Hold': 2,
  Backordered: 2,
  'Partially Fulfilled': 3,
  Fulfilled: 4,
  'Not Fulfilled': 4,
  Cancelled: 4,
}
const SHIP_RANK: Record<ShipStatus, number> = {
  pre_transit: 0,
  in_transit: 1,
  out_for_delivery: 2,
  failure: 2,
  delivered: 3,
  return_to_sender: 3,
}
const FINAL_SHIP_RANK = 3

/** A status with the time of the news that it comes from, milliseconds since 1970. */
export interface Dated<S> {
  status: S
  at: number
}

/** The status of one distributor order after more news of it, in whatever order they come. */
export function laterOrder(
  known: Dated<OrderStatus>,
  news: Dated<OrderStatus>,
): Dated<OrderStatus> {
  return ORDER_RANK[news.status] - ORDER_RANK[known.status] > 0 ||
    (ORDER_RANK[news.status] === ORDER_RANK[known.status] && comesAfter(news, known))
    ? news
    : known
}

/** The same of one parcel. */
export function laterShip(
  known: Dated<ShipStatus> | null,
  news: Dated<ShipStatus>,
): Dated<ShipStatus> {
  if (known === null) return news
  const [rank, before] = [SHIP_RANK[news.status], SHIP_RANK[known.status]]
  if (rank !== before) return rank > before ? news : known
  const [first, second] = comesAfter(news, known) ? [known, news] : [news, known]
  return rank === FINAL_SHIP_RANK ? first : second
}

/**
 * Two at one moment are told apart by name, so that the order in which they are read does not
 * matter.
 */
function comesAfter(a: Dated<string>, b: Dated<string>): boolean {
  return a.at === b.at ? a.status > b.status : a.at > b.at
}

const DEAD: readonly OrderStatus[] = ['Cancelled', 'Not Fulfilled']

/** Nothing comes of it. */
export function isDead(status: OrderStatus | undefined): boolean {
  return status !== undefined && DEAD.includes(status)
}

/**
 * The status of a record that the distributor made several orders of: theirs, where they agree.
 * Where some are settled and others are not, or not alike, it is `Partially Fulfilled`; else the
 * one that is furthest. A part that was refused or never sent counts as `Not Fulfilled`.
 */
export function statusOfParts(parts: readonly Dated<OrderStatus>[]): OrderStatus {
  const [first, ...others] = parts as [Dated<OrderStatus>, ...Dated<OrderStatus>[]]
  if (others.every(({ status }) => status === first.status)) return first.status
  if (parts.every(({ status }) => DEAD.includes(status))) return 'Not Fulfilled'
  if (parts.some(({ status }) => ORDER_RANK[status] >= ORDER_RANK['Partially Fulfilled']))
    return 'Partially Fulfilled'
  return others.reduce(laterOrder, first).status
}

/**
 * The least advanced of a record's parcels; of equal ones the one that asks for attention. Null
 * where none tells.
 */
export function shipStatusOf(statuses: readonly (ShipStatus | null)[]): ShipStatus | null {
  const known = statuses.filter((status) => status !== null)
  // The list names what went wrong after what went well.
  return known.reduce<ShipStatus | null>((least, status) => {
    if (least === null) return status
    const difference = SHIP_RANK[status] - SHIP_RANK[least]
    return difference < 0 ||
      (difference === 0 && SHIP_STATUSES.indexOf(status) > SHIP_STATUSES.indexOf(least))
      ? status
      : least
  }, null)
}
