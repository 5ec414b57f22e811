/** What is posted to Chattanooga for each kind of order. Pure. */
import type { Destination, PurchaseOrder } from '../../fulfillment.js'
import { textOf } from '../../session/reply.js'

/** How fast a parcel goes, as far as it can be said. */
export const DELIVERY_OPTIONS = [
  'best',
  'fastest',
  'economy',
  'ground',
  'next_day_air',
  'second_day_air',
]

/** Characters of the customer's name. */
export const LONGEST_CUSTOMER = 60
/** What Chattanooga chooses itself: it knows how each kind of firearm may travel. */
const ITS_CHOICE = 'best'

/** The body of `POST orders`. `method` is for what holds no firearm. */
export function payloadOf(
  order: PurchaseOrder,
  method: unknown,
): Readonly<Record<string, unknown>> {
  const { po, ffl, customer, shipTo, shipToStore } = order
  const common = { ship_to_address: addressOf(shipTo), order_items: itemsOf(order) }
  // The rest is for drop-shipping, and refused elsewhere.
  if (shipToStore) return { purchase_order_number: po, drop_ship_flag: 0, ...common }
  return {
    purchase_order_number: po,
    drop_ship_flag: 1,
    customer: [...customer.name].slice(0, LONGEST_CUSTOMER).join(''),
    delivery_option: ffl === null ? optionOf(method) : ITS_CHOICE,
    insurance_flag: 0,
    adult_signature_flag: ffl === null ? 0 : 1,
    ...(ffl !== null && { federal_firearms_license_number: bareLicense(ffl.licenseNumber) }),
    ...common,
  }
}

/** The 15 characters of a license, without dashes. */
export const bareLicense = (licenseNumber: string): string =>
  licenseNumber.replaceAll('-', '').toUpperCase()

function optionOf(method: unknown): string {
  const option = textOf(method)?.toLowerCase()
  return DELIVERY_OPTIONS.find((known) => known === option) ?? ITS_CHOICE
}

/** State as two letters, ZIP as 5 digits or 5+4. */
function addressOf({ name, address1, address2, city, state, zip }: Destination) {
  return {
    name,
    line_1: address1,
    line_2: address2 ?? '',
    city,
    state_code: state.toUpperCase(),
    zip,
  }
}

/** Our reference stands on every line: there is no member for it on the order itself. */
const itemsOf = ({ lines, clientRef }: PurchaseOrder) =>
  lines.map(({ distsku, qty }) => ({
    item_number: distsku,
    order_quantity: qty,
    customer_reference: clientRef,
  }))
