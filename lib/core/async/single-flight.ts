/** Work that all who ask for it while it runs share. */

export class SingleFlight<K, T> {
  readonly #running = new Map<K, Promise<T>>()

  /** How much is running. */
  get size(): number {
    return this.#running.size
  }

  has(key: K): boolean {
    return this.#running.has(key)
  }

  /** What is running under this key, or `work`, begun now. */
  run(key: K, work: () => Promise<T>): Promise<T> {
    let running = this.#running.get(key)
    if (!running) {
      running = work().finally(() => this.#running.delete(key))
      this.#running.set(key, running)
    }
    return running
  }

  /** Waits until what is running now has ended, well or badly. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#running.values())
  }
}
