/** Which fields a row of a catalog feed fills, in one number. */
import { NO_STATES } from '../../places/state-set.js'
import { CLASS_CODES } from '../product-classes.js'
import type { CatalogRow } from './rows.js'

/**
 * What a row may fill, in the order of a mark's bits. `map` is what the cell holds, `keptMap`
 * whether it counts.
 */
export const MARKS = [
  'upc',
  'name',
  'mfgName',
  'mpn',
  'itemCat',
  'productUrl',
  'shortDescription',
  'description',
  'price',
  'map',
  'keptMap',
  'msrp',
  'shipping',
  'images',
  'attributes',
  'dropShip',
  'noDropShip',
  'ffl',
  'held',
  'stateFlags',
] as const
/** Where a mark's class begins: its place in `CLASS_CODES`. */
export const MARK_CLASS = 24

export function markOf(
  row: CatalogRow,
  told: { name: string; map: number | null; dropShip: boolean },
): number {
  let bits = 0
  let bit = 1
  const next = (filled: boolean) => {
    if (filled) bits |= bit
    bit <<= 1
  }
  next(row.upc !== null)
  next(told.name !== '')
  next(row.mfgName !== null)
  next(row.mpn !== null)
  next(row.itemCat !== null)
  next(row.productUrl !== null)
  next(row.shortDescription !== null)
  next(row.description !== null)
  next(row.price !== null)
  next(told.map !== null)
  next(row.map !== null)
  next(row.msrp !== null)
  next(row.shipping !== null)
  next(row.images.length > 0)
  next(hasAny(row.attributes))
  next(told.dropShip)
  next(!told.dropShip)
  next(row.fflReq)
  next(row.held)
  next((row.restrictedStates ?? NO_STATES) !== NO_STATES)
  return bits | (CLASS_CODES.indexOf(row.productClass) << MARK_CLASS)
}

function hasAny(record: Record<string, string>): boolean {
  for (const _ in record) return true
  return false
}
