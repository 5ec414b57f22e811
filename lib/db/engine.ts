/**
 * What differs between database engines, in one place (design: PostgreSQL may later take the place
 * of quartermaster.db).
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Kysely } from 'kysely'
import { codeOf } from '../core/errors.js'
import { openSqlite } from './driver.js'
import { discard, migrate } from './migrate.js'
import type { Migrations } from './migrate.js'
import { catalogSchema } from './migrations/catalog.js'
import { historySchema } from './migrations/history.js'
import { decisionsSchema } from './migrations/decisions.js'
import { meterSchema } from './migrations/meter.js'
import { moveDecisions } from './move-decisions.js'
import { readerOver, runOnce, snapshotOver } from './query.js'
import type { Reader, Reading, Snapshot } from './query.js'
import { fileAt, openRenewable, rescueNow, writeBack } from './rescue.js'
import type { Rescued } from './rescue.js'
import { RECORD_ID, quartermasterSchema } from './migrations/quartermaster.js'
import {
  assertSqliteVersion,
  isBusy,
  kyselyOver,
  openFile,
  rememberStatements,
  transact,
} from './sqlite.js'
import type { Raw, Statement } from './sqlite.js'
import { rememberedOver } from './state.js'
import type { Memory } from './state.js'
import type { Tables } from './tables/tables.js'

/** A handle for raw prepared statements. */
export interface RawHandle {
  readonly raw: Raw
  readonly prepare: (sql: string) => Statement
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
  /** Resolves once everything that is remembered so far has been read. */
  ready(): Promise<void>
  /** Opens a handle of its own on the system of record, for reads of many turns; close it. */
  openSnapshot(): Snapshot
  /** Usage, limits and intervals; written by the main thread, survives a kill. */
  readonly meter: RawHandle
  /** The log of decisions; written by the main thread, survives a kill. */
  readonly decisions: RawHandle
  /** Offers and fragments, read only: the worker writes them. */
  readonly catalog: RawHandle
  /**
   * Runs `fn` in one transaction; inside another `atomic` it joins it. `fn` may run again, so it
   * holds database work only.
   */
  atomic<C extends { db: Kysely<Tables>; read: Kysely<Tables> }, R>(
    ctx: C,
    fn: (ctx: C) => Promise<R>,
  ): Promise<R>
  /**
   * A number that moves whenever another handle, of this process or another, commits to the system
   * of record. Read once a turn of the event loop, and after every `atomic`.
   */
  version(): number
  /** As `version`, of the catalog file. */
  catalogVersion(): number
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
  /** Gives a lock back. */
  unlock(name: string): void
  close(): Promise<void>
}

const FILES = {
  record: 'quartermaster.db',
  meter: 'meter.db',
  decisions: 'decisions.db',
  catalog: 'catalog.db',
  history: join('history', 'history.db'),
  simulator: 'simulator.db',
} as const

/** Paths of the database files in a state folder. */
export function filesIn(dir: string): Record<keyof typeof FILES, string> {
  return Object.fromEntries(
    Object.entries(FILES).map(([name, file]) => [name, join(dir, file)]),
  ) as Record<keyof typeof FILES, string>
}

/** Creates what is missing in the folder and brings every file to the newest schema. */
export function prepareFolder(dir: string): void {
  holdFolder(dir)()
}

/**
 * As `prepareFolder`; without the system of record where that is on another machine. Returns what closes the files, which is best done once they are open anew:
 * the last handle of a file that is closed writes its log back, which holds up a start.
 */
export function holdFolder(dir: string, { hasRecord = true } = {}): () => void {
  assertSqliteVersion()
  mkdirSync(join(dir, 'history'), { recursive: true })
  const files = filesIn(dir)
  const held: Raw[] = []
  const release = () => {
    for (const raw of held.splice(0)) raw.close()
  }
  const hold = (name: keyof typeof FILES, synchronous: 'FULL' | 'NORMAL') => {
    const raw = openFile(files[name], { synchronous, patient: true })
    held.push(raw)
    return raw
  }
  const upgrade = (raw: Raw, name: keyof typeof FILES, steps: Migrations) => {
    const version = () => raw.pragma('user_version', { simple: true })
    const before = version()
    migrate(raw, FILES[name], steps)
    if (name === 'catalog' && raw.pragma('application_id', { simple: true }) !== CATALOG_ID)
      raw.pragma(`application_id = ${CATALOG_ID}`)
    // A new schema is on the disk before anything depends on it.
    if (version() !== before) raw.pragma('wal_checkpoint(TRUNCATE)')
  }
  try {
    if (hasRecord) {
      const record = hold('record', 'FULL')
      upgrade(record, 'record', quartermasterSchema)
      if (record.pragma('application_id', { simple: true }) !== RECORD_ID)
        throw new Error(
          `${files.record} is not a Quartermaster database, or one from before the first release: ` +
            'start in another folder',
        )
    }
    upgrade(hold('decisions', 'NORMAL'), 'decisions', decisionsSchema)
    const meter = hold('meter', 'NORMAL')
    moveDecisions(files)
    upgrade(meter, 'meter', meterSchema)
    upgrade(hold('history', 'NORMAL'), 'history', historySchema)
    if (!isCurrentCatalog(files.catalog)) discardCatalog(dir, files, hasRecord)
    upgrade(hold('catalog', 'NORMAL'), 'catalog', catalogSchema)
    return release
  } catch (error) {
    release()
    throw error
  }
}

/** Tells one text of the catalog's schema from every other. */
const CATALOG_ID = crc32(catalogSchema.join('')) >>> 1

/**
 * The catalog is rebuilt from feeds, never migrated: a file of another version, or a damaged one,
 * is thrown away.
 */
function isCurrentCatalog(path: string): boolean {
  let raw: Raw | undefined
  try {
    raw = openSqlite(path, { readonly: true, fileMustExist: true })
    return (
      raw.pragma('user_version', { simple: true }) === 0 ||
      raw.pragma('application_id', { simple: true }) === CATALOG_ID
    )
  } catch (error) {
    const code = codeOf(error)
    if (code === 'SQLITE_CANTOPEN') return true
    // Held by another process or out of reach for the moment: no reason to throw anything away.
    if (code !== 'SQLITE_NOTADB' && !code.startsWith('SQLITE_CORRUPT')) throw error
    return false
  } finally {
    raw?.close()
  }
}

/**
 * Only while nobody serves the folder: a server would go on with a file that no longer has a name.
 */
function discardCatalog(
  dir: string,
  { catalog, record }: ReturnType<typeof filesIn>,
  hasRecord: boolean,
): void {
  const lock = takeLock(join(dir, 'serve.lock'))
  if (!lock)
    throw new Error(
      `${catalog} is damaged or of another release, and a server is running on it: stop the server first`,
    )
  try {
    discard(catalog)
    if (!hasRecord) return
    // Every source is due at once, or the catalog would be empty until each one's own time.
    const raw = openFile(record, { synchronous: 'FULL', patient: true })
    try {
      runOnce(raw, (db) => db.updateTable('feed_source').set({ last_pull_at: null }))
    } finally {
      raw.close()
    }
  } finally {
    lock.close()
  }
}

/**
 * Opens every handle, or leaves none open. `tell` is told of a disk error of the system of record
 * and is expected to end the process.
 */
export function openEngine(dir: string, tell: (error: unknown) => void): Engine {
  const opened: Raw[] = []
  try {
    return engineOver(dir, tell, (path, options) => {
      const raw = openFile(path, options)
      opened.push(raw)
      return raw
    })
  } catch (error) {
    for (const raw of opened.reverse()) raw.close()
    throw error
  }
}

function engineOver(dir: string, tell: (error: unknown) => void, file: typeof openFile): Engine {
  let failed = false
  const fatal = (error: unknown) => {
    failed = true
    tell(error)
  }
  const files = filesIn(dir)
  const writer = file(files.record, { synchronous: 'FULL' })
  const reader = file(files.record, { synchronous: 'FULL', readonly: true })
  const rawReader = file(files.record, { synchronous: 'FULL', readonly: true })
  const own = openOwnFiles(dir, file)
  const place = fileAt(files.record)
  const records = readerOver(rawReader)
  const owner = {}
  const db = kyselyOver<Tables>(writer, fatal, owner)
  const read = kyselyOver<Tables>(reader, fatal)
  const version = oncePerTurn(rawReader.prepare('PRAGMA data_version').pluck())

  return {
    dir,
    db,
    read,
    fatal,
    hasFailed: () => failed,
    reader: records,
    look: async (read) => records.run(read),
    remember: (name, load) => rememberedOver(records, version.read, { name, load }),
    // It is read when it is asked for.
    ready: async () => {},
    openSnapshot: () =>
      snapshotOver(openFile(files.record, { synchronous: 'FULL', readonly: true })),
    ...own.handles,
    async atomic(ctx, fn) {
      if (ctx.db.isTransaction) return fn(ctx)
      const result = await transact(db, owner, (tx) => fn({ ...ctx, db: tx, read: tx }))
      version.forget()
      return result
    },
    version: version.read,
    lookAgain() {
      version.forget()
      own.forgetCatalogVersion()
    },
    isGone: (name) => (name === 'catalog' ? own.isCatalogGone() : fileAt(files.record) !== place),
    rescueRecord: (now) => rescueNow(rawReader, files.record, now),
    async close() {
      // Readers first: a reader that closes last leaves -wal and -shm behind.
      for (const raw of [rawReader, reader, writer]) raw.close()
      own.close()
      await Promise.all([db.destroy(), read.destroy()])
    },
  }
}

/** What a process has in its folder beside the system of record. */
export interface OwnFiles {
  readonly handles: Pick<
    Engine,
    'meter' | 'decisions' | 'catalog' | 'catalogVersion' | 'writeCatalogBack' | 'lock' | 'unlock'
  >
  isCatalogGone(): boolean
  forgetCatalogVersion(): void
  close(): void
}

/** Opens them; `file` opens a database, and is told of all so that a failure can close them. */
export function openOwnFiles(dir: string, file: typeof openFile = openFile): OwnFiles {
  const files = filesIn(dir)
  const meter = file(files.meter, { synchronous: 'NORMAL' })
  const decisions = file(files.decisions, { synchronous: 'NORMAL' })
  const catalog = openRenewable(() =>
    file(files.catalog, { synchronous: 'NORMAL', readonly: true }),
  )
  let place = fileAt(files.catalog)
  const handle = (raw: Raw): RawHandle => ({ raw, prepare: rememberStatements(raw) })
  const dataVersion = catalog.prepare('PRAGMA data_version').pluck()
  // Every handle counts for itself.
  const version = oncePerTurn({
    get: () => catalog.generation * 2 ** 32 + (dataVersion.get() as number),
  })
  const locks = openLocks(dir)
  return {
    handles: {
      meter: handle(meter),
      decisions: handle(decisions),
      catalog,
      catalogVersion: version.read,
      async writeCatalogBack() {
        await writeBack(catalog.raw, files.catalog)
        catalog.renew()
        place = fileAt(files.catalog)
        version.forget()
      },
      lock: locks.take,
      unlock: locks.release,
    },
    isCatalogGone: () => fileAt(files.catalog) !== place,
    forgetCatalogVersion: version.forget,
    close() {
      for (const raw of [catalog, meter, decisions]) raw.close()
      locks.releaseAll()
    },
  }
}

/** The named locks that this process holds. */
function openLocks(dir: string): {
  take(name: string): boolean
  release(name: string): void
  releaseAll(): void
} {
  const held = new Map<string, Raw>()
  return {
    take(name) {
      const raw = takeLock(join(dir, `${name}.lock`))
      if (raw) held.set(name, raw)
      return raw !== null
    },
    release(name) {
      held.get(name)?.close()
      held.delete(name)
    },
    releaseAll() {
      for (const raw of held.values()) raw.close()
    },
  }
}

/**
 * A number that the calls of one turn of the event loop share: reading it costs five microseconds
 * of system calls.
 */
function oncePerTurn(statement: Pick<Statement, 'get'>): { read(): number; forget(): void } {
  let known: number | undefined
  const forget = () => {
    known = undefined
  }
  return {
    forget,
    read() {
      if (known === undefined) {
        known = statement.get() as number
        setImmediate(forget)
      }
      return known
    },
  }
}

/**
 * An open exclusive transaction: the kernel releases it when the process dies, and a paused process
 * keeps it.
 */
export function takeLock(path: string): Raw | null {
  const raw = openSqlite(path)
  try {
    raw.pragma('busy_timeout = 0')
    raw.pragma('locking_mode = EXCLUSIVE')
    raw.exec('BEGIN EXCLUSIVE')
    return raw
  } catch (error) {
    raw.close()
    // Only who holds it keeps others out; whatever else goes wrong must not look like that.
    if (isBusy(error)) return null
    throw error
  }
}
