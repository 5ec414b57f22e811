/** How tests open an app: on clocks with fractions, and with an eye on its log. */
import { open } from '../../lib/app/open.js'
import type { App, OpenOptions } from '../../lib/app/open.js'
import { watchErrors } from './error-watch.js'
import { fractional } from './clock.js'

export interface WatchedOptions extends OpenOptions {
  /**
   * Errors that the test provokes in the log, by message; each must really come. Any other fails
   * the test when the app is closed.
   */
  expectErrors?: readonly RegExp[]
}

export interface WatchedApp extends App {
  /** As the option, from inside a test. */
  expectErrors(...lines: RegExp[]): void
}

export async function openForTest({
  expectErrors = [],
  ...options
}: WatchedOptions = {}): Promise<WatchedApp> {
  const { now = Date.now, monotonic = options.now ?? (() => performance.now()) } = options
  const watch = watchErrors(options.log)
  watch.expect(...expectErrors)
  const app = await open({
    ...options,
    log: watch.log,
    now: fractional(now),
    monotonic: fractional(monotonic),
  })
  const close = async () => {
    await app.close()
    watch.check()
  }
  return { ...app, close, [Symbol.asyncDispose]: close, expectErrors: watch.expect }
}
