/** RSR Group: its settings, and what it brings. */
import { defineDistributor } from '../../distributor.js'
import type { BuiltIn } from '../built-in.js'
import { number, secret, optional, emails } from '../settings.js'
import { dealers, feeds } from './account-feed.js'
import { API } from './api.js'
import { checkLogins } from './check.js'
import { rsrOrders } from './orders.js'
import { SERVER } from './files.js'
import { catalog, quantity } from './feed.js'
import { simulator } from './simulator.js'

export const rsr: BuiltIn = {
  distributor: defineDistributor({
    distid: 'RSR',
    name: 'RSR Group',
    automatedFulfillment: true,
    templateShipping: 9.99,
    api: { url: API },
    files: SERVER,
    settings: {
      api_user: number('Drop-ship account number', 'fulfillment-API_USER'),
      api_password: secret('Password of the drop-ship account', 'fulfillment-API_PASSWORD'),
      store_account: optional(
        number('Main account number', 'fulfillment-ship_to_store-store_account'),
      ),
      store_password: optional(
        secret('Password of the main account', 'fulfillment-ship_to_store-password'),
      ),
      orders_by: {
        type: 'string',
        label: 'How orders go out',
        helperText: 'As calls of the API, or as files where the account has those alone',
        path: 'fulfillment-orders_by',
        choices: ['api', 'files'],
      },
      ftp_password: optional(
        secret('Password for files of the drop-ship account', 'fulfillment-ftp_password'),
      ),
      store_ftp_password: optional(
        secret('Password for files of the main account', 'fulfillment-ship_to_store-ftp_password'),
      ),
      order_email: {
        type: 'string',
        label: "Where RSR's notices of orders go",
        path: 'fulfillment-order_email',
        form: 'email',
      },
      quantity_field: {
        type: 'string',
        label: "How the API's member for the quantity is spelled",
        helperText: "RSR's document says WishQTY; a client that worked says WishQty",
        path: 'fulfillment-quantity_field',
        choices: ['WishQTY', 'WishQty'],
      },
      ffl_recipient_emails: optional(emails('fulfillment-ffl_recipient_emails')),
    },
    check: checkLogins,
    fulfillment: rsrOrders(),
    feeds,
    dealers,
  }),
  presets: [catalog, quantity],
  simulator,
}
