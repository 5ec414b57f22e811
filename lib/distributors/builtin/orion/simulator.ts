/** How Orion is played: the words that it says no with, and what it shows of an order. */
import { COMMON_LIMITS, PLAIN_WORDS, SHIPMENTS_ALONE } from '../../../simulator/engine/world.js'
import type { DistributorSimulator, Words } from '../../../simulator/engine/world.js'
import { overLoopback } from '../../../simulator/wire/over-loopback.js'
import type { FulfillmentLimits } from '../../fulfillment.js'
import { checkKey, LIMITS, orionOrders } from './orders.js'
import { orionApi } from './simulator-api.js'

const words: Words = {
  ...PLAIN_WORDS,
  unknownItem: (sku) => `Product ${sku} not found`,
  outOfStock: (sku) => `Product ${sku} is out of stock`,
  credit: 'The account cannot place orders',
  po: (fault) => `purchase_order_number ${fault}`,
  missingFfl: 'license_number is required',
  badFfl: 'license_number is not valid',
  badZip: (zip) => `postal_code "${zip}" is not valid`,
}

const limits: FulfillmentLimits = { ...LIMITS, updatesEvery: COMMON_LIMITS.updatesEvery! }

export const simulator: DistributorSimulator = {
  credentials: { connection_key: 'demo-orion-key' },
  orders: {
    connector: (world, profile) =>
      overLoopback(world, profile, {
        connector: orionOrders(limits),
        check: checkKey,
        handler: orionApi,
        numbers: 'digits',
      }),
    recovery: 'one_shot',
    words,
    shows: 'at_once',
    // It tells by the number alone.
    tells: { reference: false, content: false },
    news: SHIPMENTS_ALONE,
    limits,
    firearms: ['UPS', '2nd Day Air'],
    others: ['FedEx', 'Ground'],
  },
}
