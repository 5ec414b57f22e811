import type { DemoOffer } from '../../../simulator/market/offers.js'
import { BRANDS } from '../../../simulator/market/market.js'
import { describe, plainName } from '../../../simulator/market/spelling.js'
import { csvRow, dollars, pounds } from '../../../simulator/market/units.js'
import { COLUMNS } from './feed.js'

/** The columns of the file of the simulator: an item's number first, which its own file has second. */
export const HICKS_INC_COLUMNS: readonly string[] = [
  'item_number',
  ...COLUMNS.filter((column) => column !== 'item_number'),
]

type Cell = (offer: DemoOffer) => string

/** What each column holds; one that is not here is blank in this market. */
const CELLS: Readonly<Record<string, Cell>> = {
  item_number: ({ sku }) => `HX${sku}`.slice(0, 13),
  customer_number: () => '12345',
  firearm_code: ({ good }) => (good.family.flags.has('ffl') ? 'Y' : 'N'),
  status: () => 'A',
  manufacturer_number: ({ good }) => good.mpn,
  vendor_name: ({ good }) => BRANDS[good.brand]!.toUpperCase(),
  description: ({ good }) => plainName(good).toUpperCase(),
  detailed_description: ({ good }) => describe(good),
  category: categoryOf,
  upc: ({ good }) => good.upc ?? '',
  map: ({ map }) => dollars(map),
  msrp: ({ msrp }) => dollars(msrp),
  price: ({ price }) => dollars(price),
  quantity_on_hand: ({ qty, allocated }) => (allocated ? '0' : String(qty)),
  weight: ({ good }) => pounds(good.ounces),
  length: ({ good }) => good.size[0],
  width: ({ good }) => good.size[1],
  depth: ({ good }) => good.size[2],
  break_pack: () => '1',
  dealer_pack: () => '1',
}

/** Hicks Inc.'s catalog as its simulator keeps it. */
export function hicksIncFeed(offers: readonly DemoOffer[]): string {
  const text = [csvRow([...HICKS_INC_COLUMNS])]
  for (const offer of offers)
    text.push(csvRow(HICKS_INC_COLUMNS.map((column) => CELLS[column]?.(offer) ?? '')))
  return text.join('')
}

function categoryOf({ good: { family, ounces } }: DemoOffer): string {
  if (family.flags.has('sot')) return 'NFA'
  if (family.class === 'FA') return ounces <= 60 ? 'PISTOLS' : 'RIFLES'
  return family.noun.toUpperCase()
}
