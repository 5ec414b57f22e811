/** Opens the system of record on PostgreSQL. */
import { Kysely } from 'kysely'
import type { Tables } from '../tables/tables.js'
import { NotInsideAtomic } from '../inside.js'
import { readAddress } from './address.js'
import type { Address } from './address.js'
import { transactPostgres } from './atomic.js'
import { postgresDialect } from './connection.js'
import { loadPg } from './driver.js'
import type { Client, ClientOptions, Pg, Pool } from './driver.js'
import { PostgresError, faultOf } from './faults.js'
import { SCHEMA } from './schema/types.js'
import { typesOver } from './types.js'

const CONNECTIONS = 10
const OLDEST = 150_000
/** Milliseconds that a statement may take; the client waits a little longer for the answer. */
const STATEMENT_TIMEOUT = 30_000
const ANSWER_TIMEOUT = 35_000
/**
 * Milliseconds that a transaction may do nothing: whoever began it is gone. Less than the life of a
 * lease, so that a leader that froze in the middle of a write keeps nobody from taking over.
 */
const IDLE_TIMEOUT = 5_000

export interface Postgres {
  /** Reads and writes, each statement on a connection of the pool. */
  readonly db: Kysely<Tables>
  /** As `Engine.atomic`. */
  atomic<C extends { db: Kysely<Tables>; read: Kysely<Tables> }, R>(
    ctx: C,
    fn: (ctx: C) => Promise<R>,
  ): Promise<R>
  /** A connection that belongs to no pool, not made yet; a patient one waits however long it takes. */
  newClient(options?: { isPatient?: boolean }): Client
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
  const options = optionsFor(address, { application, answerTimeout }, pg)
  const pool = new pg.Pool({ ...options, max: CONNECTIONS, idleTimeoutMillis: 30_000 })
  // Whoever uses a connection learns of its end by a statement that fails; without a listener,
  // Node would take it as an error that nobody caught.
  pool.on('connect', (client) => client.on('error', () => {}))
  pool.on('error', () => {})
  try {
    await look(pool, address)
  } catch (error) {
    await pool.end()
    throw error
  }
  const owner = {}
  const outer = new Kysely<Tables>({ dialect: postgresDialect(pool) })
  const db = outer.withPlugin(new NotInsideAtomic(owner))
  return {
    db,
    async atomic(ctx, fn) {
      if (ctx.db.isTransaction) return fn(ctx)
      return transactPostgres(db, owner, (tx) => fn({ ...ctx, db: tx, read: tx }))
    },
    newClient: ({ isPatient = false } = {}) =>
      new pg.Client({ ...options, query_timeout: isPatient ? 0 : answerTimeout }),
    close: () => outer.destroy(),
  }
}

function optionsFor(
  address: Address,
  { application, answerTimeout }: Required<PostgresOptions>,
  pg: Pg,
): ClientOptions {
  const settings = {
    // A pooler that cannot keep settings refuses the connection, instead of losing them later.
    search_path: SCHEMA,
    statement_timeout: STATEMENT_TIMEOUT,
    idle_in_transaction_session_timeout: IDLE_TIMEOUT,
    client_encoding: 'UTF8',
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
async function look(pool: Pool, address: Address): Promise<void> {
  const place = `the database ${address.database} at ${address.host}:${address.port}`
  let client
  try {
    client = await pool.connect()
  } catch (error) {
    throw new Error(`${place}: ${refusalOf(error, address)}`, { cause: error })
  }
  try {
    const { rows } = await client.query(`select current_setting('server_version') as version,
      cast(current_setting('server_version_num') as int) as number,
      current_setting('server_encoding') as encoding,
      current_setting('synchronous_commit') as commits,
      pg_is_in_recovery() as standby`)
    const fault = unfit(rows[0] as unknown as Server)
    if (fault !== null) throw new Error(`${place}: ${fault}`)
  } finally {
    client.release()
  }
}

interface Server {
  version: string
  number: number
  encoding: string
  commits: string
  standby: 0 | 1
}

/** Why a server cannot have the system of record; null where it can. */
export function unfit({ version, number, encoding, commits, standby }: Server): string | null {
  if (number < OLDEST) return `PostgreSQL ${version} is too old: 15 or newer is needed`
  if (encoding !== 'UTF8')
    return `its encoding is ${encoding}: create it with ENCODING 'UTF8' TEMPLATE template0`
  if (standby === 1) return 'it is a standby, which takes no writes: name the primary'
  if (commits === 'off')
    return 'synchronous_commit is off, and an order could be lost: set it to on'
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
