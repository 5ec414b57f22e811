import type { StateSet } from '../places/state-set.js'
import type { ProductClass } from './product-classes.js'

/**
 * One distributor's stock item as a feed tells it, normalized. Money in cents; null where the feed
 * has none.
 */
export interface FeedOffer {
  /** The distributor's own key of the stock item: unique and stable per distid. */
  stockid: string
  /** The number to order it by; the stockid without a warehouse suffix. */
  distsku: string
  /** As the feed gave it, with lost leading zeros repaired. */
  upc: string | null
  name: string
  mfgName: string | null
  mpn: string | null
  productClass: ProductClass
  /** The distributor's own category. */
  itemCat: string | null
  /** `item_gb_cat` and its name; null and `Uncategorized` where not known. */
  categoryId: number | null
  categoryName: string
  /** The dealer's cost. */
  price: number | null
  map: number | null
  msrp: number | null
  /** The distributor's own shipping estimate for one unit. */
  shipping: number | null
  qty: number
  fflReq: boolean
  dropShip: boolean
  images: string[]
  productUrl: string | null
  shortDescription: string | null
  description: string | null
  /** Attribute columns of the feed by name, for restriction rules and the attributes feed. */
  attributes: Record<string, string>
  /** States that the distributor does not ship it to; null where its feed does not tell. */
  restrictedStates?: StateSet | null
}

export const UNCATEGORIZED = 'Uncategorized'
