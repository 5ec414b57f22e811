/**
 * The catalog's own bookkeeping: its state row, each distributor's tally, and what the feeds of a
 * distributor last brought.
 */
import { createHash } from 'node:crypto'
import type { Raw } from '../../db/sqlite.js'
import { KnownLines, OfferSet } from '../read/known-lines.js'
import type { Counts, Touched } from './counts.js'

export interface State {
  revision: number
  textRevision: number
  version: string
}

export interface Tally {
  offers: number
  priced: number
  stocked: number
}

/** What was last taken from a source. */
export interface TakenFeed {
  asOf: number
  /** 1: its last line ended in a newline. */
  endsInNewline: number
  /** Its `Shape` as JSON. */
  shape: string
  lines: Buffer
}

/**
 * Which other catalog feeds have an offer: any, one of the operator's, another one of the same
 * subscriber.
 */
export interface Holders {
  anyone: boolean
  operator: boolean
  subscriber: boolean
}

export function readState(catalog: Raw): State {
  return catalog
    .prepare('SELECT revision, text_revision AS textRevision, version FROM state')
    .get() as State
}

/** Names a new state of the catalog, `20261121T130501Z-17`, and says when its texts changed. */
export function writeState(catalog: Raw, revision: number, reworded: boolean, now: number): string {
  const version = `${new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z-${revision}`
  catalog
    .prepare('UPDATE state SET revision = ?, text_revision = iif(?, ?, text_revision), version = ?')
    .run(revision, reworded ? 1 : 0, revision, version)
  return version
}

export function readTally(catalog: Raw, distid: string): Tally {
  return (
    (catalog.prepare('SELECT offers, priced, stocked FROM tally WHERE distid = ?').get(distid) as
      | Tally
      | undefined) ?? { offers: 0, priced: 0, stocked: 0 }
  )
}

export function addToTally(
  catalog: Raw,
  distid: string,
  { offers, priced, stocked }: Counts,
): void {
  catalog
    .prepare(`INSERT INTO tally (distid, offers, priced, stocked) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET offers = offers + excluded.offers,
        priced = priced + excluded.priced, stocked = stocked + excluded.stocked`)
    .run(distid, offers, priced, stocked)
}

export function readTaken(catalog: Raw, source: string): TakenFeed | undefined {
  return catalog
    .prepare(
      'SELECT as_of AS asOf, ends_in_newline AS endsInNewline, shape, lines FROM feed WHERE source = ?',
    )
    .get(source) as TakenFeed | undefined
}

/** A feed as its row records it. */
export interface FeedRecord extends TakenFeed {
  source: string
  distid: string
  subscriberId: string | null
  preset: string
  kind: string
  takenAt: number
  /** '' where the same bytes must be read again. */
  digest: string
  rows: number
  rejected: number
  offers: number
}

/** Records a feed that was taken, with its rejected rows. A refusal before it is settled. */
export function recordTaken(
  catalog: Raw,
  feed: FeedRecord,
  rejects: readonly { line: number; reason: string; text: string }[],
): void {
  catalog
    .prepare(`INSERT OR REPLACE INTO feed (source, distid, subscriber_id, preset, kind, as_of,
        taken_at, digest, rows, rejected, offers, ends_in_newline, shape, lines)
      VALUES (@source, @distid, @subscriberId, @preset, @kind, @asOf, @takenAt, @digest, @rows,
        @rejected, @offers, @endsInNewline, @shape, @lines)`)
    .run(feed)
  catalog.prepare('DELETE FROM refusal WHERE source = ?').run(feed.source)
  catalog.prepare('DELETE FROM rejected_row WHERE source = ?').run(feed.source)
  const insert = catalog.prepare(
    'INSERT OR IGNORE INTO rejected_row (source, line, reason, text) VALUES (?, ?, ?, ?)',
  )
  for (const { line, reason, text } of rejects) insert.run(feed.source, line, reason, text)
}

/** The digest of the file that was last taken from a source, without its million lines. */
export function readDigest(catalog: Raw, source: string): string | undefined {
  return catalog.prepare('SELECT digest FROM feed WHERE source = ?').pluck().get(source) as
    | string
    | undefined
}

/** The other feeds of the distributor, and what this one must know of them and they of it. */
export class OtherFeeds {
  readonly #catalog: Raw
  readonly #feeds: { source: string; kind: string; subscriberId: string | null; asOf: number }[]
  readonly #source: string
  readonly #subscriberId: string | null
  readonly #lines = new Map<string, KnownLines>()
  readonly #offers = new Map<string, OfferSet>()

  constructor(catalog: Raw, distid: string, source: string, subscriberId: string | null) {
    this.#catalog = catalog
    this.#source = source
    this.#subscriberId = subscriberId
    this.#feeds = catalog
      .prepare(
        'SELECT source, kind, subscriber_id AS subscriberId, as_of AS asOf FROM feed WHERE distid = ? AND source <> ?',
      )
      .all(distid, source) as {
      source: string
      kind: string
      subscriberId: string | null
      asOf: number
    }[]
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
  #isNewer(
    feed: { source: string; kind: string; asOf: number },
    asOf: number,
    ownKind: string,
  ): boolean {
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
    const update = this.#catalog.prepare("UPDATE feed SET lines = ?, digest = '' WHERE source = ?")
    for (const feed of this.#feeds) {
      const sets = [released]
      // A subscriber's own catalog feed and an operator's do not write to each other's offers.
      if (feed.kind !== kind || (feed.subscriberId === null) === (this.#subscriberId === null))
        sets.push(restocked)
      if (feed.kind === kind && feed.subscriberId === this.#subscriberId) sets.push(repriced)
      if (removed.size > 0 || sets.some((set) => set.size > 0)) {
        const lines = this.#linesOf(feed.source)
        if (lines.reopen((id) => sets.some((set) => set.has(id)), removed) > 0)
          update.run(lines.blob(), feed.source)
      }
      // Rows of a stock feed that met no offer may meet one now.
      if (added > 0 && feed.kind === 'quantity')
        this.#catalog.prepare("UPDATE feed SET digest = '' WHERE source = ?").run(feed.source)
    }
  }

  #linesOf(source: string): KnownLines {
    let lines = this.#lines.get(source)
    if (!lines)
      this.#lines.set(source, (lines = new KnownLines(readTaken(this.#catalog, source)!.lines)))
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
  for (const id of catalog
    .prepare('SELECT offer FROM own_price WHERE subscriber_id = ?')
    .pluck()
    .iterate(subscriberId))
    if (offers.has(id as number)) count++
  return count
}

/** A short name for everything but the file's bytes that decides what a feed means. */
export function seedOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
