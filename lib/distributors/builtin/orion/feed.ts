/**
 * Orion: its catalog with stock, price and the names of manufacturers beside each item, in columns
 * by the names of its API.
 */
import { SET_STATES } from '../../../places/state-set.js'
import { CATEGORY } from '../../generic/categories.js'
import type { CatalogPreset, Condition, QuantityPreset, Rule } from '../../generic/preset.js'

export const flagColumn = (state: string): string => `restricted_${state}`

/** The columns of the file; those of `product_tags` and of the states are made of lists. */
export const COLUMNS: readonly string[] = [
  ...(
    'product_code product_id upc_code description detailed_description manufacturer ' +
    'product_categories firearm_type caliber base_cost sale_price list_price ' +
    'manufacturer_advertised_price quantity image_url ffl_required class_3 cannot_dropship'
  ).split(' '),
  ...SET_STATES.map(flagColumn),
]

const named = (...contains: string[]): Condition => ({ column: 'product_categories', contains })
const typed = (...contains: string[]): Condition => ({ column: 'firearm_type', contains })
const needsLicense: Condition = { column: 'ffl_required', in: ['Y'] }
const gun = (category: Rule['set']['category'], ...when: Condition[]): Rule => ({
  when: [needsLicense, ...when],
  set: { productClass: 'FA', ffl: true, ...(category && { category }) },
})
const goods = (set: Rule['set'], ...words: string[]): Rule => ({ when: [named(...words)], set })
const nfa: Rule['set'] = { productClass: 'SO', ffl: true, category: CATEGORY.nfa }

const classify: readonly Rule[] = [
  { when: [{ column: 'class_3', in: ['Y'] }], set: nfa },
  { when: [needsLicense, named('suppressor', 'silencer', 'nfa', 'class 3')], set: nfa },
  { when: [needsLicense, typed('suppressor', 'silencer', 'nfa', 'sbr', 'sbs')], set: nfa },
  gun(CATEGORY.revolvers, typed('revolver')),
  gun(CATEGORY.pistols, typed('pistol', 'handgun', 'derringer')),
  gun(CATEGORY.shotguns, typed('shotgun')),
  gun(CATEGORY.rifles, typed('rifle')),
  gun(CATEGORY.firearms),
  // Without the tag of a license, a suppressor's category is not believed to be of a part.
  {
    when: [{ column: 'product_categories', namesGun: true }, named('suppressor', 'silencer')],
    set: nfa,
  },
  goods({ productClass: 'AO', category: CATEGORY.ammunition }, 'ammo', 'ammunition', 'shotshell'),
  goods({ productClass: 'MG', category: CATEGORY.accessories }, 'magazine'),
  goods({ productClass: 'HS', category: CATEGORY.holsters }, 'holster'),
  goods({ productClass: 'OP', category: CATEGORY.optics }, 'optic', 'scope', 'sight', 'red dot'),
  goods({ productClass: 'BS', category: CATEGORY.binoculars }, 'binocular'),
  goods({ productClass: 'HZ', category: CATEGORY.reloading, dropShip: false }, 'powder', 'primer'),
  goods({ productClass: 'RL', category: CATEGORY.reloading }, 'reloading', 'brass', 'bullet'),
  goods({ productClass: 'RC', category: CATEGORY.cases }, 'case', 'range bag'),
  goods({ productClass: 'KN', category: CATEGORY.knives }, 'knife', 'knives'),
  goods({ productClass: 'LL', category: CATEGORY.accessories }, 'light', 'laser', 'flashlight'),
  goods({ productClass: 'SF', category: CATEGORY.safes }, 'safe', 'vault'),
  goods({ productClass: 'AP', category: CATEGORY.clothing }, 'apparel', 'clothing', 'footwear'),
  goods({ productClass: 'AC', category: CATEGORY.cleaning }, 'cleaning'),
  goods(
    { productClass: 'FP', category: CATEGORY.accessories },
    'part',
    'barrel',
    'trigger',
    'upper',
  ),
  goods({ productClass: 'AC', category: CATEGORY.accessories }, 'accessory', 'accessories'),
]

export const catalog: CatalogPreset = {
  id: 'orion',
  distid: 'ORI',
  kind: 'catalog',
  format: { delimiter: ',', quote: '"', header: true },
  required: COLUMNS.filter((column) => column !== 'caliber'),
  key: ['product_id'],
  map: {
    distsku: { from: ['product_code'] },
    upc: { from: ['upc_code'] },
    name: { from: ['description'] },
    description: { from: ['detailed_description'] },
    mfgName: { from: ['manufacturer'] },
    itemCat: { from: ['product_categories'] },
    // The one of the stock list is today's.
    price: { from: ['sale_price', 'base_cost'] },
    map: { from: ['manufacturer_advertised_price'] },
    msrp: { from: ['list_price'] },
    qty: { from: ['quantity'] },
    dropShip: { from: ['cannot_dropship'], yes: ['N'] },
    images: { from: ['image_url'] },
  },
  classify,
  gunWordsIn: ['product_categories', 'firearm_type'],
  attributes: [
    { column: 'caliber', name: 'Caliber' },
    { column: 'firearm_type', name: 'Firearm Type' },
    ...SET_STATES.map((state) => ({
      column: flagColumn(state),
      name: `State Restriction (${state})`,
      only: ['Y'],
    })),
  ],
  stateFlags: {
    columns: Object.fromEntries(SET_STATES.map((state) => [state, flagColumn(state)])),
    restricts: ['Y'],
    permits: ['N'],
  },
}

export const STOCK_COLUMNS: readonly string[] = ['product_id', 'quantity']

export const stock: QuantityPreset = {
  id: 'orion-stock',
  distid: 'ORI',
  kind: 'quantity',
  format: { delimiter: ',', quote: '"', header: true },
  required: STOCK_COLUMNS,
  key: ['product_id'],
  qty: { from: ['quantity'] },
}
