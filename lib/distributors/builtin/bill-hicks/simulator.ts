/** Bill Hicks: a file is dropped into an inbox; what became of it is told later. */
import { admit, contentFault } from '../../../simulator/engine/admit.js'
import { call } from '../../../simulator/engine/call.js'
import type { Send } from '../../../simulator/engine/call.js'
import { simulatedConnector } from '../../../simulator/engine/simulated-connector.js'
import { schedule } from '../../../simulator/engine/due.js'
import { CONFIRMED } from '../../../simulator/engine/life.js'
import type { Arrival } from '../../../simulator/engine/order.js'
import { hasFile, insertFile, takeFile, unreadFiles } from '../../../simulator/engine/queries.js'
import { isLookupDown, poKey } from '../../../simulator/engine/sales-order.js'
import type { Db } from '../../../simulator/engine/store.js'
import { findListed } from '../../../simulator/engine/single-call-orders.js'
import { COMMON_LIMITS, PLAIN_WORDS } from '../../../simulator/engine/world.js'
import type {
  DistributorSimulator,
  Happening,
  Words,
  World,
} from '../../../simulator/engine/world.js'
import type { FoundOrder, Search, Submission } from '../../fulfillment.js'

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
      if (hasFile(db, account, fileName(arrival))) return { outcome: 'duplicate', number: null }
      dropFile(db, { ...send, at: world.now() })
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
    .transact((db) => unreadFiles(db, account, arrival.clientRef, poKey(arrival.po, profile)))
    .map(({ arrival: dropped, droppedAt: placedAt }) => ({ ...dropped, placedAt }))
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

/**
 * The name of an order's file: the same for every send, so that a file which lies there unread is
 * only replaced by itself.
 */
function fileName({ clientRef }: Pick<Arrival, 'clientRef'>): string {
  return `${clientRef}-order.txt`
}

/** A file lands in the inbox of Bill Hicks, which reads it at its next round. */
function dropFile(
  db: Db,
  { profile, account, arrival, at }: Pick<Happening, 'profile' | 'account' | 'arrival' | 'at'>,
): void {
  const name = fileName(arrival)
  const owner = { distid: profile.distid, account }
  const id = insertFile(db, owner, { name, key: poKey(arrival.po, profile), arrival, at })
  if (id !== null)
    schedule(db, { kind: 'read', distid: profile.distid, account, arrival, id }, at + CONFIRMED)
}

function readFile(db: Db, world: World, { profile, account, id, at }: Happening): void {
  const { arrival, droppedAt } = takeFile(db, Number(id), at)
  admit(db, world, { profile, account, arrival, placedAt: droppedAt, executedAt: at })
}

const words: Words = { ...PLAIN_WORDS, po: (fault) => `the customer PO ${fault}` }

export const simulator: DistributorSimulator = {
  credentials: { customer_number: 'DEMO-BILL' },
  orders: {
    due: { drop: (db, _world, happening) => dropFile(db, happening), read: readFile },
    connector: (world, profile) =>
      simulatedConnector(world, profile, { submit: drop, find: findFile }),
    recovery: 'file',
    account: 'customer_number',
    refusesMix: false,
    words,
    shows: 'at_once',
    tells: { reference: true, content: true },
    // The PO stands in the file's name at the real one, and a tab or a slash would tear the file
    // apart.
    limits: { ...COMMON_LIMITS, po: { max: 30, chars: /[A-Za-z0-9._-]/ } },
    firearms: ['UPS', 'UPSR'],
    others: ['UPS', 'UPSF'],
  },
}
