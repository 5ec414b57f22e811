/** What callers have begun: a closing app takes no more of it, and waits for what has not ended. */

export interface UnderWay {
  /** Runs work that a closing app waits for; rejects with `closed` from then on. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** The same for work that is done within one turn of the loop; throws `closed` from then on. */
  runNow<T>(work: () => T): T
  /**
   * The same for values that come one after the other: each step is work of its own, so that a
   * closing app waits for no more than the step that has begun.
   */
  steps<T>(begin: () => AsyncGenerator<T>): AsyncGenerator<T>
  /** Waits until all of it has ended. */
  ended(): Promise<void>
}

/** `closing` is aborted when nothing more is to be begun. */
export function openUnderWay(closing: AbortSignal): UnderWay {
  const running = new Set<Promise<unknown>>()

  function run<T>(work: () => Promise<T>): Promise<T> {
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
  }

  return {
    run,
    runNow(work) {
      if (closing.aborted) throw new Error('closed')
      return work()
    },
    async *steps(begin) {
      const values = begin()
      try {
        for (;;) {
          const next = await run(() => values.next())
          if (next.done) return
          yield next.value
        }
      } finally {
        await values.return(undefined)
      }
    },
    async ended() {
      // What ends may have had something else begin in its place.
      while (running.size > 0) await Promise.all(running)
    },
  }
}
