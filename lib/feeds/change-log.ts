/** Price and stock changes on their way into history.db, in a transaction of their own that begins with the first. */
import type { Raw, Statement } from '../db/sqlite.js'

export interface Change {
  distid: string
  stockid: string
  upc: string | null
  /** Cents, of the operator's feeds. */
  price: number | null
  qty: number
  gone: boolean
}

export class ChangeLog {
  readonly #raw: Raw
  /** When the feed was made: a feed that is taken in again after a crash writes the same rows again. */
  readonly #at: number
  #insert: Statement | null = null

  constructor(raw: Raw, at: number) {
    this.#raw = raw
    this.#at = at
  }

  record({ distid, stockid, upc, price, qty, gone }: Change): void {
    if (!this.#insert) {
      this.#raw.exec('BEGIN IMMEDIATE')
      this.#insert = this.#raw.prepare('INSERT OR REPLACE INTO change (distid, stockid, at, upc, price, qty, gone) VALUES (?, ?, ?, ?, ?, ?, ?)')
    }
    this.#insert.run(distid, stockid, this.#at, upc, price, qty, gone ? 1 : 0)
  }

  commit(): void {
    if (this.#insert) this.#raw.exec('COMMIT')
    this.#insert = null
  }

  rollback(): void {
    // A full disk ends the transaction by itself.
    if (this.#insert && this.#raw.inTransaction) this.#raw.exec('ROLLBACK')
    this.#insert = null
  }
}
