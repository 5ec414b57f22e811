/** Calls of one key, as one process counts them in memory. Times are milliseconds. */
import type { SlidingWindow } from '../../core/quota.js'
import type { CountedCall } from '../../db/metered.js'

export interface KeyCounts {
  window: SlidingWindow
  /** That the window was made for. */
  limit: number
  /** The start of a UTC day, and the calls on it. */
  day: number
  today: number
}

/** Counts a call at that time, or tells that it is one too many. */
export function countIn(counts: KeyCounts, at: number, perDay: number): CountedCall {
  const { window, limit } = counts
  const wait = window.wait(at)
  const isAllowed = wait === 0 && counts.today < perDay
  if (isAllowed) {
    window.record(at)
    counts.today++
  }
  const recent = limit - window.remaining(at)
  return { isAllowed, at, recent, today: counts.today, wait }
}
