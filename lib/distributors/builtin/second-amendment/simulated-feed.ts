import { DAY, dayOf } from '../../../core/clock.js'
import { brandAt, CAPACITY_STATES } from '../../../simulator/market/market.js'
import type { DemoOffer } from '../../../simulator/market/offers.js'
import { describe, plainName } from '../../../simulator/market/spelling.js'
import { csvRow, dollars, pounds } from '../../../simulator/market/units.js'
import { PRODUCT_COLUMNS, restrictedIn, STATES } from './feed.js'

type Cell = (offer: DemoOffer, asOf: number) => string

/** What each column holds; one that is not here is blank in this market. */
const CELLS: Readonly<Record<string, Cell>> = {
  stock_number: ({ sku }) => sku,
  upc: ({ good }) => good.upc ?? '',
  product_description: ({ good }) => plainName(good),
  department_number: ({ good }) => good.family.rsr ?? '13',
  manufacturer_id: ({ good }) => good.brand,
  // Six decimals of the shop's own, and two of what it works out.
  retail_price: ({ msrp }) => (msrp === null ? '0' : `${dollars(msrp)}0000`),
  dealer_price: ({ price }) => dollars(price),
  weight: ({ good }) => pounds(good.ounces),
  inventory_qty: ({ qty }) => String(qty),
  model: ({ good }) => good.model,
  manufacturer_name: ({ good }) => brandAt('RSR', good.brand),
  mpn: ({ good }) => good.mpn,
  allocated_closeout: ({ allocated, reduced }) =>
    allocated ? 'Allocated' : reduced ? 'Closeout' : '',
  description: ({ good }) => describe(good),
  ...Object.fromEntries(
    STATES.map((state): [string, Cell] => [
      restrictedIn(state),
      ({ good }) => flag(isRestricted(good, state)),
    ]),
  ),
  ground_shipments_only: ({ good }) => flag(good.family.flags.has('ground')),
  adult_signature_required: ({ good }) => flag(good.family.flags.has('adult')),
  blocked_from_drop_ship: ({ dropShip }) => flag(!dropShip),
  date_entered: ({ listedDays }, asOf) => dayOf(asOf - listedDays * DAY).replaceAll('-', ''),
  retail_map: ({ map }) => (map === null ? '0' : `${dollars(map)}0000`),
  shipping_length: ({ good }) => good.size[0],
  shipping_width: ({ good }) => good.size[1],
  shipping_height: ({ good }) => good.size[2],
  category_ids: categoriesOf,
  moqpts: () => '0',
}

/** 2nd Amendment Wholesale's products as its API tells them, as a file for its simulator. */
export function secondAmendmentFeed(offers: readonly DemoOffer[], asOf: number): string {
  const text = [csvRow([...PRODUCT_COLUMNS])]
  for (const offer of offers)
    text.push(csvRow(PRODUCT_COLUMNS.map((column) => CELLS[column]?.(offer, asOf) ?? '')))
  return text.join('')
}

function isRestricted({ family, values }: DemoOffer['good'], state: string): boolean {
  const isLarge = family.flags.has('capacity') && Number(values['capacity']) > 10
  return family.states.includes(state) || (isLarge && CAPACITY_STATES.includes(state))
}

const WITHIN: Readonly<Record<string, string>> = {
  AO: '24',
  MG: '20 35',
  OP: '20 40',
  HS: '20 42',
  RC: '20 81',
  LL: '20 85',
  FP: '20 55',
}

/** The way from the top, and the two that every product has. */
function categoriesOf({ good: { family, ounces } }: DemoOffer): string {
  const way = family.flags.has('sot')
    ? '19 101'
    : family.flags.has('ffl')
      ? ounces <= 60
        ? '19 21 28'
        : '19 30'
      : (WITHIN[family.class] ?? '20')
  return `${way} 2 3`
}

const flag = (on: boolean): string => (on ? 'Y' : '')
