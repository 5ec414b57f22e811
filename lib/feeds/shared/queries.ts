/**
 * Where a file stands among the states that are published, and what else is the same of all files
 * that several nodes share. Only a file that they share has this.
 */
import type { Raw } from '../../db/sqlite/sqlite.js'

/** Does nothing where it is there. */
export function createPoint(raw: Raw): void {
  raw.exec(`CREATE TABLE IF NOT EXISTS shared_point (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  mark TEXT NOT NULL,              -- the published state that the file goes on from; '' for none
  fragments INTEGER NOT NULL,      -- the highest number of a text in that
  pending TEXT,                    -- JSON of the Publication that has what changed since
  epoch INTEGER                    -- in which this node leads; null where it follows another
) STRICT;
INSERT OR IGNORE INTO shared_point VALUES (1, '', 0, NULL, NULL);`)
}

/** Of a file that one folder has from now on. */
export function removePoint(raw: Raw): void {
  raw.exec('DROP TABLE shared_point')
}

export interface StoredPoint {
  mark: string
  fragments: number
  pending: string | null
  epoch: number | null
}

/** Undefined for a file that no nodes share. */
export function readPoint(raw: Raw): StoredPoint | undefined {
  const isShared = raw
    .prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'shared_point'")
    .get()
  return isShared === undefined
    ? undefined
    : (raw.prepare('SELECT mark, fragments, pending, epoch FROM shared_point').get() as StoredPoint)
}

export function writePoint(raw: Raw, point: Partial<StoredPoint>): void {
  for (const [name, value] of Object.entries(point))
    raw.prepare(`UPDATE shared_point SET ${name} = ?`).run(value)
}

export function randomMark(raw: Raw): string {
  return raw.prepare('SELECT lower(hex(randomblob(16)))').pluck().get() as string
}

/** Copies the database as it is committed into a file of its own. */
export function copyInto(raw: Raw, path: string): void {
  raw.prepare('VACUUM INTO ?').run(path)
}
