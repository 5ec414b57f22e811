/**
 * The file of the simulated distributors: every call of one of them is one transaction on it, so
 * that a kill never splits one.
 */
import { filesIn } from '../../db/sqlite/folder.js'
import { migrate } from '../../db/sqlite/migrate.js'
import { openFile, rememberStatements } from '../../db/sqlite/sqlite.js'
import type { Raw, Statement } from '../../db/sqlite/sqlite.js'
import { simulatorSchema } from './schema.js'

/** What the code of a transaction works with. */
export interface Db {
  prepare(sql: string): Statement
}

export interface Store {
  /**
   * Runs `work` in one IMMEDIATE transaction; what it throws undoes all of it. The first call opens
   * the file.
   */
  transact<R>(work: (db: Db) => R): R
  close(): void
}

/** Milliseconds to wait for another process's call. */
const PATIENCE = 5_000

/** Opens nothing yet: most apps never place an order. */
export function openStore(dir: string): Store {
  let opened: { raw: Raw; db: Db } | undefined
  let isClosed = false

  function open(): { raw: Raw; db: Db } {
    if (isClosed) throw new Error('the simulator is closed')
    if (!opened) {
      const path = filesIn(dir).simulator
      // NORMAL survives the death of the process; a power cut may take the last orders of what is
      // only a rehearsal.
      const raw = openFile(path, { synchronous: 'NORMAL', patient: true })
      try {
        // Each call takes well under a millisecond: whoever waits longer waits for something that
        // is stuck.
        raw.pragma(`busy_timeout = ${PATIENCE}`)
        migrate(raw, 'simulator.db', simulatorSchema)
      } catch (error) {
        raw.close()
        throw error
      }
      opened = { raw, db: { prepare: rememberStatements(raw) } }
    }
    return opened
  }

  return {
    transact(work) {
      const { raw, db } = open()
      return raw.transaction(() => work(db)).immediate()
    },
    close() {
      isClosed = true
      opened?.raw.close()
      opened = undefined
    },
  }
}
