/**
 * What searches found lately: the rows that fit a filter, and whole pages. The second page, another
 * order or another visitor of the same category then costs no pass over all rows.
 *
 * Nothing of it can be stale. A view never changes: a new price, a new stock or a new document makes
 * another one, and texts of an offer that change are another fragment of another snapshot. What is
 * remembered goes by the number of its view, so it neither keeps a view alive nor outlives its use:
 * nobody asks for the number of a view that is gone.
 */
import { LRUCache } from 'lru-cache'
import { Cache } from '../../core/cache.js'
import { MINUTE } from '../../core/clock.js'
import { MB } from '../../core/figures.js'
import { numbering } from '../../core/numbering.js'
import { Bits } from '../snapshot/bits.js'
import { isList } from '../snapshot/row-set.js'
import type { Hits, SearchedView } from './page.js'
import type { SearchQuery } from '../shapes.js'

/** Bytes of hits of all views: 128 bitsets of a million rows; a list has 4 a row. */
const HITS_BYTES = 16 * MB
/** What an entry takes beside what is counted: its place among the others. */
const ENTRY_BYTES = 300
/** Pages of longer queries are not remembered: their keys might outweigh them. */
const LONGEST_KEY = 1_000
/** Bytes of pages of all views: some 600 of 50 offers. */
const PAGES_BYTES = 16 * MB
/** How long a page is kept that nobody asks for. */
const PAGE_IDLE = 10 * MINUTE

export class Recent {
  readonly #numberOf = numbering<SearchedView>()
  readonly #hits: LRUCache<string, Hits>
  readonly #pages = new Cache<Buffer>({
    idle: PAGE_IDLE,
    most: PAGES_BYTES,
    sizeOf: (page) => ENTRY_BYTES + LONGEST_KEY + page.length,
  })
  #scratch: Bits | null = null

  constructor(hitsBytes = HITS_BYTES) {
    this.#hits = new LRUCache({
      maxSize: hitsBytes,
      sizeCalculation: ({ rows }, key) =>
        ENTRY_BYTES + key.length * 2 + (isList(rows) ? rows.byteLength : rows.words.byteLength),
      // A bitset that goes is the memory of the next one: a new one of 125 KB has to be cleared.
      dispose: ({ rows }) => {
        if (!isList(rows)) this.#scratch ??= rows
      },
    })
  }

  /** A bitset of so many rows that a search may write to until it returns; it holds anything. */
  scratch(rows: number): Bits {
    if (this.#scratch?.size !== rows) this.#scratch = new Bits(rows)
    return this.#scratch
  }

  /** What fits the query in any order and on any page; undefined where it is not remembered. */
  hits(view: SearchedView, query: SearchQuery): Hits | undefined {
    return this.#hits.get(this.#filterKey(view, query))
  }

  /**
   * Remembers hits: a list by a copy of its own, a bitset only where it is the scratch memory, which
   * then is scratch memory no longer. All others belong to a view or a snapshot.
   */
  keep(view: SearchedView, query: SearchQuery, { rows, ...rest }: Hits): void {
    const isOwn = rows === this.#scratch
    if (!isList(rows) && !isOwn) return
    if (isOwn) this.#scratch = null
    this.#hits.set(this.#filterKey(view, query), {
      rows: isList(rows) ? rows.slice() : rows,
      ...rest,
    })
  }

  /** The page of a query as it was written, by `make` where it is not remembered. */
  page(view: SearchedView, query: SearchQuery, make: () => Promise<Buffer>): Promise<Buffer> {
    const key = `${this.#numberOf(view)} ${JSON.stringify(query)}`
    return key.length > LONGEST_KEY ? make() : this.#pages.get(key, make)
  }

  /** Forgets all: another snapshot makes other views. */
  clear(): void {
    this.#hits.clear()
    this.#pages.clear()
    this.#scratch = null
  }

  #filterKey(view: SearchedView, query: SearchQuery): string {
    const filter = { ...query, sort: undefined, page: undefined, page_size: undefined }
    return `${this.#numberOf(view)} ${JSON.stringify(filter)}`
  }
}
