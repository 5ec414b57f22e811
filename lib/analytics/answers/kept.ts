/**
 * What was computed and may be wanted again: up to so many bytes, and only for as long as somebody
 * asks.
 */

interface Entry<V> {
  value: Promise<V>
  bytes: number
  timer: NodeJS.Timeout
}

export class Kept<V> {
  readonly #entries = new Map<string, Entry<V>>()
  readonly #idle: number
  readonly #most: number
  readonly #sizeOf: (value: V) => number
  #bytes = 0

  /**
   * `idle`: milliseconds without a question after which a value goes; `most`: bytes of all of them.
   */
  constructor({
    idle,
    most,
    sizeOf,
  }: {
    idle: number
    most: number
    sizeOf: (value: V) => number
  }) {
    this.#idle = idle
    this.#most = most
    this.#sizeOf = sizeOf
  }

  get size(): number {
    return this.#entries.size
  }

  /**
   * The value, made by the first who asks; who asks meanwhile waits for the same one. What could
   * not be made is not kept.
   */
  get(key: string, make: () => Promise<V>): Promise<V> {
    const known = this.#entries.get(key)
    if (known) {
      known.timer.refresh()
      // Last in line again: the first one is the next to go.
      this.#entries.delete(key)
      this.#entries.set(key, known)
      return known.value
    }
    const entry: Entry<V> = {
      value: make(),
      bytes: 0,
      timer: setTimeout(() => this.#drop(key, entry), this.#idle).unref(),
    }
    this.#entries.set(key, entry)
    entry.value.then(
      (value) => this.#weigh(key, entry, value),
      () => this.#drop(key, entry),
    )
    return entry.value
  }

  clear(): void {
    for (const [key, entry] of this.#entries) this.#drop(key, entry)
  }

  #weigh(key: string, entry: Entry<V>, value: V): void {
    if (this.#entries.get(key) !== entry) return
    entry.bytes = this.#sizeOf(value)
    this.#bytes += entry.bytes
    for (const [oldKey, old] of this.#entries) {
      if (this.#bytes <= this.#most || old === entry) break
      this.#drop(oldKey, old)
    }
  }

  #drop(key: string, entry: Entry<V>): void {
    clearTimeout(entry.timer)
    if (this.#entries.get(key) !== entry) return
    this.#entries.delete(key)
    this.#bytes -= entry.bytes
  }
}
