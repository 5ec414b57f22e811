/** The contract's product class codes. */
export const PRODUCT_CLASSES = {
  AC: 'Accessories',
  AG: 'Air Guns',
  AO: 'Ammunition',
  AP: 'Apparel',
  AR: 'Archery',
  BP: 'Black Powder Firearms',
  BS: 'Binoculars/Spotting',
  FA: 'Firearms',
  FI: 'Fishing',
  FP: 'Firearm Parts',
  HS: 'Holsters',
  HT: 'Hunting',
  HZ: 'Hazardous',
  KN: 'Knives',
  LL: 'Lights/Lasers',
  MG: 'Magazines',
  MZ: 'Muzzleloading',
  OP: 'Optics',
  OT: 'Other',
  RC: 'Range Bags/Cases',
  RL: 'Reloading',
  SF: 'Safes',
  SO: 'SOT',
} as const

export type ProductClass = keyof typeof PRODUCT_CLASSES

/** Every code, in the order of the contract; an offer's class is kept as its place in this list. */
export const CLASS_CODES = Object.keys(PRODUCT_CLASSES) as ProductClass[]
