/** Hicks Inc.: its catalog, which has no header, and its list of quantities. */
import { CATEGORY } from '../../generic/categories.js'
import type { CatalogPreset, Condition, QuantityPreset, Rule } from '../../generic/preset.js'

/** The first 25 columns; more may stand behind them. */
export const COLUMNS: readonly string[] = (
  'customer_number item_number change_date change_time firearm_code status manufacturer_number ' +
  'vendor_name description detailed_description filler_1 category upc link_to_image filler_2 map ' +
  'msrp price quantity_on_hand weight length width depth break_pack dealer_pack'
).split(' ')

export const STOCK_COLUMNS: readonly string[] =
  'customer_number item_number change_date change_time price quantity'.split(' ')

const named = (...contains: string[]): Condition => ({ column: 'category', contains })
const isFirearm: Condition = { column: 'firearm_code', in: ['Y'] }
/** Whatever is none, and says so: a blank code is no answer. */
const isNone: Condition = { column: 'firearm_code', in: ['N'] }
const gun = (category: Rule['set']['category'], ...when: Condition[]): Rule => ({
  when: [isFirearm, ...when],
  set: { productClass: 'FA', ffl: true, ...(category && { category }) },
})
const goods = (set: Rule['set'], ...words: string[]): Rule => ({
  when: [isNone, ...(words.length > 0 ? [named(...words)] : [])],
  set,
})
const NFA = ['suppressor', 'silencer', 'nfa', 'class 3', 'class iii', 'sbr', 'sbs']

const classify: readonly Rule[] = [
  {
    when: [isFirearm, named(...NFA)],
    set: { productClass: 'SO', ffl: true, category: CATEGORY.nfa },
  },
  {
    when: [isFirearm, { column: 'description', contains: ['suppressor', 'silencer'] }],
    set: { productClass: 'SO', ffl: true, category: CATEGORY.nfa },
  },
  gun(CATEGORY.revolvers, named('revolver')),
  gun(CATEGORY.pistols, named('pistol', 'handgun', 'derringer')),
  gun(CATEGORY.shotguns, named('shotgun')),
  gun(CATEGORY.rifles, named('rifle')),
  gun(CATEGORY.firearms),
  goods({ productClass: 'AO', category: CATEGORY.ammunition }, 'ammo', 'ammunition', 'shotshell'),
  goods({ productClass: 'MG', category: CATEGORY.accessories }, 'magazine', 'clip'),
  goods({ productClass: 'HS', category: CATEGORY.holsters }, 'holster'),
  goods({ productClass: 'OP', category: CATEGORY.optics }, 'optic', 'scope', 'sight'),
  goods({ productClass: 'HZ', category: CATEGORY.reloading, dropShip: false }, 'powder', 'primer'),
  goods({ productClass: 'RL', category: CATEGORY.reloading }, 'reloading', 'brass', 'bullet'),
  goods({ productClass: 'KN', category: CATEGORY.knives }, 'knife', 'knives'),
  goods({ productClass: 'RC', category: CATEGORY.cases }, 'case', 'bag'),
  goods({ productClass: 'OT' }),
]

export const catalog: CatalogPreset = {
  id: 'hicks-inc',
  distid: 'HIX',
  kind: 'catalog',
  format: { delimiter: ',', quote: '"', header: false, columns: COLUMNS, minColumns: 25 },
  required: ['item_number', 'price', 'quantity_on_hand', 'firearm_code'],
  key: ['item_number'],
  map: {
    upc: { from: ['upc'] },
    name: { from: ['description'] },
    description: { from: ['detailed_description'] },
    mfgName: { from: ['vendor_name'] },
    mpn: { from: ['manufacturer_number'] },
    itemCat: { from: ['category'] },
    price: { from: ['price'] },
    map: { from: ['map'] },
    msrp: { from: ['msrp'] },
    qty: { from: ['quantity_on_hand'] },
    images: { from: ['link_to_image'] },
  },
  classify,
  gunWordsIn: ['category'],
  attributes: [
    { column: 'status', name: 'Status' },
    { column: 'weight', name: 'Weight' },
    { column: 'length', name: 'Length' },
    { column: 'width', name: 'Width' },
    { column: 'depth', name: 'Height' },
  ],
}

export const stock: QuantityPreset = {
  id: 'hicks-inc-stock',
  distid: 'HIX',
  kind: 'quantity',
  format: { delimiter: ',', quote: '"', header: false, columns: STOCK_COLUMNS },
  required: ['item_number', 'quantity'],
  key: ['item_number'],
  qty: { from: ['quantity'] },
}
