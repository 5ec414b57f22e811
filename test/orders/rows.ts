/**
 * Orders put straight into the database, for tests of what is read of them and written into them.
 */
import type { Insertable } from 'kysely'
import { findSubscriber } from '../../lib/accounts/subscribers.js'
import type { PurchaseOrder } from '../../lib/distributors/fulfillment.js'
import { sealContent } from '../../lib/orders/sealed-content.js'
import type {
  FailedPlacementTable,
  FulfillmentOrderTable,
} from '../../lib/db/tables/fulfillment.js'
import type { PurchaseOrderTable } from '../../lib/db/tables/orders.js'
import type { TestApp } from '../../server/testing/index.js'

export interface TestOrder extends Partial<Insertable<FulfillmentOrderTable>> {
  /** One purchase order each, placed unless told otherwise; one without a number by default. */
  parts?: Partial<Insertable<PurchaseOrderTable>>[]
  /** Tracking numbers. */
  parcels?: string[]
  /** What its purchase orders hold; by default they cannot be opened. */
  content?: Partial<PurchaseOrder>
}

const NOWHERE = {
  name: 'Jane Doe',
  address1: '12 Main St',
  address2: null,
  city: 'Phoenix',
  state: 'AZ',
  zip: '85001',
  phone: null,
}
const NOTHING = {
  serial: 1,
  poIsOurs: true,
  lane: 'all',
  fflRequired: false,
  shipToStore: false,
  lines: [],
  shipTo: NOWHERE,
  customer: { ...NOWHERE, email: 'j@customer.example' },
  ffl: null,
}

let refs = 0

/**
 * Inserts one order with all that belongs to it. Returns the record's id and its purchase orders'.
 */
export async function addOrder(
  t: TestApp,
  { parts = [{}], parcels = [], content, ...given }: TestOrder = {},
): Promise<{ id: number; parts: { id: number; client_ref: string }[] }> {
  const { ctx } = t.app
  const subscriber_id = given.subscriber_id ?? (await findSubscriber(ctx, t.subscriber)).id
  return ctx.engine.atomic(ctx, async ({ db }) => {
    const at = given.order_date ?? t.clock.ms
    const order_id = given.order_id ?? `W-${++refs}`
    const placement = await db
      .insertInto('placement')
      .values({
        subscriber_id,
        order_id,
        attempt: 1,
        key_id: null,
        mode: 'simulator',
        request_digest: '',
        placed_at: at,
        holds_id: 0,
        was_refused: 0,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    const order = {
      placement_id: placement.id,
      group_no: 0,
      subscriber_id,
      order_id,
      order_source: 'cockpit_cart',
      order_date: at,
      distid: 'RSR',
      mode: 'simulator' as const,
      visible: 1,
      order_status: 'Submitted' as const,
      distributor_order_id:
        parts.flatMap(({ distributor_order_id: number }) => number ?? []).join(', ') || null,
      po_number: `${order_id}-PO`,
      po_given: given.po_number ?? `${order_id}-PO`,
      ffl: null,
      customer_name: 'Jane Doe',
      ffl_required: 0,
      ship_to_store: 0,
      dist_order_items: '[]',
      ship_date: null,
      ship_company: null,
      ship_method: null,
      ship_status: null,
      ship_tracking_number: null,
      ship_tracking_url: null,
      ...given,
    }
    const { id } = await db
      .insertInto('fulfillment_order')
      .values(order)
      .returning('id')
      .executeTakeFirstOrThrow()
    const placed = []
    for (const [i, part] of parts.entries()) {
      const row = {
        fulfillment_order_id: id,
        placement_id: placement.id,
        subscriber_id,
        distid: order.distid,
        mode: order.mode,
        lane: `part ${i}`,
        client_ref: `REF${String(++refs).padStart(17, '0')}`,
        po_number: order.po_number,
        payload: '',
        payload_digest: '',
        state: 'placed' as const,
        sends: 1,
        owner: null,
        stage: null,
        distributor_order_id: null,
        ever_unknown: 0,
        unknown_since: null,
        refusal: null,
        misses: 0,
        missed_at: null,
        next_at: null,
        failures: 0,
        reason: null,
        planned_at: at,
        first_sent_at: at,
        updated_at: at,
        ...part,
      }
      if (content)
        Object.assign(
          row,
          sealContent(ctx, subscriber_id, {
            ...NOTHING,
            po: row.po_number,
            poGiven: order.po_given,
            clientRef: row.client_ref,
            takenAt: at,
            ...content,
          }),
        )
      placed.push(
        await db
          .insertInto('purchase_order')
          .values(row)
          .returning(['id', 'client_ref'])
          .executeTakeFirstOrThrow(),
      )
    }
    for (const tracking_number of parcels)
      await db
        .insertInto('parcel')
        .values({
          fulfillment_order_id: id,
          subscriber_id,
          tracking_number,
          company: null,
          method: null,
          shipped_on: null,
          url: null,
          status: null,
          updated_at: at,
        })
        .execute()
    return { id, parts: placed }
  })
}

/** Inserts one failed placement. */
export async function addFailure(
  t: TestApp,
  given: Partial<Insertable<FailedPlacementTable>> = {},
): Promise<void> {
  const { id } = await addOrder(t, {
    visible: 0,
    ...(given.subscriber_id !== undefined && { subscriber_id: given.subscriber_id }),
  })
  const { db } = t.app.ctx
  const order = await db
    .selectFrom('fulfillment_order')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  await db
    .insertInto('failed_placement')
    .values({
      placement_id: order.placement_id,
      fulfillment_order_id: id,
      subscriber_id: order.subscriber_id,
      failed_at: t.clock.ms,
      order_source: 'cockpit_cart',
      order_id: order.order_id,
      po_number: order.po_number,
      po_given: given.po_number ?? order.po_given,
      distid: 'RSR',
      reason: 'Out of stock',
      ...given,
    })
    .execute()
}
