/**
 * What is heard of orders at Orion: the shipments of the last days. How they are written is in no
 * source that we have, so that they are read by what a shipment cannot be without: an order's number
 * and a parcel's, under the names that the shop software behind it uses.
 */
import { DAY, HOUR } from '../../../core/clock.js'
import { writtenDay } from '../../days.js'
import type { OpenOrder, OrderUpdate, Parcel } from '../../fulfillment.js'
import { leftParcel } from '../../left-parcel.js'
import { memberOf, NoReply, textOf } from '../../session/reply.js'
import type { Session } from '../../session/session.js'
import { ask } from './api.js'

/** Days that are asked for at most. */
const MOST_DAYS = 60

const NUMBER = ['order_id', 'order_number']
const TRACKING = ['tracking_identifier', 'tracking_number']
const CARRIER = ['carrier_description', 'shipping_carrier', 'carrier']
const METHOD = ['shipping_method', 'shipping_method_description']
const SHIPPED = ['date_shipped', 'ship_date', 'shipped_date']

/** Parcels of the orders that are open. */
export async function* updates(
  session: Session,
  since: number,
  open: readonly OpenOrder[],
): AsyncGenerator<OrderUpdate> {
  session.signal.throwIfAborted()
  const numbered = new Map(open.flatMap((one) => (one.number === null ? [] : [[one.number, one]])))
  const oldest = Math.min(since, ...[...numbered.values()].map(({ placedAt }) => placedAt))
  const days = Math.min(MOST_DAYS, Math.max(1, Math.ceil((session.now() - oldest) / DAY) + 1))
  const query = new URLSearchParams({ days: String(days) })
  const { isOk, body, words } = await ask(session, 'get_shipment_data', { query })
  if (!isOk) throw new NoReply(`get_shipment_data: ${words}`, { isQuoting: true })
  const told = new Map<string, Map<string, Parcel>>()
  for (const row of rowsIn(body)) {
    const number = firstOf(row, NUMBER)
    if (number === null || !numbered.has(number)) continue
    const parcels = told.get(number) ?? new Map<string, Parcel>()
    for (const parcel of parcelsIn(row)) parcels.set(parcel.trackingNumber, parcel)
    told.set(number, parcels)
  }
  for (const [number, parcels] of told)
    if (parcels.size > 0) yield newsOf(numbered.get(number)!, [...parcels.values()])
}

function newsOf({ number, po, placedAt }: OpenOrder, parcels: Parcel[]): OrderUpdate {
  const [day] = parcels.flatMap(({ shippedOn }) => shippedOn ?? []).sort()
  const noon = day === undefined ? 0 : Date.parse(`${day}T18:00:00Z`)
  return {
    number,
    po,
    // The same each time that it is told.
    at: Math.max(placedAt + HOUR, noon),
    // What was not shipped with it, nobody tells.
    status: 'Fulfilled',
    parcels,
  }
}

/** Every object of a list or a map that the answer has. */
function rowsIn(body: Readonly<Record<string, unknown>>): unknown[] {
  return Object.values(body).flatMap((value) =>
    typeof value === 'object' && value !== null ? (Object.values(value) as unknown[]) : [],
  )
}

/** Several may stand in one cell. */
function parcelsIn(row: unknown): Parcel[] {
  const shippedOn = writtenDay(firstOf(row, SHIPPED) ?? '')
  const carrier = firstOf(row, CARRIER)
  const method = firstOf(row, METHOD)
  return (firstOf(row, TRACKING) ?? '')
    .split(/[\s,;|]+/)
    .filter((text) => /^(?=.*\d)[\w-]{8,40}$/.test(text))
    .map((number) =>
      leftParcel(number, shippedOn, { ...(carrier !== null && { carrier }), method }),
    )
}

function firstOf(row: unknown, names: readonly string[]): string | null {
  for (const name of names) {
    const text = textOf(memberOf(row, name))
    if (text !== null) return text
  }
  return null
}
