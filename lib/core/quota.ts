/** Rolling quotas: how many there were within a time that ends now. */
import { MINUTE, SECOND } from './clock.js'
import { ApiError } from './errors.js'
import type { ErrorCode } from './errors.js'

export interface Quota {
  limit: number
  /** Milliseconds. */
  window: number
}

/** Milliseconds until one more fits, 0 when it fits now. `times` in ascending order. */
export function waitFor(times: readonly number[], now: number, { limit, window }: Quota): number {
  const within = times.filter((at) => at > now - window)
  return within.length < limit ? 0 : within[within.length - limit]! + window - now
}

/** The refusal of one more; `ms` is how long it has to wait. */
export function quotaExceeded(
  code: ErrorCode,
  { limit, window }: Quota,
  ms: number,
  what: string,
): ApiError {
  const seconds = Math.max(1, Math.ceil(ms / SECOND))
  return new ApiError(code, {
    message: `${what} Wait as long as Retry-After says.`,
    details: { limit, window_seconds: window / SECOND, retry_after_seconds: seconds },
    headers: { 'retry-after': String(seconds) },
  })
}

/**
 * The last calls of one caller, at most `limit` in a minute: a true sliding window, so that a
 * minute's edge gives no double burst.
 */
export class SlidingWindow {
  /** A ring: `#used` times that end before `#next`, none older than a minute at the last look. */
  readonly #times: Float64Array
  #next = 0
  #used = 0
  #last = 0

  constructor(limit: number) {
    this.#times = new Float64Array(limit)
  }

  /** Milliseconds until one more call fits; 0 when it fits now. */
  wait(now: number): number {
    return this.remaining(now) > 0 ? 0 : this.#oldest() + MINUTE - this.#last
  }

  /** The caller has seen that it fits. */
  record(now: number): void {
    if (this.remaining(now) === 0) this.#used--
    this.#times[this.#next] = this.#last
    this.#next = (this.#next + 1) % this.#times.length
    this.#used++
  }

  remaining(now: number): number {
    this.#last = this.#steady(now)
    while (this.#used > 0 && this.#oldest() <= this.#last - MINUTE) this.#used--
    return this.#times.length - this.#used
  }

  #oldest(): number {
    return this.#times[(this.#next - this.#used + this.#times.length) % this.#times.length]!
  }

  /**
   * A clock that steps back must not lock a caller for longer than the window: later times are
   * taken as now.
   */
  #steady(now: number): number {
    if (now >= this.#last) return now
    if (this.#last - now < MINUTE) return this.#last
    for (let i = 0; i < this.#times.length; i++) this.#times[i] = Math.min(this.#times[i]!, now)
    return now
  }
}
