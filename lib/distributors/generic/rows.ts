/** What one row of a feed says. */
import type { FeedOffer } from '../feed-offer.js'

/** Why a row was not taken, in plain English. */
export interface Rejection {
  reason: string
}

/** One row of a catalog feed. */
export interface CatalogRow extends FeedOffer {
  /**
   * The catalog says that none can be ordered (`zeroWhen`): the quantity is 0, and a quantity feed
   * must not raise it.
   */
  held: boolean
  /** A rule of `classify` knew the item. Where none did, the row says nothing of what it is. */
  classified: boolean
  /**
   * Which fields the row fills, as bits of `MARKS`, and its class above them: what a feed as a
   * whole is judged by.
   */
  mark: number
}

/** One row of a quantity feed. */
export interface StockRow {
  stockid: string
  qty: number
}

export function isRejection(row: CatalogRow | StockRow | Rejection): row is Rejection {
  return 'reason' in row
}
