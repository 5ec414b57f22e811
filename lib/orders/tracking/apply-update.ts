/**
 * News of distributors, written into the records that they belong to (contract "Behavioural
 * rules").
 */
import { FAILED } from '../stored.js'
import { changeRecord } from '../history/change-record.js'
import type { StoredPo } from '../stored.js'
import { appendJournal } from '../journal/chain.js'
import { hasPo } from '../queries.js'
import { DAY } from '../../core/clock.js'
import type { OrdersCtx } from '../ctx.js'
import type { Mode } from '../../db/tables/column-types.js'
import type { OrderUpdate, PurchaseOrder } from '../../distributors/fulfillment.js'
import { connectorFor } from '../../distributors/modes.js'
import type { PoState } from '../../db/tables/orders.js'
import type { StateData } from '../engine/transitions.js'
import { cleanUpdate } from './clean-update.js'
import { contentOrNull } from '../sealed-content.js'
import { knownParts, partRows } from '../history/part-statuses.js'
import { LONGEST_AGO, isNewsOf, isOthers, isWhollyOthers, samePo } from '../matching/match.js'
import { sharersOfPo, standsElsewhere } from '../matching/order-numbers.js'
import { mergeParcels, shippingOf } from './parcels.js'
import { laterOrder, statusOfParts } from '../history/statuses.js'
import { present } from '../../core/present.js'

/** One subscriber's account at a distributor, as it is or as it is played. */
export interface Account {
  subscriberId: string
  distid: string
  mode: Mode
}

/**
 * Whose news they are: where the login is told, an order that was sent with another one is not
 * taken for one of these.
 */
export interface AskedAccount extends Account {
  login?: string
}

/** What became of an update. */
export type Applied =
  /** `unchanged`: all of it was known. */
  | { outcome: 'applied' | 'unchanged'; fulfillmentOrderId: number }
  /**
   * It belongs to a purchase order of which it is not settled yet, or was settled otherwise,
   * whether it was placed: whoever settles that decides.
   */
  | { outcome: 'not_placed'; purchaseOrderId: number; state: PoState }
  /** It belongs to no purchase order that we know of, or does not say to which. */
  | { outcome: 'unknown' }
  /** It contradicts what is known. */
  | { outcome: 'refused'; reason: string }

/**
 * Reports tell days of some time zone: that much earlier than it was sent an order may seem to have
 * been made.
 */
const CLOCKS_DIFFER = 2 * DAY

/**
 * Applies one update in one transaction. It may be late, repeated or in any order: the same updates
 * always end in the same record. Nothing is written where nothing changes.
 */
export async function applyUpdate(
  ctx: OrdersCtx,
  account: AskedAccount,
  news: OrderUpdate,
): Promise<Applied> {
  const update = cleanUpdate(news)
  if (!update) return { outcome: 'unknown' }
  const applied = await ctx.engine.atomic(ctx, async (tx): Promise<Applied> => {
    const order = await findPurchaseOrder(tx, account, update)
    if (!order) return { outcome: 'unknown' }
    if (order.state !== 'placed')
      return { outcome: 'not_placed', purchaseOrderId: order.id, state: order.state }
    const reason = await conflictOf(tx, order, update)
    if (reason !== null) return { outcome: 'refused', reason }
    return {
      outcome: (await applyTo(tx, order, update)) ? 'applied' : 'unchanged',
      fulfillmentOrderId: order.fulfillment_order_id,
    }
  })
  if (applied.outcome === 'applied' && update.reason !== undefined)
    ctx.log.warn(
      {
        distid: account.distid,
        subscriber: account.subscriberId,
        fulfillmentOrder: applied.fulfillmentOrderId,
        reason: update.reason,
      },
      'a distributor tells why nothing comes of an order',
    )
  if (applied.outcome === 'refused')
    ctx.log.warn(
      {
        distid: account.distid,
        subscriber: account.subscriberId,
        number: update.number,
        po: update.po,
        reason: applied.reason,
      },
      'news of an order contradict what is known, and are ignored',
    )
  return applied
}

/**
 * The purchase order that an update is about: by our reference; else by the distributor's number;
 * else by the PO, where exactly one order can be meant. A PO that a caller chose may stand on many
 * orders, here and at the distributor, and one that we made on somebody else's there: nothing is
 * written of news that are not proven to be of this order.
 */
async function findPurchaseOrder(
  ctx: OrdersCtx,
  account: AskedAccount,
  update: OrderUpdate,
): Promise<StoredPo | null> {
  const { subscriberId, distid, mode, login } = account
  const { clientRef, number } = update
  const mine = ctx.db
    .selectFrom('purchase_order')
    .selectAll()
    .where('subscriber_id', '=', subscriberId)
    .where('distid', '=', distid)
    .where('mode', '=', mode)
  if (clientRef !== undefined)
    return (await mine.where('client_ref', '=', clientRef).executeTakeFirst()) ?? null
  if (number !== null) {
    // Another login may be another account, which may count its orders anew.
    const numbered = (
      await mine.where('distributor_order_id', '=', number).limit(2).execute()
    ).filter((order) => !isElsewhere(order, login) || mayBelongTo(ctx, order, update))
    const [one, ...others] = numbered
    if (one) return others.length === 0 ? one : null
  }
  const possible = await ordersOfPo(ctx, account, update)
  const [order] = possible
  if (!order || possible.length > 1 || order.subscriber_id !== subscriberId) return null
  // Of one that is not settled nothing is written, so it is enough that they may be its.
  return order.state !== 'placed' || (await areIts(ctx, order, update)) ? order : null
}

/** The purchase orders of an account, whoever's they are, that news may be about by their PO. */
async function ordersOfPo(
  ctx: OrdersCtx,
  { subscriberId, distid, mode, login }: AskedAccount,
  update: OrderUpdate,
): Promise<StoredPo[]> {
  const { number, po, at } = update
  if (po === '') return []
  // With another number it is another order: somebody else's, or one made by telephone. So is what
  // happened before ours.
  const live = ctx.db
    .selectFrom('purchase_order')
    .selectAll()
    .where('distid', '=', distid)
    .where('mode', '=', mode)
    .where('state', 'not in', FAILED)
    .where('planned_at', '<=', at + CLOCKS_DIFFER)
    .where((or) =>
      or.or([
        or('subscriber_id', '=', subscriberId),
        ...(login === undefined ? [] : [or('account', '=', login)]),
      ]),
    )
  const open = number === null ? live : live.where('distributor_order_id', 'is', null)
  const named = await open.where(hasPo(po)).limit(MANY).execute()
  // A distributor may fold the case of a PO, pad it, or cut it off.
  const alike =
    named.length > 0
      ? named
      : (
          await open
            .where('planned_at', '>', at - LONGEST_AGO)
            .orderBy('id', 'desc')
            .limit(MANY)
            .execute()
        ).filter(({ po_number: ours }) => samePo(po, ours) !== 'other')
  // At another login, a PO that a caller chose is anybody's; one that was made here is not.
  return alike.filter(
    (order) =>
      mayBelongTo(ctx, order, update) &&
      (!isElsewhere(order, login) || contentOrNull(ctx, order)?.poIsOurs === true),
  )
}

/** Orders that one PO is looked for among. */
const MANY = 1_000

const isElsewhere = ({ account }: StoredPo, login: string | undefined) =>
  login !== undefined && account !== null && account !== login

/** False where what the news tell of its items and destination is surely another order's. */
function mayBelongTo(ctx: OrdersCtx, order: StoredPo, update: OrderUpdate): boolean {
  if (update.lines === undefined && update.shipTo === undefined) return true
  const content = readContent(ctx, order)
  return content !== null && !isOthers(update, content)
}

/** Whether news that name the order by its PO are proven to be of it. */
async function areIts(ctx: OrdersCtx, order: StoredPo, update: OrderUpdate): Promise<boolean> {
  const content = readContent(ctx, order)
  // Without its connector nothing is known of what the distributor tells.
  const recovery = connectorFor(ctx, order)?.recovery ?? 'file'
  return (
    content !== null &&
    isNewsOf(update, content, { ...(await sharersOfPo(ctx.db, order)), recovery })
  )
}

function readContent(ctx: OrdersCtx, order: StoredPo): PurchaseOrder | null {
  const content = contentOrNull(ctx, order)
  if (!content) ctx.log.error({ ref: order.client_ref }, 'an order cannot be opened')
  return content
}

/**
 * Why an update cannot be this order's, though it bears its reference or number or is like it; or
 * null.
 */
async function conflictOf(
  ctx: OrdersCtx,
  order: StoredPo,
  update: OrderUpdate,
): Promise<string | null> {
  const { number, lines, shipTo } = update
  const isKnown = number !== null && number === order.distributor_order_id
  if (number !== null && order.distributor_order_id !== null && !isKnown)
    return 'the order has another number'
  const content = lines === undefined && shipTo === undefined ? null : contentOrNull(ctx, order)
  if (content && (isKnown ? isWhollyOthers(update, content) : isOthers(update, content)))
    return 'it holds other items, or goes elsewhere'
  return number !== null && !isKnown && (await standsElsewhere(ctx.db, order, number))
    ? 'the number stands on another order'
    : null
}

async function applyTo(tx: OrdersCtx, order: StoredPo, update: OrderUpdate): Promise<boolean> {
  const { db } = tx
  const record = await db
    .selectFrom('fulfillment_order')
    .selectAll()
    .where('id', '=', order.fulfillment_order_id)
    .executeTakeFirstOrThrow()
  const isNumbered = update.number !== null && order.distributor_order_id === null
  if (isNumbered) {
    const set = { distributor_order_id: update.number, updated_at: tx.now() }
    await db.updateTable('purchase_order').set(set).where('id', '=', order.id).execute()
    await appendJournal(tx, 'state', {
      id: order.id,
      ref: order.client_ref,
      from: 'placed',
      set: { ...set, state: 'placed' },
    } satisfies StateData)
  }
  const parts = knownParts(await partRows(tx, record.id), record)
  const statuses = parts.map(({ status }) => status)
  const mine = parts.findIndex(({ id }) => id === order.id)
  const before = present(statuses[mine], `the status of purchase order ${order.id}`)
  const after =
    update.status === undefined
      ? before
      : laterOrder(before, { status: update.status, at: update.at })
  statuses[mine] = after
  const isMoved = after !== before && (after.status !== before.status || after.at !== before.at)
  if (isMoved)
    await db
      .replaceInto('lane_status')
      .values({ purchase_order_id: order.id, order_status: after.status, at: after.at })
      .execute()
  const { parcels, isChanged } = await mergeParcels(tx, record, update.parcels ?? [], update.at)
  const numbers = parts.flatMap(({ number }) => number ?? [])
  const known = statuses.filter((status) => status !== null)
  const isWritten = await changeRecord(tx, record, {
    ...shippingOf(parcels),
    distributor_order_id: numbers.join(', ') || record.distributor_order_id,
    // As long as the outcome of a part is not known, the record says so.
    ...(known.length === statuses.length && { order_status: statusOfParts(known) }),
  })
  return isNumbered || isMoved || isChanged || isWritten
}
