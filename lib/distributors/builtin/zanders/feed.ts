/**
 * Zanders: zandersinv.csv, what its XML twin tells besides, and the four columns that shops often
 * cut it down to.
 */
import { isMilitary, isTerritory, STATES } from '../../../places/states.js'
import type { StateCode } from '../../../places/states.js'
import type { CatalogPreset, QuantityPreset, Rule } from '../../generic/preset.js'
import { CATEGORY } from '../../generic/categories.js'

/** States that a feed can flag. */
const FLAGGED = (Object.keys(STATES) as StateCode[]).filter(
  (state) => !isTerritory(state) && !isMilitary(state),
)

/** The column that says that an item is not sold to a state; the XML has an attribute for it. */
export const flagColumn = (state: StateCode): string => `no sale to ${state}`

/** Attributes of the XML that are kept, by their titles. */
export const DETAILS: ReadonlyMap<string, string> = new Map([
  ['CALIBER', 'Caliber'],
  ['TYPE ACTION FUNCTION', 'Action'],
  ['BARREL LENGTH IN INCHES', 'Barrel Length'],
  ['MAGAZINE CAPACITY', 'Capacity'],
  ['NUMBER OF MAGAZINES INCLUDED', 'Magazines Included'],
  ['FINISH', 'Finish'],
  ['GRIP MATERIAL', 'Grip'],
  ['FRAME MATERIAL', 'Frame'],
  ['TYPE OF SIGHTS', 'Sights'],
  ['DIMENSION', 'Dimension'],
])

/** Columns of the XML as rows: named as the CSV names them, as far as it has them. */
export const COLUMNS: readonly string[] = [
  ...(
    'itemnumber upc desc1 manufacturer mfgpnumber category price1 saleprice saleend mapprice ' +
    'msrp available serialized allowdirectship weight zancat producttype restrictions'
  ).split(' '),
  ...DETAILS.keys(),
  ...FLAGGED.map(flagColumn),
]

const serialized = { column: 'serialized', in: ['Y', 'Yes', '1'] }
const plain = (set: Rule['set'], ...contains: string[]): Rule => ({
  when: [
    { column: 'serialized', in: ['N', 'No', '0'] },
    ...(contains.length > 0 ? [{ column: 'category', contains }] : []),
  ],
  set,
})
const gun = (category: readonly [number | null, string], ...contains: string[]): Rule => ({
  when: [serialized, { column: 'category', contains }],
  set: { productClass: 'FA', ffl: true, category },
})

const classify: readonly Rule[] = [
  {
    when: [
      serialized,
      { column: 'category', contains: ['silencer', 'suppressor', 'nfa', 'class 3'] },
    ],
    set: { productClass: 'SO', ffl: true, category: CATEGORY.nfa },
  },
  gun(CATEGORY.revolvers, 'revolver'),
  gun(CATEGORY.pistols, 'pistol', 'handgun'),
  gun(CATEGORY.shotguns, 'shotgun'),
  gun(CATEGORY.rifles, 'rifle'),
  { when: [serialized], set: { productClass: 'FA', ffl: true, category: CATEGORY.firearms } },
  plain({ productClass: 'AO', category: CATEGORY.ammunition }, 'ammunition', 'ammo'),
  plain({ productClass: 'MG', category: CATEGORY.accessories }, 'magazine'),
  plain({ productClass: 'HS', category: CATEGORY.holsters }, 'holster'),
  plain({ productClass: 'OP', category: CATEGORY.optics }, 'optic', 'scope', 'riflescope'),
  plain({ productClass: 'KN', category: CATEGORY.knives }, 'knives', 'knife'),
  plain({ productClass: 'RL', category: CATEGORY.reloading }, 'reload', 'reloading'),
  plain({ productClass: 'AG', category: CATEGORY.airGuns }, 'airgun', 'air gun'),
  plain({ productClass: 'AC', category: CATEGORY.accessories }, 'accessory', 'accessories'),
  plain({ productClass: 'OT' }),
  // Without the column `serialized` no rule fits: the cut form does not tell firearms apart.
]

export const catalog: CatalogPreset = {
  id: 'zanders',
  distid: 'ZND',
  kind: 'catalog',
  format: { delimiter: ',', quote: '"', header: true },
  required: [['itemnumber', 'upc'], 'upc', 'price1', 'available'],
  key: ['itemnumber', 'upc'],
  map: {
    upc: { from: ['upc'] },
    name: { from: ['desc1'] },
    shortDescription: { from: ['desc2'] },
    mfgName: { from: ['manufacturer'] },
    mpn: { from: ['mfgpnumber'] },
    itemCat: { from: ['category'] },
    price: { from: ['price1'], sale: { from: ['saleprice'], ends: 'saleend' } },
    map: { from: ['mapprice'] },
    msrp: { from: ['msrp'] },
    qty: { from: ['available'] },
    dropShip: { from: ['allowdirectship'], no: ['N', 'No', '0'] },
    images: { template: 'https://shop2.gzanders.com/getimage?itemnumber={itemnumber}' },
  },
  classify,
  gunWordsIn: ['category'],
  attributes: [
    { column: 'weight', name: 'Weight (lb)' },
    { column: 'restrictions', name: 'Restrictions' },
    ...[...DETAILS].map(([column, name]) => ({ column, name })),
    ...FLAGGED.map((state) => ({
      column: flagColumn(state),
      name: `State Restriction (${state})`,
      only: ['Y'],
    })),
  ],
  stateFlags: {
    columns: Object.fromEntries(FLAGGED.map((state) => [state, flagColumn(state)])),
    restricts: ['Y'],
    permits: [''],
  },
}

/**
 * `liveinv`: what is there now. Its prices are left out: it does not tell whether a sale is in
 * them, and one for several units is not that of one.
 */
export const quantity: QuantityPreset = {
  id: 'zanders-live',
  distid: 'ZND',
  kind: 'quantity',
  format: { delimiter: ',', quote: '"', header: true },
  required: ['itemnumber', 'available'],
  key: ['itemnumber'],
  qty: { from: ['available'] },
}
