/**
 * The mark of a system of record that was moved into PostgreSQL. Nobody may go on with it as if
 * nothing had happened: two installations would send the same orders. So it lies in the file
 * itself: earlier releases refuse the file, and whoever has it open can write nothing more.
 */
import type { Raw } from './sqlite.js'

/** Of a file that was moved ("QMmv"). */
const MOVED_ID = 0x514d_6d76

export interface MovedRecord {
  /** The move. */
  id: string
  /** The database, in words. */
  place: string
  /** Milliseconds since 1970. */
  at: number
}

/** Marks a record, in the transaction of the caller. */
export function markMoved(
  raw: Raw,
  { id, place, at }: MovedRecord,
  tables: readonly string[],
): void {
  raw.pragma(`application_id = ${MOVED_ID}`)
  raw.exec('CREATE TABLE moved (id TEXT NOT NULL, place TEXT NOT NULL, at INTEGER NOT NULL) STRICT')
  raw.prepare('INSERT INTO moved VALUES (?, ?, ?)').run(id, place, at)
  for (const table of tables)
    for (const change of ['INSERT', 'UPDATE', 'DELETE'])
      raw.exec(
        `CREATE TRIGGER "moved_${table}_${change}" BEFORE ${change} ON "${table}" BEGIN
          SELECT RAISE(ABORT, 'the installation was moved into PostgreSQL'); END`,
      )
}

/** The mark; null where there is none. */
export function readMoved(raw: Raw): MovedRecord | null {
  if (raw.pragma('application_id', { simple: true }) !== MOVED_ID) return null
  return raw.prepare('SELECT id, place, at FROM moved').get() as MovedRecord
}

/** Why a record that was moved is not served, and what to do. */
export function movedLine(path: string, { place, at }: MovedRecord): string {
  return (
    `${path} was moved into ${place} on ${new Date(at).toISOString()}, and is not served any more: ` +
    'serve that one; `quartermaster move --from-file FILE` brings it back'
  )
}
