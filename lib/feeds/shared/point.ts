/** Where a node's catalog.db stands among the states that are published. */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readState } from '../../catalog/queries.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { openFile } from '../../db/sqlite/sqlite.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import type { Publication } from './publication.js'
import { formOf, hasNotes, readPoint, takenAt } from './queries.js'

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
  revision: number
  /** When the last feed of each source was taken in, in milliseconds. */
  taken: ReadonlyMap<string, number>
}

/** Raised with every change to what the pages say. */
const FORM = 1
/** Where parts of publications lie, on their way out or in. */
export const sharedFolder = (dir: string): string => join(dir, 'shared')

/** Opens catalog.db for one piece of work. */
export function withCatalog<T>(dir: string, work: (raw: Raw) => T): T {
  const { catalog } = filesIn(dir)
  // SQLite would make an empty one in its place.
  if (!existsSync(catalog)) throw new Error(`${catalog} is gone`)
  mkdirSync(sharedFolder(dir), { recursive: true, mode: 0o700 })
  const raw = openFile(catalog, { synchronous: 'NORMAL', patient: true })
  try {
    return work(raw)
  } finally {
    raw.close()
  }
}

export function pointOf(raw: Raw): Point {
  const { mark, pending, epoch } = readPoint(raw)!
  return {
    mark,
    pending: pending === null ? null : (JSON.parse(pending) as Publication),
    isChanged: hasNotes(raw),
    epoch,
    form: formIn(raw),
    revision: readState(raw).revision,
    taken: takenAt(raw),
  }
}

/** Of the file and of what is written about it: files of two releases do not go together. */
export const formIn = (raw: Raw) => formOf(raw) * 2 ** 8 + FORM

/** Removes what lay ready, and what was left behind. */
export function sweepFolder(dir: string): void {
  for (const name of readdirSync(sharedFolder(dir)))
    rmSync(join(sharedFolder(dir), name), { force: true })
}
