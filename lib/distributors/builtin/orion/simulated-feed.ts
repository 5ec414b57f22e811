import { SET_STATES } from '../../../places/state-set.js'
import { brandAt, CAPACITY_STATES } from '../../../simulator/market/market.js'
import type { DemoOffer } from '../../../simulator/market/offers.js'
import { describe, plainName } from '../../../simulator/market/spelling.js'
import { csvRow, dollars } from '../../../simulator/market/units.js'
import { COLUMNS, flagColumn } from './feed.js'

type Cell = (offer: DemoOffer, place: number) => string

/** Numbers of products begin with this one. */
const FIRST_PRODUCT = 400_001

/** What each column holds; one that is not here is blank in this market. */
const CELLS: Readonly<Record<string, Cell>> = {
  product_code: ({ sku }) => `OR-${sku}`,
  product_id: (_offer, place) => String(FIRST_PRODUCT + place),
  upc_code: ({ good }) => good.upc ?? '',
  description: ({ good }) => plainName(good),
  detailed_description: ({ good }) => describe(good),
  manufacturer: ({ good }) => brandAt('RSR', good.brand),
  product_categories: categoryOf,
  firearm_type: ({ good }) => typeOf(good),
  caliber: ({ good }) => good.values['caliber'] ?? '',
  base_cost: ({ listPrice }) => dollars(listPrice),
  sale_price: ({ price }) => dollars(price),
  list_price: ({ msrp }) => dollars(msrp),
  manufacturer_advertised_price: ({ map }) => dollars(map),
  quantity: ({ qty, allocated }) => (allocated ? '0' : String(qty)),
  image_url: ({ sku }) => `https://images.example/orion/${sku}.jpg`,
  ffl_required: ({ good }) => flag(good.family.flags.has('ffl')),
  class_3: ({ good }) => flag(good.family.flags.has('sot')),
  cannot_dropship: ({ dropShip }) => flag(!dropShip),
  ...Object.fromEntries(
    SET_STATES.map((state): [string, Cell] => [
      flagColumn(state),
      ({ good }) => flag(isRestricted(good, state)),
    ]),
  ),
}

/** Orion's catalog as its simulator keeps it: the rows of the feed. */
export function orionFeed(offers: readonly DemoOffer[]): string {
  const text = [csvRow([...COLUMNS])]
  for (const [place, offer] of offers.entries())
    text.push(csvRow(COLUMNS.map((column) => CELLS[column]?.(offer, place) ?? '')))
  return text.join('')
}

const flag = (is: boolean) => (is ? 'Y' : 'N')

function isRestricted({ family, values }: DemoOffer['good'], state: string): boolean {
  const isLarge = family.flags.has('capacity') && Number(values['capacity']) > 10
  return family.states.includes(state) || (isLarge && CAPACITY_STATES.includes(state))
}

const CATEGORIES: Readonly<Record<string, string>> = {
  AO: 'AMMUNITION',
  MG: 'MAGAZINES',
  OP: 'OPTICS',
  HS: 'HOLSTERS',
  KN: 'KNIVES',
  RL: 'RELOADING',
  LL: 'LIGHTS',
  FP: 'PARTS',
}

function categoryOf({ good: { family } }: DemoOffer): string {
  if (family.flags.has('sot')) return 'NFA'
  return family.class === 'FA' ? 'FIREARMS' : (CATEGORIES[family.class] ?? 'ACCESSORIES')
}

function typeOf({ family, ounces }: DemoOffer['good']): string {
  if (family.flags.has('sot')) return 'Suppressor'
  if (family.class !== 'FA') return ''
  if (/shotgun/i.test(family.noun)) return 'Shotgun'
  return ounces <= 60 ? 'Pistol' : 'Rifle'
}
