/** Tells other handles and processes that something which they keep in memory has changed. */
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from './engine.js'
import { query } from './query.js'
import type { Tables } from './tables/tables.js'
import type { StateName } from './tables/column-types.js'

/** Raises the number of one kind of state, inside the transaction of the change itself. */
export async function touch(tx: Kysely<Tables>, name: StateName): Promise<void> {
  await tx
    .updateTable('state')
    .set({ value: sql`value + 1` })
    .where('name', '=', name)
    .execute()
}

const valueOf = query((db, given: { name: StateName }) =>
  db.selectFrom('state').select('value').where('name', '=', given.name),
)

/**
 * A value that is computed from the database once and again only after somebody touched its state:
 * two microseconds a call as long as nobody commits.
 */
export function remembered<T>(engine: Engine, name: StateName, load: () => T): () => T {
  let version = -1
  let state: number | undefined = -1
  let value: T
  return () => {
    const now = engine.version()
    if (now !== version) {
      const current = engine.reader.value(valueOf, { name })
      if (current !== state) value = load()
      ;[version, state] = [now, current]
    }
    return value
  }
}
