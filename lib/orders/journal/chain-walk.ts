/**
 * Follows the journal's chain as `ChainReader` does, three times as fast: what a line holds is
 * parsed only where it is wanted.
 */
import type { Sealer } from '../../core/storage/secrets.js'
import { ChainReader, isFault } from './chain.js'
import type { ChainFault, JournalKind } from './chain.js'

/** Length of `,"mac":"<43 characters>"}`, which closes a line. */
const CLOSING = 53
const OPENING = ',"mac":"'

/** A line that is right. */
export interface WalkedLine {
  seq: number
  mac: string
  kind: JournalKind
  /** JSON of what it tells. */
  data: string
}

export class ChainWalk {
  readonly #sealer: Sealer
  #seq = 0
  #mac = ''

  constructor(sealer: Sealer) {
    this.#sealer = sealer
  }

  get head(): { seq: number; mac: string } {
    return { seq: this.#seq, mac: this.#mac }
  }

  /** The next line, or what is wrong with it. */
  next(text: string): WalkedLine | ChainFault {
    const end = text.length - CLOSING
    const mac = text.slice(end + OPENING.length, -2)
    const beginning = `{"seq":${this.#seq + 1},"at":`
    const kindAt = text.indexOf(',"kind":"', beginning.length)
    const dataAt = text.indexOf('","data":', kindAt)
    const prev = `,"prev":"${this.#mac}"`
    const isWhole =
      end > 0 &&
      text.startsWith(OPENING, end) &&
      text.startsWith(beginning) &&
      text.startsWith(prev, end - prev.length) &&
      dataAt > 0
    if (!isWhole || this.#sealer.fingerprint(`${text.slice(0, end)}}`) !== mac)
      return this.#faultOf(text)
    this.#mac = mac
    return {
      seq: ++this.#seq,
      mac,
      kind: text.slice(kindAt + 9, dataAt) as JournalKind,
      data: text.slice(dataAt + 9, end - prev.length),
    }
  }

  /** In the words of the chain's own reader. */
  #faultOf(text: string): ChainFault {
    const read = new ChainReader(this.#sealer, this.#seq, this.#mac).next(text)
    return isFault(read)
      ? read
      : { seq: this.#seq + 1, fault: 'the line is written in another way than ours' }
  }
}
