/** Random numbers that a seed repeats. */

export class Rng {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to less than 1. */
  next(): number {
    let t = (this.#state = (this.#state + 0x6d2b79f5) >>> 0)
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }

  /** A whole number from `least` to `most`, both included. */
  int(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)]!
  }

  /** One of the names, each as likely as its weight says. */
  weighted<K extends string>(weights: Readonly<Partial<Record<K, number>>>): K {
    const entries = Object.entries(weights) as [K, number][]
    let at = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of entries) if ((at -= weight) < 0) return name
    return entries.at(-1)![0]
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length)
    for (let i = 0; i < length; i++) bytes[i] = this.next() * 256
    return bytes
  }
}

/** Another seed for the n-th part of a run. */
export function seedOf(seed: number, n: number): number {
  return Math.floor(new Rng(seed ^ Math.imul(n + 1, 0x9e3779b1)).next() * 4_294_967_296)
}
