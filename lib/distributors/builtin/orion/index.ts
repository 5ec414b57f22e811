/** Orion Wholesale: its settings, and what it brings. */
import { defineDistributor } from '../../distributor.js'
import type { BuiltIn } from '../built-in.js'
import { secret } from '../settings.js'
import { feeds } from './account-feed.js'
import { API } from './api.js'
import { catalog, stock } from './feed.js'
import { checkKey, orionOrders } from './orders.js'
import { simulator } from './simulator.js'

export const orion: BuiltIn = {
  distributor: defineDistributor({
    distid: 'ORI',
    name: 'Orion Wholesale',
    automatedFulfillment: true,
    api: { url: API },
    requiredSections: ['fulfillment'],
    settings: {
      connection_key: secret('Connection key', 'fulfillment-connection_key'),
    },
    check: checkKey,
    fulfillment: orionOrders(),
    feeds,
  }),
  presets: [catalog, stock],
  simulator,
}
