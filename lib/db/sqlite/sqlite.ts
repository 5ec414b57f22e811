/** Everything that is particular to SQLite: files, pragmas, handles, the driver under Kysely. */
import {
  Kysely,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  ValueNode,
} from 'kysely'
import type { CompiledQuery, DatabaseConnection, Dialect, LimitNode } from 'kysely'
import { LRUCache } from 'lru-cache'
import { codeOf } from '../../core/errors.js'
import { pause } from '../../core/async/wait.js'
import { openSqlite } from './driver.js'
import type { Raw, Statement } from './driver.js'
import { NotInsideAtomic, runAtomic } from '../inside.js'

export type { Raw, Statement }

/**
 * Milliseconds that a handle of the request path waits for another process's write; a wait blocks
 * the event loop.
 */
const REQUEST_TIMEOUT = 200
/**
 * How often a transaction, or a statement outside of one, tries to begin, how long SQLite may block
 * the loop in each try, and how long the loop turns before the next, in milliseconds: two seconds in
 * all. SQLite serves nobody in turn, so a process that commits one transaction after the other can
 * keep another out for long.
 */
const TURN = { tries: 100, wait: 10, pause: 10 } as const
/** A worker and a command may wait for the other's whole feed. */
const PATIENT_TIMEOUT = 120_000
/**
 * Older versions can corrupt a WAL file when a writer meets a checkpoint (fixed in 3.51.3; 3.52.0
 * was withdrawn).
 */
const OLDEST_SQLITE = [3, 51, 3] as const
/** Statements kept prepared per handle; the least recently used one goes first. */
const STATEMENTS = 500

export interface OpenFile {
  /**
   * FULL: a commit that was answered survives a power cut. NORMAL: it survives the death of the
   * process.
   */
  synchronous: 'FULL' | 'NORMAL'
  readonly?: boolean
  /** A worker or command: wait for other writers instead of failing after 200 ms. */
  patient?: boolean
}

/**
 * Opens one handle with our pragmas and asserts that they took. What SQLite throws is told with the
 * name of the file, which it does not say itself.
 */
export function openFile(path: string, options: OpenFile): Raw {
  try {
    return openWithPragmas(path, options)
  } catch (error) {
    if (codeOf(error).startsWith('SQLITE_') && error instanceof Error)
      error.message = `${path}: ${error.message}`
    throw error
  }
}

function openWithPragmas(path: string, options: OpenFile): Raw {
  const raw = openSqlite(path, { readonly: options.readonly ?? false })
  try {
    const timeout = options.patient ? PATIENT_TIMEOUT : REQUEST_TIMEOUT
    raw.pragma(`busy_timeout = ${timeout}`)
    if (!options.readonly && journalModeWal(raw, timeout) !== 'wal') {
      throw new Error(`${path}: the file system does not allow write-ahead logging`)
    }
    // better-sqlite3 opens an existing WAL file at NORMAL, so this is set and read back on every
    // open.
    raw.pragma(`synchronous = ${options.synchronous}`)
    const level = raw.pragma('synchronous', { simple: true })
    if (level !== (options.synchronous === 'FULL' ? 2 : 1))
      throw new Error(`${path}: synchronous is ${String(level)}, not ${options.synchronous}`)
    raw.pragma('foreign_keys = ON')
    raw.pragma('journal_size_limit = 67108864')
    raw.pragma('temp_store = MEMORY')
    return raw
  } catch (error) {
    raw.close()
    throw error
  }
}

/**
 * Turns a file to write-ahead logging, and says what it then has. Two processes that make one file
 * at once both read it before they would write it: SQLite then fails one of them at once, however
 * long it may wait, so the wait is ours.
 */
function journalModeWal(raw: Raw, timeout: number): unknown {
  for (let waited = 0; ; waited += TURN.pause) {
    try {
      return raw.pragma('journal_mode = WAL', { simple: true })
    } catch (error) {
      if (!isBusy(error) || waited >= timeout) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TURN.pause)
    }
  }
}

/** Has the disk keep what was committed to a file so far, also where it is at NORMAL. */
export function settleFile(path: string): void {
  const raw = openFile(path, { synchronous: 'NORMAL', patient: true })
  try {
    // Before it copies anything, SQLite syncs the log that it copies from.
    raw.pragma('wal_checkpoint(PASSIVE)')
  } finally {
    raw.close()
  }
}

/** Throws when the SQLite inside better-sqlite3 is too old to be trusted with orders. */
export function assertSqliteVersion(): void {
  const version = sqliteVersion()
  if (!isTrustedSqlite(version))
    throw new Error(`SQLite ${version} has a known corruption bug; 3.51.3 or later is needed`)
}

/** The version of the SQLite inside better-sqlite3. */
export function sqliteVersion(): string {
  const raw = openSqlite(':memory:')
  try {
    return raw.prepare('SELECT sqlite_version()').pluck().get() as string
  } finally {
    raw.close()
  }
}

/** Whether a version of SQLite can be trusted with a database that others have open. */
export function isTrustedSqlite(version: string): boolean {
  const parts = version.split('.').map(Number)
  const difference =
    OLDEST_SQLITE.map((least, i) => (parts[i] ?? 0) - least).find((d) => d !== 0) ?? 0
  return difference >= 0 && version !== '3.52.0'
}

/** A `prepare` that remembers its statements: 29 against 45 microseconds a query under Kysely. */
export function rememberStatements(raw: Raw): (sql: string) => Statement {
  const statements = new LRUCache<string, Statement>({ max: STATEMENTS })
  return (sql) => {
    let statement = statements.get(sql)
    if (!statement) statements.set(sql, (statement = raw.prepare(sql)))
    return statement
  }
}

/**
 * True for an error with which SQLite says that the disk failed: whether the commit is durable is
 * then not known.
 */
export function isIoError(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_IOERR')
}

/** True while another process holds the file. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY')
}

/** True when SQLite had no room to write, or another process held the file for too long. */
export function isUnavailable(error: unknown): boolean {
  return /^SQLITE_(FULL|BUSY|LOCKED|READONLY|CANTOPEN)/.test(codeOf(error))
}

/**
 * Writes a number of rows into the text: SQLite plans a statement anew whenever a LIMIT is bound to
 * it, which takes ten times as long as many a statement.
 */
export class QueryCompiler extends SqliteQueryCompiler {
  protected override visitLimit({ limit }: LimitNode): void {
    this.append('limit ')
    if (ValueNode.is(limit) && Number.isSafeInteger(limit.value)) this.append(String(limit.value))
    else this.visitNode(limit)
  }
}

/** Runs it, again and again while another process is writing; throws that at the end. */
export async function whenFree<R>(statement: () => R | Promise<R>): Promise<R> {
  for (let tries = 1; ; tries++) {
    try {
      return await statement()
    } catch (error) {
      if (!isBusy(error) || tries === TURN.tries) throw error
      await pause(TURN.pause)
    }
  }
}

/** One connection, which waits for other processes without blocking the event loop. */
class OneFileDriver extends SqliteDriver {
  readonly #raw: Raw
  readonly #fatal: (error: unknown) => void
  /** Who may wait for long does so within SQLite. */
  readonly #isPatient: boolean
  /** With what SQLite has ended the transaction by itself: what comes behind it would stand alone. */
  #ended: { error: unknown } | null = null

  constructor(raw: Raw, prepare: (sql: string) => Statement, fatal: (error: unknown) => void) {
    super({ database: { prepare: prepare as never, close: () => {} } })
    this.#raw = raw
    this.#fatal = fatal
    const timeout = raw.pragma('busy_timeout', { simple: true }) as number
    this.#isPatient = timeout > REQUEST_TIMEOUT
    if (!this.#isPatient) raw.pragma(`busy_timeout = ${TURN.wait}`)
  }

  override async beginTransaction(): Promise<void> {
    await this.#inTurn(() => this.#raw.exec('begin immediate'))
  }

  override async commitTransaction(): Promise<void> {
    if (this.#ended) throw this.#ended.error
    this.#guarded(() => this.#raw.exec('commit'))
  }

  /** A full disk ends the transaction by itself; a ROLLBACK then fails and would hide the cause. */
  override async rollbackTransaction(): Promise<void> {
    this.#ended = null
    if (this.#raw.inTransaction) this.#guarded(() => this.#raw.exec('rollback'))
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection()
    return {
      executeQuery: <R>(query: CompiledQuery) =>
        this.#inTurn(() => connection.executeQuery<R>(query)),
      streamQuery: connection.streamQuery.bind(connection),
    }
  }

  async #inTurn<R>(statement: () => R | Promise<R>): Promise<R> {
    if (this.#ended) throw this.#ended.error
    const guarded = () => this.#guarded(statement)
    // Within a transaction nobody else can be writing.
    return this.#isPatient || this.#raw.inTransaction ? guarded() : whenFree(guarded)
  }

  #guarded<R>(statement: () => R): R {
    const isInside = this.#raw.inTransaction
    try {
      return statement()
    } catch (error) {
      if (isIoError(error)) this.#fatal(error)
      if (isInside && !this.#raw.inTransaction) this.#ended = { error }
      throw error
    }
  }
}

/**
 * Kysely over one handle. `owner` marks the writer, whose use inside its own transaction is an
 * error.
 */
export function kyselyOver<T>(
  raw: Raw,
  fatal: (error: unknown) => void,
  owner?: object,
): Kysely<T> {
  const prepare = rememberStatements(raw)
  const dialect: Dialect = {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new OneFileDriver(raw, prepare, fatal),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new QueryCompiler(),
  }
  return new Kysely<T>({ dialect, plugins: owner ? [new NotInsideAtomic(owner)] : [] })
}

/**
 * Runs `fn` in BEGIN IMMEDIATE on the writer. The transaction object carries no plugin: it may be
 * used inside.
 */
export async function transact<T, R>(
  db: Kysely<T>,
  owner: object,
  fn: (tx: Kysely<T>) => Promise<R>,
): Promise<R> {
  return runAtomic(owner, (enter) =>
    db.transaction().execute((tx) => enter(() => fn(tx.withoutPlugins()))),
  )
}
