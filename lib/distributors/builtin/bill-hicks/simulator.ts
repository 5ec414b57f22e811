/** How Bill Hicks is played: it takes any file that it can read, and tells later what it commits. */
import { COMMON_LIMITS, PLAIN_WORDS, SHIPMENTS_ALONE } from '../../../simulator/engine/world.js'
import type { DistributorSimulator } from '../../../simulator/engine/world.js'
import { dropFile } from '../../../simulator/wire/inbox.js'
import { overLoopback } from '../../../simulator/wire/over-loopback.js'
import { checkLogin } from './account.js'
import { billHicksOrders, LIMITS } from './orders.js'
import { billHicksFiles } from './simulator-files.js'
import { readInbox } from './simulator-inbox.js'

const limits = { ...COMMON_LIMITS, po: LIMITS.po, concurrency: 1 }

export const simulator: DistributorSimulator = {
  credentials: {
    customer_number: 'DEMO-BILL',
    ftp_user: 'DEMO-BILL',
    ftp_password: 'demo-bill-files',
  },
  orders: {
    due: { drop: (db, _world, happening) => dropFile(db, happening), read: readInbox },
    connector: (world, profile) =>
      overLoopback(world, profile, {
        connector: billHicksOrders(limits),
        check: checkLogin,
        files: billHicksFiles,
      }),
    recovery: 'file',
    account: 'ftp_user',
    words: PLAIN_WORDS,
    shows: 'confirmed',
    tells: { reference: false, content: true },
    news: { ...SHIPMENTS_ALONE, confirmed: true, committed: true },
    limits,
    firearms: ['UPS', 'UPSH'],
    others: ['UPS', 'UPSF'],
  },
}
