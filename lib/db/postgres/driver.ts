/**
 * Loads `pg`, the driver of PostgreSQL, and is the only place that does: nobody needs it who has
 * everything in one folder.
 */
import { createRequire } from 'node:module'

// What we use of pg, in types of our own: whoever compiles against the package has none of that
// one's.

export interface Result {
  command: string
  rowCount: number | null
  rows: Record<string, unknown>[]
}

/**
 * Tells of a value that cannot be sent before it returns. Of several statements in one message each
 * has a result.
 */
type Ask = (
  statement: Statement,
  answered: (error: Error | null, result: Result | Result[]) => void,
) => void

export interface Statement {
  text: string
  values: unknown[]
  /** By which the server keeps it, once it was asked on this connection. */
  name?: string
}

export interface Client {
  connect(): Promise<void>
  query(text: string, values?: readonly unknown[]): Promise<Result>
  on(event: 'error', listener: (error: Error) => void): this
  on(
    event: 'notification',
    listener: (message: { channel: string; payload?: string | undefined }) => void,
  ): this
  on(event: 'end', listener: () => void): this
  end(): Promise<void>
}

export interface PooledClient extends Client {
  query: Client['query'] & Ask
  /** Gives the connection back; with `true` it is closed. */
  release(isBroken?: boolean): void
}

export interface Pool {
  connect(): Promise<PooledClient>
  on(event: 'connect', listener: (client: Client) => void): this
  on(event: 'error', listener: (error: Error) => void): this
  end(): Promise<void>
}

/** How a connection is made, and what it does with values. */
export interface ClientOptions {
  host: string
  port: number
  database: string
  user: string
  password: string | undefined
  ssl: TlsOptions | false
  application_name: string
  /** Settings of the session, as `postgres -c` takes them. */
  options: string
  connectionTimeoutMillis: number
  /** After which the client gives up on a server that says nothing at all. */
  query_timeout: number
  keepAlive: boolean
  types: { getTypeParser(oid: number, format?: string): (text: never) => unknown }
}

export interface TlsOptions {
  rejectUnauthorized: boolean
  ca?: string
  cert?: string
  key?: string
  checkServerIdentity?: () => undefined
}

export interface PoolOptions extends ClientOptions {
  max: number
  idleTimeoutMillis: number
  /** Statements are sent as they are asked for, and not once the one before is answered. */
  pipeline: boolean
}

export interface Pg {
  Pool: new (options: PoolOptions) => Pool
  Client: new (options: ClientOptions) => Client
  types: ClientOptions['types']
}

const load = createRequire(import.meta.url)

/** Throws an Error of one line that says what to do where pg is not installed. */
export function loadPg(find: (name: string) => unknown = (name) => load(name)): Pg {
  try {
    return find('pg') as Pg
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'MODULE_NOT_FOUND') throw error
    throw new Error(
      'the package pg, which PostgreSQL needs, is not installed: run `npm install pg@8`',
      { cause: error },
    )
  }
}
