/** A set of rows as a dense bitset: 125 KB per million rows. */
export class Bits {
  readonly words: Uint32Array
  readonly size: number

  constructor(size: number, words: Uint32Array = new Uint32Array((size + 31) >>> 5)) {
    this.size = size
    this.words = words
  }

  static full(size: number): Bits {
    const bits = new Bits(size)
    bits.words.fill(0xffffffff)
    if (size & 31) bits.words[bits.words.length - 1] = 2 ** (size & 31) - 1
    return bits
  }

  has(row: number): boolean {
    return ((this.words[row >>> 5]! >>> (row & 31)) & 1) === 1
  }

  add(row: number): void {
    this.words[row >>> 5]! |= 1 << (row & 31)
  }

  delete(row: number): void {
    this.words[row >>> 5]! &= ~(1 << (row & 31))
  }

  copy(): Bits {
    return new Bits(this.size, this.words.slice())
  }

  /** Keeps only rows that are in `other` too. */
  and(other: Bits): this {
    const { words } = this
    for (let i = 0; i < words.length; i++) words[i]! &= other.words[i]!
    return this
  }

  or(other: Bits): this {
    const { words } = this
    for (let i = 0; i < words.length; i++) words[i]! |= other.words[i]!
    return this
  }

  /** Removes the rows that are in `other`. */
  andNot(other: Bits): this {
    const { words } = this
    for (let i = 0; i < words.length; i++) words[i]! &= ~other.words[i]!
    return this
  }

  addAll(rows: ArrayLike<number>): this {
    const { words } = this
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!
      words[row >>> 5]! |= 1 << (row & 31)
    }
    return this
  }

  count(): number {
    let total = 0
    const { words } = this
    for (let i = 0; i < words.length; i++) total += popcount(words[i]!)
    return total
  }

  /** The nearest row from this one on, itself included, upwards or downwards; -1 for none. */
  next(row: number, step: 1 | -1): number {
    const { words } = this
    let i = row >>> 5
    let word = words[i]! & (step === 1 ? -1 << (row & 31) : -1 >>> (31 - (row & 31)))
    while (word === 0) {
      i += step
      if (i < 0 || i >= words.length) return -1
      word = words[i]! | 0
    }
    return i * 32 + 31 - Math.clz32(step === 1 ? word & -word : word)
  }

  /** Calls `visit` with each row in ascending order until it returns false. */
  forEach(visit: (row: number) => boolean | void): void {
    for (let i = 0; i < this.words.length; i++) {
      // As a signed number: above 2^31 it would be computed in floating point, five times slower.
      let word = this.words[i]! | 0
      while (word !== 0) {
        const lowest = word & ((~word + 1) | 0)
        if (visit(i * 32 + 31 - Math.clz32(lowest)) === false) return
        word ^= lowest
      }
    }
  }
}

export function popcount(word: number): number {
  word -= (word >>> 1) & 0x55555555
  word = (word & 0x33333333) + ((word >>> 2) & 0x33333333)
  return Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
