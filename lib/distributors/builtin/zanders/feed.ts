/** Zanders: zandersinv.csv, and the four columns that shops often cut it down to. */
import type { CatalogPreset, Rule } from '../../generic/preset.js'
import { CATEGORY } from '../../generic/categories.js'

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
    price: { from: ['price1'] },
    map: { from: ['mapprice'] },
    msrp: { from: ['msrp'] },
    qty: { from: ['available'] },
    dropShip: { from: ['allowdirectship'], no: ['N', 'No', '0'] },
    images: { template: 'https://shop2.gzanders.com/getimage?itemnumber={itemnumber}' },
  },
  classify,
  gunWordsIn: ['category'],
  attributes: [{ column: 'weight', name: 'Weight (lb)' }],
}
