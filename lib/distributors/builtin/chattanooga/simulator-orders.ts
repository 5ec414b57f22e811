/** Orders as they are posted to Chattanooga, read and judged as its API does. */
import { createHash } from 'node:crypto'
import { admit } from '../../../simulator/engine/admit.js'
import type { Arrival, Line } from '../../../simulator/engine/order.js'
import { perform, reachOf } from '../../../simulator/engine/perform.js'
import type { Arriving } from '../../../simulator/engine/perform.js'
import { scenarioOf } from '../../../simulator/engine/scenarios/scenarios.js'
import type { Handled, WireAnswer } from '../../../simulator/wire/http-simulator.js'
import { memberOf, textOf } from '../../session/reply.js'
import { DELIVERY_OPTIONS, LONGEST_CUSTOMER } from './payload.js'
import { fault, json } from './simulator-answers.js'
import type { Desk } from './simulator-answers.js'
import { isFirearm, itemsOf } from './simulator-items.js'

/** An order as it was posted. */
interface Posted {
  readonly po: string
  readonly lines: readonly Line[]
  readonly to: Arrival['shipTo']
  readonly license: string | null
  /** In the words of the real one; null for an order that can be read. */
  readonly fault: string | null
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

const OUTSIDE = 'outside '
/** Whether an order is not one of this app's. */
export const isOutside = (clientRef: string): boolean => clientRef.startsWith(OUTSIDE)

/** Judges an order and takes it, with whatever is to go wrong about it. */
export function takeOrder(desk: Desk): Handled {
  const { world, profile } = desk
  const posted = readOrder(desk)
  const send = sendOf(desk, posted)
  const { account, arrival } = send
  const refusal = refusalOf(desk, posted)
  const { fault: seen, result } = perform(
    world,
    send,
    { name: 'submit', step: 'only', isReached: true, ...(refusal === null && LATE) },
    (db): WireAnswer => {
      if (refusal !== null) return refusal
      const now = world.now()
      const taken = admit(db, world, { profile, account, arrival, placedAt: now, executedAt: now })
      if (taken.outcome === 'accepted')
        return json({
          orders: [{ order_number: taken.number, purchase_order_number: posted.po }],
        })
      const reason = 'reason' in taken ? taken.reason : taken.outcome
      const isStock = posted.lines.some(
        ({ distsku }) => profile.words.outOfStock(distsku) === reason,
      )
      return fault(422, isStock ? NO_STOCK : BAD_REQUEST, reason)
    },
  )
  return { answer: result ?? json({}), fault: seen }
}

const LATE = { late: { kind: 'order' } } as const

function refusalOf(desk: Desk, { po, license, fault: why }: Posted): WireAnswer | null {
  const reason = why ?? poFault(desk, po)
  if (reason !== null) return fault(422, BAD_REQUEST, reason)
  if (license === null) return null
  const flags = licenseFlags(license)
  if (!flags) return fault(422, BAD_REQUEST, desk.profile.words.badFfl)
  if (!flags.isOnFile) return fault(422, RESTRICTED, 'The license is not on file')
  return flags.isOptedOut ? fault(422, RESTRICTED, 'The dealer has opted out of drop ships') : null
}

function poFault({ profile: { limits, words } }: Desk, po: string): string | null {
  if (po === '') return words.po('is missing')
  if (po.length > limits.po.max)
    return words.po(`has ${po.length} characters, ${limits.po.max} are the most`)
  const strange = [...po].find((char) => !/[\x20-\x7e]/.test(char))
  return strange === undefined ? null : words.po(`holds "${strange}"`)
}

function readOrder(desk: Desk): Posted {
  const body = parsed(desk.request.body)
  const field = (name: string) => textOf(memberOf(body, name)) ?? ''
  const address = memberOf(body, 'ship_to_address')
  const part = (name: string) => textOf(memberOf(address, name)) ?? ''
  const lines = readLines(memberOf(body, 'order_items'))
  const flag = memberOf(body, 'drop_ship_flag')
  return {
    po: field('purchase_order_number'),
    lines,
    to: { name: part('name'), address1: part('line_1'), zip: part('zip') },
    license: flag === 1 ? textOf(memberOf(body, 'federal_firearms_license_number')) : null,
    fault:
      (body === undefined ? 'The request is not JSON' : null) ??
      (flag === 0 || flag === 1 ? null : 'drop_ship_flag must be 0 or 1') ??
      (flag === 0 ? storeFault(body) : dropShipFault(desk, body, lines)) ??
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

function dropShipFault(desk: Desk, body: unknown, lines: readonly Line[]): string | null {
  const field = (name: string) => textOf(memberOf(body, name)) ?? ''
  const { words } = desk.profile
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
    (field('federal_firearms_license_number') === '' && hasFirearm(desk, lines)
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

function linesFault(lines: readonly Line[]): string | null {
  if (lines.length === 0) return 'order_items is required'
  const isBroken = ({ distsku, qty }: Line) =>
    distsku === '' || !Number.isSafeInteger(qty) || qty < 1
  return lines.some(isBroken) ? 'order_items: item_number and order_quantity are required' : null
}

function readLines(items: unknown): Line[] {
  return (Array.isArray(items) ? (items as unknown[]) : []).map((item) => ({
    distsku: textOf(memberOf(item, 'item_number')) ?? '',
    qty: Number(memberOf(item, 'order_quantity')),
  }))
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown
  } catch {
    return undefined
  }
}

/** Known from the order where it is one of this app's, else from the catalog. */
function hasFirearm({ world, request: { visit } }: Desk, lines: readonly Line[]): boolean {
  const skus = new Set(lines.map(({ distsku }) => distsku))
  return visit
    ? visit.send.order.lines.some(({ distsku, fflRequired }) => fflRequired && skus.has(distsku))
    : itemsOf(world).some((item) => skus.has(item['SKU']!) && isFirearm(item))
}

/** The order as it arrived; a stranger's has no reference of ours, and asks by its PO. */
function sendOf({ profile, request, account }: Desk, { po, lines, to, license }: Posted): Arriving {
  const own = request.visit?.send
  const arrival: Arrival = {
    clientRef: own?.arrival.clientRef ?? `${OUTSIDE}${account} ${po}`,
    po,
    scenario: own ? own.arrival.scenario : scenarioOf({ poGiven: po, lines: outside(lines) }),
    content: createHash('sha256').update(request.body).digest('hex'),
    lines: [...lines],
    shipTo: to,
    firearms: license !== null,
  }
  const reach = own?.reach ?? reachOf(profile, account, { lane: 'all', poGiven: po })
  return { profile, account, arrival, reach }
}

const outside = (lines: readonly Line[]) =>
  lines.map(({ distsku, qty }) => ({
    distsku,
    qty,
    upc: '',
    name: '',
    unitPrice: 0,
    fflRequired: false,
  }))
