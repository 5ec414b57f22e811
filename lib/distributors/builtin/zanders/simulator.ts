/** How Zanders is played: the words that it says no with, and what it shows of an order. */
import type { FulfillmentLimits } from '../../fulfillment.js'
import { COMMON_LIMITS, PLAIN_WORDS, SHIPMENTS_ALONE } from '../../../simulator/engine/world.js'
import type { DistributorSimulator, Words } from '../../../simulator/engine/world.js'
import { overLoopback } from '../../../simulator/wire/over-loopback.js'
import { checkLogins, LIMITS, zandersOrders } from './orders.js'
import { BASE, zandersApi } from './simulator-api.js'
import { zandersFiles } from './simulator-files.js'

const words: Words = {
  ...PLAIN_WORDS,
  unknownItem: (sku) => `return code 2: item ${sku} is not known`,
  outOfStock: (sku) => `return code 9: nothing available of ${sku}`,
  credit: 'return code 2: there is a problem with the account',
  po: (fault) => `return code 2: purchaseOrderNumber ${fault}`,
  missingFfl: 'return code 2: the ship-to has no FFL',
  badFfl: 'return code 2: fflno is not valid',
  badZip: (zip) => `return code 2: shipToZip "${zip}" is not valid`,
  mixed: 'return code 2: firearms and accessories belong on different accounts',
}

const limits: FulfillmentLimits = { ...LIMITS, updatesEvery: COMMON_LIMITS.updatesEvery! }

export const simulator: DistributorSimulator = {
  credentials: {
    accessories_user: 'demo-accessories',
    accessories_password: 'demo-zanders-accessories',
    firearms_user: 'demo-firearms',
    firearms_password: 'demo-zanders-firearms',
    store_user: 'demo-store',
    store_password: 'demo-zanders-store',
    ftp_user: 'demo-files',
    ftp_password: 'demo-zanders-files',
    ftp_folder: 'Demo',
  },
  orders: {
    connector: (world, profile) =>
      overLoopback(world, profile, {
        connector: zandersOrders(limits),
        check: checkLogins,
        base: BASE,
        handler: zandersApi,
        numbers: 'digits',
        files: zandersFiles,
      }),
    recovery: 'one_shot',
    account: 'firearms_user',
    words,
    shows: 'at_once',
    // It tells by the number alone.
    tells: { reference: false, content: false },
    news: { ...SHIPMENTS_ALONE, committed: 'at_once' },
    limits,
    firearms: ['UPS', '2nd Day Air'],
    others: ['USPS', 'Priority Mail'],
  },
}
