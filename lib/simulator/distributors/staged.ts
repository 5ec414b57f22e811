/** Sports South: a header that gets a number, lines, and a submit, which alone has an effect. */
import type { FoundOrder, Fulfillment, Search, Submission } from '../../distributors/fulfillment.js'
import { contentFault } from '../engine/admit.js'
import { call, searching, sending } from '../engine/call.js'
import type { Send } from '../engine/call.js'
import { submitStage } from '../engine/due.js'
import { nextNumber } from '../engine/sales-order.js'
import type { Arrival, Line } from '../engine/order.js'
import type { Profile } from './profiles.js'
import type { Db, World } from '../engine/store.js'
import { updatesOf } from '../engine/updates.js'
import { findListed } from './whole.js'

type Status = { state: 'submitted' } | { state: 'open'; lines: Line[] } | { state: 'none' }

export function stagedOrders(world: World, profile: Profile): Fulfillment {
  return {
    recovery: profile.recovery,
    limits: profile.limits,
    submit: (session, order) => sending(profile, session, order, (send) => buildUp(world, send)),
    find: (session, order) => searching(profile, session, order, (send) => findStaged(world, send)),
    updates: (session, since) => updatesOf(world, profile, session, since),
  }
}

/** Goes on where an earlier send ended; begins anew where there is nothing to go on with. */
async function buildUp(world: World, send: Send): Promise<Submission> {
  const { session, arrival } = send
  const begun = session.stage
  const status =
    begun === null
      ? { state: 'none' as const }
      : await call(world, send, { name: 'status', step: 'first' }, (db) =>
          statusOf(db, begun, arrival),
        )
  if (status.state === 'submitted') return { outcome: 'accepted', number: begun }
  let number = begun ?? ''
  if (status.state === 'none') {
    const header = await call(
      world,
      send,
      { name: 'header', step: begun === null ? 'first' : 'middle' },
      (db) => openStage(db, world, send),
    )
    if ('reason' in header) return { outcome: 'rejected', reason: header.reason }
    number = header.number
    await session.keepStage(number)
  }
  const there = status.state === 'open' ? status.lines : []
  for (const line of arrival.lines.slice(there.length))
    await call(world, send, { name: 'line', step: 'middle' }, (db) => addLine(db, number, line))
  return call<Submission>(
    world,
    send,
    { name: 'submit', step: 'last', late: { kind: 'submit', id: number } },
    (db) => submitStage(db, world, send.account, number, world.now()),
  )
}

function statusOf(db: Db, number: string, { content }: Arrival): Status {
  if (db.prepare('SELECT 1 FROM sales_order WHERE number = ?').get(number))
    return { state: 'submitted' }
  const stage = db.prepare('SELECT arrival, lines FROM stage WHERE number = ?').get(number) as
    | { arrival: string; lines: string }
    | undefined
  return stage && (JSON.parse(stage.arrival) as Arrival).content === content
    ? { state: 'open', lines: JSON.parse(stage.lines) as Line[] }
    : { state: 'none' }
}

function openStage(
  db: Db,
  world: World,
  { profile, account, order, arrival }: Send,
): { number: string } | { reason: string } {
  const reason = contentFault(profile, order)
  if (reason !== null) return { reason }
  const number = nextNumber(db, profile.distid, world.now())
  db.prepare(
    "INSERT INTO stage (number, distid, account, client_ref, arrival, lines) VALUES (?, ?, ?, ?, ?, '[]')",
  ).run(number, profile.distid, account, arrival.clientRef, JSON.stringify(arrival))
  return { number }
}

function addLine(db: Db, number: string, line: Line): void {
  const { lines } = db.prepare('SELECT lines FROM stage WHERE number = ?').get(number) as {
    lines: string
  }
  db.prepare('UPDATE stage SET lines = ? WHERE number = ?').run(
    JSON.stringify([...(JSON.parse(lines) as Line[]), line]),
    number,
  )
}

/**
 * Orders by reference and PO, and what is still being built up under our number or reference: a PO
 * alone makes no stage ours.
 */
async function findStaged(world: World, send: Send): Promise<Search> {
  const listed = await findListed(world, send)
  if (listed.outcome !== 'answered') return listed
  const { profile, account, arrival, session } = send
  const open = world.store.transact((db) =>
    (
      db
        .prepare(
          'SELECT number, arrival, lines FROM stage WHERE distid = ? AND account = ? AND (number = ? OR client_ref = ?) ORDER BY number',
        )
        .all(profile.distid, account, session.stage, arrival.clientRef) as {
        number: string
        arrival: string
        lines: string
      }[]
    ).map(({ number, arrival: staged, lines }): FoundOrder => {
      const { po, clientRef, shipTo } = JSON.parse(staged) as Arrival
      return { number, po, clientRef, lines: JSON.parse(lines) as Line[], shipTo, submitted: false }
    }),
  )
  return { outcome: 'answered', orders: [...listed.orders, ...open] }
}
