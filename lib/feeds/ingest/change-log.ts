/**
 * Price and stock changes on their way into history.db, in a transaction of their own that begins
 * with the first.
 */
import { HOUR } from '../../core/clock.js'
import type { Raw, Statement } from '../../db/sqlite/sqlite.js'
import {
  insertChange,
  lastSeen,
  moveFeed,
  noteFirst,
  noteSeen,
  openDayBegins,
  seenAfter,
} from './history-queries.js'

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
    if (this.#times.isFirst) noteFirst(this.#raw, this.#distid, this.#at)
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
      this.#insert = insertChange(this.#raw)
    }
    return this.#insert
  }
}

/** Notes that a distributor's feed of this time is the last one again. */
export function noteUnchanged(raw: Raw, distid: string, { asOf, now }: FeedTimes): void {
  noteSeen(raw, distid, Math.min(asOf, now))
}

/**
 * The time under which a feed's changes are kept: its own, but never before what the distributor's
 * last feed changed (rows are whole states, so their order in time must be the order in which they
 * came), and never within a day that is rolled up. A feed that is taken in again after a crash has
 * its own time again, and replaces its own rows.
 */
function nextTime(raw: Raw, distid: string, { asOf, now }: FeedTimes): number {
  const begins = openDayBegins(raw)
  const last =
    lastSeen(raw, distid) > now + HOUR
      ? bringBack(raw, distid, Math.max(now, begins))
      : lastSeen(raw, distid)
  const own = Math.min(asOf, now)
  return Math.max(own < last ? last + 1 : own, begins)
}

/**
 * After a clock was far ahead: what came then would keep every later change in that future. Tells
 * when it came last, now.
 */
function bringBack(raw: Raw, distid: string, to: number): number {
  for (const [place, at] of seenAfter(raw, distid, to + HOUR).entries())
    moveFeed(raw, distid, at, to + place)
  return lastSeen(raw, distid)
}
