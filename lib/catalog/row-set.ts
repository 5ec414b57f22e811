/** Sets of rows: a short one is a list of ascending rows, a long one a bitset. */
import { Bits } from './bits.js'

export type RowSet = Uint32Array | Bits

/** The longest list: with more rows than this, a pass over a bitset is cheaper than one over the list. */
export function longestList(rows: number): number {
  return Math.max(64, rows >>> 5)
}

export function isList(set: RowSet): set is Uint32Array {
  return set instanceof Uint32Array
}

/** Whether an ascending list holds the row. */
export function listHas(list: Uint32Array, row: number): boolean {
  let from = 0
  let to = list.length
  while (from < to) {
    const middle = (from + to) >>> 1
    if (list[middle]! < row) from = middle + 1
    else to = middle
  }
  return list[from] === row
}

/**
 * Keeps the first `length` rows of the ascending `rows` that are in `set` too, in place; returns how many. A cursor
 * leaps through a longer list in doubling steps, so that its length hardly matters.
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
  let from = cursor + (step >>> 1)
  let to = Math.min(cursor + step, list.length)
  while (from < to) {
    const middle = (from + to) >>> 1
    if (list[middle]! < row) from = middle + 1
    else to = middle
  }
  return from
}

/** Writes what is in every one of the bitsets to `out` and returns how many rows that is. */
export function intersect(sets: readonly Bits[], out: Bits): number {
  const { words } = out
  words.set(sets[0]!.words)
  for (let s = 1; s < sets.length - 1; s++) out.and(sets[s]!)
  if (sets.length === 1) return out.count()
  return andAndCount(words, sets[sets.length - 1]!.words)
}

/** One pass for both: the bits are in a register when they are counted. */
function andAndCount(words: Uint32Array, other: Uint32Array): number {
  let total = 0
  for (let i = 0; i < words.length; i++) {
    let word = words[i]! & other[i]!
    words[i] = word
    if (word === 0) continue
    word -= (word >>> 1) & 0x55555555
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333)
    total += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return total
}

/** The rows of a bitset as an ascending list, written to `out`. */
export function listOf(set: Bits, out: Uint32Array): Uint32Array {
  let length = 0
  const { words } = set
  for (let i = 0; i < words.length; i++) {
    let word = words[i]!
    while (word !== 0) {
      const lowest = word & -word
      out[length++] = i * 32 + 31 - Math.clz32(lowest)
      word ^= lowest
    }
  }
  return out.subarray(0, length)
}
