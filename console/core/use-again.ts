/** A server that is away: it is asked again until it is back. */
import { useEffect } from 'preact/hooks'
import type { CallError } from './call.js'

/** Milliseconds from one try to the next. */
const PAUSE = 3_000

/** Tries again for as long as a component is there and its last try found the server away. */
export function useAgain(error: CallError | undefined, retry: () => Promise<void>): void {
  useEffect(() => {
    if (!error?.isAway) return undefined
    const timer = window.setTimeout(() => void retry(), PAUSE)
    return () => window.clearTimeout(timer)
  }, [error])
}
