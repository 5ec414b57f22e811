/** What the other feeds of a distributor know of the offers of the one in hand. */
import type { Raw } from '../../db/sqlite/sqlite.js'
import { KnownLines, OfferSet } from '../read/known-lines.js'
import type { Touched } from './counts.js'
import { otherFeeds, ownPriced, readTaken, reopenFeed, reopenLines } from './queries.js'
import type { OtherFeed } from './queries.js'

/**
 * Which other catalog feeds have an offer: any, one of the operator's, another one of the same
 * subscriber.
 */
export interface Holders {
  anyone: boolean
  operator: boolean
  subscriber: boolean
}

/** The other feeds of the distributor, and what this one must know of them and they of it. */
export class OtherFeeds {
  readonly #catalog: Raw
  readonly #feeds: readonly OtherFeed[]
  readonly #source: string
  readonly #subscriberId: string | null
  readonly #lines = new Map<string, KnownLines>()
  readonly #offers = new Map<string, OfferSet>()

  constructor(catalog: Raw, distid: string, source: string, subscriberId: string | null) {
    this.#catalog = catalog
    this.#source = source
    this.#subscriberId = subscriberId
    this.#feeds = otherFeeds(catalog, distid, source)
  }

  /**
   * Whether a feed of this kind that is newer than `asOf` knows the offer: what it says is the
   * better. A subscriber's own feed has no say in what an operator's catalog feed holds;
   * `operators` says that the one in hand is such a feed.
   */
  newer(kind: string, asOf: number, ownKind: string, operators: boolean): (id: number) => boolean {
    const newer = this.#feeds.filter(
      (feed) => feed.kind === kind && this.#isNewer(feed, asOf, ownKind),
    )
    const shared = newer
      .filter((feed) => feed.subscriberId === null)
      .map((feed) => this.#offersOf(feed.source))
    const own = operators
      ? []
      : newer
          .filter((feed) => feed.subscriberId !== null)
          .map((feed) => this.#offersOf(feed.source))
    if (shared.length + own.length === 0) return () => false
    return (id) =>
      shared.some((set) => set.has(id)) ||
      (own.some((set) => set.has(id)) && !this.holders(id).operator)
  }

  /**
   * Of two files of one time a stock feed's counts, then the one whose source comes first: some
   * order must hold.
   */
  #isNewer(feed: OtherFeed, asOf: number, ownKind: string): boolean {
    if (feed.asOf !== asOf) return feed.asOf > asOf
    return feed.kind === ownKind ? feed.source < this.#source : feed.kind === 'quantity'
  }

  /** Whether a newer catalog feed of the same owner has the offer: its price is the better one. */
  newerPrice(asOf: number): (id: number) => boolean {
    const sets = this.#feeds
      .filter(
        (feed) =>
          feed.kind === 'catalog' &&
          this.#isNewer(feed, asOf, 'catalog') &&
          feed.subscriberId === this.#subscriberId,
      )
      .map((feed) => this.#offersOf(feed.source))
    return sets.length === 0 ? () => false : (id) => sets.some((set) => set.has(id))
  }

  /** Who else's catalog feed has this offer. */
  holders(id: number): Holders {
    const having = this.#feeds.filter(
      (feed) => feed.kind === 'catalog' && this.#offersOf(feed.source).has(id),
    )
    return {
      anyone: having.length > 0,
      operator: having.some((feed) => feed.subscriberId === null),
      subscriber:
        this.#subscriberId !== null &&
        having.some((feed) => feed.subscriberId === this.#subscriberId),
    }
  }

  /**
   * Makes the other feeds read again what this one changed under them: the newest of them decides
   * price and quantity, and an offer that is gone must not live on in their lines. Their digest
   * goes too, since the same file now means something else.
   */
  reopen(kind: string, { restocked, repriced, released, removed }: Touched, added: number): void {
    for (const feed of this.#feeds) {
      const sets = [released]
      // A subscriber's own catalog feed and an operator's do not write to each other's offers.
      if (feed.kind !== kind || (feed.subscriberId === null) === (this.#subscriberId === null))
        sets.push(restocked)
      if (feed.kind === kind && feed.subscriberId === this.#subscriberId) sets.push(repriced)
      if (removed.size > 0 || sets.some((set) => set.size > 0)) {
        const lines = this.#linesOf(feed.source)
        if (lines.reopen((id) => sets.some((set) => set.has(id)), removed) > 0)
          reopenLines(this.#catalog, feed.source, lines.blob())
      }
      // Rows of a stock feed that met no offer may meet one now.
      if (added > 0 && feed.kind === 'quantity') reopenFeed(this.#catalog, feed.source)
    }
  }

  #linesOf(source: string): KnownLines {
    let lines = this.#lines.get(source)
    if (!lines) {
      lines = new KnownLines(readTaken(this.#catalog, source)?.lines ?? null)
      this.#lines.set(source, lines)
    }
    return lines
  }

  #offersOf(source: string): OfferSet {
    let offers = this.#offers.get(source)
    if (!offers) this.#offers.set(source, (offers = this.#linesOf(source).offerSet()))
    return offers
  }
}

/** How many prices of its own a subscriber has among these offers. */
export function countOwnPrices(catalog: Raw, subscriberId: string, offers: OfferSet): number {
  let count = 0
  for (const id of ownPriced(catalog, subscriberId)) if (offers.has(id)) count++
  return count
}
