/** What taking a feed in has changed: counted, marked for other feeds, and told to the history. */
import { TouchedKeys } from '../../catalog/snapshot/lending.js'
import { OfferSet } from '../read/known-lines.js'
import type { Change } from './change-log.js'
import type { OfferState } from './offer-row.js'

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

/** More than half of the old price, either way; a price that is gone moved all the way. */
function movedByHalf(old: number | null, price: number | null): boolean {
  if (old === null) return false
  return price === null || Math.abs(price - old) * 2 > old
}

/** Which offer, for the history. */
export type OfferName = Pick<Change, 'distid' | 'stockid' | 'upc'>

export class FeedChanges {
  readonly counts: Counts = {
    added: 0,
    changed: 0,
    removed: 0,
    price_changes: 0,
    stock_changes: 0,
    reworded: false,
    priceMoves: 0,
    emptied: 0,
    upcsLost: 0,
    offers: 0,
    priced: 0,
    stocked: 0,
  }
  readonly touched: Touched = {
    restocked: new OfferSet(),
    repriced: new OfferSet(),
    released: new OfferSet(),
    removed: new OfferSet(),
    keys: new TouchedKeys(),
  }
  readonly #record: (change: Change) => void

  /** `record` writes into the history. */
  constructor(record: (change: Change) => void) {
    this.#record = record
  }

  /** The first state is a change too: without it the next one has nothing to be compared with. */
  added(name: OfferName, state: OfferState): void {
    const { counts } = this
    counts.added++
    counts.reworded = true
    counts.offers++
    if (state.price !== null) counts.priced++
    if (state.qty > 0) counts.stocked++
    this.#tell(name, state)
  }

  removed(id: number, name: OfferName, old: OfferState): void {
    const { counts } = this
    this.touched.removed.add(id)
    counts.removed++
    counts.reworded = true
    counts.offers--
    if (old.price !== null) counts.priced--
    if (old.qty > 0) {
      counts.stocked--
      counts.emptied++
    }
    this.#tell(name, { price: old.price, qty: 0, held: old.held }, true)
  }

  /**
   * A changed price or stock, that an offer is held back or no longer so, and that it is another
   * item's.
   */
  moved(id: number, name: OfferName, old: OfferState, state: OfferState, isOther = false): void {
    const { price, qty, held } = state
    if (old.price === price && old.qty === qty && old.held === held && !isOther) return
    const { counts } = this
    if (old.price !== price) {
      this.priceMoved(id, old.price, price)
      counts.priced += Number(price !== null) - Number(old.price !== null)
    }
    if (old.qty !== qty) {
      counts.stock_changes++
      this.touched.restocked.add(id)
      if (old.qty > 0 && qty === 0) counts.emptied++
      counts.stocked += Number(qty > 0) - Number(old.qty > 0)
    }
    this.#tell(name, state)
  }

  /** A price that the history is not told of: a subscriber's own. */
  priceMoved(id: number, old: number | null, price: number | null): void {
    this.touched.repriced.add(id)
    this.counts.price_changes++
    if (movedByHalf(old, price)) this.counts.priceMoves++
  }

  /** Written out: a spread of each of a feed's rows costs a tenth of the whole import. */
  #tell({ distid, stockid, upc }: OfferName, state: OfferState, gone = false): void {
    this.#record({
      distid,
      stockid,
      upc,
      price: state.price,
      qty: state.qty,
      held: state.held,
      gone,
    })
  }
}
