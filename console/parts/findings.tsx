/** What was looked at, and whether it is well. */
import { words } from '../core/format.js'
import { texts } from '../texts.js'
import { Icon } from './icons.js'

export interface ShownFinding {
  check: string
  subject: string
  severity: 'ok' | 'info' | 'warn' | 'bad'
  message: string
  mend: string | null
}

const nameOf = (check: string) =>
  (texts.checks as Readonly<Record<string, string>>)[check] ?? words(check)

const PICTURES = { ok: 'good', info: 'next', warn: 'warn', bad: 'bad' } as const

export function Findings({ findings }: { findings: readonly ShownFinding[] }) {
  return (
    <ul class="list">
      {findings.map(({ check, subject, severity, message, mend }) => (
        <li key={`${check} ${subject} ${message}`}>
          <span class={`${PICTURES[severity]}-icon row`}>
            <Icon name={PICTURES[severity]} />
          </span>
          <span class="grow">
            <span class="strong">{nameOf(check)}</span> <span class="quiet">{message}</span>
            {mend && (
              <p>
                <code>{mend}</code>
              </p>
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** What is not well comes first. */
export function worstFirst<F extends ShownFinding>(findings: readonly F[]): F[] {
  const order = ['bad', 'warn', 'info', 'ok']
  return findings.toSorted((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity))
}
