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
