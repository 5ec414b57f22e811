/** What a move is told, and what it tells. */
import type { Log } from '../../core/log.js'
import type { Verification } from '../../orders/journal/verify.js'
import type { AuditVerification } from '../../accounts/verify-audit.js'
import type { ObjectStore } from '../../objects/store.js'
import type { LeftFile } from './left.js'

export interface MoveInput {
  /** The state folder. */
  dir: string
  /** The text of a database file: `postgres://...`. */
  address: string
  /** 64 hex digits, where the key does not lie in the folder. */
  secretKey?: string | undefined
  /** The bucket of the nodes, for the history of prices and stock. */
  objects?: ObjectStore | undefined
  /** Leaves the history where it is. */
  withoutHistory?: boolean
  now: () => number
  /** Milliseconds by a clock that never steps. */
  monotonic: () => number
  random: (bytes: number) => Buffer
  log?: Log
  /** Goes on although journal or audit are damaged: they are moved as they are. */
  acceptsDamage?: boolean
  /** Checks everything that can be checked, and changes nothing. */
  dryRun?: boolean
  onProgress?: ((told: MoveProgress) => void) | undefined
}

export interface MoveProgress {
  doing: 'preparing' | 'copying' | 'verifying' | 'marking'
  /** The table, or the history; null where it is about all of them. */
  table: string | null
  /** Tables that are done, and all of them. */
  tables: [done: number, all: number]
  /** Rows so far. */
  rows: number
}

export interface MovedTableReport {
  table: string
  rows: number
  /** SHA-256 of the rows in the order of their key, the same in both places. */
  digest: string
  /** Milliseconds that it took to copy; 0 where an earlier run had done it. */
  took: number
}

export interface HistoryReport {
  /** Of the folder; history.db is one of them. */
  files: number
  /** As they are packed in the bucket. */
  bytes: number
}

export interface MoveReport {
  to: 'postgres' | 'folder'
  dir: string
  /** The database, in words. */
  database: string
  /** It was there already: nothing was done. */
  was_done: boolean
  tables: MovedTableReport[]
  rows: number
  /** Milliseconds. */
  took: number
  /** What was proved of the chains; null where nothing was done. */
  journal: Pick<Verification, 'sound' | 'lines' | 'head' | 'faults'> | null
  audit: Pick<AuditVerification, 'sound' | 'rows' | 'head' | 'faults'> | null
  /** The history of prices and stock; null where nothing of it was moved. */
  history: HistoryReport | null
  /** What the folder has beside it, which does not move. */
  left: LeftFile[]
}

/** Counts what is told of. */
export class Progress {
  readonly #told: MoveInput['onProgress']
  readonly #all: number
  #done = 0
  #rows = 0

  constructor(told: MoveInput['onProgress'], all: number) {
    this.#told = told
    this.#all = all
  }

  tell(doing: MoveProgress['doing'], table: string | null = null, rows = 0): void {
    this.#rows += rows
    this.#told?.({ doing, table, tables: [this.#done, this.#all], rows: this.#rows })
  }

  tableDone(): void {
    this.#done++
  }

  /** Begins to count anew. */
  restart(): void {
    this.#done = 0
    this.#rows = 0
  }
}
