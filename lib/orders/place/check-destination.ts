/** Where an order ships to: the customer, the dealer's premise, or the store (decisions 8.3-4). */
import type { ConfigurationDocument } from '../../configuration/document/document.js'
import { dayOf } from '../../core/clock.js'
import type { OrdersCtx } from '../ctx.js'
import { isApiError } from '../../core/errors.js'
import type { ApiError, Fault } from '../../core/errors.js'
import type { Destination, PurchaseOrder } from '../../distributors/fulfillment.js'
import { findDealer, isActive, lastDay } from '../../ffls/find.js'
import type { StoredDealer } from '../../ffls/find.js'
import { DEALER_TYPES, parseLicense } from '../../ffls/license.js'
import { notConfigured } from './check-distributors.js'
import type { PlaceBody } from '../shapes.js'

export interface Receiver {
  shipTo: Destination
  ffl: PurchaseOrder['ffl']
  /** May receive NFA items. */
  isSot: boolean
}

export function customerDestination({
  customer,
}: Pick<PlaceBody, 'customer'>): Destination & { email: string } {
  const { name, email, phone, address1, address2, city, state, zip } = customer
  return {
    name,
    email,
    phone,
    address1,
    address2,
    city,
    state,
    zip: zip.replace(/^(\d{5})-?(\d{4})$/, '$1-$2'),
  }
}

/**
 * The dealer of `ffl.licenseNumber`; null, with a fault, where it cannot receive anything today.
 */
export async function checkDealer(
  ctx: Pick<OrdersCtx, 'read' | 'now'>,
  licence: string | undefined,
  faults: Fault[],
): Promise<Receiver | null> {
  const at = (message: string) => {
    faults.push({ path: 'ffl.licenseNumber', message })
    return null
  }
  if (licence === undefined || licence.trim() === '')
    return at('is required: an item goes to a licensed dealer')
  if (!parseLicense(licence))
    return at('must be a full licence number as 1-57-033-01-7E-67890, without masked digits')
  const dealer = await dealerOf(ctx, licence)
  if (isApiError(dealer)) return at(dealer.message)
  const reason = whyUnfit(dealer, ctx.now())
  return reason === null ? receiverOf(dealer) : at(reason)
}

async function dealerOf(
  ctx: Pick<OrdersCtx, 'read'>,
  licence: string,
): Promise<StoredDealer | ApiError> {
  return findDealer(ctx, licence).catch((error: unknown) => {
    if (isApiError(error)) return error
    throw error
  })
}

/** Why a dealer may receive nothing today, or null. */
export function whyUnfit(dealer: StoredDealer, now: number): string | null {
  if (dayOf(now) > lastDay(dealer)) return `the licence expired on ${lastDay(dealer)}`
  if (!isActive(dealer, dayOf(now))) return 'the dealer is no longer on the list of licensees'
  return DEALER_TYPES.includes(dealer.license_type)
    ? null
    : `a licence of type ${dealer.license_type} is none to receive orders for customers`
}

function receiverOf(dealer: StoredDealer): Receiver {
  const name = dealer.business_name ?? dealer.license_name
  return {
    shipTo: {
      name,
      address1: dealer.premise_street,
      address2: null,
      city: dealer.premise_city,
      state: dealer.premise_state,
      zip: dealer.premise_zip,
      phone: dealer.voice_phone,
    },
    ffl: { licenseNumber: dealer.license_number, name, expiresOn: lastDay(dealer) },
    isSot: dealer.sot_on_file === 1,
  }
}

/**
 * The configured store. Throws 409 `fulfillment_not_configured` where there is none, where its
 * licence is not that of a dealer of today and a firearm is to go there, or where its address is
 * not whole and its premise not known.
 */
export async function storeReceiver(
  ctx: Pick<OrdersCtx, 'read' | 'now'>,
  document: ConfigurationDocument,
  { hasFirearms }: { hasFirearms: boolean },
): Promise<Receiver> {
  const refuse = (reason: string) => notConfigured([{ distid: null, distributor: null, reason }])
  const store = (document.fulfillment?.['ship_to_store'] ?? {}) as StoreSettings
  const licence = typeof store.ffl === 'string' ? store.ffl.trim() : ''
  if (licence === '') throw refuse('fulfillment.ship_to_store.ffl is not configured')
  const found = parseLicense(licence) ? await dealerOf(ctx, licence) : null
  const dealer = found === null || isApiError(found) ? null : found
  const reason = dealer
    ? whyUnfit(dealer, ctx.now())
    : isApiError(found)
      ? found.message
      : 'it is no full licence number'
  if (hasFirearms && reason !== null) throw refuse(`fulfillment.ship_to_store.ffl: ${reason}`)
  const premise = dealer ? receiverOf(dealer) : null
  const shipTo = storeAddress(store) ?? premise?.shipTo
  if (!shipTo)
    throw refuse(
      'fulfillment.ship_to_store.address is not whole, and the licence is not in the dealer directory',
    )
  return { shipTo, ffl: premise?.ffl ?? null, isSot: premise?.isSot ?? false }
}

interface StoreSettings {
  ffl?: unknown
  phone?: string | number
  address?: Partial<
    Record<'ship_to_name' | 'address_street' | 'city' | 'state' | 'postal_code', unknown>
  >
}

function storeAddress({ address = {}, phone }: StoreSettings): Destination | null {
  const [name, address1, city, state, zip] = (
    ['ship_to_name', 'address_street', 'city', 'state', 'postal_code'] as const
  ).map((member) => String(address[member] ?? '').trim())
  if (![name, address1, city, state, zip].every(Boolean)) return null
  return {
    name: name!,
    address1: address1!,
    address2: null,
    city: city!,
    state: state!.toUpperCase(),
    zip: zip!,
    phone: phone === undefined ? null : String(phone),
  }
}
