/** Orders as RSR's suites send them. */
import type { OrderSession, PurchaseOrder } from '../../../lib/distributors/fulfillment.js'
import type { Session } from '../../../lib/distributors/session/session.js'

export const AT = Date.UTC(2026, 10, 23, 4, 30)

export const CONSUMER = {
  name: 'Pat Doe',
  address1: '12 Main St',
  address2: 'Apt 4',
  city: 'Phoenix',
  state: 'az',
  zip: '85001-1234',
  phone: '602-555-0100',
}

export const ACCESSORY: PurchaseOrder = {
  clientRef: 'REF00000000000000001',
  serial: 7,
  po: 'W-1-ABCD-010',
  poGiven: 'W-1-ABCD-010',
  poIsOurs: true,
  lane: 'accessories',
  fflRequired: false,
  shipToStore: false,
  lines: [
    { distsku: 'MAG571', upc: '012345678905', name: 'A', qty: 2, unitPrice: 1, fflRequired: false },
    { distsku: 'HOL-9', upc: '', name: 'B', qty: 12, unitPrice: 1, fflRequired: false },
  ],
  shipTo: CONSUMER,
  customer: { ...CONSUMER, email: 'pat@customer.example' },
  ffl: null,
  takenAt: AT,
}

export const FIREARM: PurchaseOrder = {
  ...ACCESSORY,
  lane: 'firearms',
  fflRequired: true,
  lines: [{ ...ACCESSORY.lines[0]!, distsku: 'GLO1', qty: 1, fflRequired: true }],
  shipTo: {
    name: 'Pine Ridge Arms',
    address1: '1 Pine St',
    address2: null,
    city: 'Macon',
    state: 'GA',
    zip: '31201',
    phone: '4785550111',
  },
  ffl: { licenseNumber: '1-58-021-01-8E-00001', name: 'Pine Ridge Arms', expiresOn: '2028-05-01' },
}

export const SETTINGS = { api_user: '99901', api_password: 'api-secret' }
export const BOTH = { ...SETTINGS, store_account: '99902', store_password: 'store-secret' }

/** A session of an order that has no stages. */
export const withoutStages = (session: Session): OrderSession => ({
  ...session,
  stage: null,
  keepStage: () => Promise.reject(new Error('it has no stages')),
})
