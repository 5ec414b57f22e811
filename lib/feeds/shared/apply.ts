/** Brings catalog.db to what another node has published: the worker's part of following. */
import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf } from '../../core/errors.js'
import { syncPathNow } from '../../core/storage/durable.js'
import { readState } from '../../catalog/queries.js'
import { openSqlite } from '../../db/sqlite/driver.js'
import { filesIn } from '../../db/sqlite/folder.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import { openApplying } from './change.js'
import { DamagedPage, decodePage, pageLength } from './pages.js'
import { BrokenPart, readPiece, unpackFile } from './parts.js'
import { formIn, pointOf, sharedFolder, sweepFolder, withCatalog } from './point.js'
import type { Publication } from './publication.js'
import { clearNotes, readPoint, writePoint } from './queries.js'

/** Of catalog.db while a change is applied; see `ingestFeed`. */
const CACHE_KB = 65_536

/**
 * `elsewhere`: the file is not at the state that the change goes on from. `broken`: an object is
 * missing, damaged, or does not lead to what it says.
 */
export type Applied = { outcome: 'done' } | { outcome: 'elsewhere' } | { outcome: 'broken' }

export function applyChange(dir: string, raw: Raw, change: Publication): Applied {
  const draft = join(sharedFolder(dir), 'change')
  try {
    unpackFile(sharedFolder(dir), change.parts, draft)
    raw.pragma(`cache_size = -${CACHE_KB}`)
    const isThere = raw.transaction(() => applyFile(raw, draft, change)).immediate()
    raw.pragma('wal_checkpoint(TRUNCATE)')
    sweepFolder(dir)
    return { outcome: isThere ? 'done' : 'elsewhere' }
  } catch (error) {
    if (isBroken(error)) return { outcome: 'broken' }
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** What no repetition makes right. */
const isBroken = (error: unknown): boolean =>
  error instanceof BrokenPart ||
  error instanceof DamagedPage ||
  error instanceof RangeError ||
  codeOf(error).startsWith('SQLITE_CONSTRAINT')

/** False for a file that is at another state. Inside a transaction. */
function applyFile(raw: Raw, draft: string, change: Publication): boolean {
  const point = pointOf(raw)
  if (point.mark !== change.before || point.pending !== null || point.isChanged) return false
  const apply = openApplying(raw)
  const file = openSync(draft, 'r')
  try {
    const prefix = Buffer.alloc(4)
    while (readPiece(file, prefix) === prefix.length) {
      const body = Buffer.alloc(pageLength(prefix))
      if (readPiece(file, body) < body.length) throw new DamagedPage('a page is cut off')
      apply(decodePage(body))
    }
  } finally {
    closeSync(file)
  }
  const { made, revision } = readState(raw)
  if (made !== change.made || revision !== change.revision)
    throw new DamagedPage('a change leads to another state than it says')
  clearNotes(raw)
  writePoint(raw, { mark: change.mark, fragments: change.fragments, epoch: null })
  return true
}

/**
 * Puts a published base in the place of catalog.db. Whoever has that file open still reads the one
 * of before.
 */
export function adopt(dir: string, base: Publication, forget: (dir: string) => void): Applied {
  const { catalog } = filesIn(dir)
  const draft = join(sharedFolder(dir), 'base')
  try {
    mkdirSync(sharedFolder(dir), { recursive: true, mode: 0o700 })
    unpackFile(sharedFolder(dir), base.parts, draft)
    if (!isBaseOf(draft, base)) return { outcome: 'broken' }
    if (existsSync(catalog)) withCatalog(dir, (raw) => raw.pragma('wal_checkpoint(TRUNCATE)'))
    // What is remembered of the file of before may be something that was never published.
    forget(dir)
    // Nothing of the log of before may be taken for that of the new file.
    for (const suffix of ['-wal', '-shm']) rmSync(catalog + suffix, { force: true })
    renameSync(draft, catalog)
    syncPathNow(dirname(catalog))
    sweepFolder(dir)
    return { outcome: 'done' }
  } catch (error) {
    if (isBroken(error)) return { outcome: 'broken' }
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

function isBaseOf(path: string, { mark, form, made, revision }: Publication): boolean {
  const raw = openSqlite(path)
  try {
    const point = readPoint(raw)
    const state = readState(raw)
    return (
      point?.mark === mark &&
      formIn(raw) === form &&
      state.made === made &&
      state.revision === revision
    )
  } finally {
    raw.close()
  }
}
