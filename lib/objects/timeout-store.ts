/**
 * A store of whatever kind of which each call ends, one way or the other: neither who asks nor the
 * end of the app may wait for one that hangs.
 */
import { setMaxListeners } from 'node:events'
import { inTime } from '../core/async/wait.js'
import { MINUTE, SECOND } from '../core/clock.js'
import type { ObjectStore } from './store.js'

export interface StoreLimits {
  /** Milliseconds for an answer. */
  answering?: number
  /** Milliseconds for taking a file in, or listing all. */
  storing?: number
}

const ANSWERING = 15 * SECOND
const STORING = 15 * MINUTE

/**
 * The same store; once `signal` is aborted, what is still waited for rejects, and so does every
 * later call.
 */
export function endingStore(
  store: ObjectStore,
  signal: AbortSignal,
  { answering = ANSWERING, storing = STORING }: StoreLimits = {},
): ObjectStore {
  // One for every call that is waited for.
  setMaxListeners(0, signal)
  const ends = async <T>(ms: number, ask: () => Promise<T>) =>
    inTime(ask, {
      ms,
      closing: signal,
      late: () => {
        throw new Error(
          signal.aborted
            ? 'the app closes'
            : `the object store did not answer within ${ms / SECOND} s`,
        )
      },
    })
  const [get, open] = [store.get?.bind(store), store.open?.bind(store)]
  return {
    put: (...args) => ends(storing, () => store.put(...args)),
    has: (key) => ends(answering, () => store.has(key)),
    remove: (key) => ends(answering, () => store.remove(key)),
    list: (prefix) => ends(storing, () => store.list(prefix)),
    url: (...args) => ends(answering, () => store.url(...args)),
    ...(get && { get: (key) => ends(answering, () => get(key)) }),
    // Only of files that lie here.
    ...(open && { open: (address) => open(address) }),
  }
}
