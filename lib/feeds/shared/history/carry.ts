/**
 * The history on its way between one folder and a bucket, with a node on neither side: the objects
 * are those that a leader publishes and its followers fetch, so that whoever has them needs to know
 * nothing of it.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { historySchema } from '../../../db/migrations/history.js'
import { openSqlite } from '../../../db/sqlite/driver.js'
import { migrate } from '../../../db/sqlite/migrate.js'
import { openFile } from '../../../db/sqlite/sqlite.js'
import type { Raw } from '../../../db/sqlite/sqlite.js'
import type { ObjectStore } from '../../../objects/store.js'
import { hasSeen } from '../../ingest/history-queries.js'
import { adopt, applyChange } from '../apply.js'
import type { Applied } from '../apply.js'
import { lackingFiles } from '../files.js'
import type { FolderFiles } from '../files.js'
import { openTransfer } from '../objects.js'
import { packFile } from '../parts.js'
import { databaseOf, formIn, pathOf, sharedFolder, withShared } from '../point.js'
import { allParts, wayTo } from '../publication.js'
import type { Part, Publication, Published, SharedFile } from '../publication.js'
import { copyInto, createPoint, removePoint, writePoint } from '../queries.js'
import { clearNotes, installNotes, removeNotes, schemaOf } from './queries.js'

const NAME = 'history'

interface OnItsWay {
  /** The files that go along with history.db. */
  files: FolderFiles
  objects: ObjectStore
  /** Milliseconds by a clock that never steps. */
  monotonic: () => number
}

/** Whether a folder has anything of it. */
export function hasHistory(dir: string, files: FolderFiles): boolean {
  return files.list(dir).length > 0 || readHistory(dir, (raw) => schemaOf(raw) > 0 && hasSeen(raw))
}

/** False where there is no file. */
function readHistory(dir: string, read: (raw: Raw) => boolean): boolean {
  const path = pathOf(dir, NAME)
  if (!existsSync(path)) return false
  // Not for reading alone: such a handle leaves the file's log behind when it is closed.
  const raw = openFile(path, { synchronous: 'NORMAL', patient: true })
  try {
    return read(raw)
  } finally {
    raw.close()
  }
}

/**
 * Stores all that a folder has of it, and reads each object back. Returns what is to be published,
 * under a mark that no other state has; what an earlier run has stored is stored already. The folder
 * stays as it is; `work` is another one, for what is on its way. Nobody may work on the history
 * meanwhile. Throws where the store does not give back what it was given.
 */
export async function storeHistory({
  dir,
  work,
  mark,
  files,
  objects,
  monotonic,
  onFile,
}: OnItsWay & {
  dir: string
  work: string
  mark: string
  /** Told of each file that is stored. */
  onFile: () => void
}): Promise<Publication> {
  const transfer = openTransfer({ name: NAME, objects, dir: work, monotonic })
  const folder = sharedFolder(work, NAME)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  async function stored(path: string): Promise<Part[]> {
    const parts = packFile(path, folder)
    if (!(await transfer.isWhole(parts))) {
      await transfer.put(parts)
      if (!(await transfer.isWhole(parts)))
        throw new Error(`the bucket does not give back what it was given of ${path}`)
    }
    await transfer.discard(parts)
    onFile()
    return parts
  }
  const draft = join(folder, 'base')
  const form = copyAsShared(dir, draft, mark)
  const parts = await stored(draft)
  const shared: SharedFile[] = []
  for (const path of files.list(dir)) shared.push({ path, parts: await stored(join(dir, path)) })
  return {
    kind: 'base',
    before: null,
    mark,
    form,
    made: '',
    revision: 0,
    fragments: 0,
    parts,
    files: shared,
  }
}

/** Copies history.db as nodes have it. Returns its form. */
function copyAsShared(dir: string, path: string, mark: string): number {
  rmSync(path, { force: true })
  const isThere = readHistory(dir, (raw) => {
    copyInto(raw, path)
    return true
  })
  const copy = openSqlite(path)
  try {
    copy.pragma('journal_mode = OFF')
    copy.pragma('synchronous = OFF')
    if (!isThere || schemaOf(copy) < historySchema.length) migrate(copy, NAME, historySchema)
    createPoint(copy)
    installNotes(copy)
    clearNotes(copy)
    writePoint(copy, { mark, fragments: 0, pending: null, epoch: null })
    return formIn({ raw: copy, database: databaseOf(NAME) })
  } finally {
    copy.close()
  }
}

/**
 * Puts into a folder, which has nothing of it, what nodes have published. Returns the base of that.
 * Throws where it cannot be used, or an object of it is not in the store.
 */
export async function fetchHistory({
  dir,
  published,
  files,
  objects,
  monotonic,
}: OnItsWay & { dir: string; published: readonly Published[] }): Promise<Published> {
  const form = formNow()
  const way = wayTo(
    published.map((one) => (one.form === form ? one : { ...one, isBroken: true })),
    null,
  )
  if (!way)
    throw new Error(
      'the history of prices and stock in the bucket is damaged, or of another release: let a node ' +
        'of this release lead for a minute, which publishes it anew',
    )
  const transfer = openTransfer({ name: NAME, objects, dir, monotonic })
  mkdirSync(dirname(pathOf(dir, NAME)), { recursive: true, mode: 0o700 })
  for (const one of way) {
    const isThere = await transfer.fetch(allParts(one))
    if (!isThere || take(dir, files, one).outcome !== 'done')
      throw new Error(
        'an object of the history of prices and stock is missing or damaged: is it the bucket of ' +
          'the nodes?',
      )
  }
  const base = way.findLast(({ kind }) => kind === 'base')!
  if (lackingFiles(dir, NAME, { files, wanted: base.files }).length > 0)
    throw new Error('a file of the history is not in the folder as it is in the bucket')
  withShared(dir, NAME, ({ raw }) =>
    raw
      .transaction(() => {
        removeNotes(raw)
        removePoint(raw)
      })
      .immediate(),
  )
  rmSync(join(dir, 'shared'), { recursive: true })
  return base
}

const take = (dir: string, files: FolderFiles, one: Published): Applied =>
  one.kind === 'base'
    ? adopt(dir, NAME, { base: one, files, forget: () => {} })
    : withShared(dir, NAME, (opened) => applyChange(opened, one))

/** Of this release. */
function formNow(): number {
  const raw = openSqlite(':memory:')
  try {
    migrate(raw, NAME, historySchema)
    return formIn({ raw, database: databaseOf(NAME) })
  } finally {
    raw.close()
  }
}
