/** Zanders: its settings, and what it brings. */
import { defineDistributor } from '../../distributor.js'
import type { BuiltIn } from '../built-in.js'
import { account, secret, optional, emails } from '../settings.js'
import { feeds } from './account-feed.js'
import { API } from './api.js'
import { catalog, quantity } from './feed.js'
import { SERVER } from './files.js'
import { checkLogins, zandersOrders } from './orders.js'
import { simulator } from './simulator.js'

export const zanders: BuiltIn = {
  distributor: defineDistributor({
    distid: 'ZND',
    name: 'Zanders',
    automatedFulfillment: true,
    templateShipping: 15,
    api: { url: API },
    files: SERVER,
    settings: {
      accessories_user: account(
        'User of the accessories account',
        'fulfillment-accessories-api_user',
      ),
      accessories_password: secret(
        'Password of the accessories account',
        'fulfillment-accessories-api_password',
      ),
      firearms_user: account('User of the firearms account', 'fulfillment-firearms-api_user'),
      firearms_password: secret(
        'Password of the firearms account',
        'fulfillment-firearms-api_password',
      ),
      store_user: optional(
        account('User of the main account', 'fulfillment-ship_to_store-api_user'),
      ),
      store_password: optional(
        secret('Password of the main account', 'fulfillment-ship_to_store-api_password'),
      ),
      ftp_user: optional(account('User for files', 'fulfillment-ftp_user')),
      ftp_password: optional(secret('Password for files', 'fulfillment-ftp_password')),
      ftp_folder: {
        type: 'string',
        label: 'Folder of the files',
        helperText: 'Below Inventory; without it, Inventory itself',
        path: 'fulfillment-ftp_folder',
      },
      ffl_recipient_emails: optional(emails('fulfillment-ffl_recipient_emails')),
    },
    check: checkLogins,
    fulfillment: zandersOrders(),
    feeds,
  }),
  presets: [catalog, quantity],
  simulator,
}
