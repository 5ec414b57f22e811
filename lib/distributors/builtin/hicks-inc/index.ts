/** Hicks Inc., which is not Bill Hicks: its settings, and what it brings. */
import { defineDistributor } from '../../distributor.js'
import { bringFile } from '../../session/feed-file.js'
import type { AccountFeed } from '../../account-feed.js'
import type { BuiltIn } from '../built-in.js'
import { account, secret } from '../settings.js'
import { CATALOG, checkLogin, SERVER, STOCK, withFiles } from './account.js'
import { catalog, stock } from './feed.js'
import { hicksIncOrders } from './orders.js'
import { simulator } from './simulator.js'

/** A file of its server, as it lies there. */
const feedAt = (path: string): AccountFeed => ({
  bring: (session, wanted) =>
    withFiles(session, (files) => bringFile(files, session.now, wanted, path)),
})

export const hicksInc: BuiltIn = {
  distributor: defineDistributor({
    distid: 'HIX',
    name: 'Hicks Inc.',
    automatedFulfillment: true,
    files: SERVER,
    requiredSections: ['fulfillment'],
    settings: {
      ftp_user: account('FTP user', 'fulfillment-ftp_user'),
      ftp_password: secret('FTP password', 'fulfillment-ftp_password'),
      ship_method: {
        type: 'string',
        label: 'Ship method',
        helperText: "Hicks's own code of up to 8 characters; without it, they choose",
        path: 'fulfillment-ship_method',
      },
    },
    check: checkLogin,
    fulfillment: hicksIncOrders(),
    feeds: { [catalog.id]: feedAt(CATALOG), [stock.id]: feedAt(STOCK) },
  }),
  presets: [catalog, stock],
  simulator,
}
