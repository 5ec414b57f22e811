/**
 * Looks at an installation and at the machine under it, whether a server runs on it, nobody does, or
 * it does not even open. Nothing of the installation is changed: two small files of a test are
 * written and removed again.
 */
import type { Examined, Finding, Severity } from '../../core/finding.js'
import { lookAtBackups } from './backups.js'
import { lookAtBooks } from './books.js'
import { lookAtDatabases } from './databases.js'
import { lookAtFolder } from './folder.js'
import type { DoctorInput } from './input.js'
import { lookAtJournalCopy } from './journal-copy.js'
import { lookAtMachine } from './machine.js'
import { lookOutside } from './outside.js'

export interface Examination extends Examined {
  dir: string
}

type Look = (input: DoctorInput) => Promise<readonly Finding[]>

const LOOKS: readonly Look[] = [
  lookAtMachine,
  lookAtFolder,
  lookAtDatabases,
  lookAtBooks,
  lookAtBackups,
  lookOutside,
  lookAtJournalCopy,
]

/** Of an installation of several nodes. */
function looksOver(database: string): readonly Look[] {
  // Who has one folder loads nothing of it.
  const record: Look = async (input) =>
    (await import('./database.js')).lookAtDatabase({ ...input, database })
  return [lookAtMachine, record]
}

const SEVERITIES: readonly Severity[] = ['ok', 'info', 'warn', 'bad']

/** Every look, one after the other; one that fails is a finding of its own, and the next is taken. */
export async function examine(input: DoctorInput): Promise<Examination> {
  const findings: Finding[] = []
  const looks = input.database === undefined ? LOOKS : looksOver(input.database)
  for (const look of looks) findings.push(...(await look(input).catch(failedLook)))
  const worst = Math.max(0, ...findings.map(({ severity }) => SEVERITIES.indexOf(severity)))
  return { dir: input.dir, worst: SEVERITIES[worst] ?? 'bad', findings }
}

const failedLook = (error: unknown): Finding[] => [
  {
    check: 'doctor',
    subject: '',
    severity: 'bad',
    message: `a part could not be looked at: ${error instanceof Error ? error.message : String(error)}`,
    mend: null,
  },
]
