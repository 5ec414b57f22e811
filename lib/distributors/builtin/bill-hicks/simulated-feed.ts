import type { DemoOffer } from '../../../simulator/market/offers.js'
import { BRANDS } from '../../../simulator/market/market.js'
import { describe, plainName } from '../../../simulator/market/spelling.js'
import { csvRow, dollars, pounds } from '../../../simulator/market/units.js'
import { NEW_COLUMNS, QUANTITY } from './feed.js'

/** What both of its files hold: its simulator serves each a part. */
export const BILL_HICKS_COLUMNS: readonly string[] = [...NEW_COLUMNS, QUANTITY]

/** Bill Hicks's catalog with its quantities, as a file for its simulator. */
export function billHicksFeed(offers: readonly DemoOffer[]): string {
  let text = csvRow([...BILL_HICKS_COLUMNS])
  for (const offer of offers) text += csvRow(cellsOf(offer))
  return text
}

function cellsOf(offer: DemoOffer): string[] {
  const { good } = offer
  const brand = BRANDS[good.brand]!
  return [
    // A name with a blank in it is what its items are known by.
    `${good.brand} ${offer.sku}`,
    good.upc ?? '',
    plainName(good),
    describe(good),
    codeOf(offer),
    good.family.noun.toUpperCase(),
    dollars(offer.price),
    brand,
    pounds(good.ounces),
    dollars(offer.map),
    dollars(offer.msrp),
    String(offer.qty),
  ]
}

/** Codes that are known: suppressors and the like, handguns, other firearms, ammunition, air guns. */
function codeOf({ good: { family, ounces } }: DemoOffer): string {
  if (family.flags.has('sot')) return 'H606'
  if (family.flags.has('ffl')) return family.class === 'FA' && ounces <= 60 ? 'H602' : 'H601'
  return { AO: 'H610', AG: 'H648' }[family.class as string] ?? 'G300'
}
