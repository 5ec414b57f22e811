/** What is posted to 2nd Amendment Wholesale for an order, and what is chosen of what it offers. */
import type { Destination, PurchaseOrder } from '../../fulfillment.js'
import { listOf, memberOf, textOf } from '../../session/reply.js'
import type { SecondAmendmentSettings } from './api.js'
import { labelText } from './cart.js'

/** An address as Magento has it. */
export interface Address {
  readonly firstname: string
  readonly lastname: string
  readonly company?: string
  readonly street: readonly string[]
  readonly city: string
  readonly region: string
  readonly region_code: string
  readonly region_id: number | string
  readonly postcode: string
  readonly country_id: string
  readonly telephone: string
  readonly email?: string
}

/** The number of a state, by its two letters; null for one that is not shipped to. */
export type RegionIds = (state: string) => { id: number | string; name: string } | null

/** How a parcel goes: carrier and method, as they are offered. */
export interface ShippingMethod {
  readonly carrier: string
  readonly method: string
}

/** An address that cannot be written as it is asked for. */
export class AddressFault extends Error {
  override readonly name = 'AddressFault'
}

/** Where the order goes: a dealer's parcel names the dealer, and for whom it is. */
export function shippingAddress(
  { shipTo, customer, ffl, shipToStore }: PurchaseOrder,
  regionOf: RegionIds,
  phone: string,
): Address {
  const isCompany = ffl !== null || shipToStore
  return {
    ...namesOf(ffl !== null && !shipToStore ? customer.name : shipTo.name),
    ...(isCompany && { company: shipTo.name }),
    ...placeOf(shipTo, regionOf),
    telephone: shipTo.phone ?? customer.phone ?? phone,
  }
}

/** The address of the configuration; null where none is entered. */
export function billingAddress(
  settings: SecondAmendmentSettings,
  regionOf: RegionIds,
): Address | null {
  const of = (name: keyof SecondAmendmentSettings) => textOf(settings[name]) ?? ''
  const street = of('billing_street')
  if (street === '') return null
  return {
    firstname: of('billing_first_name'),
    lastname: of('billing_last_name'),
    company: of('billing_company'),
    ...placeOf(
      {
        address1: street,
        address2: textOf(settings.billing_street_2),
        city: of('billing_city'),
        state: of('billing_state'),
        zip: of('billing_postal_code'),
      },
      regionOf,
    ),
    telephone: of('billing_phone'),
    email: of('billing_email'),
  }
}

/** The address that the account itself has, as the shop tells it; null where it has none. */
export function ownAddress(told: unknown): Address | null {
  const of = (name: string) => textOf(memberOf(told, name)) ?? ''
  const region = memberOf(told, 'region')
  const street = memberOf(told, 'street')
  const address: Address = {
    firstname: of('firstname'),
    lastname: of('lastname'),
    ...(of('company') !== '' && { company: of('company') }),
    street: listOf(street).flatMap((line) => textOf(line) ?? []),
    city: of('city'),
    region: textOf(memberOf(region, 'region')) ?? '',
    region_code: textOf(memberOf(region, 'region_code')) ?? '',
    region_id: textOf(memberOf(region, 'region_id')) ?? of('region_id'),
    postcode: of('postcode'),
    country_id: of('country_id'),
    telephone: of('telephone'),
  }
  const { firstname, lastname, city, postcode, telephone } = address
  return address.street.length > 0 &&
    [firstname, lastname, city, postcode, telephone].every((text) => text !== '')
    ? address
    : null
}

/** Two names are asked for; of one word both are made. */
function namesOf(name: string): Pick<Address, 'firstname' | 'lastname'> {
  const [firstname = '', ...rest] = name.trim().split(/\s+/)
  return { firstname, lastname: rest.length === 0 ? firstname : rest.join(' ') }
}

function placeOf(
  {
    address1,
    address2,
    city,
    state,
    zip,
  }: Pick<Destination, 'address1' | 'address2' | 'city' | 'state' | 'zip'>,
  regionOf: RegionIds,
): Pick<
  Address,
  'street' | 'city' | 'region' | 'region_code' | 'region_id' | 'postcode' | 'country_id'
> {
  const code = state.toUpperCase()
  const region = regionOf(code)
  if (region === null) throw new AddressFault(`2nd Amendment Wholesale knows no state "${code}"`)
  return {
    street: address2 === null ? [address1] : [address1, address2],
    city,
    region: region.name,
    region_code: code,
    region_id: region.id,
    postcode: zip,
    country_id: 'US',
  }
}

/**
 * What the people there read, with our label behind it: for whom a firearm is, and whose license it
 * goes to.
 */
export function noteOf(
  { clientRef, ffl, customer, shipToStore }: PurchaseOrder,
  begun: number,
): string {
  const label = labelText({ clientRef, begun })
  if (ffl === null || shipToStore) return label
  const phone = customer.phone === null ? '' : `, ${customer.phone}`
  return `FFL ${ffl.licenseNumber} ${ffl.name}, for ${customer.name}${phone} ${label}`
}

export const itemOf = (cart: string, { distsku, qty }: PurchaseOrder['lines'][number]) => ({
  cartItem: { sku: distsku, qty, quote_id: cart },
})
export const poOf = (cart: string, po: string) => ({ cartId: cart, poNumber: { poNumber: po } })
export const noteFor = (cart: string, note: string) => ({
  cartId: cart,
  customerNote: { customerNote: note },
})

/** The cheapest way of those that are offered and bring it there; null where none does. */
export function cheapestOf(told: unknown): ShippingMethod | null {
  const offered = listOf(told).flatMap((rate) => {
    const of = (name: string) => textOf(memberOf(rate, name))
    const [carrier, method] = [of('carrier_code'), of('method_code')]
    const amount = Number(memberOf(rate, 'amount') ?? NaN)
    const isPickup = PICKUP.test(
      ['carrier_code', 'method_code', 'carrier_title', 'method_title'].map(of).join(' '),
    )
    const isOffered = memberOf(rate, 'available') !== false && Number.isFinite(amount)
    return carrier === null || method === null || !isOffered || isPickup
      ? []
      : [{ carrier, method, amount }]
  })
  const [cheapest] = offered.sort((a, b) => a.amount - b.amount)
  return cheapest ? { carrier: cheapest.carrier, method: cheapest.method } : null
}

/** Nobody would bring it. */
const PICKUP = /pick.?up|will.?call|in.?store/i

/** Ways to pay that need no card, the usual one of a dealer first. */
const PAYMENTS = [
  'purchaseorder',
  'companycredit',
  'checkmo',
  'banktransfer',
  'cashondelivery',
  'free',
]

/** The way to pay: the only one, else the first that needs no card; null where there is none. */
export function paymentOf(told: unknown): string | null {
  const methods = memberOf(told, 'payment_methods')
  const codes = listOf(methods).flatMap((method) => textOf(memberOf(method, 'code')) ?? [])
  const [only] = codes
  return codes.length === 1 ? only! : (PAYMENTS.find((code) => codes.includes(code)) ?? null)
}

export const shippingInformation = (
  { shipping, billing }: { shipping: Address; billing: Address | string },
  { carrier, method }: ShippingMethod,
) => ({
  address_information: {
    shipping_address: shipping,
    billing_address: billing,
    shipping_carrier_code: carrier,
    shipping_method_code: method,
  },
})

export function paymentInformation(method: string, agreements: readonly string[], po: string) {
  return {
    payment_method: {
      method,
      // Magento's own kind of an account on terms asks for it here.
      ...(method === 'purchaseorder' && { po_number: po }),
      extension_attributes: { agreement_ids: agreements },
    },
  }
}

/** The terms that have to be accepted. */
export function agreementsIn(told: unknown): string[] {
  return listOf(told).flatMap((one) => textOf(memberOf(one, 'agreement_id')) ?? textOf(one) ?? [])
}

/** The states that are shipped to. */
export function regionsIn(told: unknown): RegionIds {
  const regions = memberOf(told, 'available_regions')
  const known = new Map(
    listOf(regions).flatMap((region) => {
      const [id, code] = [textOf(memberOf(region, 'id')), textOf(memberOf(region, 'code'))]
      return id === null || code === null
        ? []
        : [[code.toUpperCase(), { id, name: textOf(memberOf(region, 'name')) ?? code }] as const]
    }),
  )
  return (state) => {
    const region = known.get(state)
    return region ? { id: numberOr(region.id), name: region.name } : null
  }
}

const numberOr = (text: string): number | string => (/^\d+$/.test(text) ? Number(text) : text)
