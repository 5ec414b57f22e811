/**
 * Takes an order in: everything that is needed to send it, frozen in one transaction before anybody
 * is asked.
 */
import { itemsText, newPurchaseOrder, newRecord, nextIds } from '../rows.js'
import type { StoredOrder } from '../history/records.js'
import type { Insertable, Selectable } from 'kysely'
import type { OrderCounts, OrdersCall } from '../ctx.js'
import { ApiError } from '../../core/errors.js'
import type { OrderPart, PurchaseOrder } from '../../distributors/fulfillment.js'
import { sealContent } from '../sealed-content.js'
import type { FulfillmentOrderTable } from '../../db/tables/fulfillment.js'
import type { CheckedGroup, CheckedOrder } from './check-order.js'
import { OrderIdHeld, earlierPlacements } from './holder.js'
import { appendJournal, journalEnd } from '../journal/chain.js'
import { fitPo, poNumber, poOfAttempt } from './po-number.js'
import { checkQuota, countOrder } from '../quota.js'
import { fence } from '../engine/sender/fence.js'
import { refusePaused } from './refusals.js'
import { isCommitUnknown } from '../../db/faults.js'
import { pipelined, together } from '../../db/together.js'
import type { PlacementTable } from '../../db/tables/orders.js'
import type { StoredPo } from '../stored.js'
import { present } from '../../core/present.js'

type Placement = Selectable<PlacementTable>

export interface PlannedGroup extends CheckedGroup {
  /** The subscriber's account at the distributor now. */
  account: string
  parts: (OrderPart & {
    /** It may be sent at once: its account has room for it. */
    isSentNow: boolean
    /** By which it is known from before it is written down. */
    clientRef: string
  })[]
}

/** Everything that the journal needs to write an order down once more. */
export interface IntentData {
  placement: Placement
  /** Without the customer's name, which the sealed contents hold. */
  orders: Omit<Insertable<FulfillmentOrderTable>, 'customer_name'>[]
  purchaseOrders: StoredPo[]
}

export interface Intent {
  placementId: number
  /** When it was written down, by the steady clock. */
  countedAt: number
  /** In the order of groups and parts. */
  purchaseOrders: StoredPo[]
  /** It was looked for: these are those of its purchase orders that are still to be sent at once. */
  wasFound: boolean
}

export interface IntentInput {
  order: CheckedOrder
  groups: readonly PlannedGroup[]
  digest: string
  /** This life of this process, which sends what may be sent at once. */
  owner: string
  /** In which it may be sent at once. */
  epoch: number | null
  counts: OrderCounts
}

/**
 * Writes an order down. Throws `OrderIdHeld`, 429 `order_volume_limit`, and 503
 * `service_unavailable` while the operator has orders paused; then nothing is written. Neither is it
 * where `LeadLost` is thrown: another node leads, and nothing may be sent at once.
 */
export async function writeIntent(ctx: OrdersCall, input: IntentInput): Promise<Intent> {
  return ctx.engine.atomic(
    ctx,
    async (tx) => {
      const { order, digest } = input
      const isSentNow = input.groups.some(({ parts }) => parts.some((part) => part.isSentNow))
      // Of several reasons against it the first is told. Before the pause: an order that just came
      // back from the journal was sent, so nobody may hear that nothing was.
      const [attempt, , at, ids, end] = await together([
        nextAttempt(tx, order.orderId),
        refusePaused(tx),
        ctx.key && checkQuota(tx, input.counts, ctx.key.id),
        nextIds(tx),
        journalEnd(tx),
        loggedDecision(order),
      ])
      const [placedAt, countedAt] = [tx.now(), tx.monotonic()]
      const placement: Placement = {
        id: ids.placement,
        subscriber_id: ctx.subscriber.id,
        order_id: order.orderId,
        attempt,
        key_id: ctx.key?.id ?? null,
        mode: order.mode,
        request_digest: digest,
        placed_at: placedAt,
        holds_id: 1,
        was_refused: 0,
      }
      const rows = rowsOf(tx as OrdersCall, { ...input, placement, ids })
      const data: IntentData = {
        placement,
        orders: rows.orders.map(({ customer_name: _name, ...named }) => named),
        purchaseOrders: rows.purchaseOrders,
      }
      await together([
        isSentNow && fence({ ...tx, epoch: input.epoch }),
        pipelined(tx.db, [
          tx.db.insertInto('placement').values(placement),
          tx.db.insertInto('fulfillment_order').values(rows.orders),
          tx.db.insertInto('purchase_order').values(rows.purchaseOrders),
        ]),
        ctx.key && countOrder(tx, ctx.key.id, placement.id, at ?? placedAt),
        appendJournal(tx, 'intent', data, end),
        input.epoch === null && tx.engine.lead?.tell(tx.db, 'waits', placement.id),
      ])
      return {
        placementId: placement.id,
        countedAt,
        purchaseOrders: rows.purchaseOrders,
        wasFound: false,
      }
    },
    { inTurn: true },
  )
}

/** What was decided about an order is in the log before the order is. */
async function loggedDecision({ logged }: CheckedOrder): Promise<void> {
  try {
    await logged
  } catch (error) {
    // Whether the log has it is not known: that is no doubt about the order.
    throw isCommitUnknown(error)
      ? new ApiError('service_unavailable', { headers: { 'retry-after': '1' } })
      : error
  }
}

/** Throws `OrderIdHeld` where somebody holds the order_id. */
async function nextAttempt(
  tx: Pick<OrdersCall, 'read' | 'subscriber'>,
  orderId: string,
): Promise<number> {
  const { isHeld, attempt } = await earlierPlacements(tx, orderId)
  if (isHeld) throw new OrderIdHeld()
  return attempt
}

/**
 * What was written of these groups by a transaction that did not say so; null for nothing. Its
 * purchase orders are those that are still to be sent at once, as nobody has touched them since; the
 * others go the way of all orders.
 */
export async function writtenIntent(
  ctx: OrdersCall,
  groups: readonly PlannedGroup[],
): Promise<Intent | null> {
  const parts = groups.flatMap((group) => group.parts)
  const rows = await ctx.read
    .selectFrom('purchase_order')
    .selectAll()
    .where(
      'client_ref',
      'in',
      parts.map(({ clientRef }) => clientRef),
    )
    .orderBy('id')
    .execute()
  const [first] = rows
  if (!first) return null
  const now = new Set(parts.flatMap(({ isSentNow, clientRef }) => (isSentNow ? clientRef : [])))
  return {
    placementId: first.placement_id,
    countedAt: ctx.monotonic(),
    purchaseOrders: rows.filter(
      ({ state, owner, sends, client_ref: ref }) =>
        state === 'sending' && owner === ctx.orders.owner && sends === 1 && now.has(ref),
    ),
    wasFound: true,
  }
}

function rowsOf(
  ctx: OrdersCall,
  {
    order,
    groups,
    owner,
    placement,
    ids,
  }: IntentInput & { placement: Placement; ids: Awaited<ReturnType<typeof nextIds>> },
): { orders: StoredOrder[]; purchaseOrders: StoredPo[] } {
  let { order: orderId, purchaseOrder: serial } = ids
  const orders: StoredOrder[] = []
  const purchaseOrders: StoredPo[] = []
  groups.forEach((group, groupNo) => {
    const { given, po } = posOf(ctx, order, group, { attempt: placement.attempt, groupNo })
    const record = recordRow(order, group, { id: orderId++, placement, groupNo, po, given })
    orders.push(record)
    for (const part of group.parts)
      purchaseOrders.push(
        purchaseOrderRow(ctx, { order, group, part, record, placement, id: serial++, owner }),
      )
  })
  return { orders, purchaseOrders }
}

/** The PO of a group: as it was given or made, and as its distributor takes it. */
export function posOf(
  { subscriber, key }: Pick<OrdersCall, 'subscriber' | 'key'>,
  order: Pick<CheckedOrder, 'orderId' | 'poNumber' | 'shipToStore'>,
  { fflRequired, connector }: Pick<CheckedGroup, 'fflRequired' | 'connector'>,
  { attempt, groupNo }: { attempt: number; groupNo: number },
): { given: string; po: string } {
  const given =
    order.poNumber ??
    poNumber({
      orderId: order.orderId,
      poTag: key?.poTag ?? null,
      fflRequired,
      shipToStore: order.shipToStore,
    })
  // A supplied PO stays one value over the whole split, also where it is shortened.
  const identity =
    order.poNumber !== null
      ? `${subscriber.id}|${given}|${attempt}`
      : `${subscriber.id}|${order.orderId}|${attempt}|${groupNo}`
  return { given, po: fitPo(poOfAttempt(given, attempt), connector.limits.po, identity) }
}

function recordRow(
  order: CheckedOrder,
  group: CheckedGroup,
  {
    id,
    placement,
    groupNo,
    po,
    given,
  }: { id: number; placement: Placement; groupNo: number; po: string; given: string },
): StoredOrder {
  return newRecord({
    id,
    placement_id: placement.id,
    group_no: groupNo,
    subscriber_id: placement.subscriber_id,
    order_id: order.orderId,
    order_date: placement.placed_at,
    distid: group.distid,
    mode: order.mode,
    order_status: 'Pending',
    distributor_order_id: null,
    po_number: po,
    po_given: given,
    ffl: group.ffl?.licenseNumber ?? null,
    customer_name: order.customer.name,
    ffl_required: group.fflRequired ? 1 : 0,
    ship_to_store: order.shipToStore ? 1 : 0,
    dist_order_items: itemsText(group.lines),
  })
}

interface PurchaseOrderInput {
  order: CheckedOrder
  group: PlannedGroup
  part: PlannedGroup['parts'][number]
  record: StoredOrder
  placement: Placement
  id: number
  owner: string
}

/** What is sent of a part, whenever it is sent. */
export function contentOf(
  order: CheckedOrder,
  group: CheckedGroup & { parts: readonly OrderPart[] },
  part: OrderPart,
  named: Pick<PurchaseOrder, 'clientRef' | 'serial' | 'po' | 'poGiven' | 'takenAt'>,
): PurchaseOrder {
  const lines = part.lines.map((at) => present(group.lines[at], `line ${at}`))
  return {
    ...named,
    poIsOurs: order.poNumber === null,
    lane: part.name,
    fflRequired:
      lines.some(({ fflRequired }) => fflRequired) ||
      (group.fflRequired && (!order.shipToStore || group.parts.length === 1)),
    ...(group.sotRequired && { sotRequired: true }),
    shipToStore: order.shipToStore,
    lines,
    shipTo: group.shipTo,
    customer: order.customer,
    ffl: group.ffl,
  }
}

function purchaseOrderRow(
  ctx: OrdersCall,
  { order, group, part, record, placement, id, owner }: PurchaseOrderInput,
): StoredPo {
  const content = contentOf(order, group, part, {
    clientRef: part.clientRef,
    serial: id,
    po: record.po_number,
    poGiven: record.po_given,
    takenAt: placement.placed_at,
  })
  const now = placement.placed_at
  return newPurchaseOrder({
    id,
    fulfillment_order_id: record.id,
    placement_id: placement.id,
    subscriber_id: placement.subscriber_id,
    distid: group.distid,
    mode: order.mode,
    lane: part.name,
    client_ref: content.clientRef,
    po_number: record.po_number,
    ...sealContent(ctx, placement.subscriber_id, content),
    state: part.isSentNow ? 'sending' : 'planned',
    sends: part.isSentNow ? 1 : 0,
    owner: part.isSentNow ? owner : null,
    account: part.isSentNow ? group.account : null,
    distributor_order_id: null,
    next_at: part.isSentNow ? null : now,
    planned_at: now,
    first_sent_at: part.isSentNow ? now : null,
    updated_at: now,
  })
}
