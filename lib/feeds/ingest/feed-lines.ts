/** The lines of a feed beside those of the last one: which are known, and what each one names. */
import { KnownLines, LinesBuilder } from '../read/known-lines.js'
import type { LineFacts } from '../read/known-lines.js'
import { LineHash } from '../read/line-hash.js'
import type { Batch } from '../read/lines.js'

export class FeedLines {
  /** Of the last feed. */
  readonly before: KnownLines
  readonly #built: LinesBuilder
  #hash: LineHash | null = null
  /** Hashes of the lines of the batch in hand. */
  #lo = new Uint32Array(0)
  #hi = new Uint32Array(0)
  #guess = new Uint32Array(0)
  /** Where a line of the batch stood in the last feed. */
  #place = new Uint32Array(0)
  #isPending = false

  constructor(before: Buffer | null) {
    this.before = new KnownLines(before)
    this.#built = new LinesBuilder(this.before.count)
  }

  /** A line waits for a newer edition of this file, so the same bytes must be read again. */
  get isPending(): boolean {
    return this.#isPending
  }

  /** `seed` names all that decides what a line means. */
  begin(seed: string): void {
    this.#hash = new LineHash(seed)
  }

  /** The offer that a line named in the last feed; 0 for a line that is new. */
  find(batch: Batch, index: number): number {
    if (this.#lo.length < batch.count) {
      this.#lo = new Uint32Array(batch.start.length)
      this.#hi = new Uint32Array(batch.start.length)
      this.#guess = new Uint32Array(batch.start.length)
      this.#place = new Uint32Array(batch.start.length)
    }
    const hash = this.#hash!
    hash.take(batch.buffer, batch.start[index]!, batch.end[index]!)
    this.#lo[index] = hash.lo
    this.#hi[index] = hash.hi
    const offer = this.before.offerOf(hash.lo, hash.hi)
    if (offer === 0) this.#guess[index] = this.before.guess
    else this.#place[index] = this.before.place
    return offer
  }

  /** Which offer a new line may name. */
  guess(index: number): number {
    return this.#guess[index]!
  }

  /** What the last feed said in a known line. */
  factsOf(index: number): LineFacts {
    return this.before.facts(this.#place[index]!)
  }

  /** Notes a line, so that it need not be read next time; without an index it will be. */
  keep(index: number | null, offer: number, facts: LineFacts): void {
    if (index === null) {
      this.#isPending = true
      this.#built.add(0, 0, offer, facts)
    } else this.#built.add(this.#lo[index]!, this.#hi[index]!, offer, facts)
  }

  /** Goes on knowing an offer that no line names; `mustReread` where what it says may change. */
  drop(offer: number, mustReread: boolean): void {
    this.#built.drop(offer)
    if (mustReread) this.#isPending = true
  }

  /** What all lines say, before what the file no longer names is written down beside them. */
  facts(): ReturnType<LinesBuilder['facts']> {
    return this.#built.facts()
  }

  blob(): Buffer {
    return this.#built.blob()
  }
}
