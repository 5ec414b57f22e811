/** Rows of an order, for whoever makes one: a caller's cart, or an order that is taken in later. */
import type { OrdersCtx } from './ctx.js'
import type { StoredOrder } from './history/records.js'
import type { StoredPo } from './stored.js'

/** What a record has before anything was heard of it. */
const NEW_RECORD = {
  order_source: 'cockpit_cart',
  visible: 1,
  ship_date: null,
  ship_company: null,
  ship_method: null,
  ship_status: null,
  ship_tracking_number: null,
  ship_tracking_url: null,
} as const

export function newRecord(given: Omit<StoredOrder, keyof typeof NEW_RECORD>): StoredOrder {
  return { ...NEW_RECORD, ...given }
}

/** What a purchase order has before its outcome was ever in doubt. */
const NEW_PURCHASE_ORDER = {
  stage: null,
  ever_unknown: 0,
  unknown_since: null,
  refusal: null,
  misses: 0,
  missed_at: null,
  failures: 0,
  reason: null,
} as const

export function newPurchaseOrder(given: Omit<StoredPo, keyof typeof NEW_PURCHASE_ORDER>): StoredPo {
  return { ...NEW_PURCHASE_ORDER, ...given }
}

/** The purchase orders of a placement, in the order of its groups and parts. */
export async function purchaseOrdersOf(
  { read }: Pick<OrdersCtx, 'read'>,
  placementId: number,
): Promise<StoredPo[]> {
  return read
    .selectFrom('purchase_order')
    .selectAll()
    .where('placement_id', '=', placementId)
    .orderBy('id')
    .execute()
}

/** The items of a record, as its column has them. */
export function itemsText(lines: readonly { distsku: string; upc: string; qty: number }[]): string {
  return JSON.stringify(lines.map(({ distsku, upc, qty }) => ({ distsku, upc, qty })))
}

/** The next id of a table whose ids are never used again. */
export async function nextId(
  tx: OrdersCtx,
  table: 'placement' | 'fulfillment_order' | 'purchase_order',
): Promise<number> {
  const { last } = await tx.db
    .selectFrom(table)
    .select((query) => query.fn.max<number | null>('id').as('last'))
    .executeTakeFirstOrThrow()
  return (last ?? 0) + 1
}

/** The same of all three, in one statement. */
export async function nextIds(tx: OrdersCtx): Promise<{
  placement: number
  order: number
  purchaseOrder: number
}> {
  const last = await tx.db
    .selectNoFrom((query) => {
      const lastIn = (table: 'placement' | 'fulfillment_order' | 'purchase_order') =>
        query.selectFrom(table).select(({ fn }) => fn.max<number | null>('id').as('id'))
      return [
        lastIn('placement').as('placement'),
        lastIn('fulfillment_order').as('order'),
        lastIn('purchase_order').as('purchaseOrder'),
      ]
    })
    .executeTakeFirstOrThrow()
  return {
    placement: (last.placement ?? 0) + 1,
    order: (last.order ?? 0) + 1,
    purchaseOrder: (last.purchaseOrder ?? 0) + 1,
  }
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/**
 * 100 random bits in 20 letters and digits: not even a database that was restored makes one twice.
 */
export function newReference(random: (bytes: number) => Buffer): string {
  return [...random(20)].map((byte) => LETTERS[byte & 31]).join('')
}
