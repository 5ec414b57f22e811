/**
 * What a source's last feed held: the hash of each taken line, the offer that it made, and what the
 * feed as a whole is judged by (the row's mark, price and quantity), packed into one blob.
 */

const COLUMNS = 6
const BYTES = COLUMNS * 4

/** What a line says, for the shape of its feed. */
export interface LineFacts {
  mark: number
  /** Cents; 0 for none. */
  price: number
  qty: number
}

/** A set of offer ids. Ids are row numbers of one table, so they lie close together. */
export class OfferSet {
  #bits = new Uint8Array(1 << 12)
  size = 0

  has(id: number): boolean {
    return (((this.#bits[id >>> 3] ?? 0) >> (id & 7)) & 1) === 1
  }

  /** False when it was there already. */
  add(id: number): boolean {
    const byte = id >>> 3
    if (byte >= this.#bits.length) {
      const grown = new Uint8Array(Math.max(byte + 1, this.#bits.length * 2))
      grown.set(this.#bits)
      this.#bits = grown
    }
    const bit = 1 << (id & 7)
    if ((this.#bits[byte]! & bit) !== 0) return false
    this.#bits[byte]! |= bit
    this.size++
    return true
  }
}

/** In the place of a hash: the feed named the offer once and no longer does. */
const DROPPED_LO = 0
const DROPPED_HI = 0xffff_ffff

/**
 * The previous feed's lines. An entry whose hash is 0 must be read again; one whose offer is 0 made
 * none.
 */
export class KnownLines {
  readonly count: number
  readonly lo: Uint32Array
  readonly hi: Uint32Array
  readonly offers: Uint32Array
  readonly #marks: Uint32Array
  readonly #prices: Uint32Array
  readonly #qtys: Uint32Array
  /**
   * Open addressing: place + 1 of an entry, 0 for free. Made when the first line is not where it
   * was.
   */
  #table: Uint32Array | null = null
  #cursor = 0
  /**
   * After a miss: the offer of the line that stood there, most likely the changed line's own; 0 for
   * none.
   */
  guess = 0
  /** After a hit: where the line stands. */
  place = 0

  constructor(blob: Uint8Array | null) {
    const bytes = blob ? new Uint8Array(blob).buffer : new ArrayBuffer(0)
    this.count = Math.floor(bytes.byteLength / BYTES)
    const column = (n: number) => new Uint32Array(bytes, this.count * 4 * n, this.count)
    this.lo = column(0)
    this.hi = column(1)
    this.offers = column(2)
    this.#marks = column(3)
    this.#prices = column(4)
    this.#qtys = column(5)
  }

  facts(place: number): LineFacts {
    return { mark: this.#marks[place]!, price: this.#prices[place]!, qty: this.#qtys[place]! }
  }

  /** The offer that this very line made last time, 0 when it is new or changed. */
  offerOf(lo: number, hi: number): number {
    // Most lines stand where they stood: no need to search for those. A miss is taken for a line
    // that changed in its place; where it was a new one, the search finds the next line and sets
    // the cursor right again.
    const at = this.#cursor
    const found =
      at < this.count && this.lo[at] === lo && this.hi[at] === hi ? at : this.#search(lo, hi)
    if (found === -1) this.guess = this.offers[at] ?? 0
    else this.place = found
    this.#cursor = found === -1 ? at + 1 : found + 1
    return found === -1 ? 0 : this.offers[found]!
  }

  #search(lo: number, hi: number): number {
    const table = (this.#table ??= this.#index())
    const mask = table.length - 1
    for (let slot = lo & mask; table[slot] !== 0; slot = (slot + 1) & mask) {
      const at = table[slot]! - 1
      if (this.lo[at] === lo && this.hi[at] === hi) return at
    }
    return -1
  }

  #index(): Uint32Array {
    const table = new Uint32Array(1 << Math.max(4, Math.ceil(Math.log2(this.count * 2 + 1))))
    const mask = table.length - 1
    for (let at = 0; at < this.count; at++) {
      if (this.lo[at] === 0 && this.hi[at] === 0) continue
      let slot = this.lo[at]! & mask
      while (table[slot] !== 0) slot = (slot + 1) & mask
      table[slot] = at + 1
    }
    return table
  }

  /** Whether this entry is not a line but an offer that the feed dropped. */
  isDropped(at: number): boolean {
    return this.lo[at] === DROPPED_LO && this.hi[at] === DROPPED_HI
  }

  /** Every offer that the lines made, and those that the feed dropped. */
  offerSet(): OfferSet {
    const set = new OfferSet()
    for (const offer of this.offers) if (offer !== 0) set.add(offer)
    return set
  }

  /**
   * Marks lines to be read again, and forgets offers that are gone. The number of lines touched.
   */
  reopen(changed: (id: number) => boolean, removed: OfferSet): number {
    let touched = 0
    for (let at = 0; at < this.count; at++) {
      const offer = this.offers[at]!
      if (offer === 0) continue
      const gone = removed.has(offer)
      if (!gone && !changed(offer)) continue
      touched++
      if (gone) this.offers[at] = 0
      else if (this.isDropped(at)) continue
      this.lo[at] = 0
      this.hi[at] = 0
    }
    return touched
  }

  blob(): Buffer {
    return Buffer.from(this.lo.buffer)
  }
}

/** Collects the lines of the feed that is being read. */
export class LinesBuilder {
  #columns: Uint32Array[]
  count = 0

  constructor(expected: number) {
    const size = Math.max(1024, expected + (expected >>> 4))
    this.#columns = Array.from({ length: COLUMNS }, () => new Uint32Array(size))
  }

  add(lo: number, hi: number, offer: number, { mark, price, qty }: LineFacts = NOTHING): void {
    const at = this.count
    if (at === this.#columns[0]!.length) this.#grow()
    const columns = this.#columns
    columns[0]![at] = lo
    columns[1]![at] = hi
    columns[2]![at] = offer
    columns[3]![at] = mark
    columns[4]![at] = price
    columns[5]![at] = qty
    this.count++
  }

  drop(offer: number): void {
    this.add(DROPPED_LO, DROPPED_HI, offer)
  }

  /** What the lines so far say, in their order. */
  facts(): { marks: Uint32Array; prices: Uint32Array; qtys: Uint32Array } {
    const [marks, prices, qtys] = this.#columns
      .slice(3)
      .map((column) => column.subarray(0, this.count))
    return { marks: marks!, prices: prices!, qtys: qtys! }
  }

  #grow(): void {
    this.#columns = this.#columns.map((from) => {
      const grown = new Uint32Array(from.length * 2)
      grown.set(from)
      return grown
    })
  }

  blob(): Buffer {
    const all = new Uint32Array(this.count * COLUMNS)
    this.#columns.forEach((column, n) => all.set(column.subarray(0, this.count), this.count * n))
    return Buffer.from(all.buffer)
  }
}

const NOTHING: LineFacts = { mark: 0, price: 0, qty: 0 }
