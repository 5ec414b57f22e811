/** Where a database of the node's folder stands among the states that are published. */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { filesIn } from '../../db/sqlite/folder.js'
import { openFile } from '../../db/sqlite/sqlite.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import { catalogDatabase } from './catalog/database.js'
import type { SharedDatabase } from './database.js'
import { historyDatabase } from './history/database.js'
import type { Publication, SharedFile, SharedName } from './publication.js'
import { createPoint, readPoint } from './queries.js'

export interface Point {
  /** The published state that it goes on from; '' for none. */
  mark: string
  /** What has changed since, and lies ready to be published. */
  pending: Publication | null
  /** More has changed since. */
  isChanged: boolean
  /** In which this node has led; null where it follows another. */
  epoch: number | null
  form: number
  /** Files that go along with it; without parts where their content is not known. */
  files: SharedFile[]
}

const DATABASES: Readonly<Record<SharedName, SharedDatabase>> = {
  catalog: catalogDatabase,
  history: historyDatabase,
}

/** Raised with every change to what the pages say. */
const FORM = 1
/** Where parts of publications lie, on their way out or in. */
export const sharedFolder = (dir: string, name: SharedName): string => join(dir, 'shared', name)

export const databaseOf = (name: SharedName): SharedDatabase => DATABASES[name]

export const pathOf = (dir: string, name: SharedName): string => filesIn(dir)[name]

/** A database of a folder, open for one piece of work. */
export interface Opened {
  dir: string
  name: SharedName
  raw: Raw
  database: SharedDatabase
}

export function withShared<T>(dir: string, name: SharedName, work: (opened: Opened) => T): T {
  const path = pathOf(dir, name)
  // SQLite would make an empty one in its place.
  if (!existsSync(path)) throw new Error(`${path} is gone`)
  mkdirSync(sharedFolder(dir, name), { recursive: true, mode: 0o700 })
  const raw = openFile(path, { synchronous: 'NORMAL', patient: true })
  try {
    return work({ dir, name, raw, database: DATABASES[name] })
  } finally {
    raw.close()
  }
}

/** Makes ready to note what changes. */
export function beginNotes({ raw, database }: Opened): void {
  raw
    .transaction(() => {
      createPoint(raw)
      database.installNotes(raw)
    })
    .immediate()
}

export function pointOf({ raw, database }: Opened): Omit<Point, 'files'> {
  const { mark, pending, epoch } = readPoint(raw)!
  return {
    mark,
    pending: pending === null ? null : (JSON.parse(pending) as Publication),
    isChanged: database.hasNotes(raw),
    epoch,
    form: formIn({ raw, database }),
  }
}

/** Of the file and of what is written about it: files of two releases do not go together. */
export const formIn = ({ raw, database }: Pick<Opened, 'raw' | 'database'>): number =>
  database.formOf(raw) * 2 ** 8 + FORM

/** Removes what lay ready, and what was left behind. */
export function sweepFolder(dir: string, name: SharedName): void {
  for (const entry of readdirSync(sharedFolder(dir, name)))
    rmSync(join(sharedFolder(dir, name), entry), { recursive: true, force: true })
}
