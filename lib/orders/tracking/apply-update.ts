/**
 * News of distributors, written into the records that they belong to (contract "Behavioural rules",
 * decisions 8.7, 8.10).
 */
import { FAILED } from '../stored.js'
import { changeRecord } from '../history/change-record.js'
import { appendJournal } from '../journal/chain.js'
import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import { DAY } from '../../core/clock.js'
import type { OrdersCtx } from '../ctx.js'
import type { Mode } from '../../db/tables/words.js'
import type { OrderUpdate, PurchaseOrder } from '../../distributors/fulfillment.js'
import { connectorOf } from '../../distributors/modes.js'
import type { PoState, PurchaseOrderTable } from '../../db/tables/orders.js'
import type { StateData } from '../engine/transitions.js'
import { cleanUpdate } from './clean-update.js'
import { contentOrNull } from '../engine/content.js'
import { knownLanes } from './part-statuses.js'
import { LONGEST_AGO, isNewsOf, isOthers, isWhollyOthers, samePo } from './match.js'
import { poIsAlone, standsElsewhere } from './numbers.js'
import { mergeParcels, shippingOf } from './parcels.js'
import { laterOrder, statusOfLanes } from './statuses.js'

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
export interface Told extends Account {
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

type Lane = Selectable<PurchaseOrderTable>
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
  account: Told,
  news: OrderUpdate,
): Promise<Applied> {
  const update = cleanUpdate(news)
  if (!update) return { outcome: 'unknown' }
  const applied = await ctx.engine.atomic(ctx, async (tx): Promise<Applied> => {
    const lane = await findLane(tx, account, update)
    if (!lane) return { outcome: 'unknown' }
    if (lane.state !== 'placed')
      return { outcome: 'not_placed', purchaseOrderId: lane.id, state: lane.state }
    const reason = await conflictOf(tx, lane, update)
    if (reason !== null) return { outcome: 'refused', reason }
    return {
      outcome: (await applyTo(tx, lane, update)) ? 'applied' : 'unchanged',
      fulfillmentOrderId: lane.fulfillment_order_id,
    }
  })
  if (applied.outcome === 'refused')
    ctx.log.warn(
      {
        distid: account.distid,
        subscriber: account.subscriberId,
        number: update.number,
        po: update.po,
        reason: applied.reason,
      },
      'news of an order contradict what is known and are left alone',
    )
  return applied
}

/**
 * The purchase order that an update is about: by our reference; else by the distributor's number;
 * else by the PO, where exactly one order can be meant. A PO that a caller chose may stand on many
 * orders, here and at the distributor, and one that we made on somebody else's there: nothing is
 * written of news that are not proven to be of this order.
 */
async function findLane(ctx: OrdersCtx, told: Told, update: OrderUpdate): Promise<Lane | null> {
  const { subscriberId, distid, mode, login } = told
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
    ).filter((lane) => !isElsewhere(lane, login) || mayBe(ctx, lane, update))
    if (numbered.length > 0) return numbered.length === 1 ? numbered[0]! : null
  }
  const possible = await lanesOfPo(ctx, told, update)
  const [lane] = possible
  if (!lane || possible.length > 1 || lane.subscriber_id !== subscriberId) return null
  // Of one that is not settled nothing is written, so it is enough that they may be its.
  return lane.state !== 'placed' || (await areIts(ctx, lane, update)) ? lane : null
}

/** The purchase orders of an account, whoever's they are, that news may be about by their PO. */
async function lanesOfPo(
  ctx: OrdersCtx,
  { subscriberId, distid, mode, login }: Told,
  update: OrderUpdate,
): Promise<Lane[]> {
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
  const named = await open
    .where(sql<boolean>`po_number = ${po} COLLATE NOCASE`)
    .limit(MANY)
    .execute()
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
    (lane) =>
      mayBe(ctx, lane, update) &&
      (!isElsewhere(lane, login) || contentOrNull(ctx, lane)?.poIsOurs === true),
  )
}

/** Orders that one PO is looked for among. */
const MANY = 1_000

const isElsewhere = ({ account }: Lane, login: string | undefined) =>
  login !== undefined && account !== null && account !== login

/** False where what the news tell of its items and destination is surely another order's. */
function mayBe(ctx: OrdersCtx, lane: Lane, update: OrderUpdate): boolean {
  if (update.lines === undefined && update.shipTo === undefined) return true
  const content = readContent(ctx, lane)
  return content !== null && !isOthers(update, content)
}

/** Whether news that name the order by its PO are proven to be of it. */
async function areIts(ctx: OrdersCtx, lane: Lane, update: OrderUpdate): Promise<boolean> {
  const content = readContent(ctx, lane)
  // Without its connector nothing is known of what the distributor tells.
  const recovery = connectorOf(ctx, lane.distid, lane.mode)?.recovery ?? 'file'
  return (
    content !== null &&
    isNewsOf(update, content, { poIsAlone: await poIsAlone(ctx.db, lane), recovery })
  )
}

function readContent(ctx: OrdersCtx, lane: Lane): PurchaseOrder | null {
  const content = contentOrNull(ctx, lane)
  if (!content) ctx.log.error({ ref: lane.client_ref }, 'an order cannot be opened')
  return content
}

/**
 * Why an update cannot be this order's, though it bears its reference or number or is like it; or
 * null.
 */
async function conflictOf(ctx: OrdersCtx, lane: Lane, update: OrderUpdate): Promise<string | null> {
  const { number, lines, shipTo } = update
  const isKnown = number !== null && number === lane.distributor_order_id
  if (number !== null && lane.distributor_order_id !== null && !isKnown)
    return 'the order has another number'
  const content = lines === undefined && shipTo === undefined ? null : contentOrNull(ctx, lane)
  if (content && (isKnown ? isWhollyOthers(update, content) : isOthers(update, content)))
    return 'it holds other items, or goes elsewhere'
  return number !== null && !isKnown && (await standsElsewhere(ctx.db, lane, number))
    ? 'the number stands on another order'
    : null
}

async function applyTo(tx: OrdersCtx, lane: Lane, update: OrderUpdate): Promise<boolean> {
  const { db } = tx
  const order = await db
    .selectFrom('fulfillment_order')
    .selectAll()
    .where('id', '=', lane.fulfillment_order_id)
    .executeTakeFirstOrThrow()
  const isNumbered = update.number !== null && lane.distributor_order_id === null
  if (isNumbered) {
    const set = { distributor_order_id: update.number, updated_at: tx.now() }
    await db.updateTable('purchase_order').set(set).where('id', '=', lane.id).execute()
    await appendJournal(tx, 'state', {
      id: lane.id,
      ref: lane.client_ref,
      from: 'placed',
      set: { ...set, state: 'placed' },
    } satisfies StateData)
  }
  const lanes = await knownLanes(tx, order)
  const statuses = lanes.map(({ status }) => status)
  const mine = lanes.findIndex(({ id }) => id === lane.id)
  const before = statuses[mine]!
  const after =
    update.status === undefined
      ? before
      : laterOrder(before, { status: update.status, at: update.at })
  statuses[mine] = after
  const isMoved = after !== before && (after.status !== before.status || after.at !== before.at)
  if (isMoved)
    await db
      .replaceInto('lane_status')
      .values({ purchase_order_id: lane.id, order_status: after.status, at: after.at })
      .execute()
  const { parcels, isChanged } = await mergeParcels(tx, order, update.parcels ?? [], update.at)
  const numbers = lanes.flatMap(({ number }) => number ?? [])
  const known = statuses.filter((status) => status !== null)
  const isWritten = await changeRecord(tx, order, {
    ...shippingOf(parcels),
    distributor_order_id: numbers.join(', ') || order.distributor_order_id,
    // As long as the outcome of a part is not known, the record says so.
    ...(known.length === statuses.length && { order_status: statusOfLanes(known) }),
  })
  return isNumbered || isMoved || isChanged || isWritten
}
