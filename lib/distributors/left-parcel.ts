/** A parcel of which nothing is told but that it has left. */
import type { Parcel } from './fulfillment.js'
import { trackingUrl } from './tracking-url.js'

interface ShippedBy {
  carrier: string | null
  method: string | null
}

/** `shippedOn` is `YYYY-MM-DD`. Without a carrier it is told by the number's form. */
export function leftParcel(
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

/** The numbers of these two cannot be taken for each other's. */
export function carrierOf(trackingNumber: string): string | null {
  if (/^1Z[0-9A-Z]{6,}$/i.test(trackingNumber)) return 'UPS'
  return /^9\d{19,25}$/.test(trackingNumber) ? 'USPS' : null
}
