/** Distributors that take an order in one call: RSR, Chattanooga, Lipsey's and Zanders. */
import type { Fulfillment, Search, Submission } from '../../distributors/fulfillment.js'
import { admit, contentFault } from '../engine/admit.js'
import { call, searching, sending, unreachable } from '../engine/call.js'
import type { Send } from '../engine/call.js'
import { firearmLanes } from '../../distributors/lanes.js'
import type { Profile } from './profiles.js'
import { isLookupDown, listedOrders, readOrders, toldOf } from '../engine/sales-order.js'
import type { World } from '../engine/store.js'
import { updatesOf } from '../engine/updates.js'

/** A connector of such a distributor. */
export function wholeOrders(world: World, profile: Profile): Fulfillment {
  return {
    recovery: profile.recovery,
    limits: profile.limits,
    ...(profile.refusesMix && { plan: firearmLanes }),
    submit: (session, order) =>
      sending(profile, session, order, (send) => {
        const fault = contentFault(profile, order)
        return call<Submission>(
          world,
          send,
          { name: 'submit', step: 'only', ...(fault === null && { late: { kind: 'order' } }) },
          (db) => {
            if (fault !== null) return { outcome: 'rejected', reason: fault }
            const now = world.now()
            return admit(db, world, {
              profile,
              account: send.account,
              arrival: send.arrival,
              placedAt: now,
              executedAt: now,
            })
          },
        )
      }),
    find: (session, order) => searching(profile, session, order, (send) => findListed(world, send)),
    updates: (session, since) => updatesOf(world, profile, session, since),
  }
}

/** What the distributor's lists show that may be this order. */
export function findListed(world: World, send: Send): Promise<Search> {
  const { profile, account, arrival } = send
  return call<Search>(world, send, { name: 'find', step: 'look' }, (db) => {
    // Down for its own orders only: another order's search has nothing to do with it.
    if (
      readOrders(db, 'WHERE client_ref = ?', arrival.clientRef).some((order) =>
        isLookupDown(order, world.now()),
      )
    )
      unreachable('HTTP 503')
    return {
      outcome: 'answered',
      orders: listedOrders(db, profile, account, arrival, world.now()).map((order) =>
        toldOf(profile, order),
      ),
    }
  })
}
