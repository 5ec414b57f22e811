/** Lipsey's: its settings, and what it brings. */
import { defineDistributor } from '../../distributor.js'
import type { BuiltIn } from '../built-in.js'
import { account, secret, optional, emails } from '../settings.js'
import { feeds } from './account-feed.js'
import { API } from './api.js'
import { catalog, pricing } from './feed.js'
import { checkLogins, lipseysOrders } from './orders.js'
import { simulator } from './simulator.js'

export const lipseys: BuiltIn = {
  distributor: defineDistributor({
    distid: 'LIP',
    name: 'Lipseys',
    automatedFulfillment: true,
    templateShipping: 9.95,
    api: { url: API },
    settings: {
      api_user: account('E-mail address of the drop-ship account', 'fulfillment-API_USER'),
      api_password: secret('Password of the drop-ship account', 'fulfillment-API_PASSWORD'),
      store_user: optional(
        account('E-mail address of the main account', 'fulfillment-ship_to_store-API_USER'),
      ),
      store_password: optional(
        secret('Password of the main account', 'fulfillment-ship_to_store-API_PASSWORD'),
      ),
      ffl_recipient_emails: optional(emails('fulfillment-ffl_recipient_emails')),
    },
    check: checkLogins,
    fulfillment: lipseysOrders(),
    feeds,
  }),
  presets: [catalog, pricing],
  simulator,
}
