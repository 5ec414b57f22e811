/** Bill Hicks: a file is dropped into an inbox; what became of it is told later. */
import type { FoundOrder, Fulfillment, Search, Submission } from '../../distributors/fulfillment.js'
import { contentFault } from '../engine/admit.js'
import { call, searching, sending } from '../engine/call.js'
import type { Send } from '../engine/call.js'
import { dropFile, fileName } from '../engine/due.js'
import { isLookupDown, poKey } from '../engine/sales-order.js'
import type { Arrival } from '../engine/order.js'
import type { Profile } from './profiles.js'
import type { World } from '../engine/store.js'
import { updatesOf } from '../engine/updates.js'
import { findListed } from './whole.js'

export function fileOrders(world: World, profile: Profile): Fulfillment {
  return {
    recovery: profile.recovery,
    limits: profile.limits,
    submit: (session, order) => sending(profile, session, order, (send) => drop(world, send)),
    find: (session, order) => searching(profile, session, order, (send) => findFile(world, send)),
    updates: (session, since) => updatesOf(world, profile, session, since),
  }
}

/**
 * Looks whether the file is there already, read or not: a second one of its name would be a second
 * order.
 */
function drop(world: World, send: Send): Promise<Submission> {
  const { profile, order, account, arrival } = send
  const fault = contentFault(profile, order)
  return call<Submission>(
    world,
    send,
    { name: 'submit', step: 'only', ...(fault === null && { late: { kind: 'drop' } }) },
    (db) => {
      if (fault !== null) return { outcome: 'rejected', reason: fault }
      if (
        db
          .prepare('SELECT 1 FROM inbox_file WHERE account = ? AND name = ?')
          .get(account, fileName(arrival))
      )
        return { outcome: 'duplicate', number: null }
      dropFile(db, account, arrival, world.now())
      return { outcome: 'accepted', number: null }
    },
  )
}

/** Files that wait, and orders that were made of those that were read. */
async function findFile(world: World, send: Send): Promise<Search> {
  const listed = await findListed(world, send)
  if (listed.outcome !== 'answered') return listed
  const { profile, account, arrival } = send
  const waiting = world.store
    .transact(
      (db) =>
        db
          .prepare(
            'SELECT arrival, dropped_at FROM inbox_file WHERE account = ? AND read_at IS NULL AND (client_ref = ? OR po_key = ?) ORDER BY id',
          )
          .all(account, arrival.clientRef, poKey(arrival.po, profile)) as {
          arrival: string
          dropped_at: number
        }[],
    )
    .map(({ arrival: dropped, dropped_at: placedAt }) => ({
      ...(JSON.parse(dropped) as Arrival),
      placedAt,
    }))
  if (
    waiting.some(
      ({ clientRef, scenario, placedAt }) =>
        clientRef === arrival.clientRef && isLookupDown({ scenario, placedAt }, world.now()),
    )
  )
    return { outcome: 'unreachable', reason: 'the inbox cannot be listed' }
  return {
    outcome: 'answered',
    orders: [
      ...listed.orders,
      ...waiting.map(({ po, clientRef, placedAt, lines, shipTo }): FoundOrder => ({
        number: null,
        po,
        clientRef,
        placedAt,
        lines,
        shipTo,
      })),
    ],
  }
}
