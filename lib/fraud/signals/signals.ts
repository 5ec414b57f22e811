/**
 * What a check or report says, normalized: equal strings are the same thing, and nothing else is
 * compared.
 */
import { isIP } from 'node:net'
import { canonicalAddress } from '../../accounts/allowlist.js'
import { normalizeAddress } from './address/address.js'
import type { PostalAddress } from './address/address.js'
import { normalizeEmail } from './email.js'
import { itemKeys, itemNameKey, itemText } from './items.js'
import { normalizeName } from './names.js'
import { normalizePhone } from './phone.js'
import type { FraudSignals, Strong } from '../shapes.js'

export interface Signals {
  /** Those that match, by their names. */
  strong: Map<Strong, string>
  names: string[]
  ips: string[]
  items: ItemSignals[]
}

export interface ItemSignals {
  /** What tells the item from the others of an order. */
  identity: string
  /** By which it is the same as another order's. */
  keys: string[]
  /** Null where the name says too little. */
  name: string | null
}

/** The signals of a body. What cannot be understood is left out. */
export function signalsOf(body: FraudSignals): Signals {
  const strong = new Map<Strong, string>()
  const put = (name: Strong, value: string | null) => value !== null && strong.set(name, value)
  put('shipping_address_1', addressOf(body, 'shipping'))
  put('billing_address_1', addressOf(body, 'billing'))
  put('email', body.email && normalizeEmail(body.email))
  put(
    'phone',
    body.phone && normalizePhone(body.phone, body.billing_country ?? body.shipping_country),
  )
  return {
    strong,
    names: distinct(
      [body.shipping_name, body.billing_name].map((name) => name && normalizeName(name)),
    ),
    ips: distinct([body.ip_address && canonicalIp(body.ip_address)]),
    items: body.order_items.flatMap((item) => itemSignals(item) ?? []),
  }
}

export function addressOf(body: FraudSignals, kind: 'shipping' | 'billing'): string | null {
  return body[`${kind}_address_1`] === null ? null : normalizeAddress(postalAddress(body, kind))
}

export function postalAddress(body: FraudSignals, kind: 'shipping' | 'billing'): PostalAddress {
  return {
    address1: body[`${kind}_address_1`],
    address2: body[`${kind}_address_2`],
    city: body[`${kind}_city`],
    state: body[`${kind}_state`],
    postcode: body[`${kind}_postcode`],
    country: body[`${kind}_country`],
  }
}

function distinct(values: readonly (string | null | undefined)[]): string[] {
  return [
    ...new Set(
      values.filter((value): value is string => typeof value === 'string' && value !== ''),
    ),
  ]
}

function itemSignals(item: FraudSignals['order_items'][number]): ItemSignals | null {
  const keys = itemKeys(item)
  const name = item.name === null ? null : itemNameKey(item.name)
  const [identity] = keys
  if (identity !== undefined) return { identity, keys, name }
  if (name !== null) return { identity: `name ${name}`, keys, name }
  // `Glock` alone is not a likeness, but an item.
  const text = item.name === null ? null : itemText(item.name)
  return text === null ? null : { identity: `text ${text}`, keys, name }
}

/** One spelling of an address; a mapped IPv4 address is that address. */
export function canonicalIp(text: string): string | null {
  const bare = text.trim().replace(/^\[(.*)\]$/, '$1')
  // The zone behind `%` is the name of a network card.
  return isIP(bare) === 0 ? null : canonicalAddress(bare.replace(/%.*/s, ''))
}
