/** Orders as Bill Hicks's suites send them. */
import type { PurchaseOrder } from '../../../lib/distributors/fulfillment.js'

export const AT = Date.UTC(2026, 10, 23, 4, 30)

export const CONSUMER = {
  name: 'José Núñez',
  address1: '12 Main St',
  address2: 'Apt\t4',
  city: 'Phoenix',
  state: 'az',
  zip: '85001-1234',
  phone: '(602) 555-0100',
}

export const ACCESSORY: PurchaseOrder = {
  clientRef: 'REF00000000000000001',
  serial: 7,
  po: 'W-1-ABCD-010',
  poGiven: 'W-1-ABCD-010',
  poIsOurs: true,
  lane: 'all',
  fflRequired: false,
  shipToStore: false,
  lines: [
    { distsku: 'BBB 100100', upc: '', name: 'Sling', qty: 2, unitPrice: 694, fflRequired: false },
    {
      distsku: 'CCC 200200',
      upc: '',
      name: 'Case, 16"',
      qty: 12,
      unitPrice: 10_996,
      fflRequired: false,
    },
  ],
  shipTo: CONSUMER,
  customer: { ...CONSUMER, email: 'jose@customer.example' },
  ffl: null,
  takenAt: AT,
}

export const FIREARM: PurchaseOrder = {
  ...ACCESSORY,
  clientRef: 'REF00000000000000002',
  po: 'W-1-ABCD-110',
  fflRequired: true,
  lines: [
    { distsku: 'GLO 19', upc: '', name: 'Pistol', qty: 1, unitPrice: 50_000, fflRequired: true },
  ],
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

export const SETTINGS = {
  customer_number: '12345',
  ship_to: '0007',
  ftp_user: 'shop',
  ftp_password: 'secret-word',
}
