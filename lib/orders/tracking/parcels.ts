/** Parcels of a record, and what the record shows of them. */
import type { Insertable, Selectable } from 'kysely'
import type { OrdersCtx } from '../ctx.js'
import type { ShipStatus } from '../../db/tables/column-types.js'
import type { Parcel } from '../../distributors/fulfillment.js'
import type { StoredOrder } from '../history/records.js'
import { laterShip, shipStatusOf } from '../history/statuses.js'
import type { FulfillmentOrderTable, ParcelTable } from '../../db/tables/fulfillment.js'
import { present } from '../../core/present.js'

type StoredParcel = Selectable<ParcelTable>

const DETAILS = ['company', 'method', 'shipped_on', 'url'] as const
type Times = Partial<Record<(typeof DETAILS)[number] | 'status', number>>
/** In one order, so that equal times are equal texts. */
const TIMED = [...DETAILS, 'status']

/**
 * What is known of a parcel after more news of it, in whatever order they come: each member by the
 * newest that has it.
 */
function merge(
  known: StoredParcel | Insertable<ParcelTable>,
  news: Parcel,
  at: number,
): Insertable<ParcelTable> {
  const times = JSON.parse(known.times ?? '{}') as Times
  const next: Insertable<ParcelTable> = { ...known, updated_at: Math.max(known.updated_at, at) }
  const shown = {
    company: news.company,
    method: news.method,
    shipped_on: news.shippedOn,
    url: news.url,
  }
  for (const name of DETAILS) {
    const value = shown[name]
    if (
      value === null ||
      !isNewer({ at, value }, { at: times[name] ?? -Infinity, value: next[name] ?? '' })
    )
      continue
    next[name] = value
    times[name] = at
  }
  if (news.status !== null) {
    const before = next.status ? { status: next.status, at: times.status ?? 0 } : null
    const after = laterShip(before, { status: news.status, at })
    next.status = after.status
    times.status = after.at
  }
  return { ...next, times: JSON.stringify(times, TIMED) }
}

/**
 * Of two at one moment the one that sorts last, so that the order in which they are read does not
 * matter.
 */
function isNewer(a: { at: number; value: string }, b: { at: number; value: string }): boolean {
  return a.at === b.at ? a.value > b.value : a.at > b.at
}

/** Takes in news of a record's parcels. Returns all of its parcels; inside a transaction. */
export async function mergeParcels(
  tx: OrdersCtx,
  order: Pick<StoredOrder, 'id' | 'subscriber_id'>,
  news: readonly Parcel[],
  at: number,
): Promise<{ parcels: Insertable<ParcelTable>[]; isChanged: boolean }> {
  const stored = await tx.db
    .selectFrom('parcel')
    .selectAll()
    .where('fulfillment_order_id', '=', order.id)
    .execute()
  const parcels = new Map<string, Insertable<ParcelTable>>(
    stored.map((parcel) => [parcel.tracking_number, parcel]),
  )
  const changed = new Set<string>()
  for (const parcel of news) {
    const number = parcel.trackingNumber
    const known = parcels.get(number)
    const merged = merge(
      known ?? {
        fulfillment_order_id: order.id,
        subscriber_id: order.subscriber_id,
        tracking_number: number,
        company: null,
        method: null,
        shipped_on: null,
        url: null,
        status: null,
        updated_at: at,
      },
      parcel,
      at,
    )
    if (known && JSON.stringify(merged) === JSON.stringify(known)) continue
    parcels.set(number, merged)
    changed.add(number)
  }
  for (const number of changed) {
    const row = present(parcels.get(number), number)
    const {
      fulfillment_order_id: _order,
      subscriber_id: _subscriber,
      tracking_number: _number,
      ...set
    } = row
    await tx.db
      .insertInto('parcel')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(['fulfillment_order_id', 'tracking_number']).doUpdateSet(set),
      )
      .execute()
  }
  return { parcels: [...parcels.values()], isChanged: changed.size > 0 }
}

export type ShippingFields = Pick<
  Selectable<FulfillmentOrderTable>,
  | 'ship_date'
  | 'ship_company'
  | 'ship_method'
  | 'ship_status'
  | 'ship_tracking_number'
  | 'ship_tracking_url'
>

/**
 * What a record shows of its parcels: the first that was shipped, and how far the least advanced
 * is. Empty where it has none.
 */
export function shippingOf(
  parcels: readonly Insertable<ParcelTable>[],
): ShippingFields | Record<never, never> {
  const [first] = [...parcels].sort(
    (a, b) =>
      compare(a.shipped_on ?? '9999', b.shipped_on ?? '9999') ||
      compare(a.tracking_number, b.tracking_number),
  )
  if (!first) return {}
  return {
    ship_date: first.shipped_on,
    ship_company: first.company,
    ship_method: first.method,
    ship_tracking_number: first.tracking_number,
    ship_tracking_url: first.url,
    ship_status: shipStatusOf(parcels.map(({ status }) => status as ShipStatus | null)),
  }
}

const compare = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1)
