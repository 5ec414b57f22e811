/** Whether a backup is what was backed up, told without putting it back. Nothing is written. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { verifyAudit } from '../../accounts/verify-audit.js'
import type { AuditVerification } from '../../accounts/verify-audit.js'
import { invalid } from '../../core/errors.js'
import { quartermasterSchema } from '../../db/migrations/quartermaster.js'
import { checkDatabase, checkReferences } from '../../db/sqlite/copy.js'
import { proveJournal } from '../../orders/journal/verify.js'
import type { Verification } from '../../orders/journal/verify.js'
import { findKey, openClosed } from '../look/closed-folder.js'
import type { ClosedFolder, KeyPlaces } from '../look/closed-folder.js'
import { contentCounts } from '../look/queries.js'
import { DECISIONS, RECORD, verifyBackup } from './backup.js'
import type { Manifest } from './backup.js'

/** How much a system of record holds. */
export interface Contents {
  subscribers: number
  keys: number
  orders: number
  purchase_orders: number
}

export interface BackupCheck {
  backup: string
  made_at: string
  files: number
  bytes: number
  schema: number
  /** Null for the schema of an earlier release, whose tables are other ones. */
  contents: Contents | null
  /** The proof of each chain; null where it could not be made. */
  journal: Verification | null
  audit: AuditVerification | null
  /** Why the chains were not proved; null where they were. */
  unproved: string | null
  sound: boolean
}

const DATABASES = [RECORD, DECISIONS, 'history/history.db']

/**
 * Checks manifest, digests, databases and references, and proves the journal and the audit where the
 * secret key is at hand. Throws 400 for a file that is not what was backed up, and an error for a
 * database that is damaged.
 */
export async function checkBackup(given: string, places: KeyPlaces): Promise<BackupCheck> {
  const backup = resolve(given)
  const manifest = await verifyBackup(backup)
  for (const path of DATABASES)
    if (path !== RECORD && existsSync(join(backup, path))) checkDatabase(join(backup, path))
  checkReferences(join(backup, RECORD))
  const folder = openClosed(backup)
  try {
    if (folder.schema > quartermasterSchema.length)
      throw invalid(
        'backup',
        `it was made by a newer release (schema ${folder.schema}, this one knows ` +
          `${quartermasterSchema.length})`,
      )
    const proof = await prove(folder, manifest, places)
    return {
      backup,
      made_at: manifest.made_at,
      files: manifest.files.length,
      bytes: manifest.files.reduce((sum, { size }) => sum + size, 0),
      schema: folder.schema,
      contents: folder.isCurrent ? (folder.reader.first(contentCounts) ?? null) : null,
      ...proof,
      sound: proof.journal?.sound !== false && proof.audit?.sound !== false,
    }
  } finally {
    folder.close()
  }
}

async function prove(
  folder: ClosedFolder,
  { journal, audit }: Manifest,
  places: KeyPlaces,
): Promise<Pick<BackupCheck, 'journal' | 'audit' | 'unproved'>> {
  const unproved = (why: string) => ({ journal: null, audit: null, unproved: why })
  if (!folder.isCurrent)
    return unproved('it has the schema of an earlier release: `drill` brings a copy up to date')
  const found = findKey(folder, places)
  if ('why' in found) return unproved(`${found.why}: name your copy of keys/ with --keys`)
  const ctx = { engine: folder.engine, secrets: found.secrets }
  return {
    journal: await proveJournal(ctx, { isBackup: true, ...(journal && { anchor: journal }) }),
    audit: await verifyAudit(ctx, { ...(audit && { anchor: audit }) }),
    unproved: null,
  }
}
