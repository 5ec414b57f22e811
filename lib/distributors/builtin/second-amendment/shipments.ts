/**
 * What is heard of orders: the shipments of the account since a day. How a row of that report looks
 * is not public; it is read as Magento writes shipments, and a row that names neither an order nor
 * a PO is left alone.
 */
import { DAY, dayOf, MINUTE } from '../../../core/clock.js'
import type { FoundOrder, OrderUpdate, Parcel, PurchaseOrder } from '../../fulfillment.js'
import { listOf, memberOf, NoReply, textOf } from '../../session/reply.js'
import type { Session } from '../../session/session.js'
import { trackingUrl } from '../../tracking-url.js'
import { ask } from './api.js'

interface Shipment {
  /** The number of the order; null where it is not told. */
  readonly number: string | null
  readonly po: string
  /** Milliseconds since 1970; null where it is not told. */
  readonly shippedAt: number | null
  readonly lines: { distsku: string; qty: number }[]
  readonly shipTo: NonNullable<FoundOrder['shipTo']>
  readonly tracks: readonly unknown[]
}

/** Days are counted in some zone of the United States: one more is asked for. */
const ZONES = DAY

/** The shipments since a time. Throws a Refused or a NoReply. */
async function listShipments(session: Session, since: number): Promise<Shipment[]> {
  const day = dayOf(since - ZONES).replaceAll('-', '/')
  const told = await ask(session, {
    method: 'GET',
    path: `shipmentsInformation/me?fromShipmentCreateAt=${day}`,
  })
  const rows = Array.isArray(told) ? (told as unknown) : memberOf(told, 'items')
  if (!Array.isArray(rows)) throw new NoReply('the report of shipments is no list')
  return (rows as unknown[]).flatMap((row) => shipmentIn(row) ?? [])
}

function shipmentIn(row: unknown): Shipment | null {
  const of = (...names: string[]) =>
    names.map((name) => textOf(memberOf(row, name))).find((text) => text !== null) ?? null
  const number = of('order_increment_id', 'order_number')
  const po = of('po_number', 'purchase_order_number')
  if (number === null && po === null) return null
  return {
    number,
    po: po ?? '',
    shippedAt: timeOf(of('created_at')),
    lines: listOf(memberOf(row, 'items')).flatMap((item) => lineIn(item) ?? []),
    shipTo: placeIn(memberOf(row, 'shipping_address')),
    tracks: listOf(memberOf(row, 'tracks')),
  }
}

/** Whoever gets it: a company, or a person with two names. */
function placeIn(address: unknown): Shipment['shipTo'] {
  const of = (name: string) => textOf(memberOf(address, name))
  const person = [of('firstname'), of('lastname')].flatMap((name) => name ?? []).join(' ')
  const [name, zip] = [of('company') ?? person, of('postcode')]
  return { ...(name !== '' && { name }), ...(zip !== null && { zip }) }
}

function lineIn(item: unknown): { distsku: string; qty: number } | null {
  const distsku = textOf(memberOf(item, 'sku'))
  const qty = Number(memberOf(item, 'qty'))
  return distsku === null || !Number.isSafeInteger(qty) || qty < 1 ? null : { distsku, qty }
}

/** `2026-11-21 12:00:00`, which Magento writes in UTC. */
function timeOf(text: string | null): number | null {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)/.exec(text ?? '') ?? []
  const ms = Date.parse(`${day}T${time}Z`)
  return Number.isNaN(ms) ? null : ms
}

/**
 * Shipments under the PO of an order, as orders that were placed. One that the report repeats has
 * left once.
 */
export async function shipmentsOf(session: Session, order: PurchaseOrder): Promise<FoundOrder[]> {
  const found = new Map<string, FoundOrder>()
  const seen = new Set<string>()
  for (const shipment of await listShipments(session, order.takenAt)) {
    const { number, po, lines, shipTo } = shipment
    const key = JSON.stringify(shipment)
    if (!isSamePo(po, order.po) || seen.has(key)) continue
    seen.add(key)
    const before = found.get(`${number} ${po}`)?.lines ?? []
    const all = [...before, ...lines]
    found.set(`${number} ${po}`, {
      number,
      po,
      ...(all.length > 0 && { lines: all }),
      shipTo,
    })
  }
  return [...found.values()]
}

/** A report may show a PO in capitals, and cut off; what comes of that, the engine judges. */
function isSamePo(shown: string, ours: string): boolean {
  const [a, b] = [shown.toUpperCase(), ours.toUpperCase()]
  return a !== '' && b.startsWith(a)
}

/** Every shipment since a time; what has left is told, and nothing else. */
export async function* updates(session: Session, since: number): AsyncGenerator<OrderUpdate> {
  session.signal.throwIfAborted()
  for (const shipment of await listShipments(session, since)) {
    const { number, po, lines, shipTo } = shipment
    const at = Math.min(session.now(), shipment.shippedAt ?? since + MINUTE)
    yield {
      number,
      po,
      at,
      // What was not shipped with it, nobody tells.
      status: 'Fulfilled',
      parcels: shipment.tracks.flatMap((track) => parcelIn(track, shipment.shippedAt) ?? []),
      ...(lines.length > 0 && { lines }),
      shipTo,
    }
  }
}

function parcelIn(track: unknown, shippedAt: number | null): Parcel | null {
  const trackingNumber = textOf(memberOf(track, 'track_number'))
  if (trackingNumber === null) return null
  const carrier = textOf(memberOf(track, 'carrier_code'))
  const title = textOf(memberOf(track, 'title'))
  const [company, method] = serviceOf(carrier, title)
  return {
    trackingNumber,
    company,
    method,
    shippedOn: shippedAt === null ? null : dayOf(shippedAt),
    url: trackingUrl(company, trackingNumber),
    // What is in the report has left; what becomes of it, nobody tells.
    status: 'in_transit',
  }
}

/** `ups` with `United Parcel Service`, or `custom` with `UPS Ground`: carrier and method. */
function serviceOf(
  carrier: string | null,
  title: string | null,
): [company: string | null, method: string | null] {
  const [, company, method] =
    /^(fedex|ups|usps|dhl|ontrac|spee-?dee)\b\s*(.*)$/i.exec(title ?? '') ?? []
  if (company !== undefined) return [company, method === '' ? null : method!]
  const known = CARRIERS.get(carrier?.toLowerCase() ?? '')
  return known === undefined ? [null, title] : [known, null]
}

const CARRIERS = new Map([
  ['ups', 'UPS'],
  ['usps', 'USPS'],
  ['fedex', 'FedEx'],
  ['dhl', 'DHL'],
])
