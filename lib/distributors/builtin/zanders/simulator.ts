/** How Zanders is played: the words that it says no with, and what it shows of an order. */
import {
  ALL_NEWS,
  COMMON_LIMITS,
  IN_REPORTS,
  PLAIN_WORDS,
} from '../../../simulator/engine/world.js'
import type { DistributorSimulator, Words } from '../../../simulator/engine/world.js'
import { wholeOrders } from '../../../simulator/engine/single-call-orders.js'

const words: Words = {
  ...PLAIN_WORDS,
  unknownItem: (sku) => `return code 41: item ${sku} not found`,
  outOfStock: (sku) => `return code 9: nothing available of ${sku}`,
  credit: 'return code 2: there is a problem with the account',
  po: (fault) => `return code 2: purchaseOrderNumber ${fault}`,
  missingFfl: 'return code 2: the ship-to has no FFL',
  badFfl: 'return code 2: fflno is not valid',
  badZip: (zip) => `return code 2: shipToZip "${zip}" is not valid`,
  mixed: 'return code 2: firearms and accessories belong on different accounts',
}

export const simulator: DistributorSimulator = {
  credentials: {
    accessories_user: 'demo-accessories',
    accessories_password: 'demo-zanders-accessories',
    firearms_user: 'demo-firearms',
    firearms_password: 'demo-zanders-firearms',
    store_user: 'demo-store',
    store_password: 'demo-zanders-store',
  },
  orders: {
    connector: wholeOrders,
    recovery: 'one_shot',
    account: 'firearms_user',
    refusesMix: true,
    words,
    shows: 'shipped',
    tells: { reference: false, content: true },
    news: { ...ALL_NEWS, confirmed: false },
    limits: { ...COMMON_LIMITS, po: { max: 22 }, visibilityLag: IN_REPORTS },
    firearms: ['UPS', '2nd Day Air'],
    others: ['USPS', 'Priority Mail'],
  },
}
