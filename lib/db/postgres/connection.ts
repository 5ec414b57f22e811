/** One connection under Kysely: what was sent on it, and what its errors mean. */
import {
  CompiledQuery,
  DummyDriver,
  PostgresAdapter,
  PostgresIntrospector,
  Transaction,
} from 'kysely'
import type {
  AccessMode,
  DatabaseConnection,
  Dialect,
  Driver,
  IsolationLevel,
  Kysely,
  QueryResult,
  TransactionSettings,
} from 'kysely'
import { PostgresCompiler } from './compiler.js'
import type { Pool, PooledClient, Result } from './driver.js'
import {
  CommitUnknown,
  faultOf,
  faultOfBegin,
  isConnectionLost,
  isRefusedCommit,
} from './faults.js'

/**
 * Kysely over a pool. Kysely's own driver would give a broken connection back to the pool, and
 * could not tell a COMMIT that was lost from one that was refused.
 */
export const postgresDialect = (pool: Pool): Dialect => dialectOf(new PoolDriver(pool))

const dialectOf = (driver: Driver): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => driver,
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresCompiler(),
})

/**
 * A transaction without its plugins, whose statements do not wait for the answers of those before:
 * the server gets them in the order in which they are asked. Kysely's own has one under way.
 */
export function sideBySide<T>(tx: Kysely<T>, connection: DatabaseConnection): Transaction<T> {
  const executor = tx
    .getExecutor()
    .withoutPlugins()
    .withConnectionProvider({ provideConnection: (ask) => ask(connection) })
  // Which is begun, and of its driver nothing more is asked.
  const driver = new DummyDriver()
  const dialect = dialectOf(driver)
  return new Transaction<T>({ config: { dialect }, dialect, driver, executor })
}

class PoolDriver implements Driver {
  readonly #pool: Pool
  constructor(pool: Pool) {
    this.#pool = pool
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<Connection> {
    try {
      return new Connection(await this.#pool.connect())
    } catch (error) {
      throw faultOf(error)
    }
  }

  beginTransaction(
    connection: Connection,
    { isolationLevel = 'serializable', accessMode = 'read write' }: TransactionSettings,
  ): Promise<void> {
    return connection.begin(isolationLevel, accessMode)
  }

  commitTransaction(connection: Connection): Promise<void> {
    return connection.commit()
  }

  rollbackTransaction(connection: Connection): Promise<void> {
    return connection.rollback()
  }

  async releaseConnection(connection: Connection): Promise<void> {
    connection.release()
  }

  /** Whoever opened the pool ends it: Kysely does not come here where no statement ran. */
  async destroy(): Promise<void> {}
}

const CHANGES = ['INSERT', 'UPDATE', 'DELETE']

class Connection implements DatabaseConnection {
  readonly #client: PooledClient
  /** The BEGIN of the transaction, until its first statement takes it along. */
  #toBegin: string | null = null
  /** A BEGIN that went alone, until it is answered. */
  #beginning: Promise<unknown> | null = null
  #isInTransaction = false
  #isReadOnly = false
  /** From the start of a transaction's end: what is sent behind it would be done on its own. */
  #isEnding = false
  /** The first error of the transaction: after it, the server takes nothing but the end. */
  #failure: unknown
  #isBroken = false

  constructor(client: PooledClient) {
    this.#client = client
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { command, rowCount, rows } = await this.#send(sql, parameters)
    return {
      rows: rows as R[],
      ...(CHANGES.includes(command) && { numAffectedRows: BigInt(rowCount ?? 0) }),
    }
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('rows of PostgreSQL are not streamed: read them in steps')
  }

  /** Nothing is said to the server before the first statement. */
  async begin(isolation: IsolationLevel, access: AccessMode): Promise<void> {
    this.#toBegin = `begin isolation level ${isolation} ${access}`
    this.#isReadOnly = access === 'read only'
  }

  /**
   * A statement that failed has ended the transaction, also where its error was caught: its error
   * is what the commit comes to.
   */
  async commit(): Promise<void> {
    this.#isEnding = true
    if (this.#failure !== undefined) throw this.#failure
    if (!this.#isInTransaction) return
    if (this.#isReadOnly) return this.#leave()
    let result: Result
    try {
      result = await this.#client.query('commit')
    } catch (error) {
      const fault = faultOf(error)
      if (isRefusedCommit(fault) && (await this.#lives())) throw fault
      this.#isBroken = true
      throw new CommitUnknown(fault)
    }
    this.#isInTransaction = false
    if (result.command !== 'COMMIT')
      throw new Error(`the transaction was not committed, but ended by ${result.command}`)
  }

  /**
   * Ends what only read, without waiting for it: what was read is read, and whoever has the
   * connection next stands behind it.
   */
  #leave(): void {
    this.#isInTransaction = false
    this.#client.query('commit').catch(() => {})
  }

  /** Never throws: what went wrong before is what there is to tell. */
  async rollback(): Promise<void> {
    this.#isEnding = true
    if (this.#isInTransaction && !this.#isBroken) await this.#lives()
  }

  /** Whether the connection is as good as before, without a transaction: a ROLLBACK tells. */
  async #lives(): Promise<boolean> {
    try {
      await this.#client.query('rollback')
      this.#isInTransaction = false
      return true
    } catch {
      // Closed, it has no transaction any more.
      this.#isBroken = true
      return false
    }
  }

  release(): void {
    this.#client.release(this.#isBroken || this.#isInTransaction)
  }

  async #send(text: string, values: readonly unknown[] = []): Promise<Result> {
    if (this.#isEnding) throw new Error('the transaction of this statement has ended')
    const begin = this.#toBegin
    if (begin !== null) {
      this.#toBegin = null
      this.#isInTransaction = true
      // In one message, the server does nothing of what stands behind a BEGIN that it refuses.
      if (values.length === 0) return this.#ask(`${begin}; ${text}`, [], faultOfBegin)
      this.#beginning = this.#ask(begin, [], faultOfBegin).finally(() => {
        this.#beginning = null
      })
      // What only reads does no harm behind one either: the commit tells of it.
      if (this.#isReadOnly) this.#beginning.catch(() => {})
    }
    if (this.#beginning && !this.#isReadOnly) await this.#beginning
    return this.#ask(text, values)
  }

  async #ask(
    text: string,
    values: readonly unknown[],
    meaning: (fault: unknown) => unknown = (fault) => fault,
  ): Promise<Result> {
    try {
      const answer = await this.#client.query(
        text,
        /^\s*select\b/i.test(text) ? values.map(asked) : [...values],
      )
      // Of several statements in one message each has an answer.
      return [answer].flat().at(-1)!
    } catch (error) {
      const fault = meaning(faultOf(error))
      if (isConnectionLost(fault)) this.#isBroken = true
      // What stands behind the first error is refused because of it, and says no more than that.
      if (this.#isInTransaction) throw (this.#failure ??= fault)
      // An error that ended the connection, too, may have come after the change was committed.
      if (!/^\s*select\b/i.test(text) && (this.#isBroken || !(await this.#lives())))
        throw new CommitUnknown(fault)
      throw fault
    }
  }
}

/**
 * The server has no text with a NUL, and refuses a question with one, which SQLite answers with
 * nothing: it is asked for a character instead that is none and stands in no text.
 */
function asked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asked)
  return typeof value === 'string' ? value.replaceAll('\0', '\u{10ffff}') : value
}
