/** Documents for tests, and a session that may reach this machine. */
import type { Distributor } from '../../../lib/distributors/distributor.js'
import { distributorOf } from '../../../lib/distributors/document/distributor.js'
import type { DistributorDocument } from '../../../lib/distributors/document/schema.js'
import { openSession } from '../../../lib/distributors/session/open-session.js'
import type { SessionOptions } from '../../../lib/distributors/session/open-session.js'
import type { OrderSession, PurchaseOrder } from '../../../lib/distributors/fulfillment.js'

export const NOW = Date.UTC(2026, 10, 21, 20, 0, 0, 500)

type Json = Record<string, unknown>

export const CSV = {
  as: 'delimited',
  format: { delimiter: ',', quote: '"', header: true },
} as const

/** A catalog feed of `item`, `name`, `price`, `qty` and `kind`. */
export const feedOf = (source: Json, more: Json = {}): Json => ({
  id: 'acme',
  kind: 'catalog',
  source: { connection: 'main', path: 'items.csv', read: CSV, ...source },
  required: ['item', 'price', 'qty'],
  key: ['item'],
  map: { name: { from: ['name'] }, price: { from: ['price'] }, qty: { from: ['qty'] } },
  classify: [{ when: [{ column: 'kind', in: ['optic'] }], set: { productClass: 'OP' } }],
  ...more,
})

export const documentOf = (connection: Json, more: Json = {}): DistributorDocument =>
  ({
    distid: 'ACME',
    name: 'Acme',
    writtenFrom: 'a test',
    settings: { user: { label: 'User' }, password: { label: 'Password', secret: true } },
    connections: { main: connection },
    ...more,
  }) as unknown as DistributorDocument

/** A session with the document's distributor, whose hosts on this machine are let in. */
export function sessionOf(
  distributor: Distributor,
  { settings = { user: 'dealer', password: 'secret-word' }, ...more }: Partial<SessionOptions> = {},
): OrderSession {
  return {
    ...openSession(distributor, {
      settings,
      signal: AbortSignal.timeout(20_000),
      now: () => NOW,
      ...more,
      egress: { privateHosts: ['127.0.0.1', 'localhost'], ...more.egress },
    }),
    stage: null,
    keepStage: async () => {},
  }
}

export const connectorOf = (document: DistributorDocument) => {
  const distributor = distributorOf(document)
  return { distributor, connector: distributor.fulfillment! }
}

const CUSTOMER = {
  name: 'Pat "Doc" Doe, Jr.',
  email: 'pat@customer.example',
  address1: '12 Main St | rear',
  address2: null,
  city: 'Phoenix',
  state: 'az',
  zip: '85001-1234',
  phone: '(602) 555-0100',
}

export const orderOf = (more: Partial<PurchaseOrder> = {}): PurchaseOrder => ({
  clientRef: 'REF00000000000000001',
  serial: 1,
  po: 'W-1-ABCD-010',
  poGiven: 'W-1-ABCD-010',
  poIsOurs: true,
  lane: 'all',
  fflRequired: false,
  shipToStore: false,
  lines: [
    {
      distsku: 'A-1',
      upc: '012345678905',
      name: 'Sling, 2" <black>',
      qty: 2,
      unitPrice: 1_989,
      fflRequired: false,
    },
    {
      distsku: 'B-2',
      upc: '012345678912',
      name: 'Café & Co',
      qty: 1,
      unitPrice: 500,
      fflRequired: false,
    },
  ],
  shipTo: CUSTOMER,
  customer: CUSTOMER,
  ffl: null,
  takenAt: NOW,
  ...more,
})
