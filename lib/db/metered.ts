/**
 * What is counted and noted beside the system of record: calls, intervals, quotas, which export is
 * where, what the rules decided. One machine has files of their own for it, which may be lost;
 * several nodes have it in their database, so that it is one for all of them. A domain asks either
 * by the same statements.
 */
import type { Kysely } from 'kysely'
import type { Query, Work } from './query.js'
import type { Raw, Statement } from './sqlite/sqlite.js'

/** A handle for raw prepared statements. */
export interface RawHandle {
  readonly raw: Raw
  readonly prepare: (sql: string) => Statement
}

export interface Metered<T> {
  /** Each statement for itself. */
  readonly db: Kysely<T>
  /** A change by one statement, which stands for itself. Resolves with the number of rows. */
  change<P, Row>(query: Query<P, Row>, given: P): Promise<number>
  /**
   * Runs a work in a transaction. Of those with the same name one runs at a time, whichever node
   * began it, and sees what all before it have done. `at` is the time, as `Engine.time` has it, at
   * which its turn came. Over SQLite it runs within one turn of the event loop.
   */
  alone<R>(ctx: { now(): number }, name: string, work: (at: number) => Work<R>): Promise<R>
  /** The file, for who reads and writes it within one turn; null where nodes share a database. */
  readonly file: RawHandle | null
}

/** A call of the API by a key, and what its tier allows. */
export interface Call {
  keyId: string
  endpoint: string
  perMinute: number
  perDay: number
}

/** What became of it. */
export interface CountedCall {
  isAllowed: boolean
  /** By the database's clock, as all that follows. */
  at: number
  /** Calls that were allowed within the minute before, and on this UTC day, this one among them. */
  recent: number
  today: number
  /** Milliseconds until the minute has room for one more; 0 where it has. */
  wait: number
}

/** Counts calls over all nodes. */
export interface SharedCalls {
  /**
   * Counts a call, or tells that it is one too many. All of one turn of the event loop are asked for
   * by one statement. Rejects where the database is away; whether it was counted is then not known.
   */
  count(call: Call): Promise<CountedCall>
}
