/**
 * Lines of level error in tests: one that nobody expected is a failure, and so is one that was
 * expected and did not come.
 */
import { inspect } from 'node:util'
import type { Log } from '../../lib/core/log.js'
import { silentLog } from '../../lib/core/log.js'

export interface ErrorWatch {
  /** For whatever is watched; hands every line on. */
  readonly log: Log
  /** Expects lines, each by its message or by that of its error: `MESSAGE: ERROR`. */
  expect(...lines: RegExp[]): void
  /** Throws where an error was logged that nobody expected, or an expected one was not. */
  check(): void
}

/** What a pattern is held against. */
export function errorText(fields: object, message: string): string {
  const { err } = fields as { err?: unknown }
  return err === undefined
    ? message
    : `${message}: ` +
        `${err instanceof Error ? err.message : ((err as { message?: string } | null)?.message ?? String(err))}`
}

/** Hands every line on, and tells of each error that no planned fault explains. */
export function tellStrays(
  expected: readonly RegExp[],
  tell: (text: string) => void,
  log: Log = silentLog,
): Log {
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error(fields, message) {
      const text = errorText(fields, message)
      if (!expected.some((line) => line.test(text))) tell(text)
      log.error(fields, message)
    },
  }
}

export function watchErrors(log: Log = silentLog): ErrorWatch {
  const expected: RegExp[] = []
  const told: { text: string; fields: object }[] = []
  return {
    log: {
      debug: (fields, message) => log.debug(fields, message),
      info: (fields, message) => log.info(fields, message),
      warn: (fields, message) => log.warn(fields, message),
      error(fields, message) {
        told.push({ text: errorText(fields, message), fields })
        log.error(fields, message)
      },
    },
    expect(...lines) {
      expected.push(...lines)
    },
    check() {
      const stray = told.filter(({ text }) => !expected.some((line) => line.test(text)))
      const some = stray
        .slice(0, 5)
        .map(({ text, fields }) => `${text} ${inspect(fields, { depth: 3 })}`)
      if (stray.length > 0)
        throw new Error(
          `${stray.length} errors were logged that nobody expected (name those that belong to the ` +
            `test with expectErrors):\n${some.join('\n')}`,
        )
      const missing = expected.find((line) => !told.some(({ text }) => line.test(text)))
      if (missing) throw new Error(`an error was expected in the log and did not come: ${missing}`)
    },
  }
}
