/** Times and randomness come from the context, so that tests can set both. */

export const SECOND = 1_000
export const MINUTE = 60_000
export const HOUR = 3_600_000
export const DAY = 86_400_000

/**
 * A clock in whole milliseconds, as everything that is kept needs them. Rounded down, as `Date.now`
 * itself is: what waits for a moment never comes before it.
 */
export function wholeMilliseconds(clock: () => number): () => number {
  return () => Math.floor(clock())
}

/** `YYYY-MM-DD` of a UTC day. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** Start of the UTC day in milliseconds. */
export function startOfDay(ms: number): number {
  return Math.floor(ms / DAY) * DAY
}
