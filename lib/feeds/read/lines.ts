/**
 * Bytes of a feed to raw records, without making a string of any. A record is a line; where the
 * format has quotes, a newline inside a quoted field belongs to it. A quote opens only at the start
 * of a field, and one that nobody closes costs its own line, never the rest of the file.
 */
import type { ByteSource } from '../fetch/bytes.js'
import { recordText } from './text.js'

/** A longer record is not a row of a feed. */
const RECORD_CAP = 1024 ** 2
/** What one quoted field may hold before its opening quote counts as a stray one. */
const FIELD_BYTES = 65_536
const FIELD_LINES = 50
const BUFFER = 4 * 1024 ** 2
/** As much of a broken line as is kept for the operator. */
export const KEPT_TEXT = 200

const [TAB, LF, CR, SPACE, QUOTE] = [9, 10, 13, 32, 34]

export interface BrokenLine {
  line: number
  reason: string
  text: string
}

/**
 * Records of one piece of the file: bytes `start[i]` to `end[i]` of `buffer`. It holds only until
 * the next one is asked for.
 */
export interface Batch {
  readonly buffer: Buffer
  count: number
  start: Uint32Array
  end: Uint32Array
  /** Number of the record's first line in the file, from 1. */
  line: Uint32Array
  broken: BrokenLine[]
  /** The file ended without a newline: the last record, or the last broken line, may be cut off. */
  unterminated: boolean
}

export interface LineFormat {
  delimiter: string
  quote: '"' | null
}

/**
 * The records of a file in batches of about 4 MB. Blank lines are left out; a mark at the beginning
 * is stripped.
 */
export async function* readRecords(
  source: ByteSource,
  format: LineFormat,
): AsyncGenerator<Batch, undefined> {
  const splitter = new Splitter(format)
  for (;;) {
    const piece = await source.next()
    if (piece === null) break
    for (let at = 0; at < piece.length;) {
      at += splitter.fill(piece, at)
      if (splitter.full) yield splitter.split(false)
    }
  }
  yield splitter.split(true)
}

class Splitter {
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER)
  readonly #quote: boolean
  readonly #delimiter: number
  readonly #batch: Batch
  /** Bytes held, and how many of them are split already. */
  #length = 0
  #at = 0
  #line = 1
  #begun = false
  /** Inside a line that is too long: all goes until its end. */
  #skipping = false
  #final = false
  /** The record in hand goes on beyond its first newline. */
  #multiline = false

  constructor(format: LineFormat) {
    this.#quote = format.quote !== null
    this.#delimiter = format.delimiter.charCodeAt(0)
    const column = () => new Uint32Array(1 << 16)
    this.#batch = {
      buffer: this.#buffer,
      count: 0,
      start: column(),
      end: column(),
      line: column(),
      broken: [],
      unterminated: false,
    }
  }

  get full(): boolean {
    return this.#length === BUFFER
  }

  /** Copies what fits and says how much that was. The records of the last batch are over. */
  fill(piece: Buffer, from: number): number {
    if (this.full) this.#compact()
    const copied = piece.copy(this.#buffer, this.#length, from)
    this.#length += copied
    return copied
  }

  /** Splits what is held; an unfinished record at the end waits for more, or is the last one. */
  split(final: boolean): Batch {
    const batch = this.#batch
    batch.count = 0
    batch.broken = []
    this.#compact()
    this.#final = final
    if (!this.#begun && (this.#length >= 3 || final)) {
      this.#begun = true
      if (this.#length >= 3 && this.#buffer.readUIntBE(0, 3) === 0xefbbbf) this.#at = 3
    }
    this.#run()
    if (!final && this.#length - this.#at > RECORD_CAP) this.#skipRest()
    return batch
  }

  /** What the last batch left over moves to the front. */
  #compact(): void {
    this.#buffer.copyWithin(0, this.#at, this.#length)
    this.#length -= this.#at
    this.#at = 0
  }

  #run(): void {
    const data = this.#buffer.subarray(0, this.#length)
    // Each search runs on only when its last find was passed, so that every byte is looked at once
    // per search.
    const next = { lf: -2, cr: -2, quote: -2, nul: -2 }
    const find = (what: keyof typeof next, byte: number) => {
      if (next[what] !== -1 && next[what] < this.#at) next[what] = data.indexOf(byte, this.#at)
      return next[what]
    }
    while (this.#at < this.#length) {
      const lf = find('lf', LF)
      const cr = find('cr', CR)
      this.#multiline = false
      let end = lf === -1 || (cr !== -1 && cr < lf) ? cr : lf
      if (end === -1) {
        if (!this.#final) return
        end = this.#length
      }
      if (this.#quote && !this.#skipping) {
        const quote = find('quote', QUOTE)
        if (quote !== -1 && quote < end) {
          const quoted = this.#quotedEnd(data)
          if (quoted === 'more') return
          if (quoted === 'stray') {
            if (!this.#finish(end, 'a quote is opened and never closed')) return
            continue
          }
          this.#multiline = quoted > end
          end = quoted
        }
      }
      const nul = find('nul', 0)
      if (!this.#finish(end, nul !== -1 && nul < end ? 'the line holds a NUL byte' : null)) return
    }
  }

  /**
   * Takes the record that ends at `end` and goes past its newline. False when it takes more bytes
   * to know where that ends.
   */
  #finish(end: number, fault: string | null): boolean {
    let after = end + 1
    if (end < this.#length && this.#buffer[end] === CR) {
      if (end + 1 === this.#length && !this.#final) return false
      if (this.#buffer[end + 1] === LF && end + 1 < this.#length) after++
    }
    const start = this.#at
    const line = this.#line
    this.#line += 1 + this.#newlinesIn(start, end)
    this.#at = Math.min(after, this.#length)
    if (this.#skipping) this.#skipping = false
    else if (!this.#isBlank(start, end)) {
      const reason = fault ?? (end - start > RECORD_CAP ? TOO_LONG : null)
      if (reason === null) this.#add(start, end, line)
      else this.#break(line, reason, start, end)
      // Set by every record, so that the last one decides.
      this.#batch.unterminated = end === this.#length
    }
    return true
  }

  #newlinesIn(start: number, end: number): number {
    let count = 0
    if (this.#multiline) for (let i = start; i < end; i++) if (this.#buffer[i] === LF) count++
    return count
  }

  #isBlank(start: number, end: number): boolean {
    for (let i = start; i < end; i++)
      if (this.#buffer[i] !== SPACE && this.#buffer[i] !== TAB) return false
    return true
  }

  /**
   * The end of a record that has a quote in its first line. `more`: the field goes on beyond the
   * bytes held. `stray`: its quote is closed nowhere near, or by one that opens a field further
   * down.
   */
  #quotedEnd(data: Buffer): number | 'more' | 'stray' {
    const { length } = data
    const delimiter = this.#delimiter
    let i = this.#at
    for (;;) {
      while (i < length && this.#isPadding(data[i]!)) i++
      if (i < length && data[i] === QUOTE) {
        const closed = this.#closingQuote(data, i)
        if (typeof closed === 'string') return closed
        i = closed
      }
      while (i < length && data[i] !== delimiter && data[i] !== LF && data[i] !== CR) i++
      if (i >= length) return this.#final ? length : 'more'
      if (data[i] !== delimiter) return i
      i++
    }
  }

  #isPadding(byte: number): boolean {
    return byte === SPACE || (byte === TAB && this.#delimiter !== TAB)
  }

  /** The place after the quote that closes the one at `open`. */
  #closingQuote(data: Buffer, open: number): number | 'more' | 'stray' {
    let lines = 0
    for (let i = open + 1; ; i++) {
      if (i >= data.length) return this.#final ? 'stray' : 'more'
      if (i - open > FIELD_BYTES || lines > FIELD_LINES) return 'stray'
      const byte = data[i]
      if (byte === LF) lines++
      if (byte !== QUOTE) continue
      if (i + 1 >= data.length && !this.#final) return 'more'
      if (data[i + 1] === QUOTE) i++
      else return lines > 0 && !this.#endsField(data, i + 1) ? 'stray' : i + 1
    }
  }

  #endsField(data: Buffer, at: number): boolean {
    while (at < data.length && data[at] === SPACE) at++
    return at >= data.length || data[at] === this.#delimiter || data[at] === LF || data[at] === CR
  }

  #add(start: number, end: number, line: number): void {
    const batch = this.#batch
    if (batch.count === batch.start.length) {
      for (const name of ['start', 'end', 'line'] as const) {
        const grown = new Uint32Array(batch.count * 2)
        grown.set(batch[name])
        batch[name] = grown
      }
    }
    batch.start[batch.count] = start
    batch.end[batch.count] = end
    batch.line[batch.count++] = line
  }

  #break(line: number, reason: string, start: number, end: number): void {
    this.#batch.broken.push({
      line,
      reason,
      text: recordText(this.#buffer, start, Math.min(end, start + KEPT_TEXT)),
    })
  }

  #skipRest(): void {
    if (!this.#skipping) this.#break(this.#line, TOO_LONG, this.#at, this.#length)
    this.#skipping = true
    this.#at = this.#length
  }
}

const TOO_LONG = 'the line is longer than 1 MB'
