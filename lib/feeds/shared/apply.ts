/** Brings a database to what another node has published: the worker's part of following. */
import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf } from '../../core/errors.js'
import { syncPathNow } from '../../core/storage/durable.js'
import { openSqlite } from '../../db/sqlite/driver.js'
import { placeFiles } from './files.js'
import type { FolderFiles } from './files.js'
import { DamagedPage, decodePage, pageLength } from './pages.js'
import { BrokenPart, readPiece, unpackFile } from './parts.js'
import {
  databaseOf,
  formIn,
  pathOf,
  pointOf,
  sharedFolder,
  sweepFolder,
  withShared,
} from './point.js'
import type { Opened } from './point.js'
import type { Publication, SharedFile, SharedName } from './publication.js'
import { readPoint, writePoint } from './queries.js'

/** Of the database while a change is applied; see `ingestFeed`. */
const CACHE_KB = 65_536

/**
 * `elsewhere`: the file is not at the state that the change goes on from. `broken`: an object is
 * missing, damaged, or does not lead to what it says. `busy`: somebody works on the files.
 */
export type Applied = { outcome: 'done' | 'elsewhere' | 'broken' | 'busy' }

export function applyChange(opened: Opened, change: Publication): Applied {
  const { dir, name, raw } = opened
  const draft = join(sharedFolder(dir, name), 'change')
  try {
    unpackFile(sharedFolder(dir, name), change.parts, draft)
    raw.pragma(`cache_size = -${CACHE_KB}`)
    const isThere = raw.transaction(() => applyFile(opened, draft, change)).immediate()
    raw.pragma('wal_checkpoint(TRUNCATE)')
    sweepFolder(dir, name)
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
function applyFile(opened: Opened, draft: string, change: Publication): boolean {
  const { raw, database } = opened
  const point = pointOf(opened)
  if (point.mark !== change.before || point.pending !== null || point.isChanged) return false
  const apply = database.openApplying(raw)
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
  const { made, revision } = database.factsOf(raw)
  if (made !== change.made || revision !== change.revision)
    throw new DamagedPage('a change leads to another state than it says')
  database.clearNotes(raw)
  writePoint(raw, { mark: change.mark, fragments: change.fragments, epoch: null })
  return true
}

/**
 * Puts a published base, and the files that go along with it, in the place of what is there. Whoever
 * has the database open still reads the one of before.
 */
export function adopt(
  dir: string,
  name: SharedName,
  { base, files, forget }: { base: Publication; files: FolderFiles; forget: (dir: string) => void },
): Applied {
  const path = pathOf(dir, name)
  const folder = sharedFolder(dir, name)
  const draft = join(folder, 'base')
  const place = (): Applied => {
    placeFiles(dir, name, { files, wanted: base.files })
    if (existsSync(path)) withShared(dir, name, ({ raw }) => raw.pragma('wal_checkpoint(TRUNCATE)'))
    // What is remembered of the file of before may be something that was never published.
    forget(dir)
    // Nothing of the log of before may be taken for that of the new file.
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
    renameSync(draft, path)
    syncPathNow(dirname(path))
    sweepFolder(dir, name)
    return { outcome: 'done' }
  }
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    unpackFile(folder, base.parts, draft)
    if (!isBaseOf(draft, name, base)) return { outcome: 'broken' }
    return files.alone(dir, place) ?? { outcome: 'busy' }
  } catch (error) {
    if (isBroken(error)) return { outcome: 'broken' }
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

function isBaseOf(
  path: string,
  name: SharedName,
  { mark, form, made, revision }: Publication,
): boolean {
  const raw = openSqlite(path)
  try {
    const database = databaseOf(name)
    const facts = database.factsOf(raw)
    return (
      readPoint(raw)?.mark === mark &&
      formIn({ raw, database }) === form &&
      facts.made === made &&
      facts.revision === revision
    )
  } finally {
    raw.close()
  }
}

/** Puts files in place that go along with a database which is at its state already. */
export function place(
  dir: string,
  name: SharedName,
  { files, wanted }: { files: FolderFiles; wanted: readonly SharedFile[] },
): Applied {
  try {
    const done = files.alone(dir, () => {
      placeFiles(dir, name, { files, wanted })
      sweepFolder(dir, name)
      return true
    })
    return { outcome: done ? 'done' : 'busy' }
  } catch (error) {
    if (isBroken(error)) return { outcome: 'broken' }
    throw error
  }
}
