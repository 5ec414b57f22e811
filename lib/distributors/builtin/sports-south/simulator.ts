/** How Sports South is played: it says yes and no, and shows where an order stands. */
import { COMMON_LIMITS, PLAIN_WORDS, SHIPMENTS_ALONE } from '../../../simulator/engine/world.js'
import type { DistributorSimulator } from '../../../simulator/engine/world.js'
import { overLoopback } from '../../../simulator/wire/over-loopback.js'
import type { FulfillmentLimits } from '../../fulfillment.js'
import { checkLogin, LIMITS, sportsSouthOrders } from './orders.js'
import { BASE, sportsSouthApi } from './simulator-api.js'
import { place } from './simulator-orders.js'

const limits: FulfillmentLimits = { ...LIMITS, updatesEvery: COMMON_LIMITS.updatesEvery! }

export const simulator: DistributorSimulator = {
  credentials: {
    api_user: '99904',
    api_customer_number: '99905',
    api_password: 'demo-sports-south',
  },
  orders: {
    due: { submit: (db, world, happening) => void place(db, world, happening) },
    connector: (world, profile) =>
      overLoopback(world, profile, {
        connector: sportsSouthOrders(limits),
        check: checkLogin,
        base: BASE,
        handler: sportsSouthApi,
        numbers: 'digits',
      }),
    recovery: 'staged',
    account: 'api_customer_number',
    // None of them is told: it answers false.
    words: PLAIN_WORDS,
    shows: 'at_once',
    tells: { reference: true, content: true },
    news: { ...SHIPMENTS_ALONE, committed: true, parcelsByPo: true },
    limits,
    firearms: ['UPS', 'Next Day Air'],
    others: ['UPS', 'Ground'],
  },
}
