/** What the roll-up and the metrics ask of history.db, and what a roll-up removes from it. */
import type { Raw } from '../../db/sqlite/sqlite.js'

/** Milliseconds since 1970; `until` is the first moment after. */
export interface Span {
  from: number
  until: number
}

/** The time of the first change at or after a moment; null where there is none. */
export function firstChange(history: Raw): (from: number) => number | null {
  const first = history.prepare('SELECT min(at) FROM change WHERE at >= ?').pluck()
  return (from) => first.get(from) as number | null
}

/** From here on, what a feed has for a closed day counts for the first day after. */
export function closeUntil(history: Raw, moment: number): void {
  history.prepare('UPDATE open_day SET begins = max(begins, ?)').run(moment)
}

/** How many changes a span has; `most` where it has more. */
export function changesIn(history: Raw, most: number): (span: Span) => number {
  const count = history
    .prepare(`SELECT count(*) FROM (SELECT 1 FROM change WHERE at >= ? AND at < ? LIMIT ${most})`)
    .pluck()
  return ({ from, until }) => count.get(from, until) as number
}

/** Whether a distributor was told anew within a span. */
export function hasFirstFeed(history: Raw): (span: Span) => boolean {
  const first = history
    .prepare('SELECT 1 FROM seen WHERE is_first = 1 AND at >= ? AND at < ? LIMIT 1')
    .pluck()
  return ({ from, until }) => first.get(from, until) !== undefined
}

/** Where a change stands in the order of the table. */
export type ChangeKey = [at: number, distid: string, stockid: string]

/** The key of the change that stands so many places behind another one, before a moment. */
export function keysAfter(
  history: Raw,
): (key: ChangeKey, places: number, until: number) => ChangeKey | undefined {
  const key = history
    .prepare(`SELECT at, distid, stockid FROM change
      WHERE (at, distid, stockid) > (?, ?, ?) AND at < ?
      ORDER BY at, distid, stockid LIMIT 1 OFFSET ?`)
    .raw()
  return (from, places, until) => key.get(...from, until, places - 1) as ChangeKey | undefined
}

/**
 * Changes behind one key, up to and with another, as one text: `line` is an expression that makes a
 * line of a change, `@from` in it is a moment. Null where there are none.
 */
export function changeLines(
  history: Raw,
  line: string,
): (from: number, after: ChangeKey, last: ChangeKey) => string | null {
  const lines = history
    .prepare(`SELECT group_concat(${line}, char(10)) || char(10) FROM change
      WHERE (at, distid, stockid) > (@at, @distid, @stockid)
        AND (at, distid, stockid) <= (@lastAt, @lastDistid, @lastStockid)`)
    .pluck()
  return (from, [at, distid, stockid], [lastAt, lastDistid, lastStockid]) =>
    lines.get({ from, at, distid, stockid, lastAt, lastDistid, lastStockid }) as string | null
}

/** Feeds of a span that came longer than `gap` after the distributor's one before, or first. */
export function feedsAfterGap(
  history: Raw,
  { from, until }: Span,
  gap: number,
): { distid: string; at: number }[] {
  return history
    .prepare(`SELECT distid, at FROM (
        SELECT distid, at, lag(at) OVER (PARTITION BY distid ORDER BY at) AS before
        FROM seen WHERE at < ?)
      WHERE at >= ? AND (before IS NULL OR at - before > ?)`)
    .all(until, from, gap) as { distid: string; at: number }[]
}

/** Distributors that were told anew within a span: when first, and when last. */
export function firstFeeds(
  history: Raw,
  { from, until }: Span,
): { distid: string; first: number; last: number }[] {
  return history
    .prepare(`SELECT distid, max(at) FILTER (WHERE is_first) AS first, max(at) AS last
      FROM seen WHERE at >= ? AND at < ? GROUP BY distid HAVING first IS NOT NULL`)
    .all(from, until) as { distid: string; first: number; last: number }[]
}

/** Deletes changes before a moment, so many in a transaction: a feed may be waiting for it. */
export function deleteChanges(history: Raw, before: number, atOnce: number): void {
  const last = history
    .prepare(`SELECT at, distid, stockid FROM change WHERE at < ?
      ORDER BY at, distid, stockid LIMIT 1 OFFSET ${atOnce - 1}`)
    .raw()
  const upTo = history.prepare('DELETE FROM change WHERE (at, distid, stockid) <= (?, ?, ?)')
  for (let key = last.get(before); key !== undefined; key = last.get(before))
    upTo.run(...(key as ChangeKey))
  history.prepare('DELETE FROM change WHERE at < ?').run(before)
}

/** Forgets feeds before a moment, but of each distributor the last one. */
export function deleteSeen(history: Raw, before: number): void {
  history
    .prepare(`DELETE FROM seen WHERE at < (
      SELECT max(at) FROM seen AS other WHERE other.distid = seen.distid AND other.at < ?)`)
    .run(before)
}
