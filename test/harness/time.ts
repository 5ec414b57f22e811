/**
 * The time of a simulation: a wall clock that can be set, a steady one that cannot, and timers that
 * wait for neither.
 */

interface Timer {
  at: number
  serial: number
  run: () => void
  /** Goes on when a process dies: what happens at a distributor. */
  isOutside: boolean
}

const START = Date.UTC(2026, 10, 21, 12)

export class VirtualTime {
  /** Milliseconds since the simulation began. */
  steady = 0
  #wall = START
  #serial = 0
  #timers: Timer[] = []

  /** What the machine's clock shows. */
  now(): number {
    return this.#wall + this.steady
  }

  /** What the distributors' clocks show. */
  outside(): number {
    return START + this.steady
  }

  /** Somebody sets the machine's clock. */
  jump(ms: number): void {
    this.#wall += ms
  }

  /** How far the machine's clock is off. */
  get error(): number {
    return this.#wall - START
  }

  /** Calls `run` after so many milliseconds, whichever process lives then. */
  later(ms: number, run: () => void): void {
    this.#add(ms, run, true)
  }

  /** Goes on to the next timer and runs it; false where there is none. */
  next(until = Infinity): boolean {
    let first: Timer | undefined
    for (const timer of this.#timers)
      if (!first || timer.at < first.at || (timer.at === first.at && timer.serial < first.serial))
        first = timer
    if (!first || first.at > until) return false
    this.steady = Math.max(this.steady, first.at)
    this.#timers.splice(this.#timers.indexOf(first), 1)
    first.run()
    return true
  }

  /** Lets time pass; what is due meanwhile happens. */
  advance(ms: number): void {
    const until = this.steady + ms
    while (this.next(until));
    this.steady = until
  }

  /** A process died: its timers are gone. */
  forgetInside(): void {
    this.#timers = this.#timers.filter(({ isOutside }) => isOutside)
  }

  /** Something happens at a distributor later. */
  get hasOutside(): boolean {
    return this.#timers.some(({ isOutside }) => isOutside)
  }

  /**
   * Takes the place of `setTimeout` and `clearTimeout` of the whole process; returns what puts them
   * back.
   */
  install(): () => void {
    const { setTimeout, clearTimeout } = globalThis
    globalThis.setTimeout = ((run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
      this.#add(ms, () => run(...args), false)) as unknown as typeof setTimeout
    globalThis.clearTimeout = ((timer: unknown) => {
      const at = this.#timers.indexOf(timer as Timer)
      if (at >= 0) this.#timers.splice(at, 1)
    }) as typeof clearTimeout
    return () => Object.assign(globalThis, { setTimeout, clearTimeout })
  }

  #add(ms: number, run: () => void, isOutside: boolean): Timer & { unref(): void } {
    const timer = {
      at: this.steady + Math.max(0, ms),
      serial: this.#serial++,
      run,
      isOutside,
      unref() {
        return timer
      },
    }
    this.#timers.push(timer)
    return timer
  }
}

/** Lets everything happen that waits for nothing but its turn. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
