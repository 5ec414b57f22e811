/** What nodes count and note together: in tables beside the system of record. */
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Metered } from '../../metered.js'
import { change, lookWithin } from '../../reading.js'
import type { Postgres } from '../connect.js'

export function meteredOver<T>({ db, alone }: Pick<Postgres, 'db' | 'alone'>): Metered<T> {
  // The same database: which of its tables are which, only types tell.
  const own = <D>(of: Kysely<D>) => of as unknown as Kysely<T>
  return {
    db: own(db),
    change: (query, given) => lookWithin(db, () => change(query, ...([given] as never))),
    alone: (_ctx, name, work) => alone(name, (tx, at) => lookWithin(tx, () => work(at))),
    file: null,
  }
}

/** Ms by the server's clock. */
export async function serverTime<T>(db: Kysely<T>): Promise<number> {
  const { rows } = await sql<{ at: number }>`select now_ms() as at`.execute(db)
  return rows[0]!.at
}
