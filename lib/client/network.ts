/**
 * Attempts on the network: how long one may take, when the next may come, and when there is none.
 */
import { inTime, pause } from '../core/async/wait.js'
import { refuseUnknownOptions } from '../core/options.js'
import { RemoteError, failureOf } from './remote-error.js'

export interface NetworkOptions {
  /** Stands in for the global fetch, for a proxy agent, a test, or a server in this process. */
  fetch?: (request: Request) => Promise<Response>
  /** How often what can be repeated is tried; 3 by default, 1 repeats nothing. */
  attempts?: number
  /**
   * Seconds that one attempt may take, of a download that nothing may come; 90 by default, since an
   * export may take 60 to be made.
   */
  timeout?: number
  /**
   * Seconds that a call may wait between its attempts, all together; 60 by default. Who would have
   * to wait longer gets the error at once. `catalog_polled_too_early` is waited for only where this
   * is given and long enough.
   */
  maxWait?: number
  /** Ends calls that run, and refuses later ones: code `aborted`. */
  signal?: AbortSignal
  /** For tests: waits so many seconds; a number from 0 to 1; milliseconds since 1970. */
  sleep?: (seconds: number, signal?: AbortSignal) => Promise<void>
  random?: () => number
  now?: () => number
}

export interface Network extends Omit<Required<NetworkOptions>, 'signal' | 'maxWait'> {
  maxWait: number | undefined
  signal: AbortSignal | undefined
}

/** The longest time that a timer can hold; a longer one would fire at once. */
const LONGEST = 2_000_000
const WAIT = 60
const TIMEOUT = 90

const OPTIONS = {
  fetch: true,
  attempts: true,
  timeout: true,
  maxWait: true,
  signal: true,
  sleep: true,
  random: true,
  now: true,
} as const

/**
 * Options of the function `of` with their defaults. Throws a RangeError for what is not a number of
 * attempts or seconds, a TypeError for an option that there is not.
 */
export function networkOf(options: NetworkOptions, of: string): Network {
  refuseUnknownOptions<Required<NetworkOptions>>(of, options as Required<NetworkOptions>, OPTIONS)
  const {
    attempts = 3,
    timeout = TIMEOUT,
    maxWait,
    signal,
    random = Math.random,
    now = Date.now,
  } = options
  if (!Number.isInteger(attempts) || attempts < 1)
    throw new RangeError('attempts must be a whole number from 1')
  if (!(timeout > 0)) throw new RangeError('timeout must be seconds, more than 0')
  if (maxWait !== undefined && !(maxWait >= 0))
    throw new RangeError('maxWait must be seconds, 0 or more')
  return {
    attempts,
    random,
    now,
    signal,
    sleep: options.sleep ?? sleep,
    timeout: Math.min(timeout, LONGEST),
    maxWait: maxWait === undefined ? undefined : Math.min(maxWait, LONGEST),
    fetch: options.fetch ?? ((request) => fetch(request)),
  }
}

/** Throws where the signal was aborted before anything was sent. */
export function refuseAborted({ signal }: Network): void {
  if (signal?.aborted)
    throw new RemoteError({
      code: 'aborted',
      outcome: 'not_sent',
      message: 'The call was aborted before it was sent.',
    })
}

export interface Attempt {
  /** Ends what the attempt began. */
  signal: AbortSignal
  /**
   * Waits for a step of the attempt, not longer than the timeout. Rejects with RemoteError alone.
   */
  within<T>(step: () => Promise<T>): Promise<T>
  end(): void
}

/** Begins an attempt to reach `to`, which only messages name. */
export function begin({ timeout, signal }: Network, to: string): Attempt {
  const ending = new AbortController()
  // Of its own: many calls may share the caller's signal, and each listener on that one would be
  // counted.
  const either = AbortSignal.any(signal ? [signal, ending.signal] : [ending.signal])
  return {
    signal: either,
    end: () => ending.abort(),
    async within(step) {
      try {
        // A fetch of the caller's own may not look at the signal, or throw at once.
        return await inTime(async () => step(), {
          ms: timeout * 1_000,
          closing: either,
          late: () => {
            ending.abort()
            throw new Error('late')
          },
        })
      } catch (error) {
        if (error instanceof RemoteError) throw error
        if (signal?.aborted) throw aborted()
        if (either.aborted)
          throw new RemoteError({
            code: 'timeout',
            outcome: 'unknown',
            message: `${to} did not answer within ${timeout} seconds.`,
          })
        throw new RemoteError(failureOf(error, to))
      }
    },
  }
}

const aborted = () =>
  new RemoteError({ code: 'aborted', outcome: 'unknown', message: 'The call was aborted.' })

const PASSING = new Set([429, 500, 502, 503, 504])
const ON_THE_WAY = new Set(['unreachable', 'connection_lost', 'timeout'])

/**
 * Waits until the next attempt may begin; throws the error where there is none. For what can be
 * repeated without harm.
 */
export function makeRetry({
  attempts,
  maxWait,
  signal,
  sleep: wait,
  random,
}: Network): (error: unknown) => Promise<void> {
  let [attempt, waited] = [0, 0]
  return async (error) => {
    attempt++
    if (
      !(error instanceof RemoteError) ||
      attempt >= attempts ||
      !(PASSING.has(error.status) || ON_THE_WAY.has(error.code))
    )
      throw error
    const most = maxWait ?? (error.code === 'catalog_polled_too_early' ? 0 : WAIT)
    // Half a second, one, two, ...: each at least half of that, so that callers who failed together
    // do not come back together.
    const seconds = error.retryAfter ?? (2 ** (attempt - 2) * (1 + random())) / 2
    if (waited + seconds > most) throw error
    waited += seconds
    await wait(seconds, signal)
    if (signal?.aborted) throw aborted()
  }
}

/** Resolves after so many seconds, or once the signal is aborted. */
async function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  // A timer may fire a moment early, and no attempt may.
  await pause(Math.ceil(seconds * 1_000) + 2, signal && AbortSignal.any([signal]))
}

/**
 * Seconds that an answer asks to wait, as it counts them or up to a date; null where it does not
 * say.
 */
export function retryAfterOf(headers: Headers, now: () => number): number | null {
  const text = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  const until = text.endsWith('GMT') ? Date.parse(text) : Number.NaN
  if (Number.isNaN(until)) return null
  // Against the server's own clock, where it tells its time.
  const date = Date.parse(headers.get('date') ?? '')
  return Math.max(0, (until - (Number.isNaN(date) ? now() : date)) / 1_000)
}
