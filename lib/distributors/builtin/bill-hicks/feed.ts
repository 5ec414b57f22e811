/** Bill Hicks: its catalog with the quantities of its inventory beside it, and those alone. */
import type { CatalogPreset, QuantityPreset, Rule } from '../../generic/preset.js'
import { CATEGORY } from '../../generic/categories.js'

/** Columns of the catalog as it was for years. */
export const OLD_COLUMNS = [
  'product_name',
  'universal_product_code',
  'short_description',
  'long_description',
  'category_code',
  'category_description',
  'product_price',
  'small_image_path',
  'large_image_path',
  'product_weight',
  'marp',
  'msrp',
] as const
/** Of the newer one, whose header is damaged: they are known by their places. */
export const NEW_COLUMNS = [
  'product_name',
  'universal_product_code',
  'short_description',
  'long_description',
  'category_code',
  'category_description',
  'product_price',
  'MFG',
  'product_weight',
  'marp',
  'msrp',
] as const
/** Of the inventory. */
export const QUANTITY = 'Qty Avail'
export const ITEM = 'Product'

const codes = (numbers: readonly number[], set: Rule['set']): Rule => ({
  when: [{ column: 'category_code', in: numbers.map((number) => `H${number}`) }],
  set,
})
/** Anything with a code: the firearms' codes are known, and stand before. */
const plain = (set: Rule['set'], ...contains: string[]): Rule => ({
  when: [
    { column: 'category_code', filled: true },
    ...(contains.length > 0 ? [{ column: 'category_description', contains }] : []),
  ],
  set,
})

const classify: readonly Rule[] = [
  codes([606, 607, 608], { productClass: 'SO', ffl: true, category: CATEGORY.nfa }),
  codes([602, 603], { productClass: 'FA', ffl: true, category: CATEGORY.pistols }),
  codes([600, 601, 605], { productClass: 'FA', ffl: true, category: CATEGORY.firearms }),
  codes([610], { productClass: 'AO', category: CATEGORY.ammunition }),
  codes([648], { productClass: 'AG', category: CATEGORY.airGuns }),
  plain({ productClass: 'AO', category: CATEGORY.ammunition }, 'ammunition', 'ammo'),
  plain({ productClass: 'MG', category: CATEGORY.accessories }, 'magazine'),
  plain({ productClass: 'HS', category: CATEGORY.holsters }, 'holster'),
  plain({ productClass: 'OP', category: CATEGORY.optics }, 'optic', 'scope', 'riflescope'),
  plain({ productClass: 'KN', category: CATEGORY.knives }, 'knives', 'knife'),
  plain({ productClass: 'RL', category: CATEGORY.reloading }, 'reload', 'reloading'),
  plain({ productClass: 'OT' }),
  // Without a code no rule fits: nothing says then that it is no firearm.
]

export const catalog: CatalogPreset = {
  id: 'bill-hicks',
  distid: 'BILL',
  kind: 'catalog',
  format: { delimiter: ',', quote: '"', header: true },
  required: ['product_name', 'product_price', 'category_code', QUANTITY],
  key: ['product_name'],
  map: {
    upc: { from: ['universal_product_code'] },
    name: { from: ['short_description'] },
    mfgName: { from: ['MFG'] },
    itemCat: { from: ['category_description', 'category_code'] },
    description: { from: ['long_description'] },
    price: { from: ['product_price'] },
    map: { from: ['marp'] },
    msrp: { from: ['msrp'] },
    qty: { from: [QUANTITY] },
    images: { from: ['large_image_path', 'small_image_path'] },
  },
  classify,
  gunWordsIn: ['category_description'],
  attributes: [
    { column: 'category_code', name: 'Category code' },
    { column: 'product_weight', name: 'Weight (lb)' },
  ],
}

export const quantity: QuantityPreset = {
  id: 'bill-hicks-quantity',
  distid: 'BILL',
  kind: 'quantity',
  format: { delimiter: ',', quote: '"', header: true },
  required: [ITEM, QUANTITY],
  key: [ITEM],
  qty: { from: [QUANTITY] },
}
