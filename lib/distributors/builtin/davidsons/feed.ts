/** Davidson's: feed only, no order interface is known. */
import type { CatalogPreset, Condition, QuantityPreset, Rule } from '../../generic/preset.js'
import { CATEGORY } from '../../generic/categories.js'

const type = (...startsWith: string[]): Condition => ({ column: 'Gun Type', startsWith })
const typeHas = (...contains: string[]): Condition => ({ column: 'Gun Type', contains })
const gun = (
  start: string,
  category: readonly [number | null, string],
  ...words: string[]
): Rule => ({
  when: words.length > 0 ? [type(start), typeHas(...words)] : [type(start)],
  set: { productClass: 'FA', ffl: true, category },
})

const classify: readonly Rule[] = [
  {
    when: [typeHas('air gun'), type('pistol', 'revolver')],
    set: { productClass: 'AG', category: CATEGORY.airPistols },
  },
  { when: [typeHas('air gun')], set: { productClass: 'AG', category: CATEGORY.airRifles } },
  {
    when: [typeHas('silencer', 'suppressor', 'nfa')],
    set: { productClass: 'SO', ffl: true, category: CATEGORY.nfa },
  },
  // It takes cartridge barrels, so ATF counts it as a firearm (18 U.S.C. 921(a)(16)).
  {
    when: [typeHas('muzzleloader'), { column: 'Item Description', contains: ['nitrofire'] }],
    set: { productClass: 'FA', ffl: true, category: CATEGORY.blackPowder },
  },
  // The feed does not say which of the others have a firearm's frame and need a license: never to a
  // consumer's door.
  {
    when: [typeHas('muzzleloader')],
    set: { productClass: 'BP', category: CATEGORY.blackPowder, dropShip: false },
  },
  gun('rifle|shotgun', CATEGORY.combinationGuns),
  gun('pistol', CATEGORY.semiAutoHandguns, 'semi-auto'),
  gun('pistol', CATEGORY.otherHandguns),
  gun('revolver', CATEGORY.revolvers),
  gun('rifle', CATEGORY.semiAutoRifles, 'semi-auto'),
  gun('rifle', CATEGORY.boltActionRifles, 'bolt'),
  gun('rifle', CATEGORY.leverActionRifles, 'lever'),
  gun('rifle', CATEGORY.pumpActionRifles, 'pump'),
  gun('rifle', CATEGORY.singleShotRifles, 'single shot'),
  gun('rifle', CATEGORY.otherRifles),
  gun('shotgun', CATEGORY.semiAutoShotguns, 'semi-auto'),
  gun('shotgun', CATEGORY.pumpActionShotguns, 'pump'),
  gun('shotgun', CATEGORY.overUnderShotguns, 'over and under'),
  gun('shotgun', CATEGORY.sideBySideShotguns, 'side by side'),
  gun('shotgun', CATEGORY.singleShotShotguns, 'single shot'),
  gun('shotgun', CATEGORY.boltActionShotguns, 'bolt'),
  gun('shotgun', CATEGORY.leverActionShotguns, 'lever'),
  gun('shotgun', CATEGORY.otherShotguns),
  gun('ar lower', CATEGORY.ar15Parts),
  // A type that nobody has met yet is still a type of gun.
  {
    when: [{ column: 'Gun Type', filled: true }],
    set: { productClass: 'FA', ffl: true, category: CATEGORY.firearms },
  },
  // A blank type is mostly an accessory, but not provably: no rule, so never drop-shippable.
]

export const catalog: CatalogPreset = {
  id: 'davidsons',
  distid: 'DAV',
  kind: 'catalog',
  format: { delimiter: ',', quote: '"', header: true },
  required: ['Item #', 'Dealer Price', 'Quantity', 'UPC Code', 'Gun Type'],
  key: ['Item #'],
  map: {
    upc: { from: ['UPC Code'] },
    name: { from: ['Item Description'] },
    mfgName: { from: ['Manufacturer'] },
    itemCat: { from: ['Gun Type'] },
    description: { from: ['Features'] },
    price: { from: ['Dealer Price'], sale: { from: ['Sale Price'], ends: 'Sale Ends' } },
    // No MAP: its MSP is the dealer's price on every row, and a shop that sells at MAP would
    // publish its cost.
    msrp: { from: ['Retail Price'] },
    qty: { from: ['Quantity'] },
  },
  classify,
  attributes: [
    { column: 'Gun Type', name: 'Type' },
    { column: 'Model Series', name: 'Model' },
    { column: 'Caliber', name: 'Caliber/Gauge' },
    { column: 'Action' },
    { column: 'Capacity' },
    { column: 'Finish' },
    { column: 'Stock' },
    { column: 'Sights' },
    { column: 'Barrel Length' },
    { column: 'Overall Length' },
  ],
}

export const quantity: QuantityPreset = {
  id: 'davidsons-quantity',
  distid: 'DAV',
  kind: 'quantity',
  format: { delimiter: ',', quote: '"', header: true },
  required: ['Item_Number', 'Quantity_NC', 'Quantity_AZ'],
  key: ['Item_Number'],
  qty: { sum: ['Quantity_NC', 'Quantity_AZ'] },
}
