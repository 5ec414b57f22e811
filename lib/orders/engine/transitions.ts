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
import { knownParts, partRows } from '../history/part-statuses.js'
import type { KnownPart } from '../history/part-statuses.js'
import type { StoredOrder } from '../history/records.js'
import { present } from '../../core/present.js'
import { together } from '../../db/together.js'
import { statusOfParts } from '../history/statuses.js'
import { appendJournal, journalEnd } from '../journal/chain.js'
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
  const [{ numUpdatedRows }, end, standing] = await together([
    tx.db
      .updateTable('purchase_order')
      .set(set)
      .where('id', '=', order.id)
      .where('state', '=', order.state)
      .where('sends', '=', order.sends)
      .executeTakeFirstOrThrow(),
    journalEnd(tx),
    standingOf(tx, order),
  ])
  if (numUpdatedRows === 0n) return null
  const moved = { ...order, ...set } as StoredPo
  const data: StateData = {
    id: order.id,
    ref: order.client_ref,
    from: order.state,
    set,
    ...(told && { told }),
  }
  await together([
    appendJournal(tx, 'state', data, end),
    told && keepTold(tx, order, told),
    // What was told is part of where it stands.
    follow(tx, moved, { before: order.state, standing: told ? undefined : standing }),
  ])
  return moved
}

/** Where the record of a purchase order stands. */
interface Standing {
  record: StoredOrder
  parts: KnownPart[]
}

/** Undefined where there is no such record: the database may have been set back. */
async function standingOf(
  tx: OrdersCtx,
  { fulfillment_order_id: id }: StoredPo,
): Promise<Standing | undefined> {
  const [record, rows] = await together([
    tx.db.selectFrom('fulfillment_order').selectAll().where('id', '=', id).executeTakeFirst(),
    partRows(tx, id),
  ])
  return record && { record, parts: knownParts(rows, record) }
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
 * purchase orders. `standing` is for who has asked where its record stands since the change.
 */
export async function follow(
  tx: OrdersCtx,
  order: StoredPo,
  { before, standing }: { before: PoState; standing?: Standing | undefined },
): Promise<void> {
  const { record, parts } = present(
    standing ?? (await standingOf(tx, order)),
    `the record of purchase order ${order.id}`,
  )
  if (FAILED.includes(order.state) && !FAILED.includes(before)) await listFailure(tx, record, order)
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
