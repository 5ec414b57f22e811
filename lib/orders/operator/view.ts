/**
 * What the operator sees of orders: all that is open, and one order with everything that happened
 * to it.
 */
import { nextTurn } from '../../core/async/wait.js'
import type { Subscriber } from '../../accounts/caller.js'
import type { OrdersCtx } from '../ctx.js'
import { ApiError } from '../../core/errors.js'
import type { Mode } from '../../db/tables/column-types.js'
import { recordOf } from '../history/records.js'
import type { StoredOrder } from '../history/records.js'
import type { FulfillmentOrder } from '../history/shapes.js'
import { describeLines } from '../journal/describe.js'
import type { DescribedLine } from '../journal/describe.js'
import { purchaseOrdersOf } from '../rows.js'
import { findPurchaseOrders } from './resolve.js'
import type { PoState } from '../../db/tables/orders.js'
import { transcriptsOf } from '../transcripts.js'
import type { KeptTranscript } from '../transcripts.js'
import { OPEN } from '../stored.js'
import type { StoredPo } from '../stored.js'
import { isOpenPurchase } from '../queries.js'
import { listPaperwork } from './paperwork.js'
import type { DuePaperwork, PaperworkOrder } from './paperwork.js'

/** A purchase order in one line. */
export interface ListedOrder {
  id: number
  ref: string
  subscriber: string
  order_id: string
  distid: string
  mode: Mode
  state: PoState
  placed_at: string
  /** Milliseconds since it was placed. */
  age: number
  po_number: string
  distributor_order_id: string | null
  reason: string | null
  /** With state `paperwork`: what is to be sent, to whom, and by when. */
  paperwork?: DuePaperwork
}

/**
 * `open`: whatever still goes on by itself or waits for a person. `paperwork`: placed, and held until
 * papers come.
 */
export const LIST_STATES = ['review', 'unknown', 'open', 'paperwork', 'all'] as const

export interface ListInput {
  subscriberId?: string | undefined
  state?: (typeof LIST_STATES)[number] | undefined
  limit?: number | undefined
}

/** Purchase orders, the newest first, `count` of all of them; those that are open by default. */
export async function listPurchaseOrders(
  ctx: OrdersCtx,
  { subscriberId, state = 'open', limit = 50 }: ListInput = {},
): Promise<{ count: number; orders: ListedOrder[] }> {
  const { read, now } = ctx
  if (state === 'paperwork') {
    const due = await listPaperwork(ctx, { subscriberId })
    return { count: due.length, orders: due.slice(0, limit).map((one) => listedWith(one, now())) }
  }
  const states = state === 'all' ? null : state === 'open' ? OPEN : [state]
  const some = read
    .selectFrom('purchase_order')
    .$if(states !== null, (query) => query.where(isOpenPurchase).where('state', 'in', states!))
    .$if(subscriberId !== undefined, (query) =>
      query.where('purchase_order.subscriber_id', '=', subscriberId!),
    )
  const { count } = await some
    .select((query) => query.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const rows = await some
    .innerJoin('placement', 'placement.id', 'purchase_order.placement_id')
    .innerJoin('subscriber', 'subscriber.id', 'purchase_order.subscriber_id')
    .select([
      'purchase_order.id',
      'client_ref',
      'subscriber.name as subscriber',
      'order_id',
      'distid',
      'purchase_order.mode',
      'state',
      'placed_at',
      'po_number',
      'distributor_order_id',
      'reason',
    ])
    .orderBy('purchase_order.id', 'desc')
    .limit(limit)
    .execute()
  return {
    count,
    orders: rows.map(({ client_ref: ref, placed_at: at, ...row }) => ({
      ...row,
      ref,
      placed_at: new Date(at).toISOString(),
      age: now() - at,
    })),
  }
}

const listedWith = (
  { purchase, subscriber, order_id, placedAt, paperwork }: PaperworkOrder,
  now: number,
): ListedOrder => ({
  id: purchase.id,
  ref: purchase.client_ref,
  subscriber,
  order_id,
  distid: purchase.distid,
  mode: purchase.mode,
  state: purchase.state,
  placed_at: textOf(placedAt),
  age: now - placedAt,
  po_number: purchase.po_number,
  distributor_order_id: purchase.distributor_order_id,
  reason: purchase.reason,
  paperwork,
})

export interface ShownPurchaseOrder {
  id: number
  ref: string
  lane: string
  state: PoState
  sends: number
  stage: string | null
  distributor_order_id: string | null
  reason: string | null
  /** How a second send was refused, which proves nothing of the first. */
  refusal: string | null
  /** When it is looked at next; null where it is not. */
  next_at: string | null
  /** Everything that the journal has of it, in words, oldest first. */
  lines: DescribedLine[]
  /** What went over the wire, oldest first, where it was asked for. */
  transcripts?: KeptTranscript[]
}

export interface ShownRecord {
  record: FulfillmentOrder
  /** False: it produced no distributor order, and stands among the failed placements. */
  visible: boolean
  po_given: string
  purchase_orders: ShownPurchaseOrder[]
  parcels: {
    tracking_number: string
    company: string | null
    method: string | null
    shipped_on: string | null
    status: string | null
  }[]
  changes: { at: string; field: string; before: string | null; after: string | null }[]
}

export interface ShownOrder {
  subscriber: string
  order_id: string
  placed_at: string
  mode: Mode
  attempt: number
  /**
   * The key that placed it; null for a library caller without one, and for an order that was taken
   * in afterwards.
   */
  key_id: string | null
  holds_id: boolean
  fulfillment_orders: ShownRecord[]
}

/**
 * Every placement that an id, a reference or an order_id means, oldest first. Throws 404 where
 * there is none.
 */
export async function showOrder(
  ctx: OrdersCtx,
  text: string,
  {
    subscriberId,
    withTranscripts = false,
  }: { subscriberId?: string | undefined; withTranscripts?: boolean } = {},
): Promise<ShownOrder[]> {
  const meant = await findPurchaseOrders(ctx, text, subscriberId)
  if (meant.length === 0)
    throw new ApiError('not_found', {
      message: `there is no order or purchase order "${text}"; see \`orders list --state all\``,
    })
  const shown: ShownOrder[] = []
  for (const id of new Set(meant.map(({ placement_id: placement }) => placement)))
    shown.push(await showPlacement(ctx, id, withTranscripts))
  return shown
}

async function showPlacement(
  ctx: OrdersCtx,
  id: number,
  withTranscripts: boolean,
): Promise<ShownOrder> {
  const { read } = ctx
  const placement = await read
    .selectFrom('placement')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const { name }: Pick<Subscriber, 'name'> = await read
    .selectFrom('subscriber')
    .select('name')
    .where('id', '=', placement.subscriber_id)
    .executeTakeFirstOrThrow()
  const orders = await read
    .selectFrom('fulfillment_order')
    .selectAll()
    .where('placement_id', '=', id)
    .orderBy('group_no')
    .execute()
  const all = await purchaseOrdersOf(ctx, id)
  const lines = await linesOf(
    ctx,
    all.map(({ client_ref: ref }) => ref),
  )
  const records: ShownRecord[] = []
  for (const order of orders) {
    const own = all.filter(({ fulfillment_order_id: record }) => record === order.id)
    const transcripts = new Map<number, KeptTranscript[]>()
    if (withTranscripts)
      for (const one of own) transcripts.set(one.id, await transcriptsOf(ctx, one))
    records.push(await showRecord(ctx, order, { purchaseOrders: own, lines, transcripts }))
  }
  return {
    subscriber: name,
    order_id: placement.order_id,
    placed_at: textOf(placement.placed_at),
    mode: placement.mode,
    attempt: placement.attempt,
    key_id: placement.key_id,
    holds_id: placement.holds_id === 1,
    fulfillment_orders: records,
  }
}

async function showRecord(
  { read }: OrdersCtx,
  order: StoredOrder,
  {
    purchaseOrders,
    lines,
    transcripts,
  }: {
    purchaseOrders: StoredPo[]
    lines: LinesByRef
    transcripts: ReadonlyMap<number, KeptTranscript[]>
  },
): Promise<ShownRecord> {
  const parcels = await read
    .selectFrom('parcel')
    .select(['tracking_number', 'company', 'method', 'shipped_on', 'status'])
    .where('fulfillment_order_id', '=', order.id)
    .orderBy('tracking_number')
    .execute()
  const changes = await read
    .selectFrom('fulfillment_change')
    .select(['at', 'field', 'before', 'after'])
    .where('fulfillment_order_id', '=', order.id)
    .orderBy('seq')
    .execute()
  return {
    record: recordOf(order),
    visible: order.visible === 1,
    po_given: order.po_given,
    parcels,
    changes: changes.map((change) => ({ ...change, at: textOf(change.at) })),
    purchase_orders: purchaseOrders.map((purchase) => {
      const told = transcripts.get(purchase.id)
      return {
        id: purchase.id,
        ref: purchase.client_ref,
        lane: purchase.lane,
        state: purchase.state,
        sends: purchase.sends,
        stage: purchase.stage,
        distributor_order_id: purchase.distributor_order_id,
        reason: purchase.reason,
        refusal: purchase.refusal,
        next_at: purchase.next_at === null ? null : textOf(purchase.next_at),
        lines: lines.get(purchase.client_ref) ?? [],
        ...(told && { transcripts: told }),
      }
    }),
  }
}

/** What the journal tells of purchase orders, by their references. */
type LinesByRef = ReadonlyMap<string, DescribedLine[]>

const textOf = (ms: number) => new Date(ms).toISOString()

/**
 * Journal lines that one statement looks through: nothing else needs them by purchase order, so
 * there is no index.
 */
const STEP = 5_000

/** What the journal tells of purchase orders, by their references. */
async function linesOf(
  { read }: Pick<OrdersCtx, 'read'>,
  refs: readonly string[],
): Promise<Map<string, DescribedLine[]>> {
  const journal = read.selectFrom('journal')
  const end = await journal.select(({ fn }) => fn.max<number | null>('seq').as('seq')).execute()
  const last = end[0]?.seq ?? 0
  const texts: string[] = []
  for (let from = 0; from < last; from += STEP) {
    const some = await journal
      .select('line')
      .where('seq', '>', from)
      .where('seq', '<=', Math.min(last, from + STEP))
      .where((line) =>
        line.or(refs.map((ref) => line(line.fn<number>('instr', ['line', line.val(ref)]), '>', 0))),
      )
      .orderBy('seq')
      .execute()
    texts.push(...some.map(({ line }) => line))
    await nextTurn()
  }
  return new Map(refs.map((ref) => [ref, describeLines(ref, texts)]))
}
