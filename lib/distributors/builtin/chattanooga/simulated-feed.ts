import { brandAt } from '../../../simulator/market/market.js'
import type { DemoOffer } from '../../../simulator/market/offers.js'
import { describe, nameAt } from '../../../simulator/market/spelling.js'
import { csvRow, dollars, pounds } from '../../../simulator/market/units.js'

export const CHATTANOOGA_COLUMNS = [
  'SKU',
  'Item Name',
  'Quantity In Stock',
  'Price',
  'UPC',
  'Web Item Name',
  'Web Item Description',
  'Drop Ship Flag',
  'Drop Ship Price',
  'Category',
  'Ship Weight',
  'Image Location',
  'Manufacturer',
  'Manufacturer Item Number',
  'Length',
  'Width',
  'Height',
  'MAP',
  'MSRP',
  'Available Drop Ship Delivery Options',
  'Allocated Item?',
]

/**
 * Chattanooga's product feed: CSV with a byte order mark, and UPCs between `#` so that a
 * spreadsheet keeps their zeros.
 */
export function chattanoogaFeed(offers: DemoOffer[]): string {
  let text = '\uFEFF' + csvRow(CHATTANOOGA_COLUMNS)
  for (const offer of offers) text += csvRow(chattanoogaCells(offer))
  return text
}

function chattanoogaCells(offer: DemoOffer): string[] {
  const { good } = offer
  const name = nameAt('CSSI', good)
  // Sending one parcel to a customer costs a little more than stocking a dealer.
  const dropShipPrice = offer.dropShip ? dollars(Math.round(offer.price * 1.025)) : ''
  return [
    offer.sku,
    name.toUpperCase(),
    String(offer.qty),
    dollars(offer.price),
    good.upc === null ? '' : `#${good.upc}#`,
    name,
    describe(good),
    offer.dropShip ? '1' : '0',
    dropShipPrice,
    good.family.cssi!,
    pounds(good.ounces),
    `https://images.example/cssi/${offer.sku}.jpg?v=1`,
    brandAt('CSSI', good.brand),
    good.mpn,
    ...good.size,
    dollars(offer.map),
    dollars(offer.msrp),
    offer.dropShip ? deliveryOptions(offer) : '',
    offer.allocated ? '1' : '0',
  ]
}

function deliveryOptions({ good }: DemoOffer): string {
  return good.family.flags.has('ground')
    ? 'ground'
    : 'best, fastest, economy, ground, next_day_air, second_day_air'
}
