/**
 * Copies of database files: by SQLite itself, since a file that is opened and closed beside it
 * loses the locks of its process.
 */
import { openFile } from './sqlite.js'

/**
 * Copies a database that may be in use: one consistent state of it. Throws when the copy is
 * damaged.
 */
export function copyDatabase({ from, to }: { from: string; to: string }): void {
  const source = openFile(from, { synchronous: 'FULL', readonly: true, patient: true })
  try {
    source.prepare('VACUUM INTO ?').run(to)
  } finally {
    source.close()
  }
  checkDatabase(to)
}

/** Throws when SQLite finds something wrong with a database that nobody uses. */
export function checkDatabase(path: string): void {
  const raw = openFile(path, { synchronous: 'FULL', readonly: true })
  try {
    const found = raw.pragma('integrity_check', { simple: true })
    if (found !== 'ok') throw new Error(`${path} is damaged: ${String(found)}`)
  } finally {
    raw.close()
  }
}

/** Throws when a row of a database that nobody uses refers to one that is not there. */
export function checkReferences(path: string): void {
  const raw = openFile(path, { synchronous: 'FULL', readonly: true })
  try {
    const [first, ...others] = raw.pragma('foreign_key_check') as {
      table: string
      parent: string
    }[]
    if (first)
      throw new Error(
        `${path} is damaged: ${others.length + 1} rows refer to what is not there, the first one in ` +
          `${first.table}, to ${first.parent}`,
      )
  } finally {
    raw.close()
  }
}
