/** Reads of many turns over one state of a database. */
import { sql } from 'kysely'
import type { ControlledTransaction, Kysely } from 'kysely'
import type { Query, Snapshot } from '../query.js'
import { column, lookWithin } from '../reading.js'
import type { Tables } from '../tables/tables.js'

/** Who reads may pause for so long between two statements. */
const PAUSE = '1min'

/** Has a connection of the pool for itself until it is closed. */
export async function openSnapshotOn(db: Kysely<Tables>): Promise<Snapshot> {
  let tx: ControlledTransaction<Tables> | null = await beginReading(db)
  const within = (): Kysely<Tables> => tx ?? db.withoutPlugins()
  async function end(): Promise<void> {
    const ended = tx
    tx = null
    if (ended && !ended.isRolledBack) await ended.rollback().execute()
  }
  return {
    look: (read) => lookWithin(within(), read),
    // It holds no turn up, however many there are.
    async *inSteps<P, R>(query: Query<P, R>, given: P) {
      yield await lookWithin(within(), () => column(query as Query<unknown, R>, given))
    },
    release: end,
    // A connection that was lost has ended it.
    close: () => end().catch(() => {}),
  }
}

async function beginReading(db: Kysely<Tables>): Promise<ControlledTransaction<Tables>> {
  const tx = await db
    .withoutPlugins()
    .startTransaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute()
  await sql`set local idle_in_transaction_session_timeout = ${sql.lit(PAUSE)}`.execute(tx)
  return tx
}
