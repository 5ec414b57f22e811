/**
 * What happens by itself: late executions, and the reading of an inbox. Whoever comes to a
 * distributor next does it first.
 */
import { admit } from './admit.js'
import { CONFIRMED } from './life.js'
import { profileOf } from '../distributors/profiles.js'
import { poKey } from './sales-order.js'
import type { Arrival } from './order.js'
import type { Db, World } from './store.js'

/**
 * `order` arrives as a whole; `submit` has the stage of this number, `checkout` the cart of this id
 * become an order; `drop` puts a file into the inbox; `read` reads it.
 */
export type DueKind = 'order' | 'submit' | 'checkout' | 'drop' | 'read'

export interface Due {
  kind: DueKind
  distid: string
  account: string
  arrival: Arrival
  /** Of a stage, cart or file. */
  id?: string | number
}

export function schedule(db: Db, { kind, distid, account, arrival, id }: Due, at: number): void {
  db.prepare('INSERT INTO due (due_at, kind, distid, account, payload) VALUES (?, ?, ?, ?, ?)').run(
    at,
    kind,
    distid,
    account,
    JSON.stringify({ arrival, id }),
  )
}

/** Does everything that is due, each at its own time. */
export function runDue(db: Db, world: World): void {
  const next = db.prepare(
    'SELECT id, due_at, kind, distid, account, payload FROM due WHERE due_at <= ? ORDER BY due_at, id LIMIT 1',
  )
  for (;;) {
    const row = next.get(world.now()) as
      | {
          id: number
          due_at: number
          kind: DueKind
          distid: string
          account: string
          payload: string
        }
      | undefined
    if (!row) return
    db.prepare('DELETE FROM due WHERE id = ?').run(row.id)
    const { kind, distid, account } = row
    execute(
      db,
      world,
      { kind, distid, account, ...(JSON.parse(row.payload) as Pick<Due, 'arrival' | 'id'>) },
      row.due_at,
    )
  }
}

function execute(
  db: Db,
  world: World,
  { kind, distid, account, arrival, id }: Due,
  at: number,
): void {
  const profile = profileOf(distid)!
  switch (kind) {
    case 'order':
      admit(db, world, { profile, account, arrival, placedAt: at, executedAt: at })
      break
    case 'submit':
      submitStage(db, world, account, String(id), at)
      break
    case 'checkout':
      checkOut(db, world, { account, cart: Number(id), arrival, at })
      break
    case 'drop':
      dropFile(db, account, arrival, at)
      break
    case 'read':
      readFile(db, world, account, Number(id), at)
      break
  }
}

/**
 * What Sports South does with an order that is submitted: the first time it becomes one, from then
 * on it is that one.
 */
export function submitStage(db: Db, world: World, account: string, number: string, at: number) {
  const stage = db.prepare('SELECT arrival, lines FROM stage WHERE number = ?').get(number) as
    | { arrival: string; lines: string }
    | undefined
  if (db.prepare('SELECT 1 FROM sales_order WHERE number = ?').get(number))
    return { outcome: 'accepted', number } as const
  if (!stage) return { outcome: 'not_sent', reason: `the order ${number} is not open` } as const
  const arrival = {
    ...(JSON.parse(stage.arrival) as Arrival),
    lines: JSON.parse(stage.lines) as Arrival['lines'],
  }
  const answer = admit(db, world, {
    profile: profileOf('TSW')!,
    account,
    arrival,
    placedAt: at,
    executedAt: at,
    number,
  })
  db.prepare('DELETE FROM stage WHERE number = ?').run(number)
  return answer
}

/**
 * What 2nd Amendment Wholesale does with a cart that is paid for; one that holds another order by
 * now is left alone.
 */
export function checkOut(
  db: Db,
  world: World,
  { account, cart, arrival, at }: { account: string; cart: number; arrival: Arrival; at: number },
) {
  const row = db
    .prepare('SELECT note, po, lines, number FROM cart WHERE id = ? AND account = ?')
    .get(cart, account) as
    | { note: string; po: string; lines: string; number: string | null }
    | undefined
  if (!row || row.note !== arrival.clientRef)
    return { outcome: 'not_sent', reason: 'the cart holds another order by now' } as const
  if (row.number !== null) return { outcome: 'accepted', number: row.number } as const
  const answer = admit(db, world, {
    profile: profileOf('2AW')!,
    account,
    arrival: { ...arrival, po: row.po, lines: JSON.parse(row.lines) as Arrival['lines'] },
    placedAt: at,
    executedAt: at,
  })
  if (answer.outcome === 'accepted')
    db.prepare('UPDATE cart SET number = ? WHERE id = ?').run(answer.number, cart)
  return answer
}

/**
 * The name of an order's file: the same for every send, so that a file which lies there unread is
 * only replaced by itself.
 */
export function fileName({ clientRef }: Pick<Arrival, 'clientRef'>): string {
  return `${clientRef}-order.txt`
}

/** A file lands in the inbox of Bill Hicks, which reads it at its next round. */
export function dropFile(db: Db, account: string, arrival: Arrival, at: number): void {
  const { changes, lastInsertRowid } = db
    .prepare(
      'INSERT INTO inbox_file (account, name, client_ref, po_key, arrival, dropped_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    )
    .run(
      account,
      fileName(arrival),
      arrival.clientRef,
      poKey(arrival.po, profileOf('BILL')!),
      JSON.stringify(arrival),
      at,
    )
  if (changes > 0)
    schedule(
      db,
      { kind: 'read', distid: 'BILL', account, arrival, id: Number(lastInsertRowid) },
      at + CONFIRMED,
    )
}

function readFile(db: Db, world: World, account: string, id: number, at: number): void {
  const file = db
    .prepare('UPDATE inbox_file SET read_at = ? WHERE id = ? RETURNING arrival, dropped_at')
    .get(at, id) as { arrival: string; dropped_at: number }
  admit(db, world, {
    profile: profileOf('BILL')!,
    account,
    arrival: JSON.parse(file.arrival) as Arrival,
    placedAt: file.dropped_at,
    executedAt: at,
  })
}
