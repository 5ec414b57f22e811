/**
 * What a snapshot says of a single offer. Loops over all rows read the columns themselves.
 */
import { CLASS_CODES } from '../../distributors/product-classes.js'
import type { ProductClass } from '../../distributors/product-classes.js'
import type { Row, Snapshot } from './snapshot.js'

export function distidOf(snapshot: Snapshot, row: Row): string {
  return snapshot.distids[snapshot.distributor[row]!]!
}

export function productClassOf(snapshot: Snapshot, row: Row): ProductClass {
  return CLASS_CODES[snapshot.productClass[row]!]!
}

/** The category's name. */
export function categoryOf(snapshot: Snapshot, row: Row): string {
  return snapshot.categories[snapshot.category[row]!]!.name
}

/** Null where the feed names none. */
export function brandOf(snapshot: Snapshot, row: Row): string | null {
  const brand = snapshot.brand[row]!
  return brand === snapshot.noBrand ? null : snapshot.brands[brand]!
}

/** GTIN-14 value, 0 for none. */
export function upcKeyOf(snapshot: Snapshot, row: Row): number {
  return snapshot.upcKey[row]!
}

/** The row of `fragment` that has its texts. */
export function fragmentOf(snapshot: Snapshot, row: Row): number {
  return snapshot.fragment[row]!
}

export function stockOf(snapshot: Snapshot, row: Row): number {
  return snapshot.qty[row]!
}

/** By (distid, stockid), which breaks every tie. */
export function compareTies(snapshot: Snapshot, a: Row, b: Row): number {
  return snapshot.tieRank[a]! - snapshot.tieRank[b]!
}
