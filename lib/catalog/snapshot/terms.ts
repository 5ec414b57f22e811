/**
 * Builds the term dictionary: every word of the catalog in byte order, each with the ascending rows
 * that hold it.
 */
import type { Column } from './arena.js'
import { GrowingNumbers, GrowingTexts, reorderTexts } from './growing.js'
import { identity, inverse, sortByBytes } from './permutation.js'
import { beginsSpelling, phraseAt, runsOf } from '../search/spellings.js'
import { wordReader } from '../search/tokens.js'

/**
 * Words in the order in which they were first seen, found again through a hash table over their
 * bytes.
 */
class WordTable {
  readonly words = new GrowingTexts()
  #slots = new Uint32Array(1024)

  /** The number of a word, new or known. */
  add(buffer: Uint8Array, from: number, to: number): number {
    const mask = this.#slots.length - 1
    let slot = hash(buffer, from, to) & mask
    for (; ; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot]!
      if (entry === 0) break
      if (this.#equals(entry - 1, buffer, from, to)) return entry - 1
    }
    this.words.pushBytes(buffer, from, to)
    this.#slots[slot] = this.words.length
    if (this.words.length * 2 > this.#slots.length) this.#grow()
    return this.words.length - 1
  }

  #equals(word: number, buffer: Uint8Array, from: number, to: number): boolean {
    const { starts, bytes } = this.words
    const start = starts.at(word)
    if (starts.at(word + 1) - start !== to - from) return false
    for (let i = 0; i < to - from; i++) if (bytes[start + i] !== buffer[from + i]) return false
    return true
  }

  #grow(): void {
    const slots = new Uint32Array(this.#slots.length * 4)
    const mask = slots.length - 1
    const { starts, bytes } = this.words
    for (let word = 0; word < this.words.length; word++) {
      let slot = hash(bytes, starts.at(word), starts.at(word + 1)) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = word + 1
    }
    this.#slots = slots
  }
}

/** FNV-1a, with the high bits mixed down for the table's mask. */
function hash(buffer: Uint8Array, from: number, to: number): number {
  let h = 0x811c9dc5
  for (let i = from; i < to; i++) h = Math.imul(h ^ buffer[i]!, 0x01000193)
  return h ^ (h >>> 15)
}

/** What else a word of a name says, worked out once. */
interface Spelled {
  runs: readonly string[]
  /** The words that begin at its second run and later ones: `19g5` has g5 and 5. */
  ends: readonly number[]
  /** One of its runs may begin a spelling of something. */
  isSpelling: boolean
}

/** Words of more runs are codes. */
const MOST_RUNS = 5

/** Collects the words of offers one after the other. */
export class TermBuilder {
  readonly #table = new WordTable()
  /** Distinct words of each offer, offer by offer. */
  readonly #words = new GrowingNumbers()
  readonly #starts = new GrowingNumbers()
  #start = 0
  readonly #spelled: (Spelled | undefined)[] = []
  /** The words of the name that is being read. */
  #name: Spelled[] = []
  readonly #readCode = wordReader((buffer, from, to) =>
    this.#add(this.#table.add(buffer, from, to)),
  )
  readonly #readName = wordReader((buffer, from, to, isJoined) => {
    const word = this.#table.add(buffer, from, to)
    this.#add(word)
    if (!isJoined)
      this.#name.push((this.#spelled[word] ??= this.#spell(buffer.toString('utf8', from, to))))
  })

  /**
   * Takes the searched texts of the next offer: names, which are read in all spellings, and codes
   * as they are.
   */
  addOffer(names: readonly (string | null)[], codes: readonly (string | null)[]): void {
    this.#start = this.#words.length
    this.#starts.push(this.#start)
    for (const name of names) if (name !== null) this.#addName(name)
    for (const code of codes) if (code !== null) this.#readCode(code)
  }

  /** The words of the offer that was added last. */
  lastWords(): string[] {
    const { bytes, starts } = this.#table.words
    return Array.from({ length: this.#words.length - this.#start }, (_, i) => {
      const word = this.#words.at(this.#start + i)
      return Buffer.from(bytes.buffer, bytes.byteOffset).toString(
        'utf8',
        starts.at(word),
        starts.at(word + 1),
      )
    })
  }

  #addName(text: string): void {
    this.#name = []
    this.#readName(text)
    for (const { ends } of this.#name) for (const word of ends) this.#add(word)
    if (!this.#name.some(({ isSpelling }) => isSpelling)) return
    const runs = this.#name.flatMap((word) => word.runs)
    for (let at = 0; at < runs.length; at++) {
      for (const word of phraseAt(runs, at)?.means ?? []) this.#add(this.#wordOf(word))
    }
  }

  #spell(word: string): Spelled {
    const runs = runsOf(word)
    const ends =
      runs.length > MOST_RUNS
        ? []
        : runs.slice(1).map((_, i) => this.#wordOf(runs.slice(i + 1).join('')))
    return { runs, ends, isSpelling: runs.some(beginsSpelling) }
  }

  #wordOf(text: string): number {
    const bytes = Buffer.from(text)
    return this.#table.add(bytes, 0, bytes.length)
  }

  #add(word: number): void {
    for (let i = this.#start; i < this.#words.length; i++) if (this.#words.at(i) === word) return
    this.#words.push(word)
  }

  /**
   * The index as columns; `offerOf` says which of the offers, in the order they were added, each
   * row is.
   */
  columns(offerOf: Uint32Array): Record<string, Column> {
    this.#starts.push(this.#words.length)
    const words = this.#table.words.column()
    const order = identity(this.#table.words.length)
    sortByBytes(order, words)
    const { postings, starts } = this.#postings(offerOf, inverse(order))
    const { bytes, starts: termStarts } = reorderTexts(words, order)
    return { termBytes: bytes, termStarts, postings, postingStarts: starts }
  }

  /** Rows are visited in order, so that the rows of each term come out ascending. */
  #postings(
    offerOf: Uint32Array,
    termOf: Uint32Array,
  ): { postings: Uint32Array; starts: Uint32Array } {
    const words = this.#words.values()
    const offers = this.#starts.values()
    const starts = new Uint32Array(termOf.length + 1)
    for (let i = 0; i < words.length; i++) starts[termOf[words[i]!]! + 1]!++
    for (let term = 0; term < termOf.length; term++) starts[term + 1]! += starts[term]!
    const next = starts.slice()
    const postings = new Uint32Array(words.length)
    for (let row = 0; row < offerOf.length; row++) {
      const offer = offerOf[row]!
      for (let i = offers[offer]!; i < offers[offer + 1]!; i++)
        postings[next[termOf[words[i]!]!]!++] = row
    }
    return { postings, starts }
  }
}
