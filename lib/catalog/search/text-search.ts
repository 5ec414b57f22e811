/** Finds rows by their words in the term dictionary that terms.ts built. */
import { LRUCache } from 'lru-cache'
import { MB } from '../../core/figures.js'
import { firstPlace } from '../../core/binary-search.js'
import { readColumn } from '../snapshot/arena.js'
import type { Arena } from '../snapshot/arena.js'
import { Bits } from '../snapshot/bits.js'
import { isList, keepIn, listHas, longestList } from '../snapshot/row-set.js'
import type { RowSet } from '../snapshot/row-set.js'
import { conditionsOf } from './spellings.js'
import type { Condition } from './spellings.js'

/**
 * Terms from `from` up to `to` begin with the prefix; `atMost` is how many rows they list, doubles
 * included.
 */
interface Prefix {
  readonly from: number
  readonly to: number
  readonly atMost: number
}

/** A condition with the terms that meet it; at most `atMost` rows do. */
type Search =
  | Prefix
  | { readonly all: readonly Search[]; readonly atMost: number }
  | { readonly any: readonly Search[]; readonly atMost: number }

/** Bytes of remembered bitsets: 256 prefixes at a million rows. */
const MEMO_BYTES = 32 * MB
/** Bitsets that are remembered however large they are. */
const MEMO_LEAST = 16
/** Short lists are sorted rather than gathered in a bitset. */
const SHORT = 512
/**
 * What it costs to look a row up in the list of one term, in postings that are gathered instead.
 */
const LOOKUP = 16

/**
 * A function from a text to the rows that hold every word of it; null when the text has no word.
 */
export function openTextSearch(arena: Arena, rows: number): (text: string) => RowSet | null {
  const index = new TermIndex(arena, rows)
  return (text) => {
    const conditions = conditionsOf(text)
    return conditions.length === 0 ? null : index.rows(index.search({ all: conditions }))
  }
}

class TermIndex {
  readonly #rows: number
  readonly #bytes: Buffer
  readonly #starts: Uint32Array
  readonly #postings: Uint32Array
  readonly #postingStarts: Uint32Array
  readonly #memo: LRUCache<string, Bits>

  constructor(arena: Arena, rows: number) {
    const bytes = readColumn(arena, 'termBytes', 'u8')
    this.#rows = rows
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#starts = readColumn(arena, 'termStarts', 'u32')
    this.#postings = readColumn(arena, 'postings', 'u32')
    this.#postingStarts = readColumn(arena, 'postingStarts', 'u32')
    this.#memo = new LRUCache({
      maxSize: Math.max(MEMO_BYTES, MEMO_LEAST * new Bits(rows).words.byteLength),
      sizeCalculation: (bits) => bits.words.byteLength,
    })
  }

  /**
   * The rarest of what must all hold comes first, and alternatives that no row meets are left out.
   */
  search(condition: Condition): Search {
    if ('word' in condition) return this.#prefix(condition.word, condition.isWhole)
    if ('all' in condition) {
      const all = condition.all.map((part) => this.search(part)).sort((a, b) => a.atMost - b.atMost)
      return { all, atMost: all[0]!.atMost }
    }
    const any = condition.any.map((part) => this.search(part)).filter(({ atMost }) => atMost > 0)
    return any.length === 1
      ? any[0]!
      : { any, atMost: any.reduce((sum, { atMost }) => sum + atMost, 0) }
  }

  /** All rows that meet the condition. */
  rows(search: Search): RowSet {
    if (search.atMost === 0) return new Uint32Array()
    if ('all' in search)
      return search.all
        .slice(1)
        .reduce((found, part) => this.#narrow(found, part), this.rows(search.all[0]!))
    if ('any' in search)
      return search.any.map((part) => this.rows(part)).reduce((a, b) => this.#union(a, b))
    return this.#gather(search)
  }

  /** The rows of `found` that meet the condition too. */
  #narrow(found: RowSet, search: Search): RowSet {
    if ('all' in search) return search.all.reduce((left, part) => this.#narrow(left, part), found)
    if (!('any' in search)) return this.#narrowTo(found, search)
    if (isList(found) && found.length <= SHORT)
      return sortedUnion(search.any.map((part) => this.#narrow(found, part) as Uint32Array))
    const other = this.rows(search)
    if (isList(found)) return kept(found, other)
    return isList(other) ? kept(other, found) : found.copy().and(other)
  }

  #narrowTo(found: RowSet, prefix: Prefix): RowSet {
    if (!isList(found)) {
      const other = this.#gather(prefix)
      return isList(other) ? kept(other, found) : found.copy().and(other)
    }
    if (found.length * (prefix.to - prefix.from) * LOOKUP > prefix.atMost)
      return kept(found, this.#gather(prefix))
    return found.filter((row) => {
      for (let term = prefix.from; term < prefix.to; term++)
        if (listHas(this.#list(term), row)) return true
      return false
    })
  }

  #union(a: RowSet, b: RowSet): RowSet {
    if (isList(a) && isList(b) && a.length + b.length <= SHORT) return sortedUnion([a, b])
    const bits = isList(a) ? new Bits(this.#rows) : a.copy()
    if (isList(a)) addTo(bits, a)
    if (isList(b)) addTo(bits, b)
    else bits.or(b)
    return bits
  }

  /** All rows of the prefix. Large bitsets are remembered, the least recently used goes first. */
  #gather(prefix: Prefix): RowSet {
    const { from, to, atMost } = prefix
    const long = atMost > longestList(this.#rows)
    if (to - from === 1 && !long) return this.#list(from)
    const range = this.#postings.subarray(this.#postingStarts[from], this.#postingStarts[to])
    if (atMost <= SHORT) return sortedUnion([range])
    const name = `${from} ${to}`
    let bits = this.#memo.get(name)
    if (bits) return bits
    addTo((bits = new Bits(this.#rows)), range)
    if (long) this.#memo.set(name, bits)
    return bits
  }

  #list(term: number): Uint32Array {
    return this.#postings.subarray(this.#postingStarts[term], this.#postingStarts[term + 1])
  }

  #prefix(word: string, isWhole: boolean): Prefix {
    const bytes = Buffer.from(word)
    const terms = this.#starts.length - 1
    const from = firstPlace(terms, (term) => this.#compare(term, bytes) >= 0)
    let to = from + firstPlace(terms - from, (next) => this.#compare(from + next, bytes) > 0)
    // The word itself comes before those that are longer.
    if (isWhole && to > from)
      to = this.#starts[from]! + bytes.length === this.#starts[from + 1] ? from + 1 : from
    return { from, to, atMost: this.#postingStarts[to]! - this.#postingStarts[from]! }
  }

  /**
   * Order of a term, cut to the length of the prefix, and the prefix. Byte by byte: words differ in
   * their first letters, and a call of Buffer.compare costs more than to look at them.
   */
  #compare(term: number, prefix: Buffer): number {
    const start = this.#starts[term]!
    const length = this.#starts[term + 1]! - start
    for (let i = 0; i < prefix.length; i++) {
      if (i === length) return -1
      const difference = this.#bytes[start + i]! - prefix[i]!
      if (difference !== 0) return difference
    }
    return 0
  }
}

function kept(list: Uint32Array, set: RowSet): Uint32Array {
  const rows = list.slice()
  return rows.subarray(0, keepIn(rows, rows.length, set))
}

function sortedUnion(lists: Uint32Array[]): Uint32Array {
  const rows = new Uint32Array(lists.reduce((sum, list) => sum + list.length, 0))
  let length = 0
  for (const list of lists) {
    rows.set(list, length)
    length += list.length
  }
  rows.sort()
  let distinct = 0
  for (let i = 0; i < rows.length; i++)
    if (i === 0 || rows[i] !== rows[i - 1]) rows[distinct++] = rows[i]!
  return rows.subarray(0, distinct)
}

function addTo({ words }: Bits, rows: Uint32Array): void {
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!
    words[row >>> 5]! |= 1 << (row & 31)
  }
}
