/**
 * What sharing the history keeps in history.db beside its rows: of which feeds they were written, or
 * have another time, since it was last published.
 */
import type { Raw, Statement } from '../../../db/sqlite/sqlite.js'
import type { Value } from '../pages.js'

/** Stands in the place of a distributor in the note that days were closed for the roll-up. */
const DAY = "''"

export function installNotes(raw: Raw): void {
  const note = (distid: string, at: string) =>
    // Not OR IGNORE, in place of which the clause of the statement that fires the trigger would count.
    `INSERT INTO shared_feed VALUES (${distid}, ${at}) ON CONFLICT DO NOTHING;`
  raw.exec(`
CREATE TABLE IF NOT EXISTS shared_feed (
  distid TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (distid, at)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS shared_seen_added AFTER INSERT ON seen
  BEGIN ${note('NEW.distid', 'NEW.at')} END;
CREATE TRIGGER IF NOT EXISTS shared_seen_changed AFTER UPDATE ON seen
  BEGIN ${note('OLD.distid', 'OLD.at')} ${note('NEW.distid', 'NEW.at')} END;
CREATE TRIGGER IF NOT EXISTS shared_day_closed AFTER UPDATE ON open_day
  WHEN NEW.begins <> OLD.begins
  BEGIN ${note(DAY, '0')} END;
`)
}

/** Notes nothing any more: one folder has the file from now on. */
export function removeNotes(raw: Raw): void {
  raw.exec(`DROP TRIGGER shared_seen_added; DROP TRIGGER shared_seen_changed;
    DROP TRIGGER shared_day_closed; DROP TABLE shared_feed`)
}

export function hasNotes(raw: Raw): boolean {
  return raw.prepare('SELECT EXISTS (SELECT 1 FROM shared_feed)').pluck().get() === 1
}

export function clearNotes(raw: Raw): void {
  raw.exec('DELETE FROM shared_feed')
}

/** Whether days were closed: their rows may be gone any moment, and a file of the day is there. */
export function isDayClosed(raw: Raw): boolean {
  const found = raw.prepare(`SELECT EXISTS (SELECT 1 FROM shared_feed WHERE distid = ${DAY})`)
  return found.pluck().get() === 1
}

export function schemaOf(raw: Raw): number {
  return raw.pragma('user_version', { simple: true }) as number
}

type Rows = IterableIterator<Value[]>

export const FEED_KEY = ['distid', 'at'] as const
export const SEEN = ['distid', 'at', 'is_first'] as const
export const CHANGE = ['distid', 'stockid', 'at', 'upc', 'price', 'qty', 'gone', 'held'] as const

export function notedFeeds(raw: Raw): Rows {
  const noted = raw.prepare(`SELECT distid, at FROM shared_feed WHERE distid <> ${DAY}
    ORDER BY distid, at`)
  return noted.raw().iterate() as Rows
}

/** Of the noted feeds, those that there are. */
export function notedSeen(raw: Raw): Rows {
  const seen = raw.prepare(`SELECT ${SEEN.join(', ')} FROM seen JOIN shared_feed USING (distid, at)
    ORDER BY distid, at`)
  return seen.raw().iterate() as Rows
}

export function notedChanges(raw: Raw): Rows {
  const columns = CHANGE.map((name) => `c.${name}`).join(', ')
  // In the order of the key; the planner would go through all changes.
  const changes = raw.prepare(`SELECT ${columns} FROM shared_feed AS f
    CROSS JOIN change AS c ON c.at = f.at AND c.distid = f.distid
    ORDER BY f.distid, f.at, c.stockid`)
  return changes.raw().iterate() as Rows
}

/** Statements that write what a page says. */
export const writers: Readonly<Record<string, (raw: Raw) => Statement>> = {
  'drop change': (raw) => raw.prepare('DELETE FROM change WHERE distid = ? AND at = ?'),
  'drop seen': (raw) => raw.prepare('DELETE FROM seen WHERE distid = ? AND at = ?'),
  'put seen': (raw) =>
    raw.prepare('INSERT OR REPLACE INTO seen (distid, at, is_first) VALUES (?, ?, ?)'),
  'put change': (raw) =>
    raw.prepare(`INSERT OR REPLACE INTO change (${CHANGE.join(', ')})
      VALUES (${CHANGE.map(() => '?').join(', ')})`),
}
