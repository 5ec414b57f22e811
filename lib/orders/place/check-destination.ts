/** Where an order ships to: the customer, the dealer's premise, or the store. */
import type { ConfigurationDocument } from '../../configuration/document/document.js'
import type { OrdersCtx } from '../ctx.js'
import { isApiError } from '../../core/errors.js'
import type { ApiError, Fault } from '../../core/errors.js'
import type { Destination, PurchaseOrder } from '../../distributors/fulfillment.js'
import { findDealer, lastDay, whyUnfit } from '../../ffls/find.js'
import type { StoredDealer } from '../../ffls/find.js'
import { parseLicense } from '../../ffls/license.js'
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
  license: string | undefined,
  faults: Fault[],
): Promise<Receiver | null> {
  const at = (message: string) => {
    faults.push({ path: 'ffl.licenseNumber', message })
    return null
  }
  if (license === undefined || license.trim() === '')
    return at('is required: an item goes to a licensed dealer')
  if (!parseLicense(license))
    return at('must be a full license number such as 1-57-033-01-7E-67890, without masked digits')
  const dealer = await dealerOf(ctx, license)
  if (isApiError(dealer)) return at(dealer.message)
  const reason = whyUnfit(dealer, ctx.now())
  return reason === null ? receiverOf(dealer) : at(reason)
}

async function dealerOf(
  ctx: Pick<OrdersCtx, 'read'>,
  license: string,
): Promise<StoredDealer | ApiError> {
  return findDealer(ctx, license).catch((error: unknown) => {
    if (isApiError(error)) return error
    throw error
  })
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
 * license is not that of a dealer of today and a firearm is to go there, or where its address is
 * not whole and its premise not known.
 */
export async function storeReceiver(
  ctx: Pick<OrdersCtx, 'read' | 'now'>,
  document: ConfigurationDocument,
  { hasFirearms }: { hasFirearms: boolean },
): Promise<Receiver> {
  const refuse = (reason: string) => notConfigured({ distid: null, distributor: null, reason })
  const store = (document.fulfillment?.['ship_to_store'] ?? {}) as StoreSettings
  const license = typeof store.ffl === 'string' ? store.ffl.trim() : ''
  if (license === '') throw refuse('fulfillment.ship_to_store.ffl is not configured')
  const found = parseLicense(license) ? await dealerOf(ctx, license) : null
  const dealer = found === null || isApiError(found) ? null : found
  const reason = dealer
    ? whyUnfit(dealer, ctx.now())
    : isApiError(found)
      ? found.message
      : 'it is not a full license number'
  if (hasFirearms && reason !== null) throw refuse(`fulfillment.ship_to_store.ffl: ${reason}`)
  const premise = dealer ? receiverOf(dealer) : null
  const shipTo = storeAddress(store) ?? premise?.shipTo
  if (!shipTo)
    throw refuse(
      'fulfillment.ship_to_store.address is incomplete, and the license is not in the dealer ' +
        'directory',
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
  const text = (member: keyof typeof address) => String(address[member] ?? '').trim()
  const destination = {
    name: text('ship_to_name'),
    address1: text('address_street'),
    city: text('city'),
    state: text('state').toUpperCase(),
    zip: text('postal_code'),
  }
  if (!Object.values(destination).every(Boolean)) return null
  return {
    ...destination,
    address2: null,
    phone: phone === undefined ? null : String(phone),
  }
}
