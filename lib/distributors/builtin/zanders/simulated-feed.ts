import { stateCode } from '../../../places/states.js'
import { brandAt, CAPACITY_STATES } from '../../../simulator/market/market.js'
import type { DemoOffer } from '../../../simulator/market/offers.js'
import { plainName } from '../../../simulator/market/spelling.js'
import { csvRow, dollars, pounds } from '../../../simulator/market/units.js'
import { COLUMNS, flagColumn } from './feed.js'

/** The columns of the XML as rows: the file of the simulator, which it serves in Zanders' forms. */
export const ZANDERS_COLUMNS = COLUMNS

type Cell = (offer: DemoOffer, place: number) => string

const value =
  (name: string): Cell =>
  ({ good }) =>
    good.values[name] ?? ''

/** What each column holds; one that is not here is blank in this market. */
const CELLS: Readonly<Record<string, Cell>> = {
  itemnumber: (_offer, place) => `ZN${10_001 + place}`,
  upc: ({ good }) => good.upc ?? '',
  desc1: ({ good }) => plainName(good).toUpperCase(),
  manufacturer: ({ good }) => brandAt('CSSI', good.brand).toUpperCase(),
  mfgpnumber: ({ good }) => good.mpn,
  category: categoryOf,
  price1: ({ price }) => dollars(price),
  mapprice: ({ map }) => dollars(map),
  msrp: ({ msrp }) => dollars(msrp ?? 0),
  available: ({ qty }) => String(qty),
  serialized: ({ good }) => (good.family.flags.has('ffl') ? 'Y' : 'N'),
  allowdirectship: ({ dropShip }) => (dropShip ? 'Y' : 'N'),
  weight: ({ good }) => pounds(good.ounces),
  CALIBER: value('caliber'),
  'TYPE ACTION FUNCTION': value('action'),
  FINISH: value('finish'),
}

/** Zanders' catalog as its simulator keeps it. */
export function zandersFeed(offers: readonly DemoOffer[]): string {
  let text = csvRow([...COLUMNS])
  for (const [place, offer] of offers.entries()) {
    const flags = new Set(statesOf(offer).map(flagColumn))
    text += csvRow(
      COLUMNS.map((column) => (flags.has(column) ? 'Y' : (CELLS[column]?.(offer, place) ?? ''))),
    )
  }
  return text
}

function statesOf({ good: { family, values } }: DemoOffer) {
  const isLarge = family.flags.has('capacity') && Number(values['capacity']) > 10
  return [...family.states, ...(isLarge ? CAPACITY_STATES : [])].flatMap(
    (state) => stateCode(state) ?? [],
  )
}

function categoryOf({ good: { family, ounces } }: DemoOffer): string {
  if (family.flags.has('sot')) return 'CLASS 3'
  if (family.class === 'FA') return ounces <= 60 ? 'PISTOL' : 'RIFLE'
  return family.noun.toUpperCase()
}
