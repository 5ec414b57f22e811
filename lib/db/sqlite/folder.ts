/** The files of a state folder: their names, and how they come to have the newest schema. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { codeOf } from '../../core/errors.js'
import { openSqlite } from './driver.js'
import { takeLock } from './locks.js'
import { discard, migrate } from './migrate.js'
import type { Migrations } from './migrate.js'
import { catalogSchema } from '../migrations/catalog.js'
import { decisionsSchema } from '../migrations/decisions.js'
import { historySchema } from '../migrations/history.js'
import { meterSchema } from '../migrations/meter.js'
import { RECORD_ID, quartermasterSchema } from '../migrations/quartermaster.js'
import { moveDecisions } from './move-decisions.js'
import { runOnce } from '../query.js'
import { assertSqliteVersion, openFile } from './sqlite.js'
import type { Raw } from './sqlite.js'

const FILES = {
  record: 'quartermaster.db',
  meter: 'meter.db',
  decisions: 'decisions.db',
  catalog: 'catalog.db',
  history: join('history', 'history.db'),
  simulator: 'simulator.db',
} as const

/** Paths of the database files in a state folder. */
export function filesIn(dir: string): Record<keyof typeof FILES, string> {
  return Object.fromEntries(
    Object.entries(FILES).map(([name, file]) => [name, join(dir, file)]),
  ) as Record<keyof typeof FILES, string>
}

/** Creates what is missing in the folder and brings every file to the newest schema. */
export function prepareFolder(dir: string): void {
  holdFolder(dir)()
}

/**
 * As `prepareFolder`; without the system of record, and what is counted beside it, where that is on
 * another machine. Returns what
 * closes the files, which is best done once they are open anew: the last handle of a file that is
 * closed writes its log back, which holds up a start.
 */
export function holdFolder(dir: string, { hasRecord = true } = {}): () => void {
  assertSqliteVersion()
  mkdirSync(join(dir, 'history'), { recursive: true })
  const files = filesIn(dir)
  const held: Raw[] = []
  const release = () => {
    for (const raw of held.splice(0)) raw.close()
  }
  const hold = (name: keyof typeof FILES, synchronous: 'FULL' | 'NORMAL') => {
    const raw = openFile(files[name], { synchronous, patient: true })
    held.push(raw)
    return raw
  }
  const upgrade = (raw: Raw, name: keyof typeof FILES, steps: Migrations) => {
    const version = () => raw.pragma('user_version', { simple: true })
    const before = version()
    migrate(raw, FILES[name], steps)
    if (name === 'catalog' && raw.pragma('application_id', { simple: true }) !== CATALOG_ID)
      raw.pragma(`application_id = ${CATALOG_ID}`)
    // A new schema is on the disk before anything depends on it.
    if (version() !== before) raw.pragma('wal_checkpoint(TRUNCATE)')
  }
  try {
    if (hasRecord) {
      const record = hold('record', 'FULL')
      upgrade(record, 'record', quartermasterSchema)
      if (record.pragma('application_id', { simple: true }) !== RECORD_ID)
        throw new Error(
          `${files.record} is not a Quartermaster database, or one from before the first release: ` +
            'start in another folder',
        )
      upgrade(hold('decisions', 'NORMAL'), 'decisions', decisionsSchema)
      const meter = hold('meter', 'NORMAL')
      moveDecisions(files)
      upgrade(meter, 'meter', meterSchema)
    }
    upgrade(hold('history', 'NORMAL'), 'history', historySchema)
    if (!isCurrentCatalog(files.catalog)) discardCatalog(dir, files, hasRecord)
    upgrade(hold('catalog', 'NORMAL'), 'catalog', catalogSchema)
    return release
  } catch (error) {
    release()
    throw error
  }
}

/** Tells one text of the catalog's schema from every other. */
const CATALOG_ID = crc32(catalogSchema.join('')) >>> 1

/**
 * The catalog is rebuilt from feeds, never migrated: a file of another version, or a damaged one,
 * is thrown away.
 */
function isCurrentCatalog(path: string): boolean {
  let raw: Raw | undefined
  try {
    raw = openSqlite(path, { readonly: true, fileMustExist: true })
    return (
      raw.pragma('user_version', { simple: true }) === 0 ||
      raw.pragma('application_id', { simple: true }) === CATALOG_ID
    )
  } catch (error) {
    const code = codeOf(error)
    if (code === 'SQLITE_CANTOPEN') return true
    // Held by another process or out of reach for the moment: no reason to throw anything away.
    if (code !== 'SQLITE_NOTADB' && !code.startsWith('SQLITE_CORRUPT')) throw error
    return false
  } finally {
    raw?.close()
  }
}

/**
 * Only while nobody serves the folder: a server would go on with a file that no longer has a name.
 */
function discardCatalog(
  dir: string,
  { catalog, record }: ReturnType<typeof filesIn>,
  hasRecord: boolean,
): void {
  const lock = takeLock(join(dir, 'serve.lock'))
  if (!lock)
    throw new Error(
      `${catalog} is damaged or of another release, and a server is running on it: stop the server first`,
    )
  try {
    discard(catalog)
    if (!hasRecord) return
    // Every source is due at once, or the catalog would be empty until each one's own time.
    const raw = openFile(record, { synchronous: 'FULL', patient: true })
    try {
      runOnce(raw, (db) => db.updateTable('feed_source').set({ last_pull_at: null }))
    } finally {
      raw.close()
    }
  } finally {
    lock.close()
  }
}
