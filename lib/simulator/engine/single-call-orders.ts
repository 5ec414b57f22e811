/** What the lists of a distributor show that is played within this process. */
import type { Search } from '../../distributors/fulfillment.js'
import { call, unreachable } from './call.js'
import type { Send } from './call.js'
import { ordersAnywhere } from './queries.js'
import { isLookupDown, listedOrders, toldOf } from './sales-order.js'
import type { World } from './world.js'

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
