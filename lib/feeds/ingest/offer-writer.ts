/** Offers of one feed into catalog.db: what a row changes, and what that adds up to. */
import { FeedChanges } from './counts.js'
import type { Counts, OfferName, Touched } from './counts.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import type { StateSet } from '../../places/state-set.js'
import type { CatalogRow } from '../../distributors/generic/rows.js'
import type { Change } from './change-log.js'
import { attributesText, imagesText, stateOf, unpack, wordingOf } from './offer-row.js'
import type { StoredOffer, Tick } from './offer-row.js'
import { prepareOffers } from './queries.js'
import { kindOf, lendingKey } from '../../catalog/snapshot/lending.js'
import type { Holders } from './other-feeds.js'

export interface WriteContext {
  catalog: Raw
  changes: { record(change: Change): void }
  distid: string
  /** Whose prices these are; null for the operator's. */
  subscriberId: string | null
  revision: number
  now: number
  asOf: number
}

export interface TakeOptions {
  /** A newer feed knows the offer's quantity better. */
  keepQty?: boolean
  /** A newer feed of the same owner knows the price better. */
  keepPrice?: boolean
  /** A newer catalog feed has the offer: only what that one leaves open is taken. */
  older?: boolean
  /** The offer is the operator's: only the subscriber's own price is taken. */
  ownOnly?: boolean
  /** Another feed knows better what the item is: only price and stock are taken from this one. */
  narrow?: boolean
}

/** Puts back into `tick` what another feed knows better. */
function keepOld(tick: Tick, old: Tick, { older, narrow }: TakeOptions): void {
  if (older) {
    for (const place of [1, 2, 3] as const) tick[place] = old[place] ?? tick[place]
    tick[7] = old[7]
  }
  if (narrow) {
    for (const place of [1, 2, 3] as const) tick[place] ??= old[place]
    for (const place of [5, 6, 8] as const) tick[place] = old[place]
  }
}

export class OfferWriter {
  readonly #changes: FeedChanges
  readonly #ctx: WriteContext
  readonly #sql: ReturnType<typeof prepareOffers>

  constructor(ctx: WriteContext) {
    this.#ctx = ctx
    this.#sql = prepareOffers(ctx.catalog)
    this.#changes = new FeedChanges((change) => ctx.changes.record(change))
  }

  get counts(): Counts {
    return this.#changes.counts
  }

  get touched(): Touched {
    return this.#changes.touched
  }

  /**
   * The offer with this key, undefined where there is none. A right guess of its id halves the
   * cost.
   */
  find(stockid: string, guess = 0): StoredOffer | undefined {
    if (guess !== 0) {
      const [distid, key, ...offer] = (this.#sql.byId.get(guess) ?? []) as [
        distid?: string,
        stockid?: string,
        ...StoredOffer,
      ]
      if (key === stockid && distid === this.#ctx.distid) return offer
    }
    return this.#sql.find.get(this.#ctx.distid, stockid) as StoredOffer | undefined
  }

  /** Writes a catalog row's offer, where it differs, and returns its id. */
  take(row: CatalogRow, existing: StoredOffer | undefined, options: TakeOptions = {}): number {
    const { keepQty = false, keepPrice = false, narrow = false } = options
    const attributes = attributesText(row)
    const wording = wordingOf(row, attributes)
    if (!existing) return this.#add(row, attributes, wording)
    const { id, fragment, wording: oldWording, old, gtin, lent } = unpack(existing)
    const { subscriberId, revision, now } = this.#ctx
    const operators = subscriberId === null
    const kind = kindOf(row)
    const ownChanged = !operators && !keepPrice && this.#setOwnPrice(id, row.price, { kind, gtin })
    if (options.ownOnly) {
      if (ownChanged) {
        this.#sql.touch.run(revision, id)
        this.counts.changed++
      }
      return id
    }
    const tick: Tick = [
      operators && !keepPrice ? row.price : old[0],
      row.map,
      row.msrp,
      row.shipping,
      keepQty ? old[4] : row.qty,
      row.fflReq ? 1 : 0,
      row.dropShip ? 1 : 0,
      row.held ? 1 : 0,
      kind,
    ]
    keepOld(tick, old, options)
    const reworded = oldWording !== wording && !narrow
    if (!reworded && !ownChanged && tick.every((value, i) => value === old[i])) return id
    // A stock feed counted what could not be ordered; now it can.
    if (old[7] === 1 && tick[7] === 0) this.touched.restocked.add(id)
    // The history goes by UPCs: an item number that stands for another item now is news to it,
    // whatever it costs.
    const oldUpc = reworded ? this.#upc(fragment) : row.upc
    const isOther = oldUpc !== row.upc
    if (isOther && oldUpc !== null) this.counts.upcsLost++
    if (reworded) {
      const key = lendingKey(row.upc)
      for (const text of [fragment, lent]) if (text !== null) this.#sql.retire.run(now, text)
      const states = this.#statesOf(row, fragment, options)
      const text = this.#fragment(row, attributes, states)
      this.#sql.update.run(text, wording, key, ...tick, revision, id)
      this.counts.reworded = true
      for (const touched of [gtin, key]) this.touched.keys.add(touched)
    } else {
      this.#sql.tick.run(...tick, revision, id)
      // Whoever has a price of the operator's may lend texts.
      if (tick[5] !== old[5] || tick[8] !== old[8] || (tick[0] === null) !== (old[0] === null))
        this.touched.keys.add(gtin)
    }
    this.counts.changed++
    const name = this.#name(row.stockid, row.upc)
    this.#changes.moved(id, name, stateOf(old), stateOf(tick), isOther)
    return id
  }

  /** Sets the stock of one offer from a quantity feed. */
  setQty(stockid: string, existing: StoredOffer, count: number): void {
    const { id, fragment, old } = unpack(existing)
    // A catalog that holds an item back (allocated) counts more than a stock feed that has no word
    // for that.
    const qty = old[7] === 1 ? 0 : count
    if (qty === old[4]) return
    this.#sql.qty.run(qty, this.#ctx.revision, id)
    this.counts.changed++
    const name = this.#name(stockid, this.#upc(fragment))
    this.#changes.moved(id, name, stateOf(old), { ...stateOf(old), qty })
  }

  /** As `setQty` to 0, for an offer that the quantity feed no longer names. */
  empty(id: number): void {
    const stockid = this.#sql.stockid.get(id) as string | undefined
    if (stockid !== undefined) this.setQty(stockid, this.find(stockid)!, 0)
  }

  /**
   * Takes this feed's part of an offer away: all of it, or only the price when other feeds still
   * have it.
   */
  remove(id: number, others: Holders): void {
    const stockid = this.#sql.stockid.get(id) as string | undefined
    if (stockid === undefined) return
    const offer = unpack(this.find(stockid)!)
    if (others.anyone) return this.#removePrice(offer, stockid, others)
    const { fragment, old, gtin, lent } = offer
    const name = this.#name(stockid, this.#upc(fragment))
    this.#sql.dropOwn.run(id)
    this.#sql.drop.run(id)
    for (const text of [fragment, lent])
      if (text !== null) this.#sql.retire.run(this.#ctx.now, text)
    this.touched.keys.add(gtin)
    this.#changes.removed(id, name, stateOf(old))
  }

  #removePrice(
    { id, fragment, old, gtin }: ReturnType<typeof unpack>,
    stockid: string,
    others: Holders,
  ): void {
    const { subscriberId, revision } = this.#ctx
    const { counts } = this
    if (subscriberId === null && !others.operator) this.touched.released.add(id)
    // The price went with its row, which the guard counts as missing; it did not move.
    const { priceMoves } = counts
    if (
      subscriberId === null
        ? others.operator || old[0] === null
        : others.subscriber || !this.#setOwnPrice(id, null, { kind: 0, gtin })
    )
      return
    counts.changed++
    if (subscriberId !== null) {
      this.#sql.touch.run(revision, id)
    } else {
      this.#sql.tick.run(null, ...old.slice(1), revision, id)
      this.touched.keys.add(gtin)
      const name = this.#name(stockid, this.#upc(fragment))
      this.#changes.moved(id, name, stateOf(old), { ...stateOf(old), price: null })
    }
    counts.priceMoves = priceMoves
  }

  /** Deletes fragments that no snapshot can name any more. */
  sweep(before: number): void {
    this.#sql.sweep.run(before)
  }

  #upc(fragment: number): string | null {
    return (this.#sql.upc.get(fragment) as string | null | undefined) ?? null
  }

  #add(row: CatalogRow, attributes: string | null, wording: number): number {
    const { distid, subscriberId, revision, asOf } = this.#ctx
    const price = subscriberId === null ? row.price : null
    const fragment = this.#fragment(row, attributes, row.restrictedStates ?? null)
    const [kind, gtin] = [kindOf(row), lendingKey(row.upc)]
    const id = Number(
      this.#sql.insert.run(
        distid,
        row.stockid,
        fragment,
        wording,
        gtin,
        price,
        row.map,
        row.msrp,
        row.shipping,
        row.qty,
        row.fflReq ? 1 : 0,
        row.dropShip ? 1 : 0,
        row.held ? 1 : 0,
        kind,
        revision,
        asOf,
      ).lastInsertRowid,
    )
    this.touched.keys.add(gtin)
    if (subscriberId !== null) this.#setOwnPrice(id, row.price, { kind, gtin })
    const { qty, held } = row
    this.#changes.added(this.#name(row.stockid, row.upc), { price, qty, held })
    return id
  }

  /**
   * Where the offer of a row is not shipped to. A feed that does not tell lifts no flag of another
   * one, nor does one that is older.
   */
  #statesOf(row: CatalogRow, fragment: number, { older }: TakeOptions): StateSet | null {
    const told = row.restrictedStates ?? null
    if (told !== null && !older) return told
    return (this.#sql.states.get(fragment) as StateSet | null | undefined) ?? told
  }

  #fragment(row: CatalogRow, attributes: string | null, states: StateSet | null): number {
    return Number(
      this.#sql.fragment.run(
        this.#ctx.distid,
        row.stockid,
        row.distsku,
        row.upc,
        row.name,
        row.mfgName,
        row.mpn,
        row.productClass,
        row.itemCat,
        row.categoryId,
        row.categoryName,
        imagesText(row),
        row.productUrl,
        row.shortDescription,
        row.description,
        attributes,
        states,
      ).lastInsertRowid,
    )
  }

  /**
   * Whether the subscriber's price changed, or what its feed says that the item is: the latter is
   * lent, the former never.
   */
  #setOwnPrice(
    id: number,
    price: number | null,
    { kind, gtin }: { kind: number; gtin: number | null },
  ): boolean {
    const { subscriberId } = this.#ctx
    const [old = null, oldKind = 0] = (this.#sql.own.get(subscriberId, id) ?? []) as [
      price?: number,
      kind?: number,
    ]
    const isOtherKind = (price === null ? 0 : kind) !== oldKind
    if (old === price && !isOtherKind) return false
    if (price === null) this.#sql.dropOneOwn.run(subscriberId, id)
    else this.#sql.setOwn.run(subscriberId, id, price, kind)
    if (isOtherKind) this.touched.keys.add(gtin)
    if (old === price) return true
    this.#changes.priceMoved(id, old, price)
    return true
  }

  #name(stockid: string, upc: string | null): OfferName {
    return { distid: this.#ctx.distid, stockid, upc }
  }
}
