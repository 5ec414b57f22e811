/** How long things take: as in production, or as short as they can be in a test. All in milliseconds. */
import { SECOND } from '../../lib/core/clock.js'

export interface Pace {
  /** Of a lease that is not renewed. */
  lease: number
  /** After which an order that nobody shows was not sent: longer than any freeze. */
  settle: number
  /** Between two looks that must both show nothing. */
  apart: number
  /** At most, from a second on. */
  freeze: number
  stall: number
  /** At most, until a process or the server is started again. */
  away: number
  storeAway: number
  /** Within which another node leads, or something is wrong. */
  leaderless: number
}

/** The lease is the product's own. Freezes last for more than it as well as for less. */
export const REAL: Pace = {
  lease: 15 * SECOND,
  settle: 25 * SECOND,
  apart: 5 * SECOND,
  freeze: 20 * SECOND,
  stall: 18 * SECOND,
  away: 5 * SECOND,
  storeAway: 59 * SECOND,
  leaderless: 20 * SECOND,
}

/** Nothing less will do: a transaction may do nothing for five seconds, and a send take as long. */
export const QUICK: Pace = {
  lease: 6 * SECOND,
  settle: 12 * SECOND,
  apart: 2 * SECOND,
  freeze: 8 * SECOND,
  stall: 7 * SECOND,
  away: 2 * SECOND,
  storeAway: 6 * SECOND,
  leaderless: 20 * SECOND,
}

export const PACES: Readonly<Record<string, Pace>> = { real: REAL, quick: QUICK }
