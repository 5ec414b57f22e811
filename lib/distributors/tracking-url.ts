/** Where a parcel can be followed. */

const PAGES: Readonly<Record<string, string>> = {
  ups: 'https://www.ups.com/track?tracknum=',
  fedex: 'https://www.fedex.com/fedextrack/?trknbr=',
  usps: 'https://tools.usps.com/go/TrackConfirmAction?tLabels=',
  dhl: 'https://www.dhl.com/us-en/home/tracking.html?tracking-id=',
  ontrac: 'https://www.ontrac.com/tracking/?number=',
  speedee: 'https://speedeedelivery.com/track-a-shipment/?barcodes=',
}

/** The page of a carrier that we know for one of its parcels; null for another carrier. */
export function trackingUrl(company: string | null, trackingNumber: string): string | null {
  const page = PAGES[(company ?? '').toLowerCase().replaceAll(/[^a-z]/g, '')]
  return page === undefined ? null : page + encodeURIComponent(trackingNumber)
}
