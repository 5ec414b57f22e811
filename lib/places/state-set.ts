/**
 * Sets of the 50 states and the District of Columbia in one number. 51 bits: a double and an
 * INTEGER of SQLite hold each such set exactly.
 */
import { STATES, isMilitary, isTerritory } from './states.js'
import type { StateCode } from './states.js'

/** The states that a set may hold, in the order of its bits. */
export const SET_STATES: readonly StateCode[] = (Object.keys(STATES) as StateCode[]).filter(
  (code) => !isTerritory(code) && !isMilitary(code),
)
const BITS = new Map<string, number>(SET_STATES.map((code, i) => [code, 2 ** i]))

export type StateSet = number

export const NO_STATES: StateSet = 0
export const ALL_STATES: StateSet = 2 ** SET_STATES.length - 1

/** The set of these states. Throws for anything that a set cannot hold, such as a territory. */
export function stateSet(codes: Iterable<string>): StateSet {
  let set = NO_STATES
  for (const code of new Set(codes)) {
    const bit = BITS.get(code)
    if (bit === undefined) throw new Error(`${code} is not one of the states or DC`)
    set += bit
  }
  return set
}

export function hasState(set: StateSet, code: string): boolean {
  const bit = BITS.get(code)
  // Bit operators of JavaScript see 32 bits alone.
  return bit !== undefined && Math.floor(set / bit) % 2 === 1
}

/** The states of a set, in the order of `SET_STATES`. */
export function statesIn(set: StateSet): StateCode[] {
  return set === NO_STATES ? [] : SET_STATES.filter((code) => hasState(set, code))
}
