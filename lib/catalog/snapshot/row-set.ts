/** Sets of rows: a short one is a list of ascending rows, a long one a bitset. */
import { lowerBound } from '../../core/binary-search.js'
import { popcount } from './bits.js'
import type { Bits } from './bits.js'

export type RowSet = Uint32Array | Bits

/**
 * The longest list: with more rows than this, a pass over a bitset is cheaper than one over the
 * list.
 */
export function longestList(rows: number): number {
  return Math.max(64, rows >>> 5)
}

export function isList(set: RowSet): set is Uint32Array {
  return 'length' in set
}

/** Whether an ascending list holds the row. */
export function listHas(list: Uint32Array, row: number): boolean {
  return list[lowerBound(list, row)] === row
}

/**
 * Keeps the first `length` rows of the ascending `rows` that are in `set` too, in place; returns
 * how many. A cursor leaps through a longer list in doubling steps, so that its length hardly
 * matters.
 */
export function keepIn(rows: Uint32Array, length: number, set: RowSet): number {
  let kept = 0
  if (!isList(set)) {
    for (let i = 0; i < length; i++) {
      const row = rows[i]!
      if (set.has(row)) rows[kept++] = row
    }
    return kept
  }
  let cursor = 0
  for (let i = 0; i < length && cursor < set.length; i++) {
    const row = rows[i]!
    cursor = leapTo(set, cursor, row)
    if (set[cursor] === row) rows[kept++] = row
  }
  return kept
}

/** The first place from `cursor` on that is not below `row`. */
function leapTo(list: Uint32Array, cursor: number, row: number): number {
  let step = 1
  while (cursor + step < list.length && list[cursor + step]! < row) step *= 2
  return lowerBound(list, row, cursor + (step >>> 1), Math.min(cursor + step, list.length))
}

/**
 * Writes what is in every one of the bitsets to `out`, which may be one of them, and returns how
 * many rows that is.
 */
export function intersect(sets: readonly Bits[], out: Bits): number {
  if (sets[0] !== out) out.words.set(sets[0]!.words)
  for (let s = 1; s < sets.length - 1; s++) out.and(sets[s]!)
  return sets.length === 1
    ? out.count()
    : andAndCount(out.words, sets[sets.length - 1]!.words, out.words)
}

/** How many rows both have. */
export function countBoth(a: Bits, b: Bits): number {
  return andAndCount(a.words, b.words, null)
}

/**
 * One pass for the intersection and its count. Four words at a time go through carry-save adders,
 * so that only every fourth of them is counted bit by bit.
 */
function andAndCount(a: Uint32Array, b: Uint32Array, out: Uint32Array | null): number {
  const whole = a.length - (a.length % 4)
  let ones = 0
  let twos = 0
  let fours = 0
  for (let i = 0; i < whole; i += 4) {
    const w0 = a[i]! & b[i]!
    const w1 = a[i + 1]! & b[i + 1]!
    const w2 = a[i + 2]! & b[i + 2]!
    const w3 = a[i + 3]! & b[i + 3]!
    if (out !== null) {
      out[i] = w0
      out[i + 1] = w1
      out[i + 2] = w2
      out[i + 3] = w3
    }
    const first = ones ^ w0
    const carry = (ones & w0) | (first & w1)
    const second = first ^ w1 ^ w2
    const carry2 = ((first ^ w1) & w2) | (second & w3)
    ones = second ^ w3
    const both = twos ^ carry
    fours = (fours + popcount((twos & carry) | (both & carry2))) | 0
    twos = both ^ carry2
  }
  let total = fours * 4 + popcount(twos) * 2 + popcount(ones)
  for (let i = whole; i < a.length; i++) {
    const word = a[i]! & b[i]!
    if (out !== null) out[i] = word
    total += popcount(word)
  }
  return total
}

/** The rows of a bitset as an ascending list, written to `out`. */
export function listOf(set: Bits, out: Uint32Array): Uint32Array {
  let length = 0
  const { words } = set
  for (let i = 0; i < words.length; i++) {
    // As a signed number: above 2^31 it would be computed in floating point.
    let word = words[i]! | 0
    while (word !== 0) {
      const lowest = word & ((~word + 1) | 0)
      out[length++] = i * 32 + 31 - Math.clz32(lowest)
      word ^= lowest
    }
  }
  return out.subarray(0, length)
}
