/** What a process has in its folder beside the system of record: it may be lost. */
import type { Engine } from '../engine.js'
import { filesIn } from './folder.js'
import { openLocks } from './locks.js'
import { fileAt, openRenewable, writeBack } from './rescue.js'
import { openFile } from './sqlite.js'
import type { Statement } from './sqlite.js'

export interface OwnFiles {
  readonly handles: Pick<
    Engine,
    'catalog' | 'catalogVersion' | 'writeCatalogBack' | 'replaceCatalog' | 'lock' | 'unlock'
  >
  isCatalogGone(): boolean
  forgetCatalogVersion(): void
  close(): void
}

/** Opens them; `file` opens a database, and is told of all so that a failure can close them. */
export function openOwnFiles(dir: string, file: typeof openFile = openFile): OwnFiles {
  const files = filesIn(dir)
  const catalog = openRenewable(() =>
    file(files.catalog, { synchronous: 'NORMAL', readonly: true }),
  )
  let place = fileAt(files.catalog)
  const dataVersion = catalog.prepare('PRAGMA data_version').pluck()
  // Every handle counts for itself.
  const version = oncePerTurn({
    get: () => catalog.generation * 2 ** 32 + (dataVersion.get() as number),
  })
  const locks = openLocks(dir)
  let isReplacing = false
  const renew = () => {
    catalog.renew()
    place = fileAt(files.catalog)
    version.forget()
  }
  return {
    handles: {
      catalog,
      catalogVersion: version.read,
      async writeCatalogBack() {
        await writeBack(catalog.raw, files.catalog)
        renew()
      },
      async replaceCatalog(work) {
        isReplacing = true
        try {
          if (await work()) renew()
        } finally {
          isReplacing = false
        }
      },
      lock: locks.take,
      unlock: locks.release,
    },
    isCatalogGone: () => !isReplacing && fileAt(files.catalog) !== place,
    forgetCatalogVersion: version.forget,
    close() {
      catalog.close()
      if (fileAt(files.catalog) === place) removeLog(files.catalog)
      locks.releaseAll()
    },
  }
}

/**
 * A handle that only reads leaves -wal and -shm behind when it closes last. One that may write takes
 * them away, unless somebody else has the file open, who then does it.
 */
function removeLog(path: string): void {
  try {
    openFile(path, { synchronous: 'NORMAL' }).close()
  } catch {
    // Without room, or while somebody writes: whoever opens the file next has the log as well.
  }
}

/**
 * A number that the calls of one turn of the event loop share: reading it costs five microseconds
 * of system calls.
 */
export function oncePerTurn(statement: Pick<Statement, 'get'>): { read(): number; forget(): void } {
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
