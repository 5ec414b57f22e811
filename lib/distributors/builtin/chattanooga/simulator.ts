/** How Chattanooga is played: the words that it says no with, and what it shows of an order. */
import { COMMON_LIMITS, PLAIN_WORDS, SHIPMENTS_ALONE } from '../../../simulator/engine/world.js'
import type { DistributorSimulator, Words } from '../../../simulator/engine/world.js'
import { overLoopback } from '../../../simulator/wire/over-loopback.js'
import { chattanoogaOrders, checkLogin, PO } from './orders.js'
import { BASE, chattanoogaApi } from './simulator-api.js'

const words: Words = {
  ...PLAIN_WORDS,
  unknownItem: (sku) => `order_items: item_number ${sku} does not exist`,
  outOfStock: (sku) => `order_items: item_number ${sku} has insufficient inventory`,
  credit: 'The account is on hold: orders cannot be placed',
  po: (fault) => `purchase_order_number ${fault}`,
  missingFfl: 'federal_firearms_license_number is required',
  badFfl: 'federal_firearms_license_number is invalid',
  badZip: (zip) => `ship_to_address.zip "${zip}" is invalid`,
}

const limits = { ...COMMON_LIMITS, po: PO }

export const simulator: DistributorSimulator = {
  credentials: { api_sid: 'DEMO-SID', api_token: 'demo-chattanooga' },
  orders: {
    connector: (world, profile) =>
      overLoopback(world, profile, {
        connector: chattanoogaOrders(limits),
        check: checkLogin,
        base: BASE,
        handler: chattanoogaApi,
      }),
    recovery: 'lookup',
    account: 'api_sid',
    words,
    shows: 'at_once',
    tells: { reference: true, content: true },
    limits,
    news: SHIPMENTS_ALONE,
    firearms: ['UPS', '2nd Day Air'],
    others: ['FedEx', 'Ground'],
  },
}
