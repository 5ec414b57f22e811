/** RSR Group: `;` without header or quoting, 66 columns in 2010, 77 now. */
import type { CatalogPreset, QuantityPreset, Rule } from '../../generic/preset.js'
import { CATEGORY } from '../../generic/categories.js'

export const STATES = (
  'AK AL AR AZ CA CO CT DC DE FL GA HI IA ID IL IN KS KY LA MA MD ME MI MN MO MS MT NC ND NE ' +
  'NH NJ NM NV NY ' +
  'OH OK OR PA RI SC SD TN TX UT VA VT WA WI WV WY'
).split(' ')

export const COLUMNS = [
  'stock',
  'upc',
  'description',
  'department',
  'manufacturer id',
  'msrp',
  'price',
  'weight',
  'quantity',
  'model',
  'manufacturer',
  'part number',
  'status',
  'expanded description',
  'image',
  ...STATES,
  'ground only',
  'adult signature',
  'no drop ship',
  'date entered',
  'map',
  'image disclaimer',
  'length',
  'width',
  'height',
  'prop 65',
  'vendor approval',
]

/** Departments come as `1` and as `01`. */
const department = (numbers: number[], set: Rule['set'], also: Rule['when'] = []): Rule => ({
  when: [
    {
      column: 'department',
      in: numbers.flatMap((number) => [String(number), String(number).padStart(2, '0')]),
    },
    ...also,
  ],
  set,
})

const classify: readonly Rule[] = [
  department([1, 2], { productClass: 'FA', ffl: true, category: CATEGORY.pistols }),
  department([3, 5], { productClass: 'FA', ffl: true, category: CATEGORY.firearms }),
  department([6], { productClass: 'SO', ffl: true, category: CATEGORY.nfa }),
  // These take cartridge barrels, so ATF counts them as firearms (18 U.S.C. 921(a)(16)).
  department([7], { productClass: 'FA', ffl: true, category: CATEGORY.blackPowder }, [
    { column: 'description', contains: ['nitrofire', 'encore'] },
  ]),
  // The department does not say which of the others have a firearm's frame and need a license.
  department([7], { productClass: 'BP', category: CATEGORY.blackPowder, dropShip: false }),
  department([16], { productClass: 'MZ', category: CATEGORY.blackPowderSupplies }),
  department([8], { productClass: 'OP', category: CATEGORY.optics }),
  department([30], { productClass: 'OP', category: CATEGORY.sights }),
  department([28], { productClass: 'BS', category: CATEGORY.binoculars }),
  department([29], { productClass: 'BS', category: CATEGORY.spottingScopes }),
  department([10, 24], { productClass: 'MG', category: CATEGORY.accessories }),
  department([12, 40], { productClass: 'RC', category: CATEGORY.cases }),
  department([14], { productClass: 'HS', category: CATEGORY.holsters }),
  department([15], { productClass: 'RL', category: CATEGORY.reloading }),
  department([18], { productClass: 'AO', category: CATEGORY.ammunition }),
  department([20], { productClass: 'LL', category: CATEGORY.accessories }),
  department([22], { productClass: 'AG', category: CATEGORY.airGuns }),
  department([23], { productClass: 'KN', category: CATEGORY.knives }),
  department([25], { productClass: 'SF', category: CATEGORY.safes }),
  department([32, 34, 41, 42, 43], { productClass: 'FP', category: CATEGORY.accessories }),
  department([33], { productClass: 'AP', category: CATEGORY.clothing }),
  department([21], { productClass: 'AC', category: CATEGORY.cleaning }),
  department([26], { productClass: 'AC', category: CATEGORY.glassesAndHearing }),
  department([39], { productClass: 'AC', category: CATEGORY.targets }),
  department([9, 11, 13, 31, 35], { productClass: 'AC', category: CATEGORY.accessories }),
  // Anything may be closed out, and the last two have no fixed meaning.
  department([17], { productClass: 'AC', category: CATEGORY.accessories, dropShip: false }),
  department([36, 37], { productClass: 'OT', dropShip: false }),
  department([4, 27], { productClass: 'OT', category: CATEGORY.nonLethal }),
  department([38], { productClass: 'OT', category: CATEGORY.books }),
  department([19], { productClass: 'OT' }),
]

export const catalog: CatalogPreset = {
  id: 'rsr',
  distid: 'RSR',
  kind: 'catalog',
  format: { delimiter: ';', quote: null, header: false, columns: COLUMNS, minColumns: 69 },
  required: [],
  key: ['stock'],
  map: {
    upc: { from: ['upc'] },
    name: { from: ['description'] },
    mfgName: { from: ['manufacturer'] },
    mpn: { from: ['part number'] },
    itemCat: { from: ['department'] },
    description: { from: ['expanded description'] },
    price: { from: ['price'] },
    map: { from: ['map'] },
    msrp: { from: ['msrp'] },
    qty: { from: ['quantity'] },
    dropShip: { from: ['no drop ship'], no: ['Y'] },
    // No images: RSR's terms forbid linking to its servers. The file name is kept for a shop that
    // copies them.
  },
  zeroWhen: [{ column: 'status', in: ['Allocated'] }],
  classify,
  attributes: [
    ...STATES.map((state) => ({
      column: state,
      name: `State Restriction (${state})`,
      only: ['Y'],
    })),
    { column: 'ground only', name: 'Ground Only', only: ['Y'] },
    { column: 'adult signature', name: 'Adult Signature', only: ['Y'] },
    { column: 'prop 65', name: 'Prop 65', only: ['Y'] },
    { column: 'status', name: 'Status' },
    { column: 'model', name: 'Model' },
    { column: 'image', name: 'Image' },
    { column: 'weight', name: 'Weight (oz)' },
    { column: 'length', name: 'Length (in)' },
    { column: 'width', name: 'Width (in)' },
    { column: 'height', name: 'Height (in)' },
  ],
  stateFlags: {
    columns: Object.fromEntries(STATES.map((state) => [state, state])),
    restricts: ['Y'],
    permits: ['', 'N'],
  },
}

export const quantity: QuantityPreset = {
  id: 'rsr-quantity',
  distid: 'RSR',
  kind: 'quantity',
  format: { delimiter: ',', quote: null, header: false, columns: ['stock', 'quantity'] },
  required: [],
  key: ['stock'],
  qty: { from: ['quantity'] },
}
