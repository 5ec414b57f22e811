/** Opens the engine of an app, on the database that has its system of record. */
import { existsSync } from 'node:fs'
import type { Log } from '../core/log.js'
import { filesIn, holdFolder } from '../db/sqlite/folder.js'
import { readMoved } from '../db/sqlite/moved.js'
import { openFile } from '../db/sqlite/sqlite.js'
import { openEngine } from '../db/sqlite/engine.js'
import type { Engine } from '../db/engine.js'

export interface RecordOptions {
  /** The state folder. */
  dir: string
  /** The text of a database file; undefined where the record is in the folder. */
  database: string | undefined
  log: Log
  now: () => number
  monotonic: () => number
  random: (bytes: number) => Buffer
  /** Told of a disk error under what must not be lost. */
  fatal: (error: unknown) => void
  /** What is to be done before the files of the folder are brought up to date. */
  before: () => Promise<void>
}

/** Creates what is missing, upgrades the files or the database, and opens them. */
export async function openRecord({
  dir,
  database,
  fatal,
  before,
  ...options
}: RecordOptions): Promise<Engine> {
  if (database !== undefined) {
    refuseOwnRecord(dir)
    // Who has one folder loads nothing of it.
    const { openPostgresEngine } = await import('../db/postgres/engine.js')
    return openPostgresEngine({ dir, address: database, ...options })
  }
  await before()
  const release = holdFolder(dir)
  try {
    return openEngine(dir, fatal)
  } finally {
    release()
  }
}

/** A node's folder has nothing that must not be lost: an installation in it was named by mistake. */
function refuseOwnRecord(dir: string): void {
  const { record } = filesIn(dir)
  if (!existsSync(record)) return
  const raw = openFile(record, { synchronous: 'FULL', readonly: true })
  try {
    if (readMoved(raw) !== null) return
  } finally {
    raw.close()
  }
  throw new Error(
    `${dir} has an installation of its own: move it into the database with \`quartermaster move\`, ` +
      "name another folder for this node's files with --dir, or serve this one without a database " +
      '(QUARTERMASTER_DATABASE_FILE)',
  )
}
