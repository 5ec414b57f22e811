/** What a source's last feed held: the hash of each taken line and the offer that it made, packed into one blob. */

const BYTES = 12

/** A set of offer ids. Ids are row numbers of one table, so they lie close together. */
export class OfferSet {
  #bits = new Uint8Array(1 << 12)
  size = 0

  has(id: number): boolean {
    return ((this.#bits[id >>> 3] ?? 0) >> (id & 7) & 1) === 1
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

/** The previous feed's lines. An entry whose hash is 0 must be read again; one whose offer is 0 made none. */
export class KnownLines {
  readonly count: number
  readonly lo: Uint32Array
  readonly hi: Uint32Array
  readonly offers: Uint32Array
  /** Open addressing: place + 1 of an entry, 0 for free. Made when the first line is not where it was. */
  #table: Uint32Array | null = null
  #cursor = 0
  /** After a miss: the offer of the line that stood there, most likely the changed line's own; 0 for none. */
  guess = 0

  constructor(blob: Uint8Array | null) {
    const bytes = blob ? new Uint8Array(blob).buffer : new ArrayBuffer(0)
    this.count = Math.floor(bytes.byteLength / BYTES)
    this.lo = new Uint32Array(bytes, 0, this.count)
    this.hi = new Uint32Array(bytes, this.count * 4, this.count)
    this.offers = new Uint32Array(bytes, this.count * 8, this.count)
  }

  /** The offer that this very line made last time, 0 when it is new or changed. */
  offerOf(lo: number, hi: number): number {
    // Most lines stand where they stood: no need to search for those. A miss is taken for a line that changed in its
    // place; where it was a new one, the search finds the next line and sets the cursor right again.
    const at = this.#cursor
    const found = at < this.count && this.lo[at] === lo && this.hi[at] === hi ? at : this.#search(lo, hi)
    if (found === -1) this.guess = this.offers[at] ?? 0
    this.#cursor = found === -1 ? at + 1 : found + 1
    return found === -1 ? 0 : this.offers[found]!
  }

  #search(lo: number, hi: number): number {
    const table = this.#table ??= this.#index()
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

  /** Whether this entry is no line but an offer that the feed dropped. */
  isDropped(at: number): boolean {
    return this.lo[at] === DROPPED_LO && this.hi[at] === DROPPED_HI
  }

  /** Every offer that the lines made, and those that the feed dropped. */
  offerSet(): OfferSet {
    const set = new OfferSet()
    for (const offer of this.offers) if (offer !== 0) set.add(offer)
    return set
  }

  /** Marks lines to be read again, and forgets offers that are gone. The number of lines touched. */
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
  #lo: Uint32Array
  #hi: Uint32Array
  #offers: Uint32Array
  count = 0

  constructor(expected: number) {
    const size = Math.max(1024, expected + (expected >>> 4))
    this.#lo = new Uint32Array(size)
    this.#hi = new Uint32Array(size)
    this.#offers = new Uint32Array(size)
  }

  add(lo: number, hi: number, offer: number): void {
    if (this.count === this.#lo.length) this.#grow()
    this.#lo[this.count] = lo
    this.#hi[this.count] = hi
    this.#offers[this.count++] = offer
  }

  drop(offer: number): void {
    this.add(DROPPED_LO, DROPPED_HI, offer)
  }

  #grow(): void {
    const grow = (from: Uint32Array) => {
      const grown = new Uint32Array(from.length * 2)
      grown.set(from)
      return grown
    }
    this.#lo = grow(this.#lo)
    this.#hi = grow(this.#hi)
    this.#offers = grow(this.#offers)
  }

  blob(): Buffer {
    const all = new Uint32Array(this.count * 3)
    all.set(this.#lo.subarray(0, this.count))
    all.set(this.#hi.subarray(0, this.count), this.count)
    all.set(this.#offers.subarray(0, this.count), this.count * 2)
    return Buffer.from(all.buffer)
  }
}
