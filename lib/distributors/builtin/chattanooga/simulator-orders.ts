/** Orders as they are posted to Chattanooga, read and judged as its API does. */
import type { Line } from '../../../simulator/engine/order.js'
import type { Handled, WireAnswer } from '../../../simulator/wire/http-simulator.js'
import {
  areBroken,
  jsonIn,
  NOT_ASCII,
  poFault,
  takePosted,
} from '../../../simulator/wire/posted-order.js'
import type { Call, Posted } from '../../../simulator/wire/posted-order.js'
import { listOf, memberOf, textOf } from '../../session/reply.js'
import { DELIVERY_OPTIONS, LONGEST_CUSTOMER } from './payload.js'
import { fault, json } from './simulator-answers.js'
import { isFirearm, itemsOf } from './simulator-items.js'

/** With the license of the dealer that it goes to; null where it goes to none. */
interface Order extends Posted {
  readonly license: string | null
}

/** Refused with `drop_ship_flag` 0. */
const DROP_SHIP_ONLY = [
  'customer',
  'delivery_option',
  'insurance_flag',
  'adult_signature_flag',
  'federal_firearms_license_number',
]
const ADDRESS = ['name', 'line_1', 'city', 'state_code', 'zip']
const LICENSE = /^\d{8}\d[A-HJ-M]\d{5}$/
const ZIP = /^\d{5}(-\d{4})?$/
const NO_STOCK = 60_202
const RESTRICTED = 60_204
const BAD_REQUEST = 9_000

/** What is known of a license: null for what is none. Its last digits choose what to rehearse. */
export function licenseFlags(license: string): { isOnFile: boolean; isOptedOut: boolean } | null {
  if (!LICENSE.test(license)) return null
  return { isOnFile: !license.endsWith('00000'), isOptedOut: license.endsWith('99999') }
}

/** Judges an order and takes it, with whatever is to go wrong about it. */
export function takeOrder(call: Call): Handled {
  const { words } = call.profile
  const order = readOrder(call)
  return takePosted(call, order, refusalOf(call, order), {
    accepted: (number) =>
      json({ orders: [{ order_number: number, purchase_order_number: order.po }] }),
    refused: (reason) => {
      const isStock = order.lines.some(({ distsku }) => words.outOfStock(distsku) === reason)
      return fault(422, isStock ? NO_STOCK : BAD_REQUEST, reason)
    },
    done: json({}),
  })
}

function refusalOf({ profile }: Call, { po, license, fault: why }: Order): WireAnswer | null {
  const reason = why ?? poFault(profile, po, NOT_ASCII)
  if (reason !== null) return fault(422, BAD_REQUEST, reason)
  if (license === null) return null
  const flags = licenseFlags(license)
  if (!flags) return fault(422, BAD_REQUEST, profile.words.badFfl)
  if (!flags.isOnFile) return fault(422, RESTRICTED, 'The license is not on file')
  return flags.isOptedOut ? fault(422, RESTRICTED, 'The dealer has opted out of drop ships') : null
}

function readOrder(call: Call): Order {
  const body = jsonIn(call.request.body)
  const field = (name: string) => textOf(memberOf(body, name)) ?? ''
  const address = memberOf(body, 'ship_to_address')
  const part = (name: string) => textOf(memberOf(address, name)) ?? ''
  const lines = readLines(memberOf(body, 'order_items'))
  const flag = memberOf(body, 'drop_ship_flag')
  const license = flag === 1 ? textOf(memberOf(body, 'federal_firearms_license_number')) : null
  return {
    po: field('purchase_order_number'),
    lines,
    to: { name: part('name'), address1: part('line_1'), zip: part('zip') },
    license,
    firearms: license !== null,
    fault:
      (body === undefined ? 'The request is not JSON' : null) ??
      (flag === 0 || flag === 1 ? null : 'drop_ship_flag must be 0 or 1') ??
      (flag === 0 ? storeFault(body) : dropShipFault(call, body, lines)) ??
      linesFault(lines),
  }
}

/** What goes to the store goes to the account's address where none is given. */
function storeFault(body: unknown): string | null {
  const refused = DROP_SHIP_ONLY.find((name) => memberOf(body, name) !== undefined)
  if (refused !== undefined) return `${refused} is not allowed with drop_ship_flag 0`
  const address = memberOf(body, 'ship_to_address')
  return address === undefined ? null : addressFault(address)
}

function dropShipFault(call: Call, body: unknown, lines: readonly Line[]): string | null {
  const field = (name: string) => textOf(memberOf(body, name)) ?? ''
  const { words } = call.profile
  if (field('customer') === '') return 'customer is required'
  if (field('customer').length > LONGEST_CUSTOMER)
    return `customer has more than ${LONGEST_CUSTOMER} characters`
  const option = memberOf(body, 'delivery_option')
  if (option !== undefined && !DELIVERY_OPTIONS.includes(String(option)))
    return `delivery_option must be one of ${DELIVERY_OPTIONS.join(', ')}`
  const address = memberOf(body, 'ship_to_address')
  const zip = textOf(memberOf(address, 'zip')) ?? ''
  if (zip !== '' && !ZIP.test(zip)) return words.badZip(zip)
  return (
    addressFault(address) ??
    (field('federal_firearms_license_number') === '' && hasFirearm(call, lines)
      ? words.missingFfl
      : null)
  )
}

function addressFault(address: unknown): string | null {
  const missing = ADDRESS.find((name) => textOf(memberOf(address, name)) === null)
  if (missing !== undefined) return `ship_to_address.${missing} is required`
  return /^[A-Z]{2}$/.test(String(memberOf(address, 'state_code')))
    ? null
    : 'ship_to_address.state_code must be 2 letters'
}

function linesFault(lines: Line[]): string | null {
  if (lines.length === 0) return 'order_items is required'
  return areBroken(lines) ? 'order_items: item_number and order_quantity are required' : null
}

function readLines(items: unknown): Line[] {
  return listOf(items).map((item) => ({
    distsku: textOf(memberOf(item, 'item_number')) ?? '',
    qty: Number(memberOf(item, 'order_quantity')),
  }))
}

/** Known from the order where it is one of this app's, else from the catalog. */
function hasFirearm({ world, request: { visit } }: Call, lines: readonly Line[]): boolean {
  const skus = new Set(lines.map(({ distsku }) => distsku))
  return visit
    ? visit.send.order.lines.some(({ distsku, fflRequired }) => fflRequired && skus.has(distsku))
    : itemsOf(world).some((item) => skus.has(item['SKU']!) && isFirearm(item))
}
