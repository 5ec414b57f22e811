/** What taking a feed in asks of history.db, and writes there. */
import type { Raw, Statement } from '../../db/sqlite/sqlite.js'

/** Writes a change: distid, stockid, at, upc, price, qty, gone, held. */
export function insertChange(history: Raw): Statement {
  return history.prepare(`INSERT OR REPLACE INTO change
      (distid, stockid, at, upc, price, qty, gone, held)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
}

/**
 * Notes that a distributor's feed of this time was taken. One that is taken in once more is noted
 * once more: nodes that share the history look for that.
 */
export function noteSeen(history: Raw, distid: string, at: number): void {
  history
    .prepare(`INSERT INTO seen (distid, at) VALUES (?, ?)
      ON CONFLICT (distid, at) DO UPDATE SET at = excluded.at`)
    .run(distid, at)
}

/** Whether any feed was ever taken. */
export function hasSeen(history: Raw): boolean {
  return history.prepare('SELECT 1 FROM seen LIMIT 1').get() !== undefined
}

/** Notes that this feed was the one before which the catalog had no price of the distributor. */
export function noteFirst(history: Raw, distid: string, at: number): void {
  history.prepare('UPDATE seen SET is_first = 1 WHERE distid = ? AND at = ?').run(distid, at)
}

/** When the first day begins that is not rolled up. */
export function openDayBegins(history: Raw): number {
  return history.prepare('SELECT begins FROM open_day').pluck().get() as number
}

/** The time of a distributor's last feed; 0 where there is none. */
export function lastSeen(history: Raw, distid: string): number {
  const last = history.prepare('SELECT max(at) FROM seen WHERE distid = ?').pluck().get(distid)
  return (last as number | null) ?? 0
}

/** Times of a distributor's feeds after this one, the oldest first. */
export function seenAfter(history: Raw, distid: string, at: number): number[] {
  return history
    .prepare('SELECT at FROM seen WHERE distid = ? AND at > ? ORDER BY at')
    .pluck()
    .all(distid, at) as number[]
}

/** Gives a feed, and all that it changed, another time. */
export function moveFeed(history: Raw, distid: string, from: number, to: number): void {
  for (const table of ['change', 'seen'])
    history
      .prepare(`UPDATE OR REPLACE ${table} SET at = ? WHERE at = ? AND distid = ?`)
      .run(to, from, distid)
}
