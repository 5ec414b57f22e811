/** How RSR Group is played: the words that it says no with, and what it shows of an order. */
import { COMMON_LIMITS } from '../../../simulator/engine/world.js'
import type { DistributorSimulator, Words } from '../../../simulator/engine/world.js'
import { wholeOrders } from '../../../simulator/engine/single-call-orders.js'

const words: Words = {
  unknownItem: (sku) => `20999 Item ${sku} not found`,
  outOfStock: (sku) => `20007 Item ${sku} out of stock`,
  credit: '10999 Account on hold, contact your sales representative',
  phone: '20009 Consumer phone number required',
  po: (fault) => `10999 PO number ${fault}`,
  missingFfl: '11002 FFL not found',
  badFfl: '11002 FFL not found',
  badZip: (zip) => `10999 Ship-to ZIP "${zip}" invalid`,
  mixed: '11007 Firearms combined with accessories',
  otherContent: '10010 Duplicate order',
}

export const simulator: DistributorSimulator = {
  credentials: {
    api_user: '99901',
    api_password: 'demo-rsr',
    store_account: '99902',
    store_password: 'demo-rsr-store',
  },
  orders: {
    connector: wholeOrders,
    recovery: 'resend',
    account: 'api_user',
    refusesMix: true,
    words,
    shows: 'confirmed',
    tells: { reference: true, content: true },
    limits: {
      ...COMMON_LIMITS,
      po: { max: 22, chars: /[A-Za-z0-9 -]/ },
      needsConsumerPhone: 'ffl',
    },
    firearms: ['UPS', '2nd Day Air'],
    others: ['UPS', 'Ground'],
  },
}
