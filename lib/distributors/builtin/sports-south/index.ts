/** Sports South: its settings, and what it brings. */
import { defineDistributor } from '../../distributor.js'
import type { BuiltIn } from '../built-in.js'
import { number, secret, optional, emails } from '../settings.js'
import { feeds } from './account-feed.js'
import { API } from './api.js'
import { catalog } from './feed.js'
import { checkLogin, sportsSouthOrders } from './orders.js'
import { simulator } from './simulator.js'

export const sportsSouth: BuiltIn = {
  distributor: defineDistributor({
    distid: 'TSW',
    name: 'Sports South',
    automatedFulfillment: true,
    templateShipping: 10.95,
    api: { url: API },
    settings: {
      api_user: { ...number('User number', 'fulfillment-api_user'), type: 'number' },
      api_customer_number: {
        ...number('Customer number', 'fulfillment-api_customer_number'),
        type: 'number',
      },
      api_password: { ...secret('Password', 'fulfillment-api_password'), form: 'text_or_number' },
      ffl_recipient_emails: optional(emails('fulfillment-ffl_recipient_emails')),
    },
    check: checkLogin,
    fulfillment: sportsSouthOrders(),
    feeds,
  }),
  presets: [catalog],
  simulator,
}
