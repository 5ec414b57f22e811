/**
 * The network catalog as one immutable, versioned whole. Rows are numbered in name order; nothing
 * here changes after the build.
 */
import type { Bits } from './bits.js'
import type { RowSet } from './row-set.js'

/**
 * A row of a snapshot: its place in name order. Valid only together with the snapshot that it came
 * from.
 */
export type Row = number

export interface Snapshot {
  /** The public name of this state of the network's data. */
  readonly version: string
  readonly revision: number
  readonly textRevision: number
  readonly rows: number

  // Dictionaries: a column holds places in these.
  readonly distids: readonly string[]
  /** Distinct `mfg_name`, by code point. A row without one has place `noBrand`. */
  readonly brands: readonly string[]
  readonly noBrand: number
  readonly categories: readonly { id: number | null; name: string }[]

  // Text columns.
  readonly offerId: Uint32Array
  readonly fragment: Uint32Array
  readonly distributor: Uint8Array
  readonly productClass: Uint8Array
  readonly brand: Uint32Array
  readonly category: Uint32Array
  /** GTIN-14 value, 0 for none. */
  readonly upcKey: Float64Array
  /** Equal for rows whose names sort the same. */
  readonly nameRank: Uint32Array
  /** Place in the order of (distid, stockid), which breaks every tie. */
  readonly tieRank: Uint32Array
  /** Rows in that order. */
  readonly byTie: Uint32Array

  // Tick columns: cents, -1 for none.
  readonly qty: Int32Array
  /** The operator's feed price. */
  readonly price: Int32Array
  readonly map: Int32Array
  readonly msrp: Int32Array
  readonly shipping: Int32Array
  readonly fflReq: Bits
  readonly dropShip: Bits
  readonly inStock: Bits
  /** Rows in ascending order of price, then of the tie; rows without a price first. */
  readonly byPrice: Uint32Array
  /** Rows in ascending order of quantity, then of the tie. */
  readonly byQty: Uint32Array

  distributorRows(distributor: number): Bits
  classRows(productClass: number): Bits
  /** Ascending rows. */
  brandRows(brand: number): Uint32Array
  /** The same rows, as a bitset where they are many. */
  brandSet(brand: number): RowSet
  /** Ascending rows. */
  categoryRows(category: number): Uint32Array
  /** The same rows, as a bitset where they are many. */
  categorySet(category: number): RowSet
  /** Ascending rows of one GTIN-14 value. */
  upcRows(upcKey: number): Row[]
  /** Ascending rows whose distsku is this one, case aside. */
  skuRows(sku: string): Row[]
  sku(row: Row): string
  stockid(row: Row): string
  /**
   * Rows that hold every word of the text, as prefixes, case and punctuation aside; null when the
   * text has no word.
   */
  textRows(text: string): RowSet | null
  /**
   * Prices of one subscriber's own feed by row, -1 for none; undefined for a subscriber without
   * one.
   */
  ownPrices(subscriberId: string): Int32Array | undefined
}
