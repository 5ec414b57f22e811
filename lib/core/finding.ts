/** What was looked at, and whether it is well: for people, and for what watches in their place. */

/** `bad` stops something that a shop pays for; `warn` will, or makes something worse meanwhile. */
export type Severity = 'ok' | 'info' | 'warn' | 'bad'

export interface Finding {
  /** What was looked at, such as `feed_stale`. */
  check: string
  /** Tells one finding of a check from another, such as the source of a feed; else empty. */
  subject: string
  severity: Severity
  /** One sentence. */
  message: string
  /** A command that mends it, or shows what to decide; null where there is none. */
  mend: string | null
}

/** What a whole look has found. */
export interface Examined {
  /** The worst of all findings. */
  worst: Severity
  findings: Finding[]
}

/** What a check has found, or that it has found nothing. */
export function orWell(
  found: readonly Finding[],
  check: string,
  message: string,
): readonly Finding[] {
  return found.length > 0 ? found : [{ check, subject: '', severity: 'ok', message, mend: null }]
}
