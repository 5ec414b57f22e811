/** Transactions of PostgreSQL, run again where they got into each other's way. */
import { randomInt } from 'node:crypto'
import type { Kysely } from 'kysely'
import { pause } from '../../core/async/wait.js'
import { runAtomic } from '../inside.js'
import { isConflict } from './faults.js'

/** How often a transaction is tried. */
const TRIES = 12
/** The longest pause before a try, in milliseconds: it doubles from the first to the last. */
const PAUSE = { first: 4, last: 250 } as const

/**
 * Runs `fn` in a SERIALIZABLE transaction: as if it had the database to itself, or not at all. A
 * transaction that another one made impossible is undone and run again, after a pause by chance, so
 * that two do not meet again. What cannot be known to be undone is never run again. The transaction
 * object carries no plugin: it may be used inside.
 */
export async function transactPostgres<T, R>(
  db: Kysely<T>,
  owner: object,
  fn: (tx: Kysely<T>) => Promise<R>,
): Promise<R> {
  return runAtomic(owner, async (enter) => {
    for (let tries = 1; ; tries++) {
      try {
        return await db
          .transaction()
          .setIsolationLevel('serializable')
          .execute((tx) => enter(() => fn(tx.withoutPlugins())))
      } catch (error) {
        if (!isConflict(error) || tries === TRIES) throw error
        await pause(randomInt(1, Math.min(PAUSE.last, PAUSE.first * 2 ** tries)))
      }
    }
  })
}
