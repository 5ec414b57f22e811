/** What was computed and may be wanted again. */
import { LRUCache } from 'lru-cache'
import { SingleFlight } from './async/single-flight.js'

/**
 * Keeps values up to so many bytes, the least recently used goes first, and only for as long as
 * somebody asks. A value that is larger than that is made and not kept.
 */
export class Cache<V extends object | string> {
  readonly #values: LRUCache<string, V>
  readonly #making = new SingleFlight<string, V>()
  /** Rises when all is forgotten: what was being made then is not kept. */
  #round = 0

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
    this.#values = new LRUCache({
      maxSize: most,
      // It takes no size of 0.
      sizeCalculation: (value) => Math.max(1, sizeOf(value)),
      ttl: idle,
      updateAgeOnGet: true,
      ttlAutopurge: true,
      // It would set a timer for each look at the clock.
      ttlResolution: 0,
    })
  }

  /** How many values are kept. */
  get size(): number {
    return this.#values.size
  }

  /**
   * The value, made by the first who asks; who asks meanwhile waits for the same one. What could
   * not be made is not kept.
   */
  async get(key: string, make: () => Promise<V>): Promise<V> {
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const round = this.#round
    return this.#making.run(`${round} ${key}`, async () => {
      const value = await make()
      if (round === this.#round) this.#values.set(key, value)
      return value
    })
  }

  clear(): void {
    this.#round++
    this.#values.clear()
  }
}
