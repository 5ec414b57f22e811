/** Notes of the nodes that serve. On PostgreSQL alone. */
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { NodeTable } from '../../db/tables/nodes.js'
import type { Tables } from '../../db/tables/tables.js'

/** What a node notes of itself; the database adds its times. */
export interface NodeNote extends Omit<NodeTable, 'started_at' | 'seen_at' | 'clock_ahead'> {
  /** Milliseconds by its own clock. */
  now: number
}

const nodesOf = (db: Kysely<Tables>) => db.withTables<{ node: NodeTable }>()

/** Notes that a node is there. */
export async function noteNode(db: Kysely<Tables>, { now, ...note }: NodeNote): Promise<void> {
  const at = sql<number>`now_ms()`
  const changing = {
    seen_at: at,
    clock_ahead: sql<number>`${now} - now_ms()`,
    catalog_mark: note.catalog_mark,
  }
  await nodesOf(db)
    .insertInto('node')
    .values({ ...note, started_at: at, ...changing })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(changing))
    .execute()
}

/** Removes notes that are older than so many milliseconds. */
export async function forgetNodes(db: Kysely<Tables>, age: number): Promise<void> {
  await nodesOf(db)
    .deleteFrom('node')
    .where('seen_at', '<', sql<number>`now_ms() - ${age}`)
    .execute()
}

export async function removeNode(db: Kysely<Tables>, id: string): Promise<void> {
  await nodesOf(db).deleteFrom('node').where('id', '=', id).execute()
}
