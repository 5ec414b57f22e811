/** The schema of the record on PostgreSQL, and how a database comes to have it. */
import type { Postgres } from './connect.js'
import type { Client } from './driver.js'
import { faultOf } from './faults.js'
import { accountsTables } from './schema/accounts.js'
import { configurationTables } from './schema/configuration.js'
import { consoleTables } from './schema/console.js'
import { documentTables } from './schema/documents.js'
import { eventsTables } from './schema/events.js'
import { feedsTables } from './schema/feeds.js'
import { fflsTables } from './schema/ffls.js'
import { fraudTables } from './schema/fraud.js'
import { historyTables } from './schema/history.js'
import { holdLead, leadershipTables } from './schema/leadership.js'
import { meteredTables } from './schema/metered.js'
import { moveTables } from './schema/move.js'
import { ordersTables } from './schema/orders.js'
import { publicationTables } from './schema/publications.js'
import { restrictionsTables } from './schema/restrictions.js'
import { searchTables } from './schema/search.js'
import { stateTables } from './schema/state.js'
import { SCHEMA } from './schema/types.js'

/**
 * Steps, each in a transaction; the number of one is its place in the list. Append a step; never
 * change one that was released. Each release reads the schema of the one before it.
 */
export const postgresSchema: readonly string[] = [
  [
    stateTables,
    accountsTables,
    configurationTables,
    feedsTables,
    fflsTables,
    restrictionsTables,
    ordersTables,
    historyTables,
    searchTables,
    fraudTables,
    eventsTables,
    consoleTables,
    leadershipTables,
    publicationTables,
    meteredTables,
    moveTables,
  ].join(''),
  documentTables,
  holdLead,
]

/** Any number that nobody else takes: "QMdb", as the mark of SQLite's file. */
const LOCK = 0x514d_6462

/**
 * Runs the missing steps, each in a transaction, one node at a time: whoever comes second waits and
 * finds them done. A database of a newer release is refused.
 */
export async function migratePostgres(
  { newClient }: Pick<Postgres, 'newClient'>,
  steps: readonly string[] = postgresSchema,
): Promise<void> {
  const client = newClient({ answerTimeout: 0 })
  client.on('error', () => {})
  try {
    await client.connect()
    for (let isMore = true; isMore;) isMore = await migrateOnce(client, steps)
  } catch (error) {
    throw faultOf(error)
  } finally {
    await client.end()
  }
}

/** Runs the next step; false where there was none to run. */
async function migrateOnce(client: Client, steps: readonly string[]): Promise<boolean> {
  await client.query('begin')
  try {
    await client.query(`set local statement_timeout = 0; set local lock_timeout = 0`)
    await client.query(`select pg_advisory_xact_lock(${LOCK})`)
    const version = await versionOf(client)
    if (version > steps.length) throw new NewerSchema(version, steps.length)
    const step = steps[version]
    if (step !== undefined) {
      await client.query(step)
      await client.query('update schema_version set version = $1', [version + 1])
    }
    await client.query('commit')
    return version + 1 < steps.length
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/** How many steps a database has; null for one that nothing was made in. Changes nothing. */
export async function readSchemaVersion({
  newClient,
}: Pick<Postgres, 'newClient'>): Promise<number | null> {
  const client = newClient()
  client.on('error', () => {})
  try {
    await client.connect()
    const known = await client.query(`select to_regclass('${SCHEMA}.schema_version') as name`)
    if (known.rows[0]?.['name'] === null) return null
    const { rows } = await client.query('select version from schema_version')
    return (rows[0]?.['version'] as number | undefined) ?? null
  } catch (error) {
    throw faultOf(error)
  } finally {
    await client.end()
  }
}

/** How many steps a database has; what keeps count of them is made with the first look. */
async function versionOf(client: Client): Promise<number> {
  const known = await client.query('select 1 from pg_namespace where nspname = $1', [SCHEMA])
  if (known.rows.length === 0) await client.query(`create schema ${SCHEMA}`)
  await client.query(`create table if not exists schema_version (
    one bigint primary key check (one = 1), version bigint not null)`)
  await client.query('insert into schema_version values (1, 0) on conflict do nothing')
  const { rows } = await client.query('select version from schema_version')
  return rows[0]!['version'] as number
}

/** A type of its own, so that it is told from what the server says. */
class NewerSchema extends RangeError {
  constructor(version: number, known: number) {
    super(
      `the database was written by a newer release (schema ${version}, this one knows ${known}); ` +
        'install that release again',
    )
  }
}
