/** How 2nd Amendment Wholesale is played: one cart for the account, and a report of shipments. */
import {
  COMMON_LIMITS,
  IN_REPORTS,
  PLAIN_WORDS,
  SHIPMENTS_ALONE,
} from '../../../simulator/engine/world.js'
import type { DistributorSimulator, Words } from '../../../simulator/engine/world.js'
import { overLoopback } from '../../../simulator/wire/over-loopback.js'
import type { FulfillmentLimits } from '../../fulfillment.js'
import { checkToken, LIMITS, secondAmendmentOrders } from './orders.js'
import { BASE, secondAmendmentApi } from './simulator-api.js'
import { buy } from './simulator-cart.js'

const words: Words = {
  ...PLAIN_WORDS,
  unknownItem: (sku) => `The product "${sku}" that was requested doesn't exist.`,
  outOfStock: (sku) => `The requested qty of "${sku}" is not available.`,
  credit: 'The requested Payment Method is not available.',
  po: (fault) => `The PO number ${fault}.`,
  missingFfl: 'A license is required for this cart.',
  badFfl: 'The license number is invalid.',
  badZip: (zip) => `The postcode "${zip}" is invalid.`,
}

const limits: FulfillmentLimits = {
  ...LIMITS,
  ...COMMON_LIMITS,
  po: LIMITS.po,
  visibilityLag: IN_REPORTS,
}

export const simulator: DistributorSimulator = {
  credentials: { api_token: 'demo-2aw' },
  orders: {
    due: { checkout: (db, world, happening) => void buy(db, world, happening) },
    connector: (world, profile) =>
      overLoopback(world, profile, {
        connector: secondAmendmentOrders(limits),
        check: checkToken,
        base: BASE,
        handler: secondAmendmentApi,
        numbers: 'digits',
      }),
    recovery: 'staged',
    words,
    shows: 'shipped',
    tells: { reference: false, content: true },
    news: SHIPMENTS_ALONE,
    limits,
    firearms: ['UPS', '2nd Day Air'],
    others: ['UPS', 'Ground'],
  },
}
