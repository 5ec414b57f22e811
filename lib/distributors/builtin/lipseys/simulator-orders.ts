/** Orders as they are posted to Lipsey's, read and judged as its API does. */
import { areBroken } from '../../../simulator/wire/posted-order.js'
import type { Call as AnyCall, Posted } from '../../../simulator/wire/posted-order.js'
import { listOf, memberOf, textOf } from '../../session/reply.js'
import { itemsOf } from './simulator-items.js'

/** One call, and what it gives. */
export interface Call extends AnyCall {
  /** The parsed body. */
  readonly body: unknown
}

export function readStoreOrder(body: unknown): Posted {
  const { lines, fault } = readItems(body)
  return {
    po: textOf(memberOf(body, 'PONumber')) ?? '',
    lines,
    // The address of the account.
    to: { name: 'Your store', address1: '', zip: '' },
    firearms: true,
    fault,
  }
}

const REQUIRED = ['Name', 'AddressLine1', 'AddressCity', 'AddressState', 'AddressZip'] as const

export function readDropShip(call: Call): Posted {
  const { body } = call
  const field = (name: string) => textOf(memberOf(body, name)) ?? ''
  const kinds = ['Billing', 'Shipping'] as const
  const missing = kinds.flatMap((kind) =>
    REQUIRED.map((name) => kind + name).filter((name) => field(name) === ''),
  )
  const zip = kinds.map((kind) => field(`${kind}AddressZip`)).find((one) => !/^\d{5}$/.test(one))
  const state = kinds
    .map((kind) => field(`${kind}AddressState`))
    .find((one) => !/^[A-Z]{2}$/.test(one))
  const { lines, fault } = readItems(body)
  const firearm = lines.find(({ distsku }) => isFirearm(call, distsku))
  return {
    po: field('PoNumber'),
    lines,
    to: {
      name: field('ShippingName'),
      address1: field('ShippingAddressLine1'),
      zip: field('ShippingAddressZip'),
    },
    firearms: false,
    fault:
      (missing.length > 0 ? `Missing fields: ${missing.join(', ')}.` : null) ??
      (state === undefined ? null : `State "${state}" must be 2 letters.`) ??
      (zip === undefined ? null : call.profile.words.badZip(zip)) ??
      fault ??
      (firearm ? `${firearm.distsku}: ${call.profile.words.missingFfl}` : null),
  }
}

export function readFirearms(call: Call): Posted {
  const {
    body,
    profile: { words },
    request: { visit },
  } = call
  const field = (name: string) => textOf(memberOf(body, name)) ?? ''
  const { lines, fault } = readItems(body)
  const license = field('Ffl')
  return {
    po: field('Po'),
    lines,
    // The parcel is addressed to the dealer, whom Lipsey's knows by the license.
    to: {
      name: visit?.send.order.shipTo.name ?? `Dealer ${license}`,
      address1: visit?.send.order.shipTo.address1 ?? '',
      zip: visit?.send.order.shipTo.zip ?? '',
    },
    firearms: true,
    fault:
      (/^[0-9A-Z]{15}$/i.test(license) ? null : words.badFfl) ??
      (field('Phone') === '' ? words.phone : null) ??
      (field('Name') === '' ? 'Missing fields: Name.' : null) ??
      fault ??
      (lines.some(({ distsku }) => isFirearm(call, distsku)) &&
      !lines.every(({ distsku }) => isFirearm(call, distsku))
        ? words.mixed
        : null),
  }
}

function readItems(body: unknown): Pick<Posted, 'lines' | 'fault'> {
  const items = memberOf(body, 'Items')
  const lines = listOf(items).map((item) => ({
    distsku: textOf(memberOf(item, 'ItemNo')) ?? '',
    qty: Number(memberOf(item, 'Quantity')),
  }))
  if (lines.length === 0) return { lines, fault: 'No line items on order.' }
  return {
    lines,
    fault: areBroken(lines) ? 'One or more lines are missing item number or quantity.' : null,
  }
}

/** Known from the order where it is one of this app's, else from the catalog. */
function isFirearm({ world, request: { visit } }: Call, sku: string): boolean {
  return visit
    ? visit.send.order.lines.some(({ distsku, fflRequired }) => distsku === sku && fflRequired)
    : itemsOf(world).some((item) => item['ITEMNO'] === sku && item['FFLREQUIRED'] === 'TRUE')
}
