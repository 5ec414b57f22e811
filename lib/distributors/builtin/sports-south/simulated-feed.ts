import { dayOf } from '../../../core/clock.js'
import { BRANDS, FAMILIES } from '../../../simulator/market/market.js'
import type { DemoOffer } from '../../../simulator/market/offers.js'
import { describe, plainName } from '../../../simulator/market/spelling.js'
import { csvRow, dollars, pounds } from '../../../simulator/market/units.js'
import { CATEGORY_COLUMNS, ITEM_COLUMNS } from './columns.js'

/** The columns of the services, and what describes brand, category and item beside them. */
export const SPORTS_SOUTH_COLUMNS: readonly string[] = [
  ...ITEM_COLUMNS,
  ...CATEGORY_COLUMNS.filter((column) => column !== 'CATID'),
  'BRDNM',
  'MFGNM',
  'TEXT',
]
/** Item numbers are numbers; the first of them. */
const FIRST = 10_001

type Cell = (offer: DemoOffer, place: number) => string

/** What each column holds; one that is not here is blank in this market. */
const CELLS: Readonly<Record<string, Cell>> = {
  ITEMNO: (_offer, place) => String(FIRST + place),
  IDESC: ({ good }) => plainName(good).toUpperCase(),
  IMFGNO: ({ good }) => brandNumber(good.brand),
  ITYPE: typeOf,
  SHDESC: ({ good }) => plainName(good),
  UOM: () => 'EA',
  PRC1: ({ listPrice }) => dollars(listPrice),
  CPRC: ({ price }) => dollars(price),
  QTYOH: ({ qty }) => String(qty),
  WTPBX: ({ good }) => pounds(good.ounces),
  ITUPC: ({ good }) => good.upc ?? '',
  MFGINO: ({ good }) => good.mpn,
  MFPRC: ({ map }) => dollars(map ?? 0),
  CATID: ({ good }) => categoryNumber(good.family.noun),
  // A demo must not link to pictures on a real company's server that do not exist.
  PICREF: () => '0',
  ITBRDNO: ({ good }) => brandNumber(good.brand),
  IMODEL: ({ good }) => good.model,
  ITATR1: ({ good }) => good.values['caliber'] ?? '',
  SERIES: ({ good }) => `${good.model} Series`,
  LENGTH: ({ good }) => good.size[0],
  WIDTH: ({ good }) => good.size[1],
  HEIGHT: ({ good }) => good.size[2],
  CATDES: ({ good }) => good.family.noun.toUpperCase(),
  ATTR1: ({ good }) => (good.values['caliber'] === undefined ? '' : 'CALIBER'),
  BRDNM: ({ good }) => BRANDS[good.brand]!.toUpperCase(),
  MFGNM: ({ good }) => BRANDS[good.brand]!.toUpperCase(),
  TEXT: ({ good }) => describe(good),
}

/** Sports South's catalog as its services tell it, as a file for its simulator. */
export function sportsSouthFeed(offers: readonly DemoOffer[], asOf: number): string {
  const day = dayOf(asOf)
  const cells: Readonly<Record<string, Cell>> = { ...CELLS, CHGDTE: () => day, LOADDT: () => day }
  let text = csvRow([...SPORTS_SOUTH_COLUMNS])
  for (const [place, offer] of offers.entries())
    text += csvRow(SPORTS_SOUTH_COLUMNS.map((column) => cells[column]?.(offer, place) ?? ''))
  return text
}

const TYPES: Readonly<Record<string, string>> = { AO: '4', OP: '5', AR: '6', RL: '7' }

/** 1 is a handgun, 2 any other firearm, 8 a suppressor; the rest is for sale to anybody. */
function typeOf({ good: { family, ounces } }: DemoOffer): string {
  if (family.flags.has('sot')) return '8'
  if (family.flags.has('ffl')) return family.class === 'FA' && ounces <= 60 ? '1' : '2'
  return TYPES[family.class] ?? '3'
}

const brandNumber = (brand: string): string => String(Object.keys(BRANDS).indexOf(brand) + 1)

const categoryNumber = (noun: string): string =>
  String(FAMILIES.findIndex((family) => family.noun === noun) + 1)
