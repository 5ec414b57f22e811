/** What callers have begun: a closing app takes no more of it, and waits for what has not ended. */

export interface UnderWay {
  /** Runs work that a closing app waits for; rejects with `closed` from then on. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Waits until all of it has ended. */
  ended(): Promise<void>
}

/** `closing` is aborted when nothing more is to be begun. */
export function openUnderWay(closing: AbortSignal): UnderWay {
  const running = new Set<Promise<unknown>>()
  return {
    run(work) {
      if (closing.aborted) return Promise.reject(new Error('closed'))
      const ended = Promise.resolve().then(work)
      const settled = ended
        .then(
          () => {},
          () => {},
        )
        .finally(() => running.delete(settled))
      running.add(settled)
      return ended
    },
    async ended() {
      // What ends may have had something else begin in its place.
      while (running.size > 0) await Promise.all(running)
    },
  }
}
