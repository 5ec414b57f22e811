/** Parcels as RSR's API tells them: in lists within one text, item for item, without a carrier. */
import type { Parcel } from '../../fulfillment.js'
import { textOf } from '../../session/reply.js'
import { trackingUrl } from '../../tracking-url.js'

/** Written where nothing is known yet. */
const PENDING = 'pending'

/** The parcels of one item of `check-order`, by its members in lower case. */
export function parcelsIn(item: ReadonlyMap<string, unknown>): Parcel[] {
  const [numbers, days] = [listOf(item.get('trackingnum')), listOf(item.get('dateshipped'))]
  return numbers.flatMap((trackingNumber, place) =>
    trackingNumber === '' || trackingNumber.toLowerCase() === PENDING
      ? []
      : [parcelOf(trackingNumber, dayOf(days[place] ?? days[0] ?? ''))],
  )
}

/** What has left, and nobody tells more of it. */
export function parcelOf(
  trackingNumber: string,
  shippedOn: string | null,
  { carrier = carrierOf(trackingNumber), method = null }: Partial<ShippedBy> = {},
): Parcel {
  return {
    trackingNumber,
    company: carrier,
    method,
    shippedOn,
    url: trackingUrl(carrier, trackingNumber),
    status: 'in_transit',
  }
}

interface ShippedBy {
  carrier: string | null
  method: string | null
}

const listOf = (value: unknown) => (textOf(value) ?? '').split(',').map((one) => one.trim())

/** RSR ships with these two; their numbers cannot be taken for each other's. */
function carrierOf(trackingNumber: string): string | null {
  if (/^1Z[0-9A-Z]{6,}$/i.test(trackingNumber)) return 'UPS'
  return /^9\d{19,25}$/.test(trackingNumber) ? 'USPS' : null
}

/** `YYYY-MM-DD` of a day as RSR may write it; null for anything else. */
export function dayOf(text: string): string | null {
  const [, month, day, year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})/.exec(text) ?? []
  if (year !== undefined) return `${year}-${month!.padStart(2, '0')}-${day!.padStart(2, '0')}`
  const parts = /^(\d{4})-?(\d{2})-?(\d{2})/.exec(text)
  return parts ? `${parts[1]}-${parts[2]}-${parts[3]}` : null
}
