/** Waiting: for a time, for the next turn of the event loop, and for work that may never end. */

/** Lets everything else that waits have its turn. */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })

/** Resolves after so many milliseconds, or once the signal is aborted. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  inTime(() => new Promise<never>(() => {}), { ms, closing: signal, late: () => {} })

export interface Deadline {
  /** Aborted once the time is up, or when `closing` is. */
  readonly signal: AbortSignal
  /** Takes it back: afterwards neither timer nor listener is left. */
  clear(): void
}

/**
 * A deadline in so many milliseconds. By a timer of our own: Node 20 may collect a timeout's signal
 * that only a combined one knows, and then it never ends. The timer keeps a command alive that
 * waits for nothing else.
 */
export function deadlineIn(ms: number, closing?: AbortSignal): Deadline {
  const ending = new AbortController()
  const end = () => ending.abort()
  const timer = setTimeout(end, ms)
  if (closing?.aborted) end()
  closing?.addEventListener('abort', end, { once: true })
  return {
    signal: ending.signal,
    clear() {
      clearTimeout(timer)
      closing?.removeEventListener('abort', end)
    },
  }
}

export interface Patience<L> {
  /** Milliseconds. */
  ms: number
  /** Ends the wait earlier when it is aborted. */
  closing?: AbortSignal | undefined
  /** What then stands in for the answer; what it throws, the wait rejects with. */
  late: () => L
}

/**
 * Waits for work, but for no longer than so many milliseconds, and not beyond the end of what
 * `closing` tells. The signal that the work gets tells it that nobody waits any more; work that
 * does not look at it goes on.
 */
export async function inTime<T, L>(
  work: (signal: AbortSignal) => Promise<T>,
  { ms, closing, late }: Patience<L>,
): Promise<T | L> {
  const { signal, clear } = deadlineIn(ms, closing)
  const over = new Promise<typeof LATE>((resolve) => {
    if (signal.aborted) resolve(LATE)
    signal.addEventListener('abort', () => resolve(LATE), { once: true })
  })
  try {
    const first = await Promise.race([work(signal), over])
    return first === LATE ? late() : first
  } finally {
    clear()
  }
}

const LATE = Symbol('late')
