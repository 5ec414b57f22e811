/** What is sent for an order: to a customer, to a dealer, or to the store. */
import type { Destination, PurchaseOrder } from '../../fulfillment.js'
import { laneOf, SHIP_VIA } from './accounts.js'
import type { Kind } from './accounts.js'
import type { ValueMap } from './soap.js'

/** Characters of a PO: clients know of 22 and of 25. */
export const LONGEST_PO = 22
/** Characters of each half of the instructions: one client sends 40 in all, the other 80. */
const HALF = 40
/** The ship-to that is the account's own address. */
const STORE = '0001'
const LICENSE = /^\d-\d{2}-\d{3}-\d{2}-\d[A-HJ-M]-\d{5}$/

/** Why an order cannot be sent at all; null where it can. */
export function contentFault(order: PurchaseOrder): string | null {
  const { po, lines, ffl, shipTo, shipToStore } = order
  const strange = [...po].find((char) => !/[\x20-\x7e]/.test(char))
  if (po.length > LONGEST_PO)
    return `purchaseOrderNumber has ${po.length} characters, ${LONGEST_PO} are the most`
  if (po.trim() === '') return 'purchaseOrderNumber is missing'
  if (strange !== undefined) return `purchaseOrderNumber holds ${JSON.stringify(strange)}`
  if (shipToStore) return null
  const isFirearm = laneOf(order) === 'firearms'
  if (isFirearm && lines.some(({ fflRequired }) => !fflRequired))
    return 'firearms and accessories belong on different accounts'
  if (isFirearm && ffl === null) return "a firearm needs the receiving dealer's license (fflno)"
  if (ffl !== null && !LICENSE.test(ffl.licenseNumber))
    return `the license "${ffl.licenseNumber}" is not one that ATF writes (fflno)`
  if (!/^\d{5}(-\d{4})?$/.test(shipTo.zip)) return `shipToZip "${shipTo.zip}" is not a ZIP code`
  return null
}

/** Zanders has a person look at what is to be drop-shipped to California. */
export const needsPerson = ({ shipToStore, shipTo }: PurchaseOrder): string | null =>
  !shipToStore && shipTo.state.toUpperCase() === 'CA'
    ? 'Zanders drop-ships to California only what a person has agreed with them: order it by ' +
      'telephone, and enter its number; nothing was sent'
    : null

/** To a dealer: where it is, and whose license it is; null for any other order. */
export function addressOf(order: PurchaseOrder): ValueMap | null {
  const { ffl, shipTo, shipToStore } = order
  if (shipToStore || ffl === null || laneOf(order) !== 'firearms') return null
  const { name, address1, address2, city, state, zip } = plain(shipTo)
  return {
    name,
    address1,
    address2,
    city,
    state,
    zip,
    fflno: shortLicense(ffl.licenseNumber),
    fflexp: ffl.expiresOn,
  }
}

/** The first three and the last five characters of a license, which name it for good. */
export function shortLicense(license: string): string {
  const bare = license.replaceAll('-', '')
  return bare.slice(0, 3) + bare.slice(-5)
}

/** What an order is to be made of. `shipToNo` is that of its dealer. */
export function orderOf(
  order: PurchaseOrder,
  { kind, shipDate, shipToNo }: { kind: Kind; shipDate: string; shipToNo: string | null },
): ValueMap {
  const number = order.shipToStore ? STORE : shipToNo
  const { name, address1, address2, city, state, zip } = plain(order.shipTo)
  return {
    shipDate,
    shipViaCode: SHIP_VIA[kind],
    purchaseOrderNumber: order.po,
    ...(number === null
      ? {
          shipToName: name,
          shipToAddress1: address1,
          shipToAddress2: address2,
          shipToCity: city,
          shipToState: state,
          shipToZip: zip,
        }
      : { shipToNo: number }),
    ...(!order.shipToStore && { shipInstructions: instructionsFor(order.customer) }),
    items: order.lines.map(({ distsku, qty }) => ({
      itemNumber: distsku,
      quantity: String(qty),
      allowBackOrder: false,
    })),
  }
}

/** Whom a parcel is for: name and telephone, each in 40 characters. */
const instructionsFor = ({ name, phone }: Pick<Destination, 'name' | 'phone'>): string =>
  [name, phone ?? ''].map((text) => [...text.trim()].slice(0, HALF).join('').padEnd(HALF)).join('')

const plain = ({ name, address1, address2, city, state, zip }: Destination) => ({
  name,
  address1,
  address2: address2 ?? '',
  city,
  state: state.toUpperCase(),
  zip: zip.slice(0, 5),
})
