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
import type { Pool, PooledClient, Result, Statement } from './driver.js'
import {
  CommitUnknown,
  faultOf,
  faultOfBegin,
  isConnectionLost,
  isRefusedCommit,
  isServerMessage,
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
 * the server gets them in the order in which they are asked. Kysely's own has one under way. Whether
 * somebody waits for a statement or not, one that fails is what the commit comes to (together.ts).
 */
export function sideBySide<T>(tx: Kysely<T>, connection: DatabaseConnection): Transaction<T> {
  const executor = tx
    .getExecutor()
    .withoutPlugins()
    .withConnectionProvider({ provideConnection: (ask) => ask(connection) })
  // Which is begun, and of its driver nothing more is asked.
  const driver = new DummyDriver()
  const dialect = dialectOf(driver)
  return new PipelinedTransaction<T>({ config: { dialect }, dialect, driver, executor })
}

class PipelinedTransaction<T> extends Transaction<T> {
  readonly isPipelined = true
}

class PoolDriver implements Driver {
  readonly #pool: Pool
  readonly #prepared = new PreparedStatements()
  constructor(pool: Pool) {
    this.#pool = pool
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<Connection> {
    try {
      return new Connection(await this.#pool.connect(), this.#prepared)
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
  readonly #prepared: PreparedStatements
  /** The BEGIN of the transaction, until its first statement takes it along. */
  #toBegin: string | null = null
  /** Resolves once the BEGIN is answered. */
  #beginning: Promise<void> | null = null
  #isBegun = false
  /** Statements that wait for it: what comes behind them does, too. */
  #held = 0
  #isInTransaction = false
  #isReadOnly = false
  /** From the start of a transaction's end: what is asked behind it would be done on its own. */
  #isEnding = false
  /** The first error of the transaction: after it, the server takes nothing but the end. */
  #failure: unknown
  #isBroken = false
  /** The server and the driver may not agree on which statements are kept. */
  #isStale = false

  constructor(client: PooledClient, prepared: PreparedStatements) {
    this.#client = client
    this.#prepared = prepared
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
   * is what the commit comes to. Nor does it wait for the answers of statements that are under way:
   * behind one that fails, the server takes it as a ROLLBACK.
   */
  async commit(): Promise<void> {
    await this.#end()
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
      throw (
        this.#failure ??
        new Error(`the transaction was not committed, but ended by ${result.command}`)
      )
  }

  /** Takes nothing more, and sends what was asked before the BEGIN was answered. */
  async #end(): Promise<void> {
    this.#isEnding = true
    await this.#beginning?.catch(() => {})
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
    await this.#end()
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
    this.#client.release(this.#isBroken || this.#isStale || this.#isInTransaction)
  }

  async #send(text: string, values: readonly unknown[] = []): Promise<Result> {
    if (this.#isEnding) throw new Error('the transaction of this statement has ended')
    if (this.#failure !== undefined) throw this.#failure
    const begin = this.#toBegin
    if (begin !== null) {
      this.#toBegin = null
      this.#isInTransaction = true
      // In one message, the server does nothing of what stands behind a BEGIN that it refuses.
      const isWhole = values.length === 0
      const begun = this.#ask(isWhole ? `${begin}; ${text}` : begin, [], faultOfBegin)
      this.#beginning = begun.then(() => {
        this.#isBegun = true
      })
      this.#beginning.catch(() => {})
      if (isWhole) return begun
    }
    // What only asks does no harm behind a BEGIN that is refused: the commit tells of it.
    if (this.#held > 0 || (this.#beginning && !this.#isBegun && !isQuestion(text))) {
      this.#held++
      await this.#beginning
      this.#held--
    }
    return this.#ask(text, values)
  }

  async #ask(
    text: string,
    values: readonly unknown[],
    meaning: (fault: unknown) => unknown = (fault) => fault,
  ): Promise<Result> {
    try {
      const statement = {
        ...this.#prepared.named(text, values.length > 0),
        values: isQuestion(text) ? values.map(asked) : [...values],
      }
      return await this.#exchange(statement, meaning)
    } catch (fault) {
      if (this.#isInTransaction) throw fault
      // An error that ended the connection, too, may have come after the change was committed.
      if (!isQuestion(text) && (this.#isBroken || !(await this.#lives())))
        throw new CommitUnknown(fault)
      throw fault
    }
  }

  /** An error is noted when it is heard, before anybody hears what came of a COMMIT behind it. */
  #exchange(statement: Statement, meaning: (fault: unknown) => unknown): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#client.query(statement, (error, result) => {
        // Of several statements in one message the last is the one that was asked.
        if (!error) return resolve([result].flat().at(-1)!)
        const fault = meaning(faultOf(error))
        if (isConnectionLost(fault)) this.#isBroken = true
        // Where its values cannot be sent, the driver has the server forget it, and does not note so.
        if (statement.name !== undefined && !isServerMessage(error)) this.#isStale = true
        // What stands behind the first error is refused because of it, and says no more than that.
        reject(this.#isInTransaction ? (this.#failure ??= fault) : fault)
      })
    })
  }
}

/** How often a statement is asked before the server keeps it, and how many it keeps. */
const OFTEN = 5
const MOST_KEPT = 200

/**
 * Which statements the server keeps on each connection, so that it need not read and plan them
 * anew: those that are asked often.
 */
class PreparedStatements {
  /** By its text, how often one was asked, and then its name. */
  readonly #known = new Map<string, number | string>()
  #kept = 0

  named(text: string, hasValues: boolean): Pick<Statement, 'text' | 'name'> {
    // What `*` stands for may change while others bring the schema up to date: such a one would fail.
    if (!hasValues || text.includes('*')) return { text }
    const known = this.#known.get(text) ?? 0
    if (typeof known === 'string') return { text, name: known }
    if (this.#kept < MOST_KEPT && this.#known.size < 10 * MOST_KEPT)
      this.#known.set(text, known + 1 < OFTEN ? known + 1 : `kept ${++this.#kept}`)
    return { text }
  }
}

/** By its first word: what it calls may write, but nothing that outlives a statement on its own. */
const isQuestion = (text: string) => /^\s*select\b/i.test(text)

/**
 * The server has no text with a NUL, and refuses a question with one, which SQLite answers with
 * nothing: it is asked for a character instead that is none and stands in no text.
 */
function asked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asked)
  return typeof value === 'string' ? value.replaceAll('\0', '\u{10ffff}') : value
}
