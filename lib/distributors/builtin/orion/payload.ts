/** What is posted to Orion for each kind of order. Pure. */
import type { Destination, PurchaseOrder } from '../../fulfillment.js'

/** The parameters of `place_order`, which all stand in the query. */
export function paramsOf(order: PurchaseOrder): URLSearchParams {
  const { po, ffl, customer, shipTo, shipToStore, lines } = order
  const common = {
    order_type: kindOf(order),
    order_items: JSON.stringify(
      lines.map(({ distsku, qty }) => ({ product_code: distsku, quantity: qty })),
    ),
    shipping_method_code: 'STANDARD',
    purchase_order_number: po,
  }
  // What the dealer orders for its own store goes to the address of its account.
  if (shipToStore) return new URLSearchParams(common)
  return new URLSearchParams({
    ...common,
    ...addressOf(ffl === null ? shipTo : { ...shipTo, phone: shipTo.phone ?? customer.phone }),
    email_address: customer.email,
    ...(ffl !== null && {
      license_number: ffl.licenseNumber,
      order_notes_content: noteOf(order),
    }),
  })
}

/** Who the order is for: the dealer, its customer, or another dealer. */
export function kindOf({ ffl, shipToStore }: PurchaseOrder): 'dealer' | 'customer' | 'ffl' {
  if (shipToStore) return 'dealer'
  return ffl === null ? 'customer' : 'ffl'
}

/** State as two letters, ZIP as 5 digits. */
const addressOf = ({ name, address1, address2, city, state, zip, phone }: Destination) => ({
  full_name: name,
  address_1: address1,
  address_2: address2 ?? '',
  city,
  state: state.toUpperCase(),
  postal_code: zip.slice(0, 5),
  country_code: 'US',
  phone_number: phone ?? '',
})

/** For whom the dealer holds it. */
const noteOf = ({ customer }: PurchaseOrder): string =>
  `Customer: ${[customer.name, customer.phone, customer.email].filter(Boolean).join(' / ')}`
