/** Chattanooga Shooting Supplies: its settings, and what it brings. */
import { defineDistributor } from '../../distributor.js'
import type { BuiltIn } from '../built-in.js'
import { account, secret } from '../settings.js'
import { feeds } from './account-feed.js'
import { API } from './api.js'
import { catalog } from './feed.js'
import { chattanoogaOrders, checkLogin } from './orders.js'
import { DELIVERY_OPTIONS } from './payload.js'
import { simulator } from './simulator.js'

export const chattanooga: BuiltIn = {
  distributor: defineDistributor({
    distid: 'CSSI',
    name: 'Chattanooga Shooting Supplies',
    automatedFulfillment: true,
    templateShipping: 14.95,
    api: { url: API },
    requiredSections: ['fulfillment'],
    settings: {
      api_sid: account('API SID', 'fulfillment-API_SID'),
      api_token: secret('API token', 'fulfillment-API_TOKEN'),
      default_shipping_method: {
        type: 'string',
        label: 'Shipping method of what is not a firearm',
        path: 'default_shipping_method_non_firearms',
        choices: DELIVERY_OPTIONS,
      },
    },
    check: checkLogin,
    fulfillment: chattanoogaOrders(),
    feeds,
  }),
  presets: [catalog],
  simulator,
}
