/** How many calls there were in the last minute. */
import { MINUTE } from '../core/clock.js'

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
