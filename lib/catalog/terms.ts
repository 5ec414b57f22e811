/** Builds the term dictionary: every word of the catalog in byte order, each with the ascending rows that hold it. */
import type { Column } from './arena.js'
import { GrowingNumbers, GrowingTexts, reorderTexts } from './growing.js'
import { identity, inverse, sortByBytes } from './permutation.js'
import { wordReader } from './tokens.js'

/** Words in the order in which they were first seen, found again through a hash table over their bytes. */
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

/** Collects the words of offers one after the other. */
export class TermBuilder {
  readonly #table = new WordTable()
  /** Distinct words of each offer, offer by offer. */
  readonly #words = new GrowingNumbers()
  readonly #starts = new GrowingNumbers()
  #start = 0
  readonly #read = wordReader((buffer, from, to) => {
    const word = this.#table.add(buffer, from, to)
    for (let i = this.#start; i < this.#words.length; i++) if (this.#words.at(i) === word) return
    this.#words.push(word)
  })

  /** Takes the searched texts of the next offer. */
  addOffer(texts: readonly (string | null)[]): void {
    this.#start = this.#words.length
    this.#starts.push(this.#start)
    for (const text of texts) if (text !== null) this.#read(text)
  }

  /** The index as columns; `offerOf` says which of the offers, in the order they were added, each row is. */
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
  #postings(offerOf: Uint32Array, termOf: Uint32Array): { postings: Uint32Array; starts: Uint32Array } {
    const words = this.#words.values()
    const offers = this.#starts.values()
    const starts = new Uint32Array(termOf.length + 1)
    for (let i = 0; i < words.length; i++) starts[termOf[words[i]!]! + 1]!++
    for (let term = 0; term < termOf.length; term++) starts[term + 1]! += starts[term]!
    const next = starts.slice()
    const postings = new Uint32Array(words.length)
    for (let row = 0; row < offerOf.length; row++) {
      const offer = offerOf[row]!
      for (let i = offers[offer]!; i < offers[offer + 1]!; i++) postings[next[termOf[words[i]!]!]!++] = row
    }
    return { postings, starts }
  }
}
