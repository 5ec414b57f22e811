import type { Bits } from './bits.js'
import type { Row, Snapshot } from './snapshot.js'

/** Shown dealer costs of a view: cents by row (-1 where there is none), and the rows in ascending order of (cost, tie). */
export interface PriceOrder {
  readonly column: Int32Array
  readonly order: Uint32Array
}

/** What one subscriber sees of one snapshot: which offers, at which price. */
export interface View {
  readonly snapshot: Snapshot
  /** Offers of the subscriber's eligible distributors that have a price and that no restriction hides. */
  readonly visible: Bits
  /** How many are visible. */
  readonly total: number
  /** Places in `snapshot.distids` of the active, validated distributors. */
  readonly distributors: readonly number[]
  /** Computed on first use; the snapshot's own order where no price differs. */
  prices(): PriceOrder
  /** Shown dealer cost of one row in cents. */
  unitPrice(row: Row): number
}
