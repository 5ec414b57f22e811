/** An offer as its rows in catalog.db hold it, and a feed's row as these would. */
import type { CatalogRow } from '../../distributors/generic/rows.js'
import { textHash } from '../read/line-hash.js'
import type { Change } from './change-log.js'

/** What an offer's row holds, in the order in which it is read and written. */
export type Tick = [
  price: number | null,
  map: number | null,
  msrp: number | null,
  shipping: number | null,
  qty: number,
  fflReq: number,
  dropShip: number,
  held: number,
  kind: number,
]
const TICK_LENGTH = 9

/**
 * An offer's row as it stands: its price is at `PRICE`, and so on. `gtin` is the key by which it
 * lends and borrows.
 */
export type StoredOffer = [
  id: number,
  fragment: number,
  wording: number,
  ...Tick,
  gtin: number | null,
  lent: number | null,
]
export const PRICE = 3
export const QTY = 7
export const HELD = 10

export function unpack(offer: StoredOffer): {
  id: number
  fragment: number
  wording: number
  old: Tick
  gtin: number | null
  lent: number | null
} {
  const [id, fragment, wording, ...rest] = offer
  return {
    id,
    fragment,
    wording,
    old: rest.slice(0, TICK_LENGTH) as Tick,
    gtin: rest[TICK_LENGTH]!,
    lent: rest[TICK_LENGTH + 1]!,
  }
}

/** What the history keeps of an offer. */
export type OfferState = Pick<Change, 'price' | 'qty' | 'held'>

export function stateOf(tick: readonly (number | null)[]): OfferState {
  const [price, , , , qty, , , held] = tick as Tick
  return { price, qty, held: held === 1 }
}

export function attributesText({ attributes }: CatalogRow): string | null {
  for (const _ in attributes) return JSON.stringify(attributes)
  return null
}

export function imagesText({ images }: CatalogRow): string {
  return images.length === 0 ? '[]' : JSON.stringify(images.map((src) => ({ src })))
}

/** Everything that a fragment holds, in one number. */
export function wordingOf(row: CatalogRow, attributes: string | null): number {
  const texts = [
    row.distsku,
    row.upc,
    row.name,
    row.mfgName,
    row.mpn,
    row.productClass,
    row.itemCat,
    row.categoryId,
    row.categoryName,
    row.images.join(' '),
    row.productUrl,
    row.shortDescription,
    row.description,
    attributes,
    row.restrictedStates,
  ]
  // No text holds a control character, so the marks between them cannot be mistaken; null differs
  // from ''.
  return textHash(texts.map((text) => text ?? '\u0001').join('\u0000'))
}
