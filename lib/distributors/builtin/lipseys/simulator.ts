/** How Lipsey's is played: the words that it says no with, and what it shows of an order. */
import type { FulfillmentLimits } from '../../fulfillment.js'
import {
  COMMON_LIMITS,
  IN_REPORTS,
  PLAIN_WORDS,
  SHIPMENTS_ALONE,
} from '../../../simulator/engine/world.js'
import type { DistributorSimulator, Words } from '../../../simulator/engine/world.js'
import { overLoopback } from '../../../simulator/wire/over-loopback.js'
import { checkLogins, lipseysOrders } from './orders.js'
import { BASE, lipseysApi } from './simulator-api.js'

const words: Words = {
  ...PLAIN_WORDS,
  unknownItem: (sku) => `Item number ${sku} was not found.`,
  outOfStock: (sku) => `Item ${sku} is not available in the quantity requested.`,
  credit: 'This account is not able to place orders. Contact your sales executive.',
  phone: 'Phone is required.',
  po: (fault) => `PoNumber ${fault}.`,
  missingFfl: 'Item requires an FFL: use the firearm drop ship.',
  badFfl: 'Ffl must be 15 characters.',
  badZip: (zip) => `AddressZip "${zip}" is invalid.`,
  mixed: 'Firearms and non-firearms cannot be drop shipped on one order.',
}

const limits: FulfillmentLimits = {
  ...COMMON_LIMITS,
  needsConsumerPhone: 'ffl',
  visibilityLag: IN_REPORTS,
}

export const simulator: DistributorSimulator = {
  credentials: {
    api_user: 'demo@demo-shop.example',
    api_password: 'demo-lipseys',
    store_user: 'store@demo-shop.example',
    store_password: 'demo-lipseys-store',
  },
  orders: {
    connector: (world, profile) =>
      overLoopback(world, profile, {
        connector: lipseysOrders(limits),
        check: checkLogins,
        base: BASE,
        handler: lipseysApi,
      }),
    recovery: 'one_shot',
    account: 'api_user',
    words,
    shows: 'shipped',
    tells: { reference: false, content: false },
    news: SHIPMENTS_ALONE,
    limits,
    firearms: ['FedEx', '2Day'],
    others: ['FedEx', 'Ground'],
  },
}
