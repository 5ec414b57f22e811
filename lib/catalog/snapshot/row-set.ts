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
 * Writes what is in every one of the bitsets to `out`, which may be the first of them, and returns
 * how many rows that is.
 */
export function intersect(sets: readonly Bits[], out: Bits): number {
  const [first, ...others] = sets
  const last = others.pop()
  if (!last) {
    if (first !== out) out.words.set(first!.words)
    return out.count()
  }
  const [second, ...more] = others
  if (!second) return andAndCount(first!.words, last.words, out.words)
  and(first!.words, second.words, out.words)
  for (const set of more) out.and(set)
  return andAndCount(out.words, last.words, out.words)
}

function and(a: Uint32Array, b: Uint32Array, out: Uint32Array): void {
  for (let i = 0; i < out.length; i++) out[i] = a[i]! & b[i]!
}

/** Words that are counted until a count that may end looks whether it is decided. */
const BLOCK = 1024

/** How many rows both have; anything above `most` where they are more than that. */
export function countBoth(a: Bits, b: Bits, most = a.size): number {
  return countUpTo(a.words, b.words, 0, most)
}

/** How many rows of `a` are not in `b`; anything above `most` where they are more than that. */
export function countWithout(a: Bits, b: Bits, most = a.size): number {
  return countUpTo(a.words, b.words, -1, most)
}

function countUpTo(a: Uint32Array, b: Uint32Array, flip: 0 | -1, most: number): number {
  let total = 0
  for (let from = 0; from < a.length && total <= most; from += BLOCK)
    total += andAndCount(a, b, null, flip, from, Math.min(from + BLOCK, a.length))
  return total
}

/**
 * One pass for the intersection and its count; `flip` -1 takes what `b` has not. Four words at a
 * time go through carry-save adders, so that only every fourth of them is counted bit by bit.
 */
function andAndCount(
  a: Uint32Array,
  b: Uint32Array,
  out: Uint32Array | null,
  flip: 0 | -1 = 0,
  from = 0,
  to = a.length,
): number {
  const whole = to - ((to - from) % 4)
  let ones = 0
  let twos = 0
  let fours = 0
  for (let i = from; i < whole; i += 4) {
    const w0 = a[i]! & (b[i]! ^ flip)
    const w1 = a[i + 1]! & (b[i + 1]! ^ flip)
    const w2 = a[i + 2]! & (b[i + 2]! ^ flip)
    const w3 = a[i + 3]! & (b[i + 3]! ^ flip)
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
  for (let i = whole; i < to; i++) {
    const word = a[i]! & (b[i]! ^ flip)
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
