/** A subscriber's order history (contract "Order history and tracking"). */
import { DAY } from '../../core/clock.js'
import type { OrdersCall } from '../ctx.js'
import { ApiError } from '../../core/errors.js'
import type { Reading } from '../../db/query.js'
import { column } from '../../db/reading.js'
import { failuresOf } from './failures.js'
import { lookUp, search as searchText } from './lookup.js'
import { pageByDate, pageBySort, pageOfIds, recordsOf } from './pages.js'
import type { Page } from './pages.js'
import { idsOfOrder } from './queries.js'
import { recordOf } from './records.js'
import type { StoredOrder } from './records.js'
import type { FailedPlacement, FulfillmentOrder, HistoryQuery, ListQuery } from './shapes.js'

export interface OrderPage {
  /** All that match, on whatever page. */
  count: number
  orders: FulfillmentOrder[]
}

/** One page of all orders, or of those in which a text is found. */
export async function orderPage(
  ctx: OrdersCall,
  { search, ...wanted }: ListQuery,
): Promise<OrderPage> {
  const [{ engine }, { id }] = [ctx, ctx.subscriber]
  const text = search?.trim() ?? ''
  if (text === '') return engine.look(() => shown(pageBySort(id, wanted)))
  const page = await pageOfIds(engine, id, await searchText(engine, text), wanted)
  return engine.look(() => recordsOn(page))
}

/** The fulfillment orders of one order, in the order of its split; 404 where there is none. */
export async function orderById(
  ctx: OrdersCall,
  orderId: string,
): Promise<{ order_id: string; fulfillment_orders: FulfillmentOrder[] }> {
  const records = await ctx.engine.look(() => recordsOfOrder(ctx.subscriber.id, orderId))
  if (records.length === 0)
    throw new ApiError('not_found', {
      message:
        'You have no order with this order_id. One that every distributor refused is among ' +
        'the errors of GET /v1/fulfillment/history.',
    })
  return { order_id: orderId, fulfillment_orders: records.map(recordOf) }
}

function* recordsOfOrder(subscriber: string, orderId: string): Reading<StoredOrder[]> {
  return yield* recordsOf(yield* column(idsOfOrder, { subscriber, orderId }))
}

/** Days since 1970 of `YYYY-MM-DD`. */
const dayNumber = (date: string | undefined) =>
  date === undefined ? undefined : Date.parse(date) / DAY

/** Orders that fit all that is given, the newest first, and failed placements. */
export async function historyPage(
  ctx: OrdersCall,
  { from, to, limit, offset, include_errors: withErrors, ...given }: HistoryQuery,
): Promise<OrderPage & { errors: FailedPlacement[] }> {
  const [{ engine }, { id }] = [ctx, ctx.subscriber]
  const { distid, order_source, order_status, ship_status } = given
  const days = { fromDay: dayNumber(from), toDay: dayNumber(to) }
  const scope = { distid, order_source, order_status, ship_status, ...days }
  const wanted = { scope, sort: 'order_date', direction: 'desc', limit, offset } as const
  const ids = await lookUp(engine, id, given)
  const page = ids && (await pageOfIds(engine, id, ids, wanted))
  const { reference, order_id, po_number } = given
  const failed = { reference, order_id, po_number, distid, order_source, ...days, limit }
  return engine.look(function* () {
    return {
      ...(yield* page ? recordsOn(page) : shown(pageByDate(id, wanted))),
      errors: withErrors ? yield* failuresOf(id, failed) : [],
    }
  })
}

/** A page with its records, as of one state. */
function* shown(page: Reading<Page>): Reading<OrderPage> {
  return yield* recordsOn(yield* page)
}

function* recordsOn({ count, ids }: Page): Reading<OrderPage> {
  return { count, orders: (yield* recordsOf(ids)).map(recordOf) }
}
