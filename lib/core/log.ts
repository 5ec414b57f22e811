/**
 * The little that the library asks of a log; pino fits. The library writes none unless it is given
 * one.
 */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  /** The newest lines, the oldest first, as JSON; for a log that keeps any. */
  recent?(): readonly string[]
}

const nothing = () => {}

export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing }
