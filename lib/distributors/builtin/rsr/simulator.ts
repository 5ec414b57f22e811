/** How RSR Group is played: the words that it says no with, and what it shows of an order. */
import type { FulfillmentLimits } from '../../fulfillment.js'
import { COMMON_LIMITS, SHIPMENTS_ALONE } from '../../../simulator/engine/world.js'
import type { DistributorSimulator, Words } from '../../../simulator/engine/world.js'
import { dropFile } from '../../../simulator/wire/inbox.js'
import { overLoopback } from '../../../simulator/wire/over-loopback.js'
import { checkLogins } from './check.js'
import { LIMITS, rsrOrders } from './orders.js'
import { BASE, rsrApi } from './simulator-api.js'
import { rsrFiles } from './simulator-files.js'
import { readInbox } from './simulator-inbox.js'

/** With the codes of the files; the API tells some of them by others. */
const words: Words = {
  unknownItem: (sku) => `20999 Item ${sku} not found`,
  outOfStock: (sku) => `20007 Item ${sku} out of stock`,
  credit: '10999 Account on hold, contact your sales representative',
  phone: '20009 Consumer phone number required',
  po: (fault) => `10999 PO number ${fault}`,
  missingFfl: '11002 FFL not found',
  badFfl: '11002 FFL not found',
  badZip: (zip) => `10999 Ship-to ZIP "${zip}" invalid`,
  mixed: '11007 Firearms combined with accessories',
  otherContent: '10010 Duplicate order',
}

const limits: FulfillmentLimits = {
  ...COMMON_LIMITS,
  po: LIMITS.po,
  needsConsumerPhone: 'ffl',
}

export const simulator: DistributorSimulator = {
  credentials: {
    api_user: '99901',
    api_password: 'demo-rsr',
    store_account: '99902',
    store_password: 'demo-rsr-store',
    ftp_password: 'demo-rsr-files',
    store_ftp_password: 'demo-rsr-store-files',
  },
  orders: {
    due: { drop: (db, _world, happening) => dropFile(db, happening), read: readInbox },
    connector: (world, profile) =>
      overLoopback(world, profile, {
        connector: rsrOrders(limits),
        check: checkLogins,
        base: BASE,
        handler: rsrApi,
        files: rsrFiles,
      }),
    recovery: 'lookup',
    account: 'api_user',
    words,
    shows: 'at_once',
    // The items without a ZIP prove nothing.
    tells: { reference: false, content: false },
    news: SHIPMENTS_ALONE,
    limits,
    firearms: ['UPS', '2nd Day Air'],
    others: ['UPS', 'Ground'],
  },
}
