/** What every database engine offers, in one place: the rest of the program knows no other. */
import type { Kysely } from 'kysely'
import type { Lead } from './lead.js'
import type { Metered, RawHandle, SharedCalls } from './metered.js'
import type { Reader, Reading, Snapshot } from './query.js'
import type { Rescued } from './sqlite/rescue.js'
import type { Memory } from './state.js'
import type { StateName } from './tables/column-types.js'
import type { DecisionTables, MeterTables, Tables } from './tables/tables.js'

export interface AtomicOptions {
  /**
   * It writes where all of its kind do, such as to the end of the journal: over nodes it waits for
   * those before it, rather than being undone and run again.
   */
  inTurn?: boolean
}

export interface Engine extends Memory {
  /** The state folder. */
  readonly dir: string
  /** The one writer of the system of record. */
  readonly db: Kysely<Tables>
  /** Reads of the system of record; never waits for a transaction of the writer. */
  readonly read: Kysely<Tables>
  /** Reads of the system of record within one turn of the event loop. */
  readonly reader: Reader
  /**
   * Runs a reading over one state of the system of record, as it is committed. Over SQLite it has
   * run when this returns: nothing happened between the call and the end of the reading. What comes
   * after the `await` is another matter.
   */
  look<T>(read: () => Reading<T>): Promise<T>
  /** Which of several nodes leads; null where there is one folder, and the lock of its sender. */
  readonly lead: Lead | null
  /** Resolves once everything that is remembered so far has been read. */
  ready(): Promise<void>
  /** Opens a handle of its own on the system of record, for reads of many turns; close it. */
  openSnapshot(): Promise<Snapshot>
  /** Usage, limits and intervals; survives a kill. */
  readonly meter: Metered<MeterTables>
  /** The log of decisions; survives a kill. */
  readonly decisions: Metered<DecisionTables>
  /** Counts calls over several nodes; null where there is one folder, and the process that serves. */
  readonly calls: SharedCalls | null
  /**
   * Ms by the clock that is one for all who share the system of record: of the process where that is
   * a file, else of its server. For what must fit together whichever node wrote it.
   */
  time(ctx: { readonly db: Kysely<Tables>; now(): number }): Promise<number>
  /** Offers and fragments, read only: the worker writes them. */
  readonly catalog: RawHandle
  /**
   * Runs `fn` in one transaction; inside another `atomic` it joins it. `fn` may run again, so it
   * holds database work only.
   */
  atomic<C extends { db: Kysely<Tables>; read: Kysely<Tables> }, R>(
    ctx: C,
    fn: (ctx: C) => Promise<R>,
    options?: AtomicOptions,
  ): Promise<R>
  /**
   * A number that moves whenever another handle, of this process or another, commits to the system
   * of record. Read once a turn of the event loop, and after every `atomic`.
   */
  version(): number
  /** As `version`, of the catalog file. */
  catalogVersion(): number
  /**
   * Reads what is remembered of this state as it is committed now: before somebody is refused for
   * what another node may just have changed. Null where there is one folder, whose memory is never
   * behind.
   */
  catchUp(name: StateName): Promise<void> | null
  /** Has both read anew: for who knows of a commit within this turn. */
  lookAgain(): void
  /**
   * Takes the named lock until `close` or the death of the process. False when another process has
   * it.
   */
  lock(name: string): boolean
  /**
   * Told of a disk error under what must not be lost; ends the process, unless whoever opened the
   * folder does something else.
   */
  readonly fatal: (error: unknown) => void
  /** True once that was told: what is committed is not known from then on. */
  readonly hasFailed: () => boolean
  /**
   * Whether the file of a database that is open was removed, or another one has its name. Looked at
   * anew with each call.
   */
  isGone(name: 'record' | 'catalog'): boolean
  /**
   * Writes the system of record to the disk again, as it is now. Nothing may be committed to the
   * handles afterwards: end the process within the same turn.
   */
  rescueRecord(now: number): Rescued
  /** Writes the catalog file again as it was, and opens it. */
  writeCatalogBack(): Promise<void>
  /** Opens the catalog file that `work` has put in place of the one of before, where it says so. */
  replaceCatalog(work: () => Promise<boolean>): Promise<void>
  /** Gives a lock back. */
  unlock(name: string): void
  close(): Promise<void>
}
