/** How far a move has come, as PostgreSQL knows it, and who else uses the database. */
import { pause } from '../../core/async/wait.js'
import { SECOND } from '../../core/clock.js'
import { codeOf } from '../../core/errors.js'
import type { Postgres } from '../postgres/connect.js'
import type { Client } from '../postgres/driver.js'
import { faultOf } from '../postgres/faults.js'
import { readMove } from '../postgres/moved.js'
import type { Move } from '../postgres/moved.js'
import { CHANNEL } from '../postgres/schema/state.js'
import { SCHEMA } from '../postgres/schema/types.js'
import type { TableContent } from './digest.js'
import { quoted } from './tables.js'
import type { MovedTable } from './tables.js'

export { readMove }

/** By which the server tells our connections from those of nodes. */
export const APPLICATION = 'quartermaster move'

/** Any number that nobody else takes: "QMmv". */
const LOCK = 0x514d_6d76
/** Milliseconds for which what somebody else holds is waited for: a process that has just died may. */
const PATIENCE = 10 * SECOND
/** How often is looked, within a quarter of that, whether somebody still has the database open. */
const LOOKS = 10
/** Milliseconds that a lease lives unless it is renewed, and a little more. */
const LEASE = 16 * SECOND
/** Milliseconds for one statement: an index over millions of texts is made by one. */
const ANSWER = 3_600 * SECOND

/** A connection whose errors are ours. */
export type MoveClient = Pick<Client, 'query' | 'end'>

/** Connects, and keeps every other move out for as long as the connection lasts. */
export async function connectForMove({
  newClient,
}: Pick<Postgres, 'newClient'>): Promise<MoveClient> {
  const client = newClient({ answerTimeout: ANSWER })
  client.on('error', () => {})
  const self: MoveClient = {
    async query(text, values) {
      try {
        return await client.query(text, values)
      } catch (error) {
        throw faultOf(error)
      }
    },
    end: () => client.end(),
  }
  try {
    await client.connect().catch((error: unknown) => {
      throw faultOf(error)
    })
    await self.query(
      `SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0;
        SET lock_timeout = ${PATIENCE}`,
    )
    await self.query(`SELECT pg_advisory_lock(${LOCK})`).catch((error: unknown) => {
      throw isLocked(error)
        ? new Error('another move into or out of this database is under way')
        : error
    })
    return self
  } catch (error) {
    await client.end()
    throw error
  }
}

/** Whether somebody else had it for longer than was waited. */
const isLocked = (error: unknown) => codeOf(error) === 'POSTGRES_55P03'

/** Runs `fn` in one transaction. */
export async function within<T>(
  client: MoveClient,
  fn: () => Promise<T>,
  mode = 'ISOLATION LEVEL READ COMMITTED',
): Promise<T> {
  await client.query(`BEGIN ${mode}`)
  try {
    const result = await fn()
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** Of a transaction that reads one state of all tables. */
export const ONE_STATE = 'ISOLATION LEVEL REPEATABLE READ'

async function hasSchema(client: MoveClient): Promise<boolean> {
  const { rows } = await client.query(`SELECT to_regclass('${SCHEMA}.lease') AS name`)
  return rows[0]!['name'] !== null
}

/** Throws where a node has the database open, or leads. */
export async function refuseNodes(client: MoveClient): Promise<void> {
  await refuseOthers(client)
  if (await hasSchema(client)) await refuseLeader(client)
}

/** Throws where a node or a command has the database open: now, and not only when a move began. */
export async function refuseOthers(client: MoveClient): Promise<void> {
  const others = async () => {
    // Within a transaction the first look would stand for all of them.
    await client.query('SELECT pg_stat_clear_snapshot()')
    const { rows } = await client.query(
      `SELECT DISTINCT coalesce(host(client_addr), 'this machine') AS place
        FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
          AND application_name <> $1
          AND (application_name LIKE 'quartermaster%' OR query = $2)`,
      [APPLICATION, `listen ${CHANNEL}`],
    )
    return rows.map((row) => row['place'] as string)
  }
  let found = await others()
  // A connection whose process has just died goes on for a moment.
  for (let tries = 1; found.length > 0 && tries < LOOKS; tries++) {
    await pause(PATIENCE / 40)
    found = await others()
  }
  if (found.length > 0)
    throw new Error(
      `a node or a command on ${found.join(', ')} uses the database: stop all of them first`,
    )
}

/** A lease that nobody renews for its whole life is a dead node's. */
async function refuseLeader(client: MoveClient): Promise<void> {
  const mark = async () =>
    (await client.query('SELECT mark::text AS mark FROM lease')).rows[0]?.['mark']
  const first = await mark()
  for (let waited = 0; first !== undefined && waited < LEASE; waited += SECOND) {
    await pause(SECOND)
    const now = await mark()
    if (now === undefined) return
    if (now !== first) throw new Error('a node leads on this database: stop all of them first')
  }
}

/** Whether a database has no installation: what a schema begins with does not count. */
export async function isEmpty(client: MoveClient, tables: readonly MovedTable[]): Promise<boolean> {
  if (!(await hasSchema(client))) return true
  // One that nobody has brought up to date may lack some of them.
  const { rows: known } = await client.query(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = '${SCHEMA}'`,
  )
  const names = new Set(known.map((row) => row['name'] as string))
  const some = tables
    .filter(({ name }) => name !== 'state' && names.has(name))
    .map(({ name }) => `EXISTS (SELECT FROM ${quoted(name)})`)
  const { rows } = await client.query(`SELECT ${['false', ...some].join(' OR ')} AS some`)
  return rows[0]!['some'] === 0
}

export async function writeMove(
  client: MoveClient,
  { id, installation, state, place, at }: Move,
): Promise<void> {
  await client.query(
    `INSERT INTO move (one, id, installation, state, place, at) VALUES (1, $1, $2, $3, $4, $5)
      ON CONFLICT (one) DO UPDATE SET id = excluded.id, installation = excluded.installation,
        state = excluded.state, place = excluded.place, at = excluded.at`,
    [id, installation, state, place, at],
  )
}

/** Tables that came in as a whole, with what they then had. */
export async function arrivedTables(client: MoveClient): Promise<Map<string, TableContent>> {
  const { rows } = await client.query('SELECT name, count, digest FROM moved_table')
  return new Map(
    rows.map((row) => [
      row['name'] as string,
      { rows: row['count'] as number, digest: row['digest'] as string },
    ]),
  )
}

export async function noteArrived(
  client: MoveClient,
  name: string,
  { rows, digest }: TableContent,
): Promise<void> {
  await client.query('INSERT INTO moved_table (name, count, digest) VALUES ($1, $2, $3)', [
    name,
    rows,
    digest,
  ])
}

/**
 * Keeps writers out until the transaction ends, a node from taking the lead, and every node and
 * command that begins meanwhile from having the database at all: it asks about a move first, and
 * waits for the answer. Throws where one of them has come before.
 */
export async function holdTables(client: MoveClient, tables: readonly MovedTable[]): Promise<void> {
  const names = [...tables.map(({ name }) => name), 'leadership', 'lease', 'publication']
  const lock = (text: string) =>
    client.query(`LOCK TABLE ${text} MODE`).catch((error: unknown) => {
      throw isLocked(error)
        ? new Error('somebody writes into the database: stop all of it first')
        : error
    })
  await lock('"move" IN ACCESS EXCLUSIVE')
  await lock(`${names.map(quoted).join()} IN EXCLUSIVE`)
  await refuseOthers(client)
}

/** Whoever still has the database open, of whichever release, writes nothing more. */
export async function refuseWrites(
  client: MoveClient,
  tables: readonly MovedTable[],
): Promise<void> {
  await client.query(`CREATE OR REPLACE FUNCTION refuse_moved() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'the installation was moved into a folder'; END $$`)
  for (const { name } of tables) {
    await client.query(`DROP TRIGGER IF EXISTS moved_away ON ${quoted(name)}`)
    await client.query(`CREATE TRIGGER moved_away BEFORE INSERT OR UPDATE OR DELETE
      ON ${quoted(name)} FOR EACH STATEMENT EXECUTE FUNCTION refuse_moved()`)
  }
}
