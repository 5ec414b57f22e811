/**
 * Waits for work, but for no longer than so many milliseconds, and not beyond the end of what
 * `signal` tells. The work itself goes on.
 */
export async function inTime<T>(
  work: Promise<T>,
  ms: number,
  late: () => Error,
  signal?: AbortSignal,
): Promise<T> {
  const ended = new AbortController()
  const end = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(late()), ms)
    ended.signal.addEventListener('abort', () => clearTimeout(timer))
    const close = () => reject(new Error('the app closes'))
    if (signal?.aborted) close()
    signal?.addEventListener('abort', close, { signal: ended.signal })
  })
  try {
    return await Promise.race([work, end])
  } finally {
    ended.abort()
  }
}
