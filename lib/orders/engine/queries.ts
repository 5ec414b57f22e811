/**
 * What the engine asks of the database. An answer is a moment old when something is done about it:
 * what moves an order is a transaction that looks at its state again.
 */
import { sql } from 'kysely'
import { members, query } from '../../db/query.js'
import { nullsFirst } from '../../db/words.js'
import { isOpenPurchase } from '../queries.js'

/** Due orders among which the next few are chosen. */
const MOST_DUE = 5_000
/** Open orders by the time when they are due, in ms. */
interface DueValues {
  now: number
  /** What is due further ahead comes from a clock that was wrong: it is due now. */
  farthest: number
  /** 1: also what is due later. */
  force: 0 | 1
  /** Ids of orders that are not looked at. */
  except: readonly number[]
}

/** Due orders that go on in these states, the longest due first. */
const dueIn = (states: 'paused' | 'running') =>
  query((db, given: DueValues) =>
    db
      .selectFrom('purchase_order')
      .select(['id', 'state', 'subscriber_id', 'distid', 'mode'])
      .where(isOpenPurchase)
      // Literals, so that SQLite knows of each whether the index has it.
      .where(
        states === 'paused'
          ? sql<boolean>`state = 'unknown'`
          : sql<boolean>`state in ('planned', 'unknown')`,
      )
      .where((order) =>
        order.or([
          order('next_at', '<=', given.now),
          order('next_at', '>', given.farthest),
          order(order.val(given.force), '=', 1),
        ]),
      )
      .where('id', 'not in', members(given.except))
      .orderBy('next_at')
      .limit(MOST_DUE),
  )

export const due = dueIn('running')
/** While orders are paused, those that were never sent wait for the operator. */
export const dueWhilePaused = dueIn('paused')

/** There while orders are paused. */
export const pauseRow = query((db) =>
  db.selectFrom('order_engine').select('name').where('name', '=', 'paused'),
)

export const ordersOfIds = query((db, given: { ids: readonly number[] }) =>
  db
    .selectFrom('purchase_order')
    .selectAll()
    .where('id', 'in', members(given.ids))
    .orderBy(nullsFirst('next_at')),
)

/**
 * Of these placements those of which a part is being sent, or nobody has begun to send; and whether
 * orders are paused, so that nobody will.
 */
export const unsentPlacements = query((db, given: { ids: readonly number[] }) =>
  db
    .selectFrom('purchase_order')
    .select((order) => [
      'placement_id',
      'state',
      order
        .exists(
          order
            .selectFrom('order_engine')
            .select('order_engine.name')
            .where('order_engine.name', '=', 'paused'),
        )
        .$castTo<0 | 1>()
        .as('is_paused'),
    ])
    .distinct()
    .where('placement_id', 'in', members(given.ids))
    .where((order) =>
      order.or([
        order('state', '=', 'sending'),
        order.and([order('state', '=', 'planned'), order('failures', '=', 0)]),
      ]),
    ),
)

/** What is being sent, or was when its sender ended. */
export const beingSent = query((db) =>
  db.selectFrom('purchase_order').selectAll().where(isOpenPurchase).where('state', '=', 'sending'),
)

/** Whether a placement counts against a quota. */
export const countOf = query((db, given: { placement: number }) =>
  db.selectFrom('order_count').select('key_id').where('placement_id', '=', given.placement),
)
