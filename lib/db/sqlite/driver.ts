/**
 * Loads better-sqlite3, and is the only place that does: which version of it runs depends on Node.
 */
import { createRequire } from 'node:module'

// What we use of better-sqlite3, in types of our own: whoever compiles against the package has none
// of that one's.

/** What a statement takes: values one by one, or an object of named ones. */
type Parameters = readonly unknown[]

/** A prepared statement. */
export interface Statement {
  readonly reader: boolean
  run(...parameters: Parameters): { changes: number; lastInsertRowid: number | bigint }
  get(...parameters: Parameters): unknown
  all(...parameters: Parameters): unknown[]
  iterate(...parameters: Parameters): IterableIterator<unknown>
  /** Rows as their first column alone. */
  pluck(on?: boolean): this
  /** Rows as lists of values. */
  raw(on?: boolean): this
  bind(...parameters: Parameters): this
  /** Whole numbers as bigints. */
  safeIntegers(on?: boolean): this
  columns(): { name: string; type: string | null }[]
}

/**
 * A function that runs in one transaction, begun as it is called: immediate takes the write lock at
 * once.
 */
export interface Transaction<A extends unknown[], R> {
  (...args: A): R
  immediate(...args: A): R
  deferred(...args: A): R
}

/** One open database file. */
export interface Raw {
  readonly inTransaction: boolean
  readonly open: boolean
  prepare(sql: string): Statement
  exec(sql: string): this
  pragma(source: string, options?: { simple?: boolean }): unknown
  transaction<A extends unknown[], R>(fn: (...args: A) => R): Transaction<A, R>
  close(): this
  /** Copies the file while others write to it; `progress` tells how many pages come next. */
  backup(path: string, options: { progress: () => number }): Promise<unknown>
}

export interface OpenOptions {
  readonly?: boolean
  fileMustExist?: boolean
}

type Driver = new (path: string, options?: OpenOptions) => Raw

/** A runtime as `process.versions` describes it. */
export interface Runtime {
  /** Without the "v" in front. */
  node: string
  /** The version of Node's native interface. */
  napi: string
}

/**
 * better-sqlite3 13 speaks this version of the native interface, and crashes the process on a Node
 * that has an older one.
 */
const NATIVE_INTERFACE = 10
const SUPPORTED = 'Node 20.19, 22.14 and 24, and later releases of these'

const load = createRequire(import.meta.url)
let driver: Driver | undefined

/**
 * Opens a file, or `:memory:`, with none of our pragmas. Throws an Error of one line that says what
 * to do where no better-sqlite3 is installed that runs on this Node.
 */
export function openSqlite(path: string, options?: OpenOptions): Raw {
  driver ??= loadDriver(process.versions as Runtime & NodeJS.ProcessVersions, (name) => load(name))
  return new driver(path, options)
}

/**
 * The better-sqlite3 that runs on this Node: 12 on Node 20, 13 on later ones. Its version is read
 * before its native part is loaded, since the wrong one ends the process: 13 on Node 20 at once, 12
 * on Node 24 within a second of work.
 */
export function loadDriver({ node, napi }: Runtime, find: (name: string) => unknown): Driver {
  const is20 = node.startsWith('20.')
  if (!is20 && Number(napi) < NATIVE_INTERFACE)
    throw new Error(`Node ${node} is too old for the database: use ${SUPPORTED}`)
  const wanted = is20 ? '12' : '13'
  const found: string[] = []
  for (const name of ['better-sqlite3', 'better-sqlite3-12']) {
    const version = versionOf(name, find)
    if (version?.startsWith(`${wanted}.`))
      return withItsNativePart(find(name) as Driver, `better-sqlite3 ${version}`)
    if (version) found.push(version)
  }
  const there = found.length > 0 ? `, but ${found.join(' and ')} is` : ''
  throw new Error(
    `better-sqlite3 ${wanted}, which Node ${node} needs, is not installed${there}: ` +
      'with this Node, run `npm ci` in a copy of the repository, ' +
      '`npm update better-sqlite3` in a project that uses the package',
  )
}

function versionOf(name: string, find: (name: string) => unknown): string | null {
  try {
    return (find(`${name}/package.json`) as { version: string }).version
  } catch {
    return null
  }
}

/**
 * The native part is loaded by the first use: one that is missing, or made for another Node, is
 * told here.
 */
function withItsNativePart(constructor: Driver, name: string): Driver {
  try {
    new constructor(':memory:').close()
    return constructor
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw new Error(
      `${name} is installed, but its native part is missing or does not fit Node ` +
        `${process.version}: with this Node, run \`npm rebuild\` (${reason})`,
      { cause: error },
    )
  }
}
