/** How Hicks Inc. is played: it takes an order as a whole or not at all, and says so in a folder. */
import { COMMON_LIMITS, PLAIN_WORDS, SHIPMENTS_ALONE } from '../../../simulator/engine/world.js'
import type { DistributorSimulator } from '../../../simulator/engine/world.js'
import { dropFile } from '../../../simulator/wire/inbox.js'
import { overLoopback } from '../../../simulator/wire/over-loopback.js'
import { checkLogin } from './account.js'
import { hicksIncOrders, LIMITS } from './orders.js'
import { hicksIncFiles } from './simulator-files.js'
import { readInbox } from './simulator-inbox.js'

const limits = { ...COMMON_LIMITS, po: LIMITS.po, concurrency: 1 }

export const simulator: DistributorSimulator = {
  credentials: { ftp_user: 'DEMO-HIX', ftp_password: 'demo-hicks-files' },
  orders: {
    due: { drop: (db, _world, happening) => dropFile(db, happening), read: readInbox },
    connector: (world, profile) =>
      overLoopback(world, profile, {
        connector: hicksIncOrders(limits),
        check: checkLogin,
        files: hicksIncFiles,
      }),
    recovery: 'file',
    account: 'ftp_user',
    words: PLAIN_WORDS,
    shows: 'confirmed',
    tells: { reference: false, content: true },
    isAllOrNothing: true,
    news: {
      ...SHIPMENTS_ALONE,
      confirmed: true,
      committed: true,
      parcelsByPo: 'of_one_order',
    },
    limits,
    firearms: ['UPS', '2nd Day Air'],
    others: ['UPS', 'Ground'],
  },
}
