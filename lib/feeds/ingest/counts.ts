/** What taking a feed in has changed. */
import type { TouchedKeys } from '../../catalog/snapshot/lend.js'
import type { OfferSet } from '../read/known-lines.js'

/** What was written, and what the guard judges by. */
export interface Counts {
  added: number
  changed: number
  removed: number
  price_changes: number
  stock_changes: number
  /** An offer was added, removed or re-worded. */
  reworded: boolean
  /** Prices that moved by more than half, or went. */
  priceMoves: number
  /** Stocked offers that have no stock any more, or are gone. */
  emptied: number
  /** Offers whose UPC is gone or another one now. */
  upcsLost: number
  /** Changes of the distributor's tally. */
  offers: number
  priced: number
  stocked: number
}

/** Offers of which the distributor's other feeds must hear. */
export interface Touched {
  /** Their quantity changed, or they are held back no longer. */
  restocked: OfferSet
  repriced: OfferSet
  /** The operator's last feed that had them dropped them; subscribers still have them. */
  released: OfferSet
  removed: OfferSet
  /** UPCs whose offers may lend or borrow otherwise than before. */
  keys: TouchedKeys
}
