/**
 * Puts many short texts together as UTF-8, in memory that is used again. A text that is first
 * joined and then encoded is copied twice, and into new memory: with the numbers that are
 * remembered (records.ts), a search over HTTP takes 13 % less time this way.
 */

const INITIAL = 64 * 1024
/** Bytes that a UTF-16 unit may take. */
const MOST_BYTES = 3
const COMMA = 0x2c

export class TextWriter {
  #bytes = Buffer.allocUnsafeSlow(INITIAL)
  #length = 0

  /** Forgets what was written and begins with this text. */
  begin(text: string): void {
    this.#length = 0
    this.add(text)
  }

  add(text: string): void {
    if (this.#length + text.length * MOST_BYTES > this.#bytes.length) this.#grow(text.length)
    this.#length += this.#bytes.write(text, this.#length)
  }

  addComma(): void {
    if (this.#length === this.#bytes.length) this.#grow(1)
    this.#bytes[this.#length++] = COMMA
  }

  /** A copy of all that was written. */
  take(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#length))
  }

  #grow(units: number): void {
    const bytes = Buffer.allocUnsafeSlow((this.#length + units * MOST_BYTES) * 2)
    this.#bytes.copy(bytes, 0, 0, this.#length)
    this.#bytes = bytes
  }
}
