/** Lipsey's: the web catalog, and the short pricing file that cannot tell firearms apart. */
import type { CatalogPreset, Condition, FieldMap, Rule } from '../../generic/preset.js'
import { CATEGORY } from '../../generic/categories.js'

const TRUE = ['True', 'Y', 'Yes', '1']
const FALSE = ['False', 'N', 'No', '0']

const license: Condition = { column: 'FFLREQUIRED', in: TRUE }
const none: Condition = { column: 'FFLREQUIRED', in: FALSE }
const kind = (...contains: string[]): Condition => ({ column: 'TYPE', contains })
const action = (...contains: string[]): Condition => ({ column: 'ACTION', contains })
const item = (...contains: string[]): Condition => ({ column: 'ITEMTYPE', contains })
const goods = (set: Rule['set'], ...contains: string[]): Rule => ({
  when: [none, kind(...contains)],
  set,
})
const gun = (category: readonly [number | null, string], ...when: Condition[]): Rule => ({
  when: [license, ...when],
  set: { productClass: 'FA', ffl: true, category },
})

const classify: readonly Rule[] = [
  {
    when: [{ column: 'SOTREQUIRED', in: TRUE }],
    set: { productClass: 'SO', ffl: true, category: CATEGORY.nfa },
  },
  gun(CATEGORY.revolvers, kind('revolver')),
  gun(CATEGORY.semiAutoHandguns, kind('semi-auto pistol')),
  gun(CATEGORY.otherHandguns, kind('pistol', 'handgun', 'derringer')),
  gun(CATEGORY.semiAutoRifles, kind('rifle'), action('semi')),
  gun(CATEGORY.boltActionRifles, kind('rifle'), action('bolt')),
  gun(CATEGORY.leverActionRifles, kind('rifle'), action('lever')),
  gun(CATEGORY.pumpActionRifles, kind('rifle'), action('pump')),
  gun(CATEGORY.singleShotRifles, kind('rifle'), action('single shot')),
  gun(CATEGORY.otherRifles, kind('rifle')),
  gun(CATEGORY.semiAutoShotguns, kind('shotgun'), action('semi')),
  gun(CATEGORY.pumpActionShotguns, kind('shotgun'), action('pump')),
  gun(CATEGORY.overUnderShotguns, kind('shotgun'), action('over')),
  gun(CATEGORY.sideBySideShotguns, kind('shotgun'), action('side')),
  gun(CATEGORY.singleShotShotguns, kind('shotgun'), action('single shot')),
  gun(CATEGORY.otherShotguns, kind('shotgun')),
  gun(CATEGORY.firearms),
  { when: [none, item('optic')], set: { productClass: 'OP', category: CATEGORY.optics } },
  { when: [none, item('magazine')], set: { productClass: 'MG', category: CATEGORY.accessories } },
  { when: [none, item('ammunition')], set: { productClass: 'AO', category: CATEGORY.ammunition } },
  goods({ productClass: 'KN', category: CATEGORY.knives }, 'knife', 'knives'),
  goods({ productClass: 'HS', category: CATEGORY.holsters }, 'holster'),
  goods({ productClass: 'LL', category: CATEGORY.accessories }, 'light', 'laser'),
  goods({ productClass: 'SF', category: CATEGORY.safes }, 'safe'),
  goods({ productClass: 'RC', category: CATEGORY.cases }, 'case', 'range bag'),
  goods(
    { productClass: 'FP', category: CATEGORY.accessories },
    'barrel',
    'trigger',
    'part',
    'upper',
  ),
  goods({ productClass: 'AC', category: CATEGORY.cleaning }, 'cleaning'),
  {
    when: [none, item('accessory', 'accessories')],
    set: { productClass: 'AC', category: CATEGORY.accessories },
  },
  { when: [none], set: { productClass: 'OT' } },
]

const map: FieldMap = {
  upc: { from: ['UPC'] },
  mpn: { from: ['MANUFACTURERMODELNO', 'MFGMODELNUMBER'] },
  // The price in effect, sales included.
  price: { from: ['CURRENTPRICE', 'PRICE'], regular: ['PRICE'] },
  map: { from: ['RETAILMAP'] },
  qty: { from: ['QUANTITY'] },
}

export const catalog: CatalogPreset = {
  id: 'lipseys',
  distid: 'LIP',
  kind: 'catalog',
  format: { delimiter: ',', quote: '"', header: true },
  required: ['ITEMNO', 'DESCRIPTION1', 'UPC', 'PRICE', 'QUANTITY', 'FFLREQUIRED'],
  key: ['ITEMNO'],
  map: {
    ...map,
    name: { from: ['DESCRIPTION1'] },
    shortDescription: { from: ['DESCRIPTION2'] },
    mfgName: { from: ['MANUFACTURER'] },
    itemCat: { from: ['ITEMGROUP', 'TYPE', 'ITEMTYPE'] },
    msrp: { from: ['MSRP'] },
    dropShip: { from: ['CANDROPSHIP'], yes: TRUE },
    images: {
      template: 'https://www.lipseyscloud.com/images/{IMAGENAME}',
      none: ['li-missing-image.png'],
    },
  },
  zeroWhen: [{ column: 'ALLOCATED', in: TRUE }],
  classify,
  gunWordsIn: ['ITEMTYPE', 'TYPE'],
  attributes: [
    { column: 'MODEL', name: 'Model' },
    { column: 'CALIBERGAUGE', name: 'Caliber/Gauge' },
    { column: 'ACTION', name: 'Action' },
    { column: 'TYPE', name: 'Type' },
    { column: 'BARRELLENGTH', name: 'Barrel Length' },
    { column: 'CAPACITY', name: 'Capacity' },
    { column: 'FINISH', name: 'Finish' },
    { column: 'OVERALLLENGTH', name: 'Overall Length' },
    { column: 'SIGHTS', name: 'Sights' },
    { column: 'STOCKFRAMEGRIPS', name: 'Stock' },
    { column: 'MAGAZINE', name: 'Magazine' },
    { column: 'SHIPPINGWEIGHT', name: 'Weight (lb)' },
    { column: 'COUNTRYOFORIGIN', name: 'Country of Origin' },
    { column: 'ADDITIONALFEATURE1', name: 'Feature 1' },
    { column: 'ADDITIONALFEATURE2', name: 'Feature 2' },
    { column: 'ADDITIONALFEATURE3', name: 'Feature 3' },
    { column: 'EXCLUSIVE', name: 'Exclusive', only: TRUE },
  ],
}

export const pricing: CatalogPreset = {
  id: 'lipseys-pricing',
  distid: 'LIP',
  kind: 'catalog',
  format: { delimiter: ',', quote: '"', header: true },
  required: ['itemNumber', 'upc', 'quantity', 'allocated', 'currentPrice'],
  key: ['itemNumber'],
  map,
  zeroWhen: [{ column: 'allocated', in: TRUE }],
  // Nothing in these nine columns tells a pistol from a holster, so no rule: never drop-shippable.
  classify: [],
}
