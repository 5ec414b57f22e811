/**
 * Changes of a purchase order's state. Each is one update of an order that is as it was read, with
 * its journal line, and what follows from it for the record and for the order_id, all in one
 * transaction.
 */
import { FAILED } from '../stored.js'
import { changeRecord } from '../history/change-record.js'
import type { Change, Moved, StoredPo } from '../stored.js'
import type { Updateable } from 'kysely'
import type { OrdersCtx } from '../ctx.js'
import { listFailure } from '../history/failures.js'
import { knownParts, partRows } from '../history/part-statuses.js'
import type { PartRow } from '../history/part-statuses.js'
import type { StoredOrder } from '../history/records.js'
import { present } from '../../core/present.js'
import { pipelined, together } from '../../db/together.js'
import { statusOfParts } from '../history/statuses.js'
import { appendJournal, journalEnd } from '../journal/chain.js'
import type { JournalEnd } from '../journal/chain.js'
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

/**
 * Moves a purchase order on; null when somebody else has moved it since it was read. `from` is for
 * who has asked already, and has moved nothing since.
 */
export async function move(
  tx: OrdersCtx,
  order: StoredPo,
  { to, told, ...rest }: Change,
  from?: Standing,
): Promise<Moved | null> {
  const { end, record, parts } = from ?? (await standingOf(tx, order))
  // In this transaction nobody moves it from here on.
  const part = parts.find(({ id }) => id === order.id)
  if (part?.state !== order.state || part.sends !== order.sends) return null
  const changed = Object.fromEntries(
    Object.entries(rest).filter(([name, value]) => value !== order[name as keyof StoredPo]),
  )
  const set = { ...changed, state: to, updated_at: tx.now() }
  const moved = { ...order, ...set } as StoredPo
  const data: StateData = {
    id: order.id,
    ref: order.client_ref,
    from: order.state,
    set,
    ...(told && { told }),
  }
  const after: PartRow = {
    ...part,
    state: moved.state,
    distributor_order_id: moved.distributor_order_id,
    ...(told && { order_status: told, at: tx.now() }),
  }
  const [, , , left] = await together([
    pipelined(tx.db, [tx.db.updateTable('purchase_order').set(set).where('id', '=', order.id)]),
    appendJournal(tx, 'state', data, end),
    told && keepTold(tx, order, told),
    follow(tx, moved, {
      before: order.state,
      of: { record, parts: parts.map((one) => (one === part ? after : one)) },
    }),
  ])
  return { order: moved, record: left }
}

/** The record of a purchase order, and the purchase orders that it has. */
interface RecordParts {
  /** Undefined where there is no such record: the database may have been set back. */
  record: StoredOrder | undefined
  parts: PartRow[]
}

/** What a change goes by. */
export interface Standing extends RecordParts {
  end: JournalEnd
}

/** Where a purchase order stands, in the transaction that moves it. */
export async function standingOf(tx: OrdersCtx, order: StoredPo): Promise<Standing> {
  const [end, of] = await together([journalEnd(tx), recordParts(tx, order)])
  return { end, ...of }
}

async function recordParts(
  tx: OrdersCtx,
  { fulfillment_order_id: id }: StoredPo,
): Promise<RecordParts> {
  const [record, parts] = await together([
    tx.db.selectFrom('fulfillment_order').selectAll().where('id', '=', id).executeTakeFirst(),
    partRows(tx, id),
  ])
  return { record, parts }
}

/** Keeps what an acceptance told, which may be told by nothing else again. */
export async function keepTold(
  { db, now }: OrdersCtx,
  { id }: Pick<StoredPo, 'id'>,
  told: OrderStatus,
): Promise<void> {
  await pipelined(db, [
    db.replaceInto('lane_status').values({ purchase_order_id: id, order_status: told, at: now() }),
  ])
}

/**
 * What a change means for the history: a failure is listed, the record tells the state of all its
 * purchase orders. `of` is for who knows already how they are after the change. Resolves with the
 * record as it is then.
 */
export async function follow(
  tx: OrdersCtx,
  order: StoredPo,
  { before, of }: { before: PoState; of?: RecordParts },
): Promise<StoredOrder> {
  const known = of ?? (await recordParts(tx, order))
  const record = present(known.record, `the record of purchase order ${order.id}`)
  const parts = knownParts(known.parts, record)
  if (FAILED.includes(order.state) && !FAILED.includes(before)) await listFailure(tx, record, order)
  const isNothing = parts.every(({ isFailed }) => isFailed)
  const statuses = parts.flatMap(({ status }) => status ?? [])
  const next: Partial<StoredOrder> = {
    visible: isNothing ? 0 : 1,
    // `Pending` as long as the outcome of any part is not known.
    order_status:
      isNothing || statuses.length < parts.length ? record.order_status : statusOfParts(statuses),
    distributor_order_id: parts.flatMap(({ number }) => number ?? []).join(', ') || null,
  }
  await changeRecord(tx, record, next)
  if (FAILED.includes(order.state)) await closePlacement(tx, record.placement_id)
  return { ...record, ...next }
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
  await pipelined(tx.db, [
    tx.db
      .updateTable('placement')
      .set({ holds_id: 0, was_refused: refused ? 1 : 0 })
      .where('id', '=', placementId),
  ])
  if (orders.every(({ first_sent_at: sent }) => sent === null)) await uncountOrder(tx, placementId)
}
