/** The folder that a record comes back into: put together beside what is there, and then moved in. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { syncPath } from '../../core/storage/durable.js'
import { present } from '../../core/present.js'
import { MOVED_DATABASES, databasesOf } from '../../db/move/tables.js'
import type { MovedDatabase, MovedTable, TableShape } from '../../db/move/tables.js'
import {
  fillSearch,
  keepNumbers,
  makeDue,
  noteJournalFile,
  shapeOf,
  withoutTriggers,
} from '../../db/move/sqlite-tables.js'
import { checkDatabase, checkReferences } from '../../db/sqlite/copy.js'
import { openSqlite } from '../../db/sqlite/driver.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { migrate } from '../../db/sqlite/migrate.js'
import { openFile } from '../../db/sqlite/sqlite.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import { readerOver } from '../../db/query.js'
import { openJournalFile } from '../../orders/journal/file.js'
import { linesAfter } from '../../orders/journal/queries.js'

/** Begins the name of the folder in which it is put together; a run that was cut off leaves it. */
const STAGING = '.moving-'
const JOURNAL = 'orders.journal'
const DISTRIBUTORS = 'distributors'
/**
 * What the history takes the place of, and what does not go together with it: a feed is compared with
 * the catalog, and what changed is written into the history.
 */
const OF_HISTORY = ['history', 'analytics', 'catalog.db', 'snapshot']
/** Lines of the journal that are written at once. */
const LINES = 500

/** The columns of tables, as this release has them. */
export function shapesOf(tables: readonly MovedTable[]): TableShape[] {
  const empty = new Map(
    databasesOf(tables).map((name): [MovedDatabase, Raw] => {
      const raw = openSqlite(':memory:')
      migrate(raw, name, MOVED_DATABASES[name])
      return [name, raw]
    }),
  )
  const shapes = tables.map((table) =>
    shapeOf(present(empty.get(table.database), table.database), table),
  )
  for (const raw of empty.values()) raw.close()
  return shapes
}

export interface StagedFolder {
  /** Where it is put together. */
  readonly dir: string
  raw(database: MovedDatabase): Raw
  /** Once every row is there: what follows from them. */
  complete(numbers: ReadonlyMap<string, string>): Promise<void>
  /** Has every source pulled at once: the folder has no catalog, or an old one. */
  makeDue(): void
  /** Closes the files and checks them. */
  settle(): void
  /** Moves them in; what was there is laid aside. Returns where it lies, null where nothing was. */
  putInPlace(now: number): Promise<string | null>
  discard(): void
}

/** A folder for a moment below another one; what a run that was cut off has left there is removed. */
export function makeStaging(dir: string): string {
  for (const name of readdirSync(dir))
    if (name.startsWith(STAGING)) rmSync(join(dir, name), { recursive: true, force: true })
  return mkdtempSync(join(dir, STAGING))
}

/** Begins a folder below the one that it is for. */
export function stageFolder(dir: string, shapes: readonly TableShape[]): StagedFolder {
  const staging = makeStaging(dir)
  const names = databasesOf(shapes)
  const files = new Map<MovedDatabase, { raw: Raw; putTriggersBack: () => void }>()
  const close = () => {
    for (const { raw } of files.values()) raw.close()
    files.clear()
  }
  const raw = (name: MovedDatabase) => present(files.get(name), name).raw
  try {
    for (const name of names) files.set(name, begin(staging, name, shapes))
  } catch (error) {
    close()
    throw error
  }
  return {
    dir: staging,
    raw,
    async complete(numbers) {
      fillSearch(raw('record'))
      noteJournalFile(raw('record'))
      for (const { raw: one, putTriggersBack } of files.values()) {
        putTriggersBack()
        keepNumbers(one, numbers)
        one.exec('COMMIT')
      }
      await writeJournal(staging, raw('record'))
    },
    makeDue: () => makeDue(raw('record')),
    settle() {
      close()
      for (const name of names) checkDatabase(filesIn(staging)[name])
      checkReferences(filesIn(staging).record)
    },
    async putInPlace(now) {
      const hasHistory = existsSync(join(staging, 'history'))
      const replaced = layAside(
        dir,
        [
          ...names.map((name) => filesIn('')[name]),
          JOURNAL,
          DISTRIBUTORS,
          ...(hasHistory ? OF_HISTORY : []),
        ],
        now,
      )
      // The system of record comes last: whatever cuts this off leaves a folder without one.
      const last = filesIn('').record
      const all = readdirSync(staging).filter((name) => name !== last && !/-(wal|shm)$/.test(name))
      for (const name of [...all, last]) {
        await syncPath(join(staging, name))
        renameSync(join(staging, name), join(dir, name))
      }
      await syncPath(dir)
      return replaced
    },
    discard() {
      close()
      rmSync(staging, { recursive: true, force: true })
    },
  }
}

/** A database with the schema of this release, and without a row. */
function begin(staging: string, name: MovedDatabase, shapes: readonly TableShape[]) {
  const raw = openFile(filesIn(staging)[name], { synchronous: 'FULL' })
  migrate(raw, name, MOVED_DATABASES[name])
  // They are checked once all are there.
  raw.pragma('foreign_keys = OFF')
  raw.exec('BEGIN IMMEDIATE')
  const putTriggersBack = withoutTriggers(raw)
  for (const shape of shapes) if (shape.database === name) raw.exec(`DELETE FROM "${shape.name}"`)
  return { raw, putTriggersBack }
}

async function writeJournal(staging: string, raw: Raw): Promise<void> {
  const reader = readerOver(raw)
  const file = await openJournalFile(staging)
  try {
    for (let seq = 0; ;) {
      const rows = reader.all(linesAfter, { seq, limit: LINES })
      const last = rows.at(-1)
      if (!last) return
      await file.append(rows.map(({ line }) => line))
      seq = last.seq
    }
  } finally {
    await file.close()
  }
}

/** Keeps what the new files take the place of. */
function layAside(dir: string, names: readonly string[], now: number): string | null {
  const old = names
    .flatMap((name) => [name, `${name}-wal`, `${name}-shm`])
    .filter((name) => existsSync(join(dir, name)))
  if (old.length === 0) return null
  const stamp = new Date(now).toISOString().replaceAll(':', '-')
  const place = join(dir, `replaced-by-move-of-${stamp}`)
  mkdirSync(place, { recursive: true, mode: 0o700 })
  for (const name of old) renameSync(join(dir, name), join(place, name))
  return place
}
