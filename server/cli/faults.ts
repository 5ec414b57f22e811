/** Faults and texts of other people as lines for a terminal. */
import type { Fault } from '../../lib/core/errors.js'

/** Faults as lines for people. */
export function faultLines(faults: readonly Fault[]): string[] {
  return faults.map(({ path, message }) => printable(path === '' ? message : `${path}: ${message}`))
}

export function isFault(value: unknown): value is Fault {
  return (
    typeof value === 'object' &&
    value !== null &&
    'path' in value &&
    typeof value.path === 'string' &&
    'message' in value &&
    typeof value.message === 'string'
  )
}

/** Text of a document or a feed, without what a terminal would act on. */
export function printable(text: string): string {
  return text.replace(
    /\p{Cc}/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
