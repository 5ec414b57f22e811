/** The system of record of an app's folder, whichever engine has it: for suites that run on both. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { loadPg } from '../../lib/db/postgres/driver.js'
import type { Client } from '../../lib/db/postgres/driver.js'
import { typesOver } from '../../lib/db/postgres/types.js'
import { superClient } from './postgres.js'
import { until } from './until.js'

/** The server of `npm test -- --postgres`. */
const server = process.env['TEST_POSTGRES']

/** Whether apps of this run have their system of record on PostgreSQL. */
export const isOnPostgres = server !== undefined

/** As `skip`, of a test about what only an installation in one folder has; false where that is. */
export const oneFolder: string | false =
  isOnPostgres && 'is about an installation in one folder: its files, locks, journal and commands'

/** Runs of a property: over nodes, where each costs round trips to a server, a sixth of them. */
export const runsOnRecord = (many: number): number => (isOnPostgres ? Math.ceil(many / 6) : many)

/** Runs SQL without values on it, and returns the rows of the last statement. */
export async function sqlOnRecord<Row = Record<string, unknown>>(
  dir: string,
  sql: string,
): Promise<Row[]> {
  if (server === undefined) return sqlInFile(filesIn(dir).record, sql)
  const client = clientOfRecord(dir)
  await client.connect()
  try {
    await client.query('set search_path to quartermaster')
    // Without values the server runs several statements, and the driver returns a list.
    const results = [await client.query(sql)].flat()
    return results.at(-1)!.rows as Row[]
  } finally {
    await client.end()
  }
}

/** A connection to the database of a folder, not made yet; numbers are the product's. */
export function clientOfRecord(dir: string): Client {
  const address = new URL(server!)
  address.pathname = `/${readFileSync(join(dir, 'database'), 'utf8')}`
  return superClient(address.href, typesOver(loadPg().types))
}

/**
 * Waits until another app on the same record knows what this one changed: in one folder that is so
 * from the next turn on, while a server tells other nodes of it a moment later.
 */
export async function heardByOthers(isSo: () => boolean | Promise<boolean>): Promise<void> {
  if (isOnPostgres) await until(isSo, 'another node knows it')
  else await new Promise(setImmediate)
}

function sqlInFile<Row>(file: string, sql: string): Row[] {
  const raw = openFile(file, { synchronous: 'FULL' })
  try {
    if (/^\s*select\s/i.test(sql)) return raw.prepare(sql).all() as Row[]
    raw.exec(sql)
    return []
  } finally {
    raw.close()
  }
}
