/**
 * What became of a record that moved: a database into which one is being moved, or from which one
 * was moved away, is served by nobody.
 */
import { codeOf } from '../../core/errors.js'
import type { Postgres } from './connect.js'
import type { Client } from './driver.js'
import { faultOf } from './faults.js'
import { SCHEMA } from './schema/types.js'

export interface Move {
  id: string
  /** Which installation it is, whatever becomes of its secret key. */
  installation: string
  /** It is not whole yet, it is here, or it is in a folder again. */
  state: 'arriving' | 'arrived' | 'left'
  /** The folder, in words. */
  place: string
  /** Milliseconds since 1970. */
  at: number
}

/** Null where the record began here, or there is none yet. */
export async function readMove(client: Pick<Client, 'query'>): Promise<Move | null> {
  const { rows: known } = await client.query(`SELECT to_regclass('${SCHEMA}.move') AS name`)
  if (known[0]?.['name'] === null) return null
  const { rows } = await client.query('SELECT id, installation, state, place, at FROM move')
  return (rows[0] as unknown as Move | undefined) ?? null
}

/** Throws an Error of one line that says what to do where the record must not be served from here. */
export async function refuseMoved({ newClient }: Pick<Postgres, 'newClient'>): Promise<void> {
  const client = newClient()
  client.on('error', () => {})
  try {
    await client.connect()
    const line = moveLine(await readMove(client))
    if (line !== null) throw new MovedAway(line)
  } catch (error) {
    const fault = error instanceof MovedAway ? error : faultOf(error)
    // A move that takes an installation out keeps everybody waiting who asks.
    throw codeOf(fault) === CANCELLED
      ? new Error('the database is held, as by a move that is under way: wait for the end of it')
      : fault
  } finally {
    await client.end()
  }
}

/** Said of a statement that has taken too long. */
const CANCELLED = 'POSTGRES_57014'

/** A type of its own, so that it is told from what the server says. */
class MovedAway extends Error {}

/** Why a database is not served, and what to do; null where it may be. */
export function moveLine(move: Move | null): string | null {
  if (move === null || move.state === 'arrived') return null
  const at = new Date(move.at).toISOString()
  return move.state === 'arriving'
    ? `the installation of ${move.place} is being moved into this database since ${at}: wait for ` +
        'the end of it; where it was cut off, run the same `quartermaster move` again'
    : `the installation of this database was moved into ${move.place} on ${at}: serve that one, ` +
        'or move it into an empty database'
}
