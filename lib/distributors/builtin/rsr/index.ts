/** RSR Group: its settings, and what it brings. */
import { defineDistributor } from '../../distributor.js'
import type { BuiltIn } from '../built-in.js'
import { number, secret, optional, emails } from '../settings.js'
import { catalog, quantity } from './feed.js'
import { simulator } from './simulator.js'

export const rsr: BuiltIn = {
  distributor: defineDistributor({
    distid: 'RSR',
    name: 'RSR Group',
    automatedFulfillment: true,
    templateShipping: 9.99,
    settings: {
      api_user: number('Drop-ship account number', 'fulfillment-API_USER'),
      api_password: secret('Password of the drop-ship account', 'fulfillment-API_PASSWORD'),
      store_account: optional(
        number('Main account number', 'fulfillment-ship_to_store-store_account'),
      ),
      store_password: optional(
        secret('Password of the main account', 'fulfillment-ship_to_store-password'),
      ),
      ffl_recipient_emails: optional(emails('fulfillment-ffl_recipient_emails')),
    },
  }),
  presets: [catalog, quantity],
  simulator,
}
