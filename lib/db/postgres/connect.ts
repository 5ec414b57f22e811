/** Opens the system of record on PostgreSQL. */
import { Kysely } from 'kysely'
import { turnsByName } from '../../core/async/turns.js'
import type { AtomicOptions } from '../engine.js'
import type { Tables } from '../tables/tables.js'
import { NotInsideAtomic } from '../inside.js'
import { readAddress } from './address.js'
import type { Address } from './address.js'
import { transactAlone, transactPostgres } from './atomic.js'
import { postgresDialect } from './connection.js'
import { loadPg } from './driver.js'
import type { Client, ClientOptions, Pg, Pool, PoolOptions } from './driver.js'
import { DatabaseAway, PostgresError, faultOf } from './faults.js'
import { SCHEMA } from './schema/types.js'
import { typesOver } from './types.js'

/**
 * The most connections, for each statement and transaction, and for looks. A transaction may look at
 * what is committed beside it: from the same pool, as many of them would wait for each other.
 */
const CONNECTIONS = { all: 10, looks: 6 } as const
const OLDEST = 150_000
/** Milliseconds that a statement may take; the client waits a little longer for the answer. */
const STATEMENT_TIMEOUT = 30_000
const ANSWER_TIMEOUT = 35_000
/**
 * Milliseconds that a transaction may do nothing: whoever began it is gone. Less than the life of a
 * lease, so that a leader that froze in the middle of a write keeps nobody from taking over.
 */
const IDLE_TIMEOUT = 5_000

/** Milliseconds for which a transaction waits for those of this node that are before it. */
const TURN_TIMEOUT = 5_000

export interface Postgres {
  /** Reads and writes, each statement on a connection of the pool. */
  readonly db: Kysely<Tables>
  /** Reads that wait for no transaction: on connections of their own. */
  readonly read: Kysely<Tables>
  /** As `Engine.atomic`. */
  atomic<C extends { db: Kysely<Tables>; read: Kysely<Tables> }, R>(
    ctx: C,
    fn: (ctx: C) => Promise<R>,
    options?: AtomicOptions,
  ): Promise<R>
  /** As `Metered.alone`. */
  alone<R>(name: string, fn: (tx: Kysely<Tables>, at: number) => Promise<R>): Promise<R>
  /**
   * A connection that belongs to no pool, not made yet. It waits for an answer as long as the others
   * do, or so many milliseconds; with 0, however long it takes.
   */
  newClient(options?: { answerTimeout?: number }): Client
  close(): Promise<void>
}

export interface PostgresOptions {
  /** By which the server's own views tell connections apart: the name of the node. */
  application?: string
  /** Milliseconds after which a server that says nothing is given up; a little over a statement's. */
  answerTimeout?: number
}

/**
 * Opens a pool from the text of a database file, and looks at the server once. Throws an Error of
 * one line, without the password, where it cannot be used. The schema is brought up to date by
 * `migratePostgres`.
 */
export async function openPostgres(
  text: string,
  { application = 'quartermaster', answerTimeout = ANSWER_TIMEOUT }: PostgresOptions = {},
): Promise<Postgres> {
  const address = readAddress(text)
  const pg = loadPg()
  const given = optionsFor(address, { application, answerTimeout }, pg)
  const { commits } = await look(new pg.Client(given), address)
  // Whatever the server would do: an order that was answered must be on its disk.
  const commit = commits === 'remote_apply' ? commits : 'on'
  const options = { ...given, options: `${given.options} -c synchronous_commit=${commit}` }
  const all = openPool(pg, { ...options, max: CONNECTIONS.all })
  const looks = openPool(pg, { ...options, max: CONNECTIONS.looks })
  const owner = {}
  const over = (pool: Pool) =>
    new Kysely<Tables>({ dialect: postgresDialect(pool) }).withPlugin(new NotInsideAtomic(owner))
  const db = over(all)
  // As long as for a connection.
  const inTurn = turnsByName({
    patience: TURN_TIMEOUT,
    late: () => new DatabaseAway('the database is too slow: others wait before this'),
  })
  return {
    db,
    read: over(looks),
    async atomic(ctx, fn, options = {}) {
      if (ctx.db.isTransaction) return fn(ctx)
      const run = () =>
        transactPostgres(db, owner, (tx) => fn({ ...ctx, db: tx, read: tx }), options)
      // Whoever waits on this node does not hold a connection meanwhile.
      return options.inTurn ? inTurn('atomic', run) : run()
    },
    alone: (name, fn) => inTurn(name, () => transactAlone(db, owner, { name, fn })),
    newClient: ({ answerTimeout: ms = answerTimeout } = {}) =>
      new pg.Client({
        ...options,
        query_timeout: ms,
        connectionTimeoutMillis: Math.min(address.connectTimeout, ms || Infinity),
      }),
    async close() {
      await Promise.all([all.end(), looks.end()])
    },
  }
}

function openPool(pg: Pg, options: ClientOptions & Pick<PoolOptions, 'max'>): Pool {
  const pool = new pg.Pool({ ...options, idleTimeoutMillis: 30_000, pipeline: true })
  // Whoever uses a connection learns of its end by a statement that fails; without a listener,
  // Node would take it as an error that nobody caught.
  pool.on('connect', (client) => client.on('error', () => {}))
  pool.on('error', () => {})
  return pool
}

function optionsFor(
  address: Address,
  { application, answerTimeout }: Required<PostgresOptions>,
  pg: Pg,
): ClientOptions {
  const settings = {
    // A pooler that cannot keep settings refuses the connection, or is found out by `look`.
    search_path: SCHEMA,
    // Of a statement that stands for itself, whatever the database's own is: a transaction says.
    default_transaction_isolation: 'read\\ committed',
    statement_timeout: STATEMENT_TIMEOUT,
    idle_in_transaction_session_timeout: IDLE_TIMEOUT,
    client_encoding: 'UTF8',
    // A server learns that a client is gone also while it works for it, or waits for its socket, and
    // keeps no lock for nobody.
    tcp_user_timeout: 10_000,
    client_connection_check_interval: 1_000,
  }
  return {
    host: address.host,
    port: address.port,
    database: address.database,
    user: address.user,
    password: address.password,
    ssl: address.tls,
    application_name: application,
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    connectionTimeoutMillis: address.connectTimeout,
    query_timeout: answerTimeout,
    keepAlive: true,
    types: typesOver(pg.types),
  }
}

/** Asks a server what it is, and refuses one on which orders would not be safe. */
async function look(client: Client, address: Address): Promise<Server> {
  const place = `the database ${address.database} at ${address.host}:${address.port}`
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    throw new Error(`${place}: ${refusalOf(error, address)}`, { cause: error })
  }
  try {
    const { rows } = await client.query(`select current_setting('server_version') as version,
      cast(current_setting('server_version_num') as int) as number,
      current_setting('server_encoding') as encoding,
      current_setting('synchronous_commit') as commits,
      pg_is_in_recovery() as standby,
      current_setting('search_path') as path,
      (select array_agg(cast(setting as int) order by name) from pg_settings where name in
        ('idle_in_transaction_session_timeout', 'statement_timeout')) as timeouts`)
    const server = rows[0] as unknown as Server
    const fault = unfit(server)
    if (fault !== null) throw new Error(`${place}: ${fault}`)
    return server
  } finally {
    await client.end()
  }
}

interface Server {
  version: string
  number: number
  encoding: string
  commits: string
  standby: 0 | 1
  path: string
  /** Of idle transactions and of statements, in milliseconds. */
  timeouts: readonly number[]
}

/** Why a server cannot have the system of record; null where it can. */
export function unfit({
  version,
  number,
  encoding,
  standby,
  path,
  timeouts,
}: Omit<Server, 'commits'>): string | null {
  if (number < OLDEST) return `PostgreSQL ${version} is too old: 15 or newer is needed`
  if (encoding !== 'UTF8')
    return `its encoding is ${encoding}: create it with ENCODING 'UTF8' TEMPLATE template0`
  if (standby === 1) return 'it is a standby, which takes no writes: name the primary'
  if (path !== SCHEMA || timeouts[0] !== IDLE_TIMEOUT || timeouts[1] !== STATEMENT_TIMEOUT)
    return (
      'the settings of a connection are lost on the way, as by PgBouncer with ' +
      'ignore_startup_parameters=options: name the server itself, not the pooler'
    )
  return null
}

/** Why no connection could be made. */
function refusalOf(error: unknown, { user, tls }: Address): string {
  const fault = faultOf(error)
  const said = fault instanceof PostgresError ? fault.code : ''
  const message = error instanceof Error ? error.message : String(error)
  if (said === 'POSTGRES_28P01') return `the password of ${user} is wrong`
  if (said === 'POSTGRES_28000') return `${user} is not let in (${message})`
  if (said === 'POSTGRES_3D000') return 'there is no such database'
  if (/password must be a string/.test(message))
    return `${user} needs a password, and none is given`
  if (/does not support SSL/.test(message))
    return 'the server has no TLS; sslmode=disable does without, where nobody else can listen'
  if (tls !== false && /certificate|altname|self.signed|issuer/i.test(message))
    return `its certificate is refused (${message}); sslrootcert names the authority to trust`
  return message === '' ? `it cannot be reached (${(error as { code?: string }).code})` : message
}
