/** How Chattanooga is played: the words that it says no with, and what it shows of an order. */
import { COMMON_LIMITS, PLAIN_WORDS } from '../../../simulator/engine/world.js'
import type { DistributorSimulator, Words } from '../../../simulator/engine/world.js'
import { wholeOrders } from '../../../simulator/engine/single-call-orders.js'

const words: Words = {
  ...PLAIN_WORDS,
  unknownItem: (sku) => `validation_failed: order_items: item_number ${sku} does not exist`,
  outOfStock: (sku) =>
    `validation_failed: order_items: item_number ${sku} has insufficient inventory`,
  credit: 'account_on_hold: orders cannot be placed',
  po: (fault) => `validation_failed: purchase_order_number ${fault}`,
  missingFfl: 'validation_failed: federal_firearms_license_number is required',
  badFfl: 'validation_failed: federal_firearms_license_number is invalid',
  badZip: (zip) => `validation_failed: ship_to_address.zip "${zip}" is invalid`,
}

export const simulator: DistributorSimulator = {
  credentials: { api_sid: 'DEMO-SID', api_token: 'demo-chattanooga' },
  orders: {
    connector: wholeOrders,
    recovery: 'lookup',
    account: 'api_sid',
    refusesMix: false,
    words,
    shows: 'at_once',
    tells: { reference: true, content: true },
    limits: { ...COMMON_LIMITS, po: { max: 24 } },
    firearms: ['UPS', '2nd Day Air'],
    others: ['FedEx', 'Ground'],
  },
}
