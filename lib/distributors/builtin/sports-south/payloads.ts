/** What is sent for an order: to a customer, to a dealer, or to the store. */
import { toDollars } from '../../../core/money.js'
import type { PurchaseOrder, PurchaseOrderLine } from '../../fulfillment.js'
import type { Params } from './api.js'

/** Characters of a PO. */
export const LONGEST_PO = 32

/** The header: who it goes to. To the store it has no address: it goes to that of the account. */
export function headerOf(order: PurchaseOrder): Params {
  const { po, clientRef, shipTo, customer, ffl, shipToStore } = order
  const to = shipToStore
    ? { name: '', attn: '', address1: '', address2: '', city: '', state: '', zip: '0', phone: '' }
    : {
        ...shipTo,
        attn: ffl ? customer.name : shipTo.name,
        state: shipTo.state.toUpperCase(),
        zip: shipTo.zip.slice(0, 5),
        phone: tenDigits(shipTo.phone) ?? tenDigits(customer.phone) ?? '',
      }
  return {
    PO: po,
    // It is shown with the order, and nobody else has it.
    CustomerOrderNumber: clientRef,
    SalesMessage: '',
    // The cheapest way by ground.
    ShipVia: '',
    ShipToName: to.name,
    ShipToAttn: to.attn,
    ShipToAddr1: to.address1,
    ShipToAddr2: to.address2 ?? '',
    ShipToCity: to.city,
    ShipToState: to.state,
    ShipToZip: to.zip,
    ShipToPhone: to.phone,
    AdultSignature: 'false',
    Signature: 'false',
    Insurance: 'false',
  }
}

/** To a dealer: whose license it is, and how its buyer is reached; null for any other order. */
export function instructionsOf({
  ffl,
  shipToStore,
  customer,
}: PurchaseOrder): { license: string; params: Params } | null {
  if (ffl === null || shipToStore) return null
  return {
    license: ffl.licenseNumber,
    params: {
      ShipInst1: `FFL # ${ffl.licenseNumber}`,
      ShipInst2: `PHONE # ${tenDigits(customer.phone) ?? ''}`,
    },
  }
}

/** One line. */
export const detailOf = ({ distsku, qty, unitPrice }: PurchaseOrderLine): Params => ({
  SSItemNumber: distsku,
  Quantity: String(qty),
  OrderPrice: toDollars(unitPrice).toFixed(2),
  CustomerItemNumber: '',
  CustomerItemDescription: '',
})

/** Why an order cannot be sent at all; null where it can. */
export function contentFault({ po, customer, shipToStore }: PurchaseOrder): string | null {
  const strange = [...po].find((char) => !/[\x20-\x7e]/.test(char))
  if (po.length > LONGEST_PO)
    return `the PO has ${po.length} characters, ${LONGEST_PO} are the most`
  if (po.trim() === '') return 'the PO is missing'
  if (strange !== undefined) return `the PO holds ${JSON.stringify(strange)}`
  if (!shipToStore && tenDigits(customer.phone) === null)
    return "Sports South needs the customer's telephone number in ten digits (ShipToPhone)"
  return null
}

/** A number of North America without country code and extension; null for any other. */
export function tenDigits(phone: string | null): string | null {
  const [number = ''] = (phone ?? '').split(/x|ext/i)
  const digits = number.replaceAll(/\D/g, '').replace(/^1(?=\d{10}$)/, '')
  return digits.length === 10 ? digits : null
}
