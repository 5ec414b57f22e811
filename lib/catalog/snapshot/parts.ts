import type { Arena } from './arena.js'

/**
 * What openSnapshot needs. Holds no long list of strings: cloning one would block the thread that
 * receives it.
 */
export interface SnapshotParts {
  /** Tells the catalog file that it was built from, see `CatalogState`. */
  readonly made: string
  readonly version: string
  readonly revision: number
  readonly textRevision: number
  readonly rows: number
  readonly distids: string[]
  readonly brands: string[]
  readonly categories: { id: number | null; name: string }[]
  /**
   * Subscribers with prices of their own; those of number `i` are the columns `ownRows i` and
   * `ownPrices i`.
   */
  readonly ownPriceOf: string[]
  /** Names, terms, postings, brand, class, keys. */
  readonly text: Arena
  /** Prices, stock, flags and the orders by them. */
  readonly tick: Arena
}
