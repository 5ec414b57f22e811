/** Makes publications out of a database: the worker's part of leading. */
import { closeSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openSqlite } from '../../db/sqlite/driver.js'
import { openFile } from '../../db/sqlite/sqlite.js'
import { packFiles } from './files.js'
import type { FolderFiles } from './files.js'
import { encodePage } from './pages.js'
import { packFile, writeAll } from './parts.js'
import { databaseOf, formIn, pathOf, pointOf, sharedFolder } from './point.js'
import type { Opened } from './point.js'
import type { Publication } from './publication.js'
import { copyInto, randomMark, readPoint, writePoint } from './queries.js'

/** What changed, in one transaction with the note that it is ready. */
export function prepareChange(opened: Opened): Publication {
  const { dir, name, raw, database } = opened
  const folder = sharedFolder(dir, name)
  const draft = join(folder, 'change')
  return raw
    .transaction(() => {
      const point = readPoint(raw)!
      const file = openSync(draft, 'w', 0o600)
      try {
        database.writeChange(raw, (page) => writeAll(file, encodePage(page)))
      } finally {
        closeSync(file)
      }
      const parts = packFile(draft, folder)
      rmSync(draft)
      const change = describe(opened, { kind: 'change', before: point.mark, parts })
      database.clearNotes(raw)
      writePoint(raw, { fragments: change.fragments, pending: JSON.stringify(change) })
      return change
    })
    .immediate()
}

function describe(
  opened: Opened,
  given: Pick<Publication, 'kind' | 'before' | 'parts'> & { mark?: string },
): Publication {
  const { raw, database } = opened
  return {
    mark: randomMark(raw),
    form: formIn(opened),
    ...database.factsOf(raw),
    files: [],
    ...given,
  }
}

/**
 * Everything: a copy of the database, and the files that go along with it. It has a mark of its own
 * where something changed that nobody has published. `isAnew`: the store has lost what it had. Null
 * where somebody works on the files.
 */
export function prepareBase(
  opened: Opened,
  { files, isAnew }: { files: FolderFiles; isAnew: boolean },
): Publication | null {
  return files.alone(opened.dir, () => prepareWhole(opened, { files, isAnew }))
}

function prepareWhole(
  opened: Opened,
  { files, isAnew }: { files: FolderFiles; isAnew: boolean },
): Publication {
  const { dir, name, raw, database } = opened
  const folder = sharedFolder(dir, name)
  const draft = join(folder, 'base')
  rmSync(draft, { force: true })
  const reading = openFile(pathOf(dir, name), { synchronous: 'NORMAL', patient: true })
  let base: Publication
  // Nobody writes until it is noted which state the copy has.
  raw.exec('BEGIN IMMEDIATE')
  try {
    copyInto(reading, draft)
    const { mark, pending, isChanged } = pointOf(opened)
    const isPublished = mark !== '' && pending === null && !isChanged
    base = describe(opened, { kind: 'base', before: null, parts: [], ...(isPublished && { mark }) })
    database.clearNotes(raw)
    if (!isPublished) database.onNewBase(raw)
    writePoint(raw, {
      fragments: base.fragments,
      pending: isPublished ? null : JSON.stringify(base),
    })
    raw.exec('COMMIT')
  } catch (error) {
    if (raw.inTransaction) raw.exec('ROLLBACK')
    throw error
  } finally {
    reading.close()
  }
  strip(draft, opened, base)
  const parts = packFile(draft, folder)
  rmSync(draft)
  const whole = { ...base, parts, files: packFiles(dir, name, { files, isAnew }) }
  if (pointOf(opened).pending?.mark === base.mark)
    writePoint(raw, { pending: JSON.stringify(whole) })
  return whole
}

/** Leaves in a copy what other nodes need, as theirs is when they have it. */
function strip(path: string, { name }: Opened, { mark, fragments }: Publication): void {
  const database = databaseOf(name)
  const raw = openSqlite(path)
  try {
    raw.pragma('journal_mode = OFF')
    raw.pragma('synchronous = OFF')
    // What is freed is zeroes then, and takes no room in the objects.
    raw.pragma('secure_delete = ON')
    database.strip(raw)
    database.clearNotes(raw)
    writePoint(raw, { mark, fragments, pending: null, epoch: null })
  } finally {
    raw.close()
  }
}
