/** Tells other handles and processes that something which they keep in memory has changed. */
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Engine } from './engine.js'
import type { StateName, Tables } from './tables/tables.js'

/** Raises the number of one kind of state, inside the transaction of the change itself. */
export async function touch(tx: Kysely<Tables>, name: StateName): Promise<void> {
  await tx
    .updateTable('state')
    .set({ value: sql`value + 1` })
    .where('name', '=', name)
    .execute()
}

/**
 * A value that is computed from the database once and again only after somebody touched its state:
 * two microseconds a call as long as nobody commits.
 */
export function remembered<T>(engine: Engine, name: StateName, load: () => T): () => T {
  const read = engine.reader.prepare('SELECT value FROM state WHERE name = ?').pluck()
  let version = -1
  let state = -1
  let value: T
  return () => {
    const now = engine.version()
    if (now !== version) {
      const current = read.get(name) as number
      if (current !== state) value = load()
      ;[version, state] = [now, current]
    }
    return value
  }
}
