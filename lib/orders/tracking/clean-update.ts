/**
 * What distributors say, made fit to be kept: nothing of it is trusted to have the form that it
 * should have.
 */
import { ORDER_STATUSES, SHIP_STATUSES } from '../../db/tables/column-types.js'
import type { OrderUpdate, Parcel } from '../../distributors/fulfillment.js'
import { LONGEST_TEXT } from '../history/shapes.js'

/** Parcels and lines of one order, and the longest address of a tracking page. */
const MOST_PARCELS = 100
const MOST_LINES = 1_000
const LONGEST_URL = 1_000

/**
 * A text without control characters, turns of direction and halves of surrogate pairs, of at most
 * 200 characters; null where nothing is left.
 */
export function cleanText(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const clean = value
    .slice(0, 10 * LONGEST_TEXT)
    .replaceAll(/[\p{Cc}\p{Cs}\u2028-\u202E\u2066-\u2069]/gu, ' ')
    .trim()
  return [...clean].slice(0, LONGEST_TEXT).join('').trim() || null
}

/** An address that a person can be sent to; null for anything but http and https. */
export function cleanUrl(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > LONGEST_URL || !URL.canParse(value)) return null
  const { protocol, href } = new URL(value)
  return (protocol === 'https:' || protocol === 'http:') && href.length <= LONGEST_URL ? href : null
}

/** `YYYY-MM-DD` of a day that there is. */
function cleanDay(value: unknown): string | null {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return null
  const ms = Date.parse(value)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value) ? value : null
}

const oneOf = <T extends string>(known: readonly T[], value: unknown): T | null =>
  known.find((name) => name === value) ?? null

/** An update of the documented form; null for one that says nothing that could be used. */
export function cleanUpdate(update: OrderUpdate): OrderUpdate | null {
  // Its type is a connector's promise.
  const raw = update as Partial<Record<keyof OrderUpdate, unknown>> | null | undefined
  if (typeof raw !== 'object' || raw === null) return null
  const [number, clientRef, po] = [
    cleanText(raw.number),
    cleanText(raw.clientRef),
    cleanText(raw.po),
  ]
  const at = raw.at
  if (
    (number ?? clientRef ?? po) === null ||
    typeof at !== 'number' ||
    !Number.isSafeInteger(Math.round(at))
  )
    return null
  const status = oneOf(ORDER_STATUSES, raw.status)
  const reason = cleanText(raw.reason)
  const parcels = Array.isArray(raw.parcels)
    ? (raw.parcels as unknown[])
        .slice(0, MOST_PARCELS)
        .flatMap((parcel) => cleanParcel(parcel) ?? [])
    : []
  return {
    number,
    po: po ?? '',
    at: Math.round(at),
    parcels,
    ...(clientRef !== null && { clientRef }),
    ...(status !== null && { status }),
    ...(reason !== null && { reason }),
    ...cleanContent(raw),
  }
}

/** What an order that was forgotten can be told by. */
function cleanContent({
  lines,
  shipTo,
}: Partial<Record<keyof OrderUpdate, unknown>>): Pick<OrderUpdate, 'lines' | 'shipTo'> {
  const to =
    typeof shipTo === 'object' && shipTo !== null ? (shipTo as Record<string, unknown>) : {}
  const destination = (['name', 'address1', 'zip'] as const).flatMap((name) =>
    cleanText(to[name]) === null ? [] : [[name, cleanText(to[name])]],
  )
  const items = Array.isArray(lines)
    ? (lines as ({ distsku?: unknown; qty?: unknown } | null)[])
        .slice(0, MOST_LINES)
        .flatMap((line) => {
          const [distsku, qty] = [cleanText(line?.distsku), line?.qty]
          return distsku !== null && typeof qty === 'number' && Number.isSafeInteger(qty)
            ? [{ distsku, qty }]
            : []
        })
    : []
  return {
    ...(items.length > 0 && { lines: items }),
    ...(destination.length > 0 && {
      shipTo: Object.fromEntries(destination) as OrderUpdate['shipTo'],
    }),
  }
}

function cleanParcel(parcel: unknown): Parcel | null {
  if (typeof parcel !== 'object' || parcel === null) return null
  const raw = parcel as Partial<Record<keyof Parcel, unknown>>
  const trackingNumber = cleanText(raw.trackingNumber)
  if (trackingNumber === null) return null
  return {
    trackingNumber,
    company: cleanText(raw.company),
    method: cleanText(raw.method),
    shippedOn: cleanDay(raw.shippedOn),
    url: cleanUrl(raw.url),
    status: oneOf(SHIP_STATUSES, raw.status),
  }
}
