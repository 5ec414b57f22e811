/** Columns that are built before their length is known. */

/**
 * Texts as UTF-8 bytes one behind the other: text `i` is `bytes[starts[i]]` up to `starts[i + 1]`.
 */
export interface TextColumn {
  readonly bytes: Uint8Array
  readonly starts: Uint32Array
}

/** A Uint32Array that doubles when it is full. */
export class GrowingNumbers {
  length = 0
  #values = new Uint32Array(64)

  push(value: number): void {
    if (this.length === this.#values.length) {
      const larger = new Uint32Array(this.length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.length++] = value
  }

  at(index: number): number {
    return this.#values[index]!
  }

  /** The values so far; a window, not a copy. */
  values(): Uint32Array {
    return this.#values.subarray(0, this.length)
  }
}

/**
 * A text column that is appended to. Millions of short strings cost a garbage collector more than
 * their bytes.
 */
export class GrowingTexts {
  readonly starts = new GrowingNumbers()
  bytes: Buffer = Buffer.allocUnsafeSlow(1024)
  #end = 0

  constructor() {
    this.starts.push(0)
  }

  get length(): number {
    return this.starts.length - 1
  }

  push(text: string): void {
    this.#reserve(text.length * 3)
    const { bytes } = this
    let end = this.#end
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code >= 128) {
        end += bytes.write(text.slice(i), end, 'utf8')
        break
      }
      bytes[end++] = code
    }
    this.#close(end)
  }

  pushBytes(source: Uint8Array, from: number, to: number): void {
    this.#reserve(to - from)
    let end = this.#end
    for (let i = from; i < to; i++) this.bytes[end++] = source[i]!
    this.#close(end)
  }

  column(): TextColumn {
    return { bytes: this.bytes.subarray(0, this.#end), starts: this.starts.values() }
  }

  #reserve(length: number): void {
    if (this.#end + length <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.#end + length))
    larger.set(this.bytes)
    this.bytes = larger
  }

  #close(end: number): void {
    this.#end = end
    this.starts.push(end)
  }
}

/** The texts of `column` in another order. */
export function reorderTexts(column: TextColumn, order: Uint32Array): TextColumn {
  const bytes = new Uint8Array(column.bytes.length)
  const starts = new Uint32Array(order.length + 1)
  let end = 0
  for (let i = 0; i < order.length; i++) {
    const item = order[i]!
    const stop = column.starts[item + 1]!
    for (let from = column.starts[item]!; from < stop; from++) bytes[end++] = column.bytes[from]!
    starts[i + 1] = end
  }
  return { bytes, starts }
}
