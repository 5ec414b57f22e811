/**
 * Papers that a distributor wants before it ships: the copy of a dealer's license, by mail. Nobody
 * sends them from here; the operator is told to whom, and by when.
 */
import type { Subscriber } from '../../accounts/caller.js'
import { DAY, dayOf } from '../../core/clock.js'
import type { OrderStatus } from '../../db/tables/column-types.js'
import type { Paperwork } from '../../distributors/fulfillment.js'
import { connectorFor } from '../../distributors/modes.js'
import { accountSettings } from '../../configuration/account.js'
import type { OrdersCtx } from '../ctx.js'
import { contentOrNull } from '../sealed-content.js'
import type { StoredPo } from '../stored.js'

/** What is to be sent for an order, and by when. */
export interface DuePaperwork extends Omit<Paperwork, 'businessDays'> {
  /** The last day, `YYYY-MM-DD`. */
  due: string
}

/** A purchase order whose papers are asked for. */
export interface PaperworkOrder {
  purchase: StoredPo
  subscriber: string
  order_id: string
  placedAt: number
  paperwork: DuePaperwork
}

/** Nobody holds an order back for longer. */
const OLDEST = 30 * DAY
/** An order of any other status needs no papers any more. */
const WAITING: readonly OrderStatus[] = ['Pending', 'Submitted', 'FFL Hold', 'Backordered']

/** Placed orders that go to a dealer, have not left, and need papers; the most urgent first. */
export async function listPaperwork(
  ctx: OrdersCtx,
  { subscriberId }: { subscriberId?: string | undefined } = {},
): Promise<PaperworkOrder[]> {
  const rows = await ctx.read
    .selectFrom('purchase_order as p')
    .innerJoin('fulfillment_order as o', 'o.id', 'p.fulfillment_order_id')
    .innerJoin('placement', 'placement.id', 'p.placement_id')
    .innerJoin('subscriber', 'subscriber.id', 'p.subscriber_id')
    .selectAll('p')
    .select(['subscriber.name as subscriber', 'placement.order_id', 'placement.placed_at'])
    .where('p.state', '=', 'placed')
    .where('o.order_date', '>', ctx.now() - OLDEST)
    .where('o.ffl', 'is not', null)
    .where('o.ship_to_store', '=', 0)
    .where('o.ship_tracking_number', 'is', null)
    .where('o.order_status', 'in', WAITING)
    .$if(subscriberId !== undefined, (query) => query.where('p.subscriber_id', '=', subscriberId!))
    .orderBy('p.id')
    .execute()
  const due: PaperworkOrder[] = []
  for (const { subscriber, order_id, placed_at: placedAt, ...purchase } of rows) {
    const paperwork = await paperworkOf(ctx, purchase, placedAt)
    if (paperwork) due.push({ purchase, subscriber, order_id, placedAt, paperwork })
  }
  return due.sort((a, b) => a.paperwork.due.localeCompare(b.paperwork.due))
}

/** What is to be sent for one order; null for one that needs no papers. */
export async function paperworkOf(
  ctx: OrdersCtx,
  order: StoredPo,
  placedAt: number,
): Promise<DuePaperwork | null> {
  const content = contentOrNull(ctx, order)
  const settings =
    content && (await accountSettings(ctx, { id: order.subscriber_id } as Subscriber, order.distid))
  const paperwork = settings && connectorFor(ctx, order)?.paperwork?.(content, settings)
  if (!paperwork) return null
  const { businessDays, ...asked } = paperwork
  return { ...asked, due: businessDay(placedAt, businessDays) }
}

/** The day so many working days later; holidays are not known. */
export function businessDay(from: number, days: number): string {
  let at = from
  for (let left = days; left > 0;) {
    at += DAY
    const weekday = new Date(at).getUTCDay()
    if (weekday !== 0 && weekday !== 6) left -= 1
  }
  return dayOf(at)
}
