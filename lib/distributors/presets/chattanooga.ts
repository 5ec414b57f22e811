/** Chattanooga Shooting Supplies: the product-feed CSV. It has no licence column; the category must tell. */
import type { CatalogPreset, Condition, Rule } from '../preset.js'
import { CATEGORY } from './categories.js'

const YES = ['1', 'Y', 'Yes', 'True']
const has = (...contains: string[]): Condition => ({ column: 'Category', contains })
const gun = (category: readonly [number | null, string], when: Condition): Rule => ({ when: [when], set: { productClass: 'FA', ffl: true, category } })
const other = (set: Rule['set'], ...contains: string[]): Rule => ({ when: [has(...contains)], set })

const classify: readonly Rule[] = [
  { when: [has('suppressor', 'silencer', 'nfa', 'class 3', 'short barrel', 'machine gun', 'sbr')], set: { productClass: 'SO', ffl: true, category: CATEGORY.nfa } },
  { when: [has('black powder', 'muzzleload'), has('accessor', 'supplies')], set: { productClass: 'MZ', category: CATEGORY.blackPowderSupplies } },
  // The category does not say which of them have a firearm's frame and need a licence.
  { when: [has('black powder', 'muzzleload')], set: { productClass: 'BP', category: CATEGORY.blackPowder, dropShip: false } },
  { when: [has('airgun', 'air gun', 'air rifle', 'air pistol', 'airsoft', 'pellet')], set: { productClass: 'AG', category: CATEGORY.airGuns } },
  // A gun's own category before what goes with guns: "Firearms - Scoped Rifles" must not become a scope.
  { when: [{ column: 'Category', startsWith: ['firearm'] }], set: { productClass: 'FA', ffl: true, category: CATEGORY.firearms } },
  other({ productClass: 'AO', category: CATEGORY.ammunition }, 'ammunition', 'ammo', 'shotshell'),
  other({ productClass: 'MG', category: CATEGORY.accessories }, 'magazine'),
  other({ productClass: 'HS', category: CATEGORY.holsters }, 'holster'),
  other({ productClass: 'HZ', category: CATEGORY.reloading }, '- powder', 'smokeless powder', 'primers'),
  other({ productClass: 'RL', category: CATEGORY.reloading }, 'reload'),
  other({ productClass: 'OP', category: CATEGORY.optics }, 'rifle scopes', 'riflescopes', 'red dot', 'sights'),
  other({ productClass: 'RC', category: CATEGORY.cases }, 'gun cases', 'range bag', 'soft case', 'hard case'),
  other({ productClass: 'AC', category: CATEGORY.cleaning }, 'cleaning'),
  // What is left and names a gun is taken for one: "Hunting Rifles", "Rifles With Optics".
  gun(CATEGORY.revolvers, has('revolver')),
  gun(CATEGORY.pistols, has('pistol', 'handgun', 'derringer')),
  gun(CATEGORY.shotguns, has('shotgun')),
  gun(CATEGORY.rifles, has('rifle')),
  gun(CATEGORY.firearms, has('firearm', 'long gun', 'receiver', 'lower', 'frame')),
  other({ productClass: 'SF', category: CATEGORY.safes }, 'safes', 'vault'),
  other({ productClass: 'KN', category: CATEGORY.knives }, 'knives', 'knife'),
  other({ productClass: 'BS', category: CATEGORY.binoculars }, 'binocular', 'spotting'),
  other({ productClass: 'LL', category: CATEGORY.accessories }, 'flashlight', 'weapon light', 'lasers'),
  other({ productClass: 'AP', category: CATEGORY.clothing }, 'apparel', 'clothing', 'footwear'),
  other({ productClass: 'AR', category: CATEGORY.archery }, 'archery', 'crossbow'),
  other({ productClass: 'FI' }, 'fishing'),
  other({ productClass: 'HT', category: CATEGORY.hunting }, 'hunting', 'game calls', 'decoy'),
  other({ productClass: 'OP', category: CATEGORY.optics }, 'optics'),
  other({ productClass: 'FP', category: CATEGORY.accessories }, 'gun parts', 'barrels', 'triggers', 'uppers'),
  other({ productClass: 'AC', category: CATEGORY.accessories }, 'accessor'),
  // Any other category: no rule, so never drop-shippable.
]

export const chattanooga: CatalogPreset = {
  id: 'chattanooga',
  distid: 'CSSI',
  kind: 'catalog',
  format: { delimiter: ',', quote: '"', header: true },
  required: ['SKU', 'Item Name', 'Quantity In Stock', 'Price', 'UPC', 'Drop Ship Flag', 'Category'],
  key: ['SKU'],
  map: {
    upc: { from: ['UPC'] },
    name: { from: ['Web Item Name', 'Item Name'] },
    description: { from: ['Web Item Description'] },
    mfgName: { from: ['Manufacturer'] },
    mpn: { from: ['Manufacturer Item Number'] },
    itemCat: { from: ['Category'] },
    // The price of stock sent to the store. What a drop-shipped piece costs is the account's own and not shown to all.
    price: { from: ['Price'] },
    map: { from: ['MAP'] },
    msrp: { from: ['MSRP'] },
    qty: { from: ['Quantity In Stock'] },
    dropShip: { from: ['Drop Ship Flag'], yes: YES },
    images: { from: ['Image Location'], dropQuery: true },
  },
  zeroWhen: [{ column: 'Allocated Item?', in: YES }],
  classify,
  gunWordsIn: ['Category'],
  attributes: [
    { column: 'Available Drop Ship Delivery Options' }, { column: 'Ship Weight', name: 'Weight (lb)' },
    { column: 'Length', name: 'Length (in)' }, { column: 'Width', name: 'Width (in)' }, { column: 'Height', name: 'Height (in)' },
  ],
}
