/**
 * Chattanooga Shooting Supplies: the product-feed CSV. It has no license column; the category must
 * tell.
 */
import categories from '../../../../data/chattanooga/categories.json' with { type: 'json' }
import type { ProductClass } from '../../product-classes.js'
import type { CatalogPreset, Condition, NameTable, Outcome, Rule } from '../../generic/preset.js'
import { CATEGORY } from '../../generic/categories.js'

const YES = ['1', 'Y', 'Yes', 'True']
const has = (...contains: string[]): Condition => ({ column: 'Category', contains })
const named = (...contains: string[]): Condition => ({ column: 'Item Name', contains })
const other = (set: Outcome, ...contains: string[]): Rule => ({ when: [has(...contains)], set })
const gun = (category: readonly [number | null, string], ...contains: string[]): Rule => ({
  when: [
    { column: 'Category', namesGun: true },
    ...(contains.length > 0 ? [has(...contains)] : []),
  ],
  set: { productClass: 'FA', ffl: true, category },
})

/**
 * Every category's name that its feed has been seen to write, as a person classed it
 * (data/chattanooga).
 */
const byName: NameTable = {
  column: 'Category',
  separator: '|',
  names: categories.map(({ class: productClass, category, store, general, names }) => ({
    names,
    ...(general && { general }),
    set: {
      productClass: productClass as ProductClass,
      ...(category !== null && { category: CATEGORY[category as keyof typeof CATEGORY] }),
      ...((productClass === 'FA' || productClass === 'SO') && { ffl: true }),
      ...(store && { dropShip: false }),
    },
  })),
}

const muzzleloader = has('muzzleloaders', 'inline', 'black powder rifle', 'black powder pistol')

const classify: readonly (Rule | NameTable)[] = [
  // These take cartridge barrels, so ATF counts them as firearms (18 U.S.C. 921(a)(16)).
  {
    when: [muzzleloader, named('nitrofire', 'encore')],
    set: { productClass: 'FA', ffl: true, category: CATEGORY.blackPowder },
  },
  byName,
  // Names that nobody has read yet. First whatever may be a firearm: "Rifles With Optics" is no
  // scope.
  other(
    { productClass: 'SO', ffl: true, category: CATEGORY.nfa },
    'nfa',
    'class 3',
    'class iii',
    'short barrel',
    'short barreled',
    'machine gun',
    'machinegun',
    'sbr',
    'sbs',
    'aow',
  ),
  {
    when: [{ column: 'Category', namesGun: true }, has('suppressor', 'silencer')],
    set: { productClass: 'SO', ffl: true, category: CATEGORY.nfa },
  },
  {
    when: [
      has('black powder', 'muzzleloader', 'muzzleloading'),
      has('accessory', 'accessories', 'supply', 'supplies'),
    ],
    set: { productClass: 'MZ', category: CATEGORY.blackPowderSupplies },
  },
  // The category does not say which of them have a firearm's frame and need a license.
  {
    when: [has('black powder', 'muzzleloader', 'muzzleloading')],
    set: { productClass: 'BP', category: CATEGORY.blackPowder, dropShip: false },
  },
  {
    when: [
      {
        column: 'Category',
        startsWith: ['airgun', 'air gun', 'air rifle', 'air pistol', 'airsoft', 'pellet'],
      },
    ],
    set: { productClass: 'AG', category: CATEGORY.airGuns },
  },
  gun(CATEGORY.revolvers, 'revolver'),
  gun(CATEGORY.pistols, 'pistol', 'handgun', 'derringer'),
  gun(CATEGORY.shotguns, 'shotgun'),
  gun(CATEGORY.rifles, 'rifle'),
  gun(CATEGORY.firearms),
  other({ productClass: 'HZ', category: CATEGORY.reloading }, 'powder', 'primer'),
  other(
    { productClass: 'AO', category: CATEGORY.ammunition },
    'ammunition',
    'ammo',
    'shotshell',
    'shotgun shell',
  ),
  other({ productClass: 'MG', category: CATEGORY.accessories }, 'magazine'),
  other({ productClass: 'HS', category: CATEGORY.holsters }, 'holster'),
  other(
    { productClass: 'RL', category: CATEGORY.reloading },
    'reloading',
    'brass',
    'bullet',
    'die',
  ),
  other(
    { productClass: 'OP', category: CATEGORY.optics },
    'scope',
    'riflescope',
    'red dot',
    'sight',
    'optic',
  ),
  other(
    { productClass: 'RC', category: CATEGORY.cases },
    'gun case',
    'range bag',
    'soft case',
    'hard case',
  ),
  other({ productClass: 'AC', category: CATEGORY.cleaning }, 'cleaning'),
  other({ productClass: 'SF', category: CATEGORY.safes }, 'safe', 'vault'),
  other({ productClass: 'KN', category: CATEGORY.knives }, 'knives', 'knife'),
  other({ productClass: 'BS', category: CATEGORY.binoculars }, 'binocular', 'spotting'),
  other(
    { productClass: 'LL', category: CATEGORY.accessories },
    'flashlight',
    'weapon light',
    'laser',
  ),
  other({ productClass: 'AP', category: CATEGORY.clothing }, 'apparel', 'clothing', 'footwear'),
  other({ productClass: 'AR', category: CATEGORY.archery }, 'archery', 'crossbow'),
  other({ productClass: 'FI' }, 'fishing'),
  other({ productClass: 'HT', category: CATEGORY.hunting }, 'hunting', 'game call', 'decoy'),
  other(
    { productClass: 'FP', category: CATEGORY.accessories },
    'gun part',
    'barrel',
    'trigger',
    'upper',
  ),
  other({ productClass: 'AC', category: CATEGORY.accessories }, 'accessory', 'accessories'),
  // Any other category: no rule, so never drop-shippable.
]

export const catalog: CatalogPreset = {
  id: 'chattanooga',
  distid: 'CSSI',
  kind: 'catalog',
  format: { delimiter: ',', quote: '"', header: true },
  required: ['SKU', 'Item Name', 'Quantity In Stock', 'Price', 'UPC', 'Drop Ship Flag', 'Category'],
  key: ['SKU'],
  repeats: ['Image Location'],
  map: {
    upc: { from: ['UPC'] },
    name: { from: ['Web Item Name', 'Item Name'] },
    description: { from: ['Web Item Description'] },
    mfgName: { from: ['Manufacturer'] },
    mpn: { from: ['Manufacturer Item Number'] },
    itemCat: { from: ['Category'] },
    // The price of stock sent to the store. What a drop-shipped piece costs is the account's own
    // and not shown to all.
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
    { column: 'Available Drop Ship Delivery Options' },
    { column: 'Ship Weight', name: 'Weight (lb)' },
    { column: 'Length', name: 'Length (in)' },
    { column: 'Width', name: 'Width (in)' },
    { column: 'Height', name: 'Height (in)' },
  ],
}
