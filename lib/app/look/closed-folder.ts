/**
 * A folder that is looked at and not opened: nothing in it is made, brought up to date or written.
 * A backup is one, and so is an installation that another process serves.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSecrets } from '../../accounts/data-keys.js'
import type { Secrets } from '../../core/storage/secrets.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { readerOver, snapshotOver } from '../../db/query.js'
import type { Reader, Snapshot } from '../../db/query.js'
import { openFile } from '../../db/sqlite/sqlite.js'
import { quartermasterSchema } from '../../db/migrations/quartermaster.js'

export interface ClosedFolder {
  readonly engine: { readonly dir: string; openSnapshot(): Promise<Snapshot> }
  readonly reader: Reader
  /** Version of the schema of quartermaster.db. */
  readonly schema: number
  /** The schema is that of this release, so that its queries can be asked. */
  readonly isCurrent: boolean
  close(): void
}

/** Throws what SQLite says of a system of record that it cannot read. */
export function openClosed(dir: string): ClosedFolder {
  const raw = openFile(filesIn(dir).record, { synchronous: 'FULL', readonly: true })
  try {
    const schema = raw.pragma('user_version', { simple: true }) as number
    return {
      engine: { dir, openSnapshot: async () => snapshotOver(openClosedRecord(dir)) },
      reader: readerOver(raw),
      schema,
      isCurrent: schema === quartermasterSchema.length,
      close: () => void raw.close(),
    }
  } catch (error) {
    raw.close()
    throw error
  }
}

/** The same; null for one that cannot be read: what is wrong with it, the look at the files tells. */
export function closedOrNull(dir: string): ClosedFolder | null {
  try {
    return openClosed(dir)
  } catch {
    return null
  }
}

const openClosedRecord = (dir: string) =>
  openFile(filesIn(dir).record, { synchronous: 'FULL', readonly: true })

export interface KeyPlaces {
  /** A folder with a copy of keys/, asked before the others. */
  keys?: string | undefined
  /** 64 hex digits. */
  secretKey?: string | undefined
  /** The state folder whose key is tried last. */
  dir: string
}

/** What opens a folder's sealed texts, or why it cannot be had. */
export type KeyFound =
  | { readonly text: string; readonly secrets: Pick<Secrets, 'of' | 'keyId'> }
  | { readonly why: string }

/** The secret key of a folder, from where it may lie. */
export function findKey({ reader }: Pick<ClosedFolder, 'reader'>, places: KeyPlaces): KeyFound {
  const { keys, secretKey, dir } = places
  const path = join(keys ?? join(dir, 'keys'), 'secret-key')
  const isGiven = keys === undefined && secretKey !== undefined
  const where = isGiven ? 'QUARTERMASTER_SECRET_KEY' : path
  const text = isGiven ? secretKey : existsSync(path) ? readFileSync(path, 'utf8').trim() : null
  if (text === null) return { why: `${path} is missing` }
  if (!/^[0-9a-f]{64}$/i.test(text)) return { why: `${where} is damaged: a key has 64 hex digits` }
  const secrets = readSecrets(reader, Buffer.from(text, 'hex'))
  return secrets ? { text, secrets } : { why: `${where} is the key of another installation` }
}
