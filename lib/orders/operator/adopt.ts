/**
 * Takes in an order that a distributor has and the installation has forgotten: from then on its
 * order_id is held, so that a caller's retry is a 409 `duplicate_order` and no second purchase.
 */
import type { Insertable, Selectable } from 'kysely'
import { audit } from '../../accounts/audit.js'
import { itemsOf } from '../../catalog/queries.js'
import type { OrdersCtx } from '../ctx.js'
import type { Destination, PurchaseOrder } from '../../distributors/fulfillment.js'
import type { Orphan } from '../tracking/orphans.js'
import type { FulfillmentOrderTable } from '../../db/tables/fulfillment.js'
import { sealContent } from '../sealed-content.js'
import { itemsText, newPurchaseOrder, newRecord, newReference, nextId } from '../rows.js'
import type { StoredOrder } from '../history/records.js'
import { appendJournal } from '../journal/chain.js'
import type { PlacementTable } from '../../db/tables/orders.js'
import type { StoredPo } from '../stored.js'
import { distidOf, fragmentOf } from '../../catalog/snapshot/offer.js'

/** What the journal's line of it holds: enough to write it down once more. */
export interface AdoptionData {
  adopted: string
  /** Null where the placement is there already: another order of a split was adopted before. */
  placement: Selectable<PlacementTable> | null
  orders: Omit<Insertable<FulfillmentOrderTable>, 'customer_name'>[]
  purchaseOrders: StoredPo[]
}

/** Stands in place of a request's digest: no request is the same. */
const ADOPTED = 'adopted'
/** What a distributor does not tell. */
const NOT_KNOWN = 'not known'

/** The parts of a PO that was made here, or by any installation that goes by the same contract. */
export interface GeneratedPo {
  orderId: string
  /** Of the key that placed it. */
  tag: string
  fflRequired: boolean
  shipToStore: boolean
  attempt: number
  /** Without the attempt's suffix. */
  given: string
}

/**
 * Reads `<order_id>-<ABCD>-<f>1<s>`, and `-2` behind it; null for every other PO, also for one that
 * had to be shortened.
 */
export function readGeneratedPo(po: string): GeneratedPo | null {
  const [, given, orderId, tag, ffl, store, attempt] =
    /^(([A-Za-z0-9_-]{1,50})-([A-Z0-9]{4})-([01])1([01]))(?:-([2-9]|[1-9]\d{1,3}))?$/.exec(po) ?? []
  return given === undefined || orderId === undefined || tag === undefined
    ? null
    : {
        orderId,
        tag,
        fflRequired: ffl === '1',
        shipToStore: store === '1',
        attempt: Number(attempt ?? 1),
        given,
      }
}

/** Why an order was not taken in, in words; null where it was, or would be under `dryRun`. */
export async function adoptOrder(
  ctx: OrdersCtx,
  orphan: Orphan,
  po: GeneratedPo,
  { dryRun = false } = {},
): Promise<string | null> {
  return ctx.engine.atomic(ctx, async (tx) => {
    if (await isKnown(tx, orphan)) return 'it has become known meanwhile'
    const holder = await tx.db
      .selectFrom('placement')
      .selectAll()
      .where('subscriber_id', '=', orphan.subscriberId)
      .where('order_id', '=', po.orderId)
      .where('holds_id', '=', 1)
      .executeTakeFirst()
    if (holder && holder.request_digest !== ADOPTED)
      return `the order ${po.orderId} is known without it: it may have been placed twice`
    if (dryRun) return null
    const placement = holder ?? {
      id: await nextId(tx, 'placement'),
      subscriber_id: orphan.subscriberId,
      order_id: po.orderId,
      attempt: po.attempt,
      key_id: null,
      mode: orphan.mode,
      request_digest: ADOPTED,
      placed_at: orphan.at,
      holds_id: 1,
      was_refused: 0,
    }
    if (!holder) await tx.db.insertInto('placement').values(placement).execute()
    const { order, purchaseOrder } = await rowsOf(tx, orphan, po, placement)
    await tx.db.insertInto('fulfillment_order').values(order).execute()
    await tx.db.insertInto('purchase_order').values(purchaseOrder).execute()
    const { customer_name: _name, ...named } = order
    await appendJournal(tx, 'note', {
      adopted: po.orderId,
      placement: holder ? null : placement,
      orders: [named],
      purchaseOrders: [purchaseOrder],
    } satisfies AdoptionData)
    await audit(tx, 'orders.adopt', {
      order_id: po.orderId,
      subscriber: orphan.subscriberId,
      distid: orphan.distid,
      mode: orphan.mode,
      po_number: orphan.po,
      distributor_order_id: orphan.number,
    })
    return null
  })
}

async function isKnown(
  { db }: OrdersCtx,
  { subscriberId, distid, mode, number, clientRef }: Orphan,
): Promise<boolean> {
  if (
    clientRef !== undefined &&
    (await db
      .selectFrom('purchase_order')
      .select('id')
      .where('client_ref', '=', clientRef)
      .executeTakeFirst())
  )
    return true
  return (
    number !== null &&
    (await db
      .selectFrom('purchase_order')
      .select('id')
      .where('subscriber_id', '=', subscriberId)
      .where('distid', '=', distid)
      .where('mode', '=', mode)
      .where('distributor_order_id', '=', number)
      .executeTakeFirst()) !== undefined
  )
}

async function rowsOf(
  tx: OrdersCtx,
  orphan: Orphan,
  po: GeneratedPo,
  placement: Selectable<PlacementTable>,
): Promise<{ order: StoredOrder; purchaseOrder: StoredPo }> {
  const { subscriberId, distid, mode, number, at } = orphan
  const { groups } = await tx.db
    .selectFrom('fulfillment_order')
    .select((query) => query.fn.countAll<number>().as('groups'))
    .where('placement_id', '=', placement.id)
    .executeTakeFirstOrThrow()
  const [orderId, id] = [await nextId(tx, 'fulfillment_order'), await nextId(tx, 'purchase_order')]
  const content = contentOf(tx, orphan, po, id)
  const order = newRecord({
    id: orderId,
    placement_id: placement.id,
    group_no: groups,
    subscriber_id: subscriberId,
    order_id: po.orderId,
    order_date: at,
    distid,
    mode,
    order_status: 'Submitted',
    distributor_order_id: number,
    po_number: orphan.po,
    po_given: po.given,
    ffl: null,
    customer_name: content.customer.name,
    ffl_required: po.fflRequired ? 1 : 0,
    ship_to_store: po.shipToStore ? 1 : 0,
    dist_order_items: itemsText(content.lines),
  })
  const purchaseOrder = newPurchaseOrder({
    id,
    fulfillment_order_id: orderId,
    placement_id: placement.id,
    subscriber_id: subscriberId,
    distid,
    mode,
    lane: ADOPTED,
    client_ref: content.clientRef,
    po_number: orphan.po,
    ...sealContent(tx, subscriberId, content),
    state: 'placed',
    sends: 1,
    owner: null,
    account: null,
    distributor_order_id: number,
    next_at: null,
    planned_at: at,
    first_sent_at: at,
    updated_at: tx.now(),
  })
  return { order, purchaseOrder }
}

/** What is known of its content: it is never sent, but read by whoever looks at the order. */
function contentOf(
  ctx: OrdersCtx,
  { clientRef, po, lines = [], shipTo = {}, distid, at }: Orphan,
  { given, fflRequired, shipToStore }: GeneratedPo,
  serial: number,
): PurchaseOrder {
  const destination: Destination = {
    name: shipTo.name ?? NOT_KNOWN,
    address1: shipTo.address1 ?? '',
    address2: null,
    city: '',
    state: '',
    zip: shipTo.zip ?? '',
    phone: null,
  }
  // What goes to a dealer or to the store bears that one's name.
  const customer =
    fflRequired || shipToStore
      ? { ...destination, name: NOT_KNOWN, address1: '', zip: '', email: '' }
      : { ...destination, email: '' }
  return {
    clientRef: clientRef ?? newReference(ctx.random),
    serial,
    po,
    poGiven: given,
    poIsOurs: true,
    lane: ADOPTED,
    fflRequired,
    shipToStore,
    shipTo: destination,
    customer,
    ffl: null,
    takenAt: at,
    lines: lines.map(({ distsku, qty }) => ({
      distsku,
      upc: upcOf(ctx, distid, distsku),
      name: distsku,
      qty,
      unitPrice: 0,
      fflRequired,
    })),
  }
}

/** The UPC that the catalog has of an item; empty where it knows none. */
function upcOf(
  { catalog, engine }: Pick<OrdersCtx, 'catalog' | 'engine'>,
  distid: string,
  distsku: string,
): string {
  const snapshot = catalog.current()
  const row = snapshot
    ?.skuRows(distsku)
    .find((candidate) => distidOf(snapshot, candidate) === distid)
  if (!snapshot || row === undefined) return ''
  return itemsOf(engine.catalog)(fragmentOf(snapshot, row))?.upc ?? ''
}
