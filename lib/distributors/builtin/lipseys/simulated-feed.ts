import { brandAt, BRANDS } from '../../../simulator/market/market.js'
import type { DemoOffer } from '../../../simulator/market/offers.js'
import { describe, nameAt } from '../../../simulator/market/spelling.js'
import { csvRow, dollars, pounds } from '../../../simulator/market/units.js'

/**
 * The header of the web export: the catalog's keys in upper case, and CANDROPSHIP, which only the
 * export has.
 */
export const LIPSEYS_COLUMNS = (
  'ITEMNO DESCRIPTION1 DESCRIPTION2 UPC MANUFACTURERMODELNO MSRP MODEL CALIBERGAUGE ' +
  'MANUFACTURER TYPE ACTION BARRELLENGTH CAPACITY ' +
  'FINISH OVERALLLENGTH RECEIVER SAFETY SIGHTS STOCKFRAMEGRIPS MAGAZINE WEIGHT IMAGENAME ' +
  'CHAMBER DRILLEDANDTAPPED RATEOFTWIST ITEMTYPE ADDITIONALFEATURE1 ' +
  'ADDITIONALFEATURE2 ADDITIONALFEATURE3 SHIPPINGWEIGHT BOUNDBOOKMANUFACTURER BOUNDBOOKMODEL ' +
  'BOUNDBOOKTYPE NFATHREADPATTERN NFAATTACHMENTMETHOD NFABAFFLETYPE ' +
  'SILENCERCANBEDISASSEMBLED SILENCERCONSTRUCTIONMATERIAL NFADBREDUCTION ' +
  'SILENCEROUTSIDEDIAMETER NFAFORM3CALIBER OPTICMAGNIFICATION MAINTUBESIZE ' +
  'ADJUSTABLEOBJECTIVE OBJECTIVESIZE OPTICADJUSTMENTS ILLUMINATEDRETICLE RETICLE EXCLUSIVE ' +
  'QUANTITY ALLOCATED ONSALE PRICE CURRENTPRICE RETAILMAP FFLREQUIRED ' +
  'SOTREQUIRED EXCLUSIVETYPE SCOPECOVERINCLUDED SPECIAL SIGHTSTYPE CASE CHOKE DBREDUCTION ' +
  'FAMILY FINISHTYPE FRAME GRIPTYPE HANDGUNSLIDEMATERIAL ITEMLENGTH ' +
  'ITEMWIDTH ITEMHEIGHT PACKAGELENGTH PACKAGEWIDTH PACKAGEHEIGHT ITEMGROUP CANDROPSHIP ' +
  'COUNTRYOFORIGIN'
).split(' ')

type Cell = (offer: DemoOffer) => string

/**
 * What each column holds; a column that is not here is blank in this market, as most are on most
 * rows of a real export.
 */
const CELLS: Readonly<Record<string, Cell>> = {
  ITEMNO: ({ sku }) => sku,
  DESCRIPTION1: ({ good }) => nameAt('LIP', good),
  DESCRIPTION2: ({ good }) => describe(good),
  UPC: ({ good }) => good.upc ?? '',
  MANUFACTURERMODELNO: ({ good }) => good.mpn,
  MSRP: ({ msrp }) => dollars(msrp ?? 0),
  MODEL: ({ good }) => good.model,
  CALIBERGAUGE: value('caliber'),
  MANUFACTURER: ({ good }) => brandAt('LIP', good.brand),
  TYPE: ({ good }) => good.family.lip![1]!,
  ACTION: value('action'),
  BARRELLENGTH: ({ good }) =>
    good.values['barrel'] === undefined ? '' : `${good.values['barrel']}"`,
  CAPACITY: capacity,
  FINISH: ({ good }) => good.values['finish'] ?? good.values['color'] ?? '',
  SIGHTS: value('sights'),
  STOCKFRAMEGRIPS: value('stock'),
  WEIGHT: ({ good }) => `${good.ounces} oz.`,
  // Lipsey's own name for "none": a demo must not link to pictures on a real company's server that
  // do not exist.
  IMAGENAME: () => 'li-missing-image.png',
  CHAMBER: value('chamber'),
  RATEOFTWIST: value('twist'),
  ITEMTYPE: ({ good }) => good.family.lip![0]!,
  ADDITIONALFEATURE1: ({ good }) =>
    good.values['fit'] ? `Fits ${good.values['fit']}` : (good.values['kind'] ?? ''),
  ADDITIONALFEATURE2: value('hand'),
  SHIPPINGWEIGHT: ({ good }) => pounds(good.ounces),
  BOUNDBOOKMANUFACTURER: serialized(({ good }) => BRANDS[good.brand]!),
  BOUNDBOOKMODEL: serialized(({ good }) => good.model),
  BOUNDBOOKTYPE: serialized(({ good }) => good.family.lip![1]!),
  NFATHREADPATTERN: value('thread'),
  NFAATTACHMENTMETHOD: ({ good }) =>
    good.family.flags.has('sot') ? (good.values['mount'] ?? '') : '',
  SILENCERCONSTRUCTIONMATERIAL: ({ good }) =>
    good.family.flags.has('sot') ? (good.values['material'] ?? '') : '',
  OPTICMAGNIFICATION: value('magnification'),
  MAINTUBESIZE: value('tube'),
  OBJECTIVESIZE: ({ good }) => good.values['magnification']?.split('x')[1] ?? '',
  RETICLE: value('reticle'),
  EXCLUSIVE: ({ exclusive }) => bool(exclusive),
  QUANTITY: ({ qty }) => String(qty),
  ALLOCATED: ({ allocated }) => bool(allocated),
  ONSALE: ({ reduced }) => bool(reduced),
  PRICE: ({ listPrice }) => dollars(listPrice),
  CURRENTPRICE: ({ price }) => dollars(price),
  RETAILMAP: ({ map }) => dollars(map ?? 0),
  FFLREQUIRED: ({ good }) => bool(good.family.flags.has('ffl')),
  SOTREQUIRED: ({ good }) => bool(good.family.flags.has('sot')),
  FAMILY: ({ good }) => `${good.model} Series`,
  PACKAGELENGTH: ({ good }) => good.size[0],
  PACKAGEWIDTH: ({ good }) => good.size[1],
  PACKAGEHEIGHT: ({ good }) => good.size[2],
  ITEMGROUP: ({ good }) => good.family.noun,
  CANDROPSHIP: ({ dropShip }) => bool(dropShip),
  COUNTRYOFORIGIN: ({ good }) => (good.item.endsWith('7') ? 'Italy' : 'United States'),
}

const blank: Cell = () => ''
const WRITERS = LIPSEYS_COLUMNS.map((column) => CELLS[column] ?? blank)

/**
 * Lipsey's web export: CSV with upper-case columns, TRUE and FALSE, and 0 where there is no MAP or
 * MSRP.
 */
export function lipseysFeed(offers: DemoOffer[]): string {
  let text = csvRow(LIPSEYS_COLUMNS)
  for (const offer of offers) text += csvRow(WRITERS.map((write) => write(offer)))
  return text
}

function value(key: string): Cell {
  return ({ good }) => good.values[key] ?? ''
}

function serialized(cell: Cell): Cell {
  return (offer) => (offer.good.family.flags.has('ffl') ? cell(offer) : '')
}

/** Pistols and autoloaders hold one more in the chamber. */
function capacity({ good }: DemoOffer): string {
  const rounds = good.values['capacity'] ?? ''
  return rounds !== '' &&
    good.family.class === 'FA' &&
    /Auto|Striker/.test(good.values['action'] ?? '')
    ? `${rounds} + 1`
    : rounds
}

function bool(on: boolean): string {
  return on ? 'TRUE' : 'FALSE'
}
