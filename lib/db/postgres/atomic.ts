/** Transactions of PostgreSQL, run again where they got into each other's way. */
import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { pause } from '../../core/async/wait.js'
import type { AtomicOptions } from '../engine.js'
import { runAtomic } from '../inside.js'
import { sideBySide } from './connection.js'
import { isConflict } from './faults.js'

/** How often a transaction is tried. */
const TRIES = 12
/** The longest pause before a try, in milliseconds: it doubles from the first to the last. */
const PAUSE = { first: 4, last: 250 } as const

/**
 * Runs `fn` in a SERIALIZABLE transaction: as if it had the database to itself, or not at all. A
 * transaction that another one made impossible is undone and run again, after a pause by chance, so
 * that two do not meet again; those that are run again take turns, whichever node they are of, so
 * that many at once all come through. What cannot be known to be undone is never run again. The transaction
 * object carries no plugin: it may be used inside.
 */
export async function transactPostgres<T, R>(
  db: Kysely<T>,
  owner: object,
  fn: (tx: Kysely<T>) => Promise<R>,
  { inTurn = false }: AtomicOptions = {},
): Promise<R> {
  return runAtomic(owner, async (enter) => {
    for (let tries = 1; ; tries++) {
      try {
        return await db
          .transaction()
          .setIsolationLevel('serializable')
          .execute((tx) =>
            tx.getExecutor().provideConnection((connection) =>
              enter(async () => {
                const bare = sideBySide(tx, connection)
                if (inTurn || tries > 1) takeTurn(bare)
                return fn(bare)
              }),
            ),
          )
      } catch (error) {
        if (!isConflict(error) || tries === TRIES) throw error
        await pause(randomInt(1, Math.min(PAUSE.last, PAUSE.first * 2 ** tries)))
      }
    }
  })
}

/**
 * Waits for the others that take turns. It comes first in a transaction: what that sees is as of
 * its first statement after a lock, which need not wait for the answer. Of this table nobody else
 * wants a lock of this kind.
 */
function takeTurn<T>(tx: Kysely<T>): void {
  const taken = sql`lock table schema_version in share update exclusive mode`.execute(tx)
  // Whatever comes behind it is told.
  taken.catch(() => {})
}

/**
 * Runs `fn` once nobody else has the name: what it reads is then committed by all who had it before,
 * and nobody changes it. So it needs no more than READ COMMITTED, and never runs twice.
 */
export async function transactAlone<T, R>(
  db: Kysely<T>,
  owner: object,
  { name, fn }: { name: string; fn: (tx: Kysely<T>, at: number) => Promise<R> },
): Promise<R> {
  return runAtomic(owner, (enter) =>
    db
      .transaction()
      .setIsolationLevel('read committed')
      .execute((tx) =>
        enter(async () => {
          const bare = tx.withoutPlugins()
          const { rows } = await sql<{ at: number }>`select take_name(${name}) as at`.execute(bare)
          return fn(bare, rows[0]!.at)
        }),
      ),
  )
}
