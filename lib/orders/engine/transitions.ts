/**
 * Changes of a purchase order's state. Each is one guarded update with its
 * journal line, and what follows from it for the record and for the order_id, all in one
 * transaction.
 */
import { FAILED } from '../stored.js'
import { changeRecord } from '../history/change-record.js'
import type { Change, StoredPo } from '../stored.js'
import type { Updateable } from 'kysely'
import type { OrdersCtx } from '../ctx.js'
import { listFailure } from '../history/failures.js'
import { knownParts } from '../history/part-statuses.js'
import { statusOfParts } from '../history/statuses.js'
import { appendJournal } from '../journal/chain.js'
import { uncountOrder } from '../quota.js'
import type { OrderStatus } from '../../db/tables/column-types.js'
import type { PoState, PurchaseOrderTable } from '../../db/tables/orders.js'

/** What the journal's line of a change holds. */
export interface StateData {
  id: number
  ref: string
  from: PoState
  set: Updateable<PurchaseOrderTable>
  /** Where the order stands, as its acceptance said. */
  told?: OrderStatus
}

/** Moves a purchase order on; null when somebody else has moved it since it was read. */
export async function move(
  tx: OrdersCtx,
  order: StoredPo,
  { to, told, ...rest }: Change,
): Promise<StoredPo | null> {
  const changed = Object.fromEntries(
    Object.entries(rest).filter(([name, value]) => value !== order[name as keyof StoredPo]),
  )
  const set = { ...changed, state: to, updated_at: tx.now() }
  const { numUpdatedRows } = await tx.db
    .updateTable('purchase_order')
    .set(set)
    .where('id', '=', order.id)
    .where('state', '=', order.state)
    .where('sends', '=', order.sends)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) return null
  await appendJournal(tx, 'state', {
    id: order.id,
    ref: order.client_ref,
    from: order.state,
    set,
    ...(told && { told }),
  } satisfies StateData)
  if (told) await keepTold(tx, order, told)
  const moved = { ...order, ...set } as StoredPo
  await follow(tx, moved, order.state)
  return moved
}

/** Keeps what an acceptance told, which may be told by nothing else again. */
export async function keepTold(
  { db, now }: OrdersCtx,
  { id }: Pick<StoredPo, 'id'>,
  told: OrderStatus,
): Promise<void> {
  await db
    .replaceInto('lane_status')
    .values({ purchase_order_id: id, order_status: told, at: now() })
    .execute()
}

/**
 * What a change means for the history: a failure is listed, the record tells the state of all its
 * purchase orders.
 */
export async function follow(tx: OrdersCtx, order: StoredPo, before: PoState): Promise<void> {
  const record = await tx.db
    .selectFrom('fulfillment_order')
    .selectAll()
    .where('id', '=', order.fulfillment_order_id)
    .executeTakeFirstOrThrow()
  if (FAILED.includes(order.state) && !FAILED.includes(before)) await listFailure(tx, record, order)
  const parts = await knownParts(tx, record)
  const isNothing = parts.every(({ isFailed }) => isFailed)
  const statuses = parts.flatMap(({ status }) => status ?? [])
  await changeRecord(tx, record, {
    visible: isNothing ? 0 : 1,
    // `Pending` as long as the outcome of any part is not known.
    order_status:
      isNothing || statuses.length < parts.length ? record.order_status : statusOfParts(statuses),
    distributor_order_id: parts.flatMap(({ number }) => number ?? []).join(', ') || null,
  })
  if (FAILED.includes(order.state)) await closePlacement(tx, record.placement_id)
}

/**
 * Nothing came of any part: the order_id is free again, and where nobody was even asked, the quota
 * too.
 */
async function closePlacement(tx: OrdersCtx, placementId: number): Promise<void> {
  const orders = await tx.db
    .selectFrom('purchase_order')
    .select(['state', 'first_sent_at'])
    .where('placement_id', '=', placementId)
    .execute()
  if (!orders.every(({ state }) => FAILED.includes(state))) return
  const refused = orders.some(({ state }) => state === 'rejected')
  await tx.db
    .updateTable('placement')
    .set({ holds_id: 0, was_refused: refused ? 1 : 0 })
    .where('id', '=', placementId)
    .execute()
  if (orders.every(({ first_sent_at: sent }) => sent === null)) await uncountOrder(tx, placementId)
}
