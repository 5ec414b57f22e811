/**
 * Price and stock changes on their way into history.db, in a transaction of their own that begins
 * with the first.
 */
import { HOUR } from '../../core/clock.js'
import type { Raw, Statement } from '../../db/sqlite.js'

export interface Change {
  distid: string
  stockid: string
  upc: string | null
  /** Cents, of the operator's feeds. */
  price: number | null
  qty: number
  gone: boolean
  /** The catalog holds it back. */
  held: boolean
}

export interface FeedTimes {
  /** When the feed was made, milliseconds. */
  asOf: number
  now: number
  /**
   * Of the operator's catalog feeds, the one before which the catalog had no price of the
   * distributor.
   */
  isFirst?: boolean
}

export class ChangeLog {
  readonly #raw: Raw
  readonly #distid: string
  readonly #times: FeedTimes
  #at = 0
  #insert: Statement | null = null

  constructor(raw: Raw, distid: string, times: FeedTimes) {
    this.#raw = raw
    this.#distid = distid
    this.#times = times
  }

  record({ distid, stockid, upc, price, qty, gone, held }: Change): void {
    this.#begin().run(distid, stockid, this.#at, upc, price, qty, gone ? 1 : 0, held ? 1 : 0)
  }

  /** Notes that the feed was taken, with all that it changed. */
  commit(): void {
    this.#begin()
    noteSeen(this.#raw, this.#distid, this.#at)
    if (this.#times.isFirst)
      this.#raw
        .prepare('UPDATE seen SET is_first = 1 WHERE distid = ? AND at = ?')
        .run(this.#distid, this.#at)
    this.#raw.exec('COMMIT')
    this.#insert = null
  }

  rollback(): void {
    // A full disk ends the transaction by itself.
    if (this.#insert && this.#raw.inTransaction) this.#raw.exec('ROLLBACK')
    this.#insert = null
  }

  #begin(): Statement {
    if (!this.#insert) {
      this.#raw.exec('BEGIN IMMEDIATE')
      this.#at = nextTime(this.#raw, this.#distid, this.#times)
      this.#insert = this.#raw.prepare(
        'INSERT OR REPLACE INTO change (distid, stockid, at, upc, price, qty, gone, held) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      )
    }
    return this.#insert
  }
}

/** Notes that a distributor's feed of this time is the last one again. */
export function noteUnchanged(raw: Raw, distid: string, { asOf, now }: FeedTimes): void {
  noteSeen(raw, distid, Math.min(asOf, now))
}

function noteSeen(raw: Raw, distid: string, at: number): void {
  raw.prepare('INSERT OR IGNORE INTO seen (distid, at) VALUES (?, ?)').run(distid, at)
}

/**
 * The time under which a feed's changes are kept: its own, but never before what the distributor's
 * last feed changed (rows are whole states, so their order in time must be the order in which they
 * came), and never within a day that is rolled up. A feed that is taken in again after a crash has
 * its own time again, and replaces its own rows.
 */
function nextTime(raw: Raw, distid: string, { asOf, now }: FeedTimes): number {
  const begins = raw.prepare('SELECT begins FROM open_day').pluck().get() as number
  const last =
    lastSeen(raw, distid) > now + HOUR
      ? bringBack(raw, distid, Math.max(now, begins))
      : lastSeen(raw, distid)
  const own = Math.min(asOf, now)
  return Math.max(own < last ? last + 1 : own, begins)
}

function lastSeen(raw: Raw, distid: string): number {
  return (
    (raw.prepare('SELECT max(at) FROM seen WHERE distid = ?').pluck().get(distid) as
      | number
      | null) ?? 0
  )
}

/**
 * After a clock was far ahead: what came then would keep every later change in that future. Tells
 * when it came last, now.
 */
function bringBack(raw: Raw, distid: string, to: number): number {
  const ahead = raw
    .prepare('SELECT at FROM seen WHERE distid = ? AND at > ? ORDER BY at')
    .pluck()
    .all(distid, to + HOUR) as number[]
  for (const [place, at] of ahead.entries()) {
    for (const table of ['change', 'seen'])
      raw
        .prepare(`UPDATE OR REPLACE ${table} SET at = ? WHERE at = ? AND distid = ?`)
        .run(to + place, at, distid)
  }
  return lastSeen(raw, distid)
}
