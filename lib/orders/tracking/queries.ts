/** What the monitors ask of the database. */
import { sql } from 'kysely'
import { query } from '../../db/query.js'
import { indexedBy } from '../../db/words.js'
import type { Mode } from '../../db/tables/column-types.js'
import type { OpenOrder } from '../../distributors/fulfillment.js'
import type { OrdersCtx } from '../ctx.js'

/**
 * Records of which more may be heard, as SQL. Word for word as in the index
 * `fulfillment_order_open`, or SQLite would not use it. A delivered parcel ends it only where the
 * whole order is fulfilled: another one may follow.
 */
export const OPEN_RECORDS = `visible = 1 and order_status not in ('Cancelled', 'Not Fulfilled')
  and (order_status <> 'Fulfilled'
    or coalesce(ship_status, '') not in ('delivered', 'return_to_sender'))`

/**
 * Accounts with records of which more may be heard, with what the monitor knows of each: when their
 * oldest order was placed, from when on news are wanted, when the account is looked at next. The
 * index has the condition in these words.
 */
export const accountsWatched = query<
  {
    subscriberId: string
    distid: string
    mode: Mode
    oldest: number
    since: number | null
    nextAt: number
    failures: number
  },
  { placedAfter: number }
>(
  (_, given) => sql`
    select o.subscriber_id as "subscriberId", o.distid, o.mode, o.oldest, m.since,
      coalesce(m.next_at, 0) as "nextAt", coalesce(m.failures, 0) as failures
    from (
      select subscriber_id, distid, mode, min(order_date) as oldest
      from fulfillment_order ${indexedBy('fulfillment_order_open')}
      where ${sql.raw(OPEN_RECORDS)} and order_date > ${given.placedAfter}
      group by subscriber_id, distid, mode
    ) as o
    left join monitor as m using (subscriber_id, distid, mode)`,
)

/** The placed orders of an account of which more may be heard, the newest first. */
export async function openOrders(
  { read }: Pick<OrdersCtx, 'read'>,
  account: { subscriberId: string; distid: string; mode: Mode },
  { placedAfter, untilShipped }: { placedAfter: number; untilShipped: boolean },
): Promise<OpenOrder[]> {
  const rows = await read
    .selectFrom('fulfillment_order as o')
    .innerJoin('purchase_order as p', 'p.fulfillment_order_id', 'o.id')
    // Not joined: the condition on records names its columns alone.
    .select((row) =>
      row
        .selectFrom('lane_status as s')
        .select('s.order_status')
        .whereRef('s.purchase_order_id', '=', 'p.id')
        .as('status'),
    )
    .select([
      'p.distributor_order_id as number',
      'p.po_number as po',
      'p.client_ref as clientRef',
      'p.id as serial',
      'o.order_date as takenAt',
      'p.lane',
      'o.ship_to_store',
      'p.first_sent_at',
      'p.planned_at',
    ])
    .where(sql<boolean>`${sql.raw(OPEN_RECORDS)}`)
    .where('o.subscriber_id', '=', account.subscriberId)
    .where('o.distid', '=', account.distid)
    .where('o.mode', '=', account.mode)
    .where('o.order_date', '>', placedAfter)
    .where('p.state', '=', 'placed')
    .$if(untilShipped, (query) =>
      query.where((one) =>
        one.or([
          one('o.order_status', '<>', 'Fulfilled'),
          one('o.ship_tracking_number', 'is', null),
        ]),
      ),
    )
    .orderBy('p.id', 'desc')
    .execute()
  return rows.map(({ ship_to_store, first_sent_at, planned_at, status, ...order }) => ({
    ...order,
    ...(status !== null && { status }),
    shipToStore: ship_to_store === 1,
    placedAt: first_sent_at ?? planned_at,
  }))
}
