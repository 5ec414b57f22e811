/** Distributors that take an order in one call: RSR, Chattanooga, Lipsey's and Zanders. */
import type { Fulfillment, Search, Submission } from '../../distributors/fulfillment.js'
import { admit, contentFault } from './admit.js'
import { call, unreachable } from './call.js'
import type { Send } from './call.js'
import { simulatedConnector } from './simulated-connector.js'
import { ordersAnywhere } from './queries.js'
import { isLookupDown, listedOrders, toldOf } from './sales-order.js'
import type { Profile, World } from './world.js'

/** A connector of such a distributor. */
export function wholeOrders(world: World, profile: Profile): Fulfillment {
  return simulatedConnector(world, profile, { submit: sendWhole, find: findListed })
}

function sendWhole(world: World, send: Send): Promise<Submission> {
  const { profile, order, account, arrival } = send
  const fault = contentFault(profile, order)
  return call<Submission>(
    world,
    send,
    { name: 'submit', step: 'only', ...(fault === null && { late: { kind: 'order' } }) },
    (db) => {
      if (fault !== null) return { outcome: 'rejected', reason: fault }
      const now = world.now()
      return admit(db, world, { profile, account, arrival, placedAt: now, executedAt: now })
    },
  )
}

/** What the distributor's lists show that may be this order. */
export function findListed(world: World, send: Send): Promise<Search> {
  const { profile, account, arrival } = send
  return call<Search>(world, send, { name: 'find', step: 'look' }, (db) => {
    // Down for its own orders only: another order's search has nothing to do with it.
    if (ordersAnywhere(db, arrival.clientRef).some((order) => isLookupDown(order, world.now())))
      unreachable('HTTP 503')
    return {
      outcome: 'answered',
      orders: listedOrders(db, { profile, account }, arrival, world.now()).map((order) =>
        toldOf(profile, order),
      ),
    }
  })
}
