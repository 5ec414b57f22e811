/**
 * Seeded randomness of the crash harness: which orders, which faults, which deaths. When a signal
 * arrives is up to the machine.
 */
import { createRandom } from '../../../lib/simulator/market/random.js'
import type { Random } from '../../../lib/simulator/market/random.js'

export type { Random }

/**
 * A stream of its own for each name, so that one thing more of one kind leaves all others as they
 * were.
 */
export const streamOf = (seed: number, name: string): Random => createRandom(seed, name)
