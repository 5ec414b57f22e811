/** One call of a connector, with a time limit. */
import { SECOND } from '../../../core/clock.js'
import { kindOf } from '../../../core/errors.js'
import type { SenderCtx } from './ctx.js'

export interface Called<T> {
  answer: { value: T } | { failed: string }
  /** Resolves when the call itself has ended, which may be long after its answer was given up. */
  ended: Promise<void>
}

/**
 * Runs one call of a connector for at most `timeout` milliseconds, by a timer of our own: a
 * connector need not look at its signal.
 */
export async function callInTime<T>(
  { log, abandonCalls }: Pick<SenderCtx, 'log' | 'abandonCalls'>,
  timeout: number,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<Called<T>> {
  const overdue = new AbortController()
  const late = new Promise<{ failed: string }>((resolve) => {
    overdue.signal.addEventListener(
      'abort',
      () =>
        resolve({
          failed: abandonCalls.aborted
            ? 'the server was stopped while it waited'
            : `no answer within ${Math.round(timeout / SECOND)} s`,
        }),
      { once: true },
    )
  })
  const giveUp = () => overdue.abort()
  const timer = setTimeout(giveUp, timeout)
  if (abandonCalls.aborted) giveUp()
  else abandonCalls.addEventListener('abort', giveUp, { once: true })
  const called = Promise.resolve()
    .then(() => call(overdue.signal))
    .then(
      (value) => ({ value }),
      (error: unknown) => {
        // Not the error's own words: they may repeat what was sent.
        log.warn({ cause: kindOf(error) }, 'a call to a distributor failed')
        return { failed: `the connection failed (${kindOf(error)})` }
      },
    )
  const answer = await Promise.race([called, late])
  clearTimeout(timer)
  abandonCalls.removeEventListener('abort', giveUp)
  return { answer, ended: called.then(() => {}) }
}
