/** Which purchase orders a distributor may mean by what it shows. */
import { query } from '../../db/query.js'
import type { Mode } from '../../db/tables/column-types.js'

/** So many are looked at; where there are more, any of the others may be it. */
export const MAX_LOOK_ALIKES = 1_000

/** Purchase orders without a number that a distributor may mean besides this one, newest first. */
export const numberless = query(
  (
    db,
    given: {
      id: number
      distid: string
      mode: Mode
      subscriber: string
      account: string | null
      plannedAfter: number
    },
  ) =>
    db
      .selectFrom('purchase_order')
      .select(['state', 'subscriber_id', 'client_ref', 'payload', 'payload_digest'])
      .where('distid', '=', given.distid)
      .where('mode', '=', given.mode)
      .where((order) =>
        order.or([
          order('subscriber_id', '=', given.subscriber),
          order('account', '=', given.account),
        ]),
      )
      .where('state', 'in', ['placed', 'sending', 'unknown', 'review'])
      .where('distributor_order_id', 'is', null)
      .where('id', '<>', given.id)
      .where('planned_at', '>', given.plannedAfter)
      .orderBy('id', 'desc')
      .limit(MAX_LOOK_ALIKES),
)
