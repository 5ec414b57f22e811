/**
 * A small seeded generator: the demo market is the same on every machine, so that examples can name
 * its UPCs.
 */
export interface Random {
  /** 0 <= x < 1 */
  next(): number
  /** A whole number, both bounds inclusive. */
  int(low: number, high: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
}

/** One stream per name: a change to one family of goods leaves every other family as it was. */
export function createRandom(seed: number, stream: string): Random {
  let state = hash(stream, seed)
  // mulberry32: one multiplication chain, full 32-bit period, far better than a demo needs.
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    next,
    int: (low, high) => low + Math.floor(next() * (high - low + 1)),
    chance: (probability) => next() < probability,
    pick: (list) => list[Math.floor(next() * list.length)]!,
  }
}

function hash(text: string, seed: number): number {
  let value = (seed ^ 0x811c9dc5) | 0
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  return value
}
