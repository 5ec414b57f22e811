/** A clock that runs faster than real time, the same in every process that is given it. */

export interface FastClock {
  /** Real time from which on it runs, and what it showed then; milliseconds since 1970. */
  real: number
  base: number
  /** Milliseconds of it in one of real time. */
  speed: number
}

export function startClock(base: number, speed: number): FastClock {
  return { real: Date.now(), base, speed }
}

/** What it shows at a moment of real time. */
export function timeOf({ real, base, speed }: FastClock, at = Date.now()): number {
  return Math.floor(base + (at - real) * speed)
}

/** The clock that goes on from here at another speed, so many milliseconds of its own ahead. */
export function goOn(
  clock: FastClock,
  { speed = clock.speed, ahead = 0 }: { speed?: number; ahead?: number },
): FastClock {
  const real = Date.now()
  return { real, base: timeOf(clock, real) + ahead, speed }
}
