/** 2nd Amendment Wholesale: its products, in RSR's columns by other names, and its stock. */
import { CATEGORY } from '../../generic/categories.js'
import type { CatalogPreset, Condition, QuantityPreset, Rule } from '../../generic/preset.js'

/** As the feed orders them. */
export const STATES = (
  'AK AL AR AZ CA CO CT DC DE FL GA HI IA ID IL IN KS KY LA MA MD ME MI MN MO MS MT NC ND NE ' +
  'NH NJ NM NV NY OH OK OR PA RI SC SD TN TX UT VA VT WA WI WV WY'
).split(' ')

export const restrictedIn = (state: string): string => `${state.toLowerCase()}_restricted`

/** What of a product is read; ids of categories stand in one cell, with blanks between them. */
export const PRODUCT_COLUMNS: readonly string[] = [
  ...(
    'stock_number upc product_description department_number manufacturer_id retail_price ' +
    'dealer_price weight inventory_qty model manufacturer_name mpn allocated_closeout ' +
    'description image'
  ).split(' '),
  ...STATES.map(restrictedIn),
  ...(
    'ground_shipments_only adult_signature_required blocked_from_drop_ship date_entered ' +
    'retail_map shipping_length shipping_width shipping_height category_ids moqpts'
  ).split(' '),
]
export const STOCK_COLUMNS: readonly string[] = ['sku', 'qty', 'dealer_price']

const YES = ['Y', 'Yes', '1', 'True']
const NO = ['', 'N', 'No', '0', 'False']

/** Ids of the shop's categories, of which a product has all on the way from the top. */
const within = (...ids: number[]): Condition => ({
  column: 'category_ids',
  contains: ids.map(String),
})
/** Departments are numbered as at RSR, `1` or `01`. */
const department = (...numbers: number[]): Condition => ({
  column: 'department_number',
  in: numbers.flatMap((number) => [String(number), String(number).padStart(2, '0')]),
})
const gun = (category: Rule['set']['category'], ...when: Condition[]): Rule => ({
  when,
  set: { productClass: 'FA', ffl: true, ...(category && { category }) },
})
const goods = (set: Rule['set'], ...ids: number[]): Rule => ({ when: [within(...ids)], set })

const classify: readonly Rule[] = [
  {
    // NFA items, and suppressors, which stand among the accessories.
    when: [within(101, 154)],
    set: { productClass: 'SO', ffl: true, category: CATEGORY.nfa },
  },
  { when: [department(6)], set: { productClass: 'SO', ffl: true, category: CATEGORY.nfa } },
  gun(CATEGORY.revolvers, within(29)),
  gun(CATEGORY.pistols, within(21)),
  gun(CATEGORY.boltActionRifles, within(107)),
  gun(CATEGORY.rifles, within(30)),
  gun(CATEGORY.overUnderShotguns, within(150)),
  gun(CATEGORY.pumpActionShotguns, within(151)),
  gun(CATEGORY.semiAutoShotguns, within(152)),
  gun(CATEGORY.sideBySideShotguns, within(153)),
  gun(CATEGORY.leverActionShotguns, within(149)),
  gun(CATEGORY.shotguns, within(31)),
  // Lowers, and what is a firearm without being a pistol, a rifle or a shotgun.
  gun(CATEGORY.firearms, within(19)),
  gun(CATEGORY.pistols, department(1, 2)),
  gun(CATEGORY.firearms, department(3, 5)),
  goods({ productClass: 'AO', category: CATEGORY.ammunition }, 24),
  goods({ productClass: 'MG', category: CATEGORY.accessories }, 35),
  goods({ productClass: 'OP', category: CATEGORY.sights }, 41),
  goods({ productClass: 'OP', category: CATEGORY.optics }, 40),
  goods({ productClass: 'HS', category: CATEGORY.holsters }, 42),
  goods({ productClass: 'RC', category: CATEGORY.cases }, 81),
  goods({ productClass: 'LL', category: CATEGORY.accessories }, 85),
  goods({ productClass: 'AC', category: CATEGORY.cleaning }, 76),
  goods({ productClass: 'FP', category: CATEGORY.accessories }, 55, 43),
  // Flamethrowers and what goes with them.
  goods({ productClass: 'HZ', dropShip: false }, 25),
  goods({ productClass: 'AC', category: CATEGORY.accessories }, 20),
]

export const catalog: CatalogPreset = {
  id: 'second-amendment',
  distid: '2AW',
  kind: 'catalog',
  format: { delimiter: ',', quote: '"', header: true },
  required: [
    'stock_number',
    'upc',
    'product_description',
    'department_number',
    'dealer_price',
    'inventory_qty',
    'blocked_from_drop_ship',
    'category_ids',
    ...STATES.map(restrictedIn),
  ],
  key: ['stock_number'],
  map: {
    upc: { from: ['upc'] },
    name: { from: ['product_description'] },
    mfgName: { from: ['manufacturer_name'] },
    mpn: { from: ['mpn'] },
    description: { from: ['description'] },
    price: { from: ['dealer_price'] },
    map: { from: ['retail_map'] },
    msrp: { from: ['retail_price'] },
    qty: { from: ['inventory_qty'] },
    dropShip: { from: ['blocked_from_drop_ship'], no: YES },
  },
  zeroWhen: [{ column: 'allocated_closeout', in: ['Allocated'] }],
  classify,
  attributes: [
    ...STATES.map((state) => ({
      column: restrictedIn(state),
      name: `State Restriction (${state})`,
      only: YES,
    })),
    { column: 'ground_shipments_only', name: 'Ground Only', only: YES },
    { column: 'adult_signature_required', name: 'Adult Signature', only: YES },
    { column: 'allocated_closeout', name: 'Status' },
    { column: 'model', name: 'Model' },
    { column: 'image', name: 'Image' },
    { column: 'weight', name: 'Weight' },
    { column: 'shipping_length', name: 'Length' },
    { column: 'shipping_width', name: 'Width' },
    { column: 'shipping_height', name: 'Height' },
  ],
  stateFlags: {
    columns: Object.fromEntries(STATES.map((state) => [state, restrictedIn(state)])),
    restricts: YES,
    permits: NO,
  },
}

export const stock: QuantityPreset = {
  id: 'second-amendment-stock',
  distid: '2AW',
  kind: 'quantity',
  format: { delimiter: ',', quote: '"', header: true },
  required: ['sku', 'qty'],
  key: ['sku'],
  qty: { from: ['qty'] },
}
