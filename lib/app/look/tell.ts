/** Findings, shorter to write. */
import type { Finding, Severity } from '../../core/finding.js'

export const tell = (
  check: string,
  severity: Severity,
  message: string,
  { mend = null, subject = '' }: { mend?: string | null; subject?: string } = {},
): Finding => ({ check, subject, severity, message, mend })

/** A path as a shell takes it. */
export function shellWord(path: string): string {
  return /^[\w./:@-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
