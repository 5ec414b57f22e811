/**
 * What happens by itself: late executions, and the reading of an inbox. Whoever comes to a
 * distributor next does it first.
 */
import { admit } from './admit.js'
import type { Arrival } from './order.js'
import { insertDue, takeDue } from './queries.js'
import type { Db } from './store.js'
import type { World } from './world.js'

export interface Due {
  /** `order` arrives as a whole; all else is a kind of its distributor's own. */
  kind: string
  distid: string
  account: string
  arrival: Arrival
  /** Of a stage, cart or file. */
  id?: string | number
}

export function schedule(db: Db, { kind, distid, account, arrival, id }: Due, at: number): void {
  insertDue(db, { due_at: at, kind, distid, account, payload: JSON.stringify({ arrival, id }) })
}

/** Does everything that is due, each at its own time. */
export function runDue(db: Db, world: World): void {
  for (let row = takeDue(db, world.now()); row; row = takeDue(db, world.now())) {
    const { kind, distid, account, due_at: at, payload } = row
    const { arrival, id } = JSON.parse(payload) as Pick<Due, 'arrival' | 'id'>
    execute(db, world, { kind, distid, account, arrival, id }, at)
  }
}

function execute(
  db: Db,
  world: World,
  { kind, distid, account, arrival, id }: Due,
  at: number,
): void {
  const profile = world.profiles.get(distid)
  if (!profile) throw new Error(`nobody plays ${distid}`)
  if (kind === 'order')
    admit(db, world, { profile, account, arrival, placedAt: at, executedAt: at })
  else profile.due?.[kind]?.(db, world, { profile, account, arrival, id, at })
}
