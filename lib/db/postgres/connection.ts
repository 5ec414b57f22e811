/** One connection under Kysely: what was sent on it, and what its errors mean. */
import { CompiledQuery, PostgresAdapter, PostgresIntrospector } from 'kysely'
import type {
  AccessMode,
  DatabaseConnection,
  Dialect,
  Driver,
  IsolationLevel,
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
export const postgresDialect = (pool: Pool): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new PoolDriver(pool),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresCompiler(),
})

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

  async begin(isolation: IsolationLevel, access: AccessMode): Promise<void> {
    try {
      await this.#send(`begin isolation level ${isolation} ${access}`)
    } catch (fault) {
      throw faultOfBegin(fault)
    }
    this.#isInTransaction = true
    this.#isReadOnly = access === 'read only'
  }

  /**
   * A statement that failed has ended the transaction, also where its error was caught: its error
   * is what the commit comes to.
   */
  async commit(): Promise<void> {
    this.#isEnding = true
    if (this.#failure !== undefined) throw this.#failure
    let result: Result
    try {
      result = await this.#client.query('commit')
    } catch (error) {
      const fault = faultOf(error)
      if (isRefusedCommit(fault) && (await this.#lives())) throw fault
      this.#isBroken = true
      throw this.#isReadOnly ? fault : new CommitUnknown(fault)
    }
    this.#isInTransaction = false
    if (result.command !== 'COMMIT')
      throw new Error(`the transaction was not committed, but ended by ${result.command}`)
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
    try {
      return await this.#client.query(
        text,
        /^\s*select\b/i.test(text) ? values.map(asked) : [...values],
      )
    } catch (error) {
      const fault = faultOf(error)
      if (isConnectionLost(fault)) this.#isBroken = true
      if (this.#isInTransaction) this.#failure ??= fault
      // An error that ended the connection, too, may have come after the change was committed.
      else if (!/^\s*(select|begin)\b/i.test(text) && (this.#isBroken || !(await this.#lives())))
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
