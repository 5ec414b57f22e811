/** The cart of 2nd Amendment Wholesale's simulator: filled, addressed, and paid for. */
import { admit } from '../../../simulator/engine/admit.js'
import type { Arrival, Line } from '../../../simulator/engine/order.js'
import { perform, reachOf } from '../../../simulator/engine/perform.js'
import type { Arriving, CallKind } from '../../../simulator/engine/perform.js'
import {
  changeCart,
  closeCart,
  countCall,
  openCart,
  openCartOf,
  orderAt,
} from '../../../simulator/engine/queries.js'
import type { Cart } from '../../../simulator/engine/queries.js'
import { scenarioOf } from '../../../simulator/engine/scenarios/scenarios.js'
import { stockLeft } from '../../../simulator/engine/stock.js'
import type { Db } from '../../../simulator/engine/store.js'
import type { Happening, World } from '../../../simulator/engine/world.js'
import type { Handled, WireAnswer } from '../../../simulator/wire/http-simulator.js'
import { jsonIn, NOT_ASCII, poFault } from '../../../simulator/wire/posted-order.js'
import type { Call as AnyCall } from '../../../simulator/wire/posted-order.js'
import { memberOf, textOf } from '../../session/reply.js'
import { labelOf } from './cart.js'

export interface Call extends AnyCall {
  /** It is the first of what it is about. */
  readonly isFirst: boolean
}

/** An item of a cart has a number of its own. */
interface CartLine extends Line {
  readonly id: number
}

const linesOf = ({ lines }: Cart) => lines as CartLine[]

export const json = (value: unknown, status = 200): WireAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(value),
})
/** In the shop's own way: `%1` in the words, and what stands for it beside them. */
export const refusal = (message: string, parameters?: unknown, status = 400): WireAnswer =>
  json({ message, ...(parameters !== undefined && { parameters }) }, status)
const NO_CART = () =>
  refusal(
    'No such entity with %fieldName = %fieldValue',
    { fieldName: 'customerId', fieldValue: 77 },
    404,
  )

/** The shop's numbers are digits alone; ours begin with SIM-. */
export const digitsOf = (number: string) => number.replace(/^.*-/, '')
const LICENSE = /^\d-\d{2}-\d{3}-\d{2}-\d[A-HJ-M]-\d{5}$/
const LICENSE_IN_NOTE = /^FFL (\S+) /

/** What is told where a fault takes the place of the answer. */
const NOTHING = json(null)

/** What each call for the cart does, by method and path below `carts/mine`. */
export const CART_CALLS: Readonly<Record<string, (call: Call) => Handled>> = {
  'POST ': (call) =>
    performed(call, { name: 'cart' }, (db) => {
      openCart(db, call.account)
      return json(openCartOf(db, call.account)!.id)
    }),
  'GET ': (call) =>
    performed(call, { name: 'read', step: 'look' }, (db) => {
      const cart = openCartOf(db, call.account)
      return cart ? json(shown(cart)) : NO_CART()
    }),
  'POST /items': (call) => changing(call, 'line', addItem),
  'PUT /set-po-number': (call) =>
    changing(call, 'po', (db, cart, { profile, request }) => {
      const po = textOf(memberOf(memberOf(jsonIn(request.body), 'poNumber'), 'poNumber')) ?? ''
      const fault = poFault(profile, po, NOT_ASCII)
      if (fault !== null) return refusal(fault)
      changeCart(db, cart, { po })
      return json(true)
    }),
  'PUT /set-customer-note': (call) =>
    changing(call, 'note', (db, cart, { request }) => {
      const body = memberOf(jsonIn(request.body), 'customerNote')
      changeCart(db, cart, { note: textOf(memberOf(body, 'customerNote')) ?? '' })
      return json(true)
    }),
  'POST /estimate-shipping-methods': (call) =>
    changing(call, 'methods', (_db, _cart, { profile, request }) => {
      const fault = addressFault(call, memberOf(jsonIn(request.body), 'address'))
      if (fault) return fault
      return json(methodsOf(call, profile.others))
    }),
  'POST /shipping-information': (call) => changing(call, 'address', setAddresses),
  'POST /payment-information': (call) =>
    performed(call, { name: 'checkout', step: 'last', late: { kind: 'checkout' } }, (db) =>
      checkOut(db, call),
    ),
}

/** One call for an order, with the fault that it asks for. */
function performed(
  call: Call,
  { name, step, late }: Pick<CallKind, 'name' | 'late'> & Partial<Pick<CallKind, 'step'>>,
  effect: (db: Db) => WireAnswer,
): Handled {
  // Whether it can be reached at all was looked at before the first call.
  const kind = {
    name,
    step: step ?? (call.isFirst ? ('first' as const) : ('middle' as const)),
    isReached: true,
  }
  const send = call.request.visit?.send ?? strangersSend(call)
  const { fault, result } = perform(call.world, send, { ...kind, ...(late && { late }) }, effect)
  return { answer: result ?? NOTHING, fault }
}

function changing(
  call: Call,
  name: string,
  act: (db: Db, cart: Cart, call: Call) => WireAnswer,
): Handled {
  return performed(call, { name }, (db) => {
    const cart = openCartOf(db, call.account)
    return cart ? act(db, cart, call) : NO_CART()
  })
}

export function removeItem(call: Call, id: string): Handled {
  return changing(call, 'remove', (db, cart) => {
    const left = linesOf(cart).filter((line) => String(line.id) !== id)
    if (left.length === cart.lines.length) return NO_CART()
    changeCart(db, cart, { lines: left })
    return json(true)
  })
}

/** An order of somebody who is not this app: it is what its cart says. */
function strangersSend({ world, profile, account }: Call): Arriving {
  const cart = world.store.transact((db) => openCartOf(db, account))
  const po = cart?.po ?? ''
  const arrival: Arrival = {
    clientRef: `outside ${account} ${po}`,
    po,
    scenario: scenarioOf({ poGiven: po, lines: cart?.lines ?? [] }),
    content: '',
    lines: cart?.lines ?? [],
    shipTo: { name: '', address1: '', zip: '' },
    firearms: false,
  }
  return {
    profile,
    account,
    arrival,
    reach: reachOf(profile, account, { lane: 'all', poGiven: po }),
  }
}

/** A cart adds to the line that it has of an item. */
function addItem(db: Db, cart: Cart, { world, profile, request }: Call): WireAnswer {
  const item = memberOf(jsonIn(request.body), 'cartItem')
  const sku = textOf(memberOf(item, 'sku')) ?? ''
  const qty = Number(memberOf(item, 'qty'))
  if (!Number.isSafeInteger(qty) || qty < 1)
    return refusal('The requested qty is not a number of units.')
  const left = stockLeft(db, world, profile.distid, sku)
  if (left === null) return refusal(profile.words.unknownItem(sku), undefined, 404)
  const lines = linesOf(cart)
  const there = lines.find(({ distsku }) => distsku === sku)
  const units = qty + (there?.qty ?? 0)
  const isPartial = request.visit?.send.arrival.scenario === 'PARTIAL'
  if (units > left && !isPartial) return refusal(profile.words.outOfStock(sku))
  const line = {
    id: there?.id ?? countCall(db, 'carts of 2AW', 'item'),
    distsku: sku,
    qty: units,
  }
  changeCart(db, cart, { lines: [...lines.filter((one) => one !== there), line] })
  return json({ item_id: line.id, sku, qty: units, name: sku, quote_id: String(cart.id) })
}

const REQUIRED = ['firstname', 'lastname', 'city', 'postcode', 'telephone', 'country_id'] as const

function addressFault({ profile: { words } }: Call, address: unknown): WireAnswer | null {
  const of = (name: string) => textOf(memberOf(address, name)) ?? ''
  const missing = REQUIRED.find((name) => of(name) === '')
  if (missing !== undefined)
    return refusal('"%fieldName" is required. Enter and try again.', { fieldName: missing })
  if (!Array.isArray(memberOf(address, 'street')) || of('region_id') === '')
    return refusal('The address has no street or no region.')
  return /^\d{5}(-\d{4})?$/.test(of('postcode')) ? null : refusal(words.badZip(of('postcode')))
}

/** What is picked up costs nothing, and nobody brings it. */
function methodsOf(call: Call, [carrier, method]: readonly [string, string]): unknown[] {
  const rate = (carrier_code: string, title: string, amount: number) => ({
    carrier_code,
    method_code: title.toLowerCase().replaceAll(/\W+/g, '_'),
    carrier_title: carrier,
    method_title: title,
    amount,
    base_amount: amount,
    available: true,
    error_message: '',
    price_excl_tax: amount,
    price_incl_tax: amount,
  })
  return [
    rate('instore', 'In-Store Pickup', 0),
    rate(carrier.toLowerCase(), 'Next Day Air', 60),
    rate(carrier.toLowerCase(), method, 11.99),
  ]
}

function setAddresses(db: Db, cart: Cart, call: Call): WireAnswer {
  const told = memberOf(jsonIn(call.request.body), 'address_information')
  const shipping = memberOf(told, 'shipping_address')
  const fault =
    addressFault(call, shipping) ?? addressFault(call, memberOf(told, 'billing_address'))
  if (fault) return fault
  if (textOf(memberOf(told, 'shipping_carrier_code')) === null)
    return refusal('The shipping method is missing. Select the shipping method and try again.')
  changeCart(db, cart, { address: JSON.stringify(shipping) })
  return json({
    payment_methods: [{ code: 'purchaseorder', title: 'Purchase Order' }],
    totals: { items_qty: cart.lines.reduce((sum, { qty }) => sum + qty, 0) },
  })
}

/** A cart as the shop shows it. */
function shown(cart: Cart): unknown {
  const address = cart.address === '' ? null : (JSON.parse(cart.address) as unknown)
  return {
    id: cart.id,
    is_active: true,
    items: linesOf(cart).map(({ id, distsku, qty }) => ({
      item_id: id,
      sku: distsku,
      qty,
      quote_id: String(cart.id),
    })),
    items_count: cart.lines.length,
    ...(cart.note !== '' && { customer_note: cart.note }),
    extension_attributes: {
      shipping_assignments: address === null ? [] : [{ shipping: { address } }],
    },
  }
}

/** Buys what is in the cart at that moment, whoever put it there. */
function checkOut(db: Db, call: Call): WireAnswer {
  const { world, profile, account, request } = call
  const body = memberOf(jsonIn(request.body), 'payment_method')
  const agreed = memberOf(memberOf(body, 'extension_attributes'), 'agreement_ids')
  if (textOf(memberOf(body, 'method')) !== 'purchaseorder')
    return refusal('The requested Payment Method is not available.')
  if (!Array.isArray(agreed) || !(agreed as unknown[]).map(String).includes('1'))
    return refusal("The order wasn't placed. First, agree to the terms, then try again.")
  const send = request.visit?.send
  const toStore = send?.order.shipToStore === true
  const cart = openCartOf(db, account)
  const fault = cart && paymentFault(call, cart, toStore)
  if (fault) return fault
  return buy(db, world, {
    profile,
    account,
    arrival: send?.arrival ?? strangersSend(call).arrival,
    at: world.now(),
  })
}

/** A license stands in the note alone; the store's own is known. */
function paymentFault(
  { profile: { words }, request }: Call,
  { note, lines }: Cart,
  toStore: boolean,
): WireAnswer | null {
  const license = LICENSE_IN_NOTE.exec(note)?.[1]
  const order = request.visit?.send.order
  const isFirearm = order?.lines.some(
    ({ distsku, fflRequired }) => fflRequired && lines.some((line) => line.distsku === distsku),
  )
  if (isFirearm && !toStore && license === undefined) return refusal(words.missingFfl)
  return license === undefined || LICENSE.test(license) ? null : refusal(words.badFfl)
}

/** What comes of a payment, now or late: of whatever cart there is then. */
export function buy(
  db: Db,
  world: World,
  { profile, account, arrival, at }: Happening,
): WireAnswer {
  const cart = openCartOf(db, account)
  if (!cart) return NO_CART()
  if (cart.lines.length === 0 || cart.address === '')
    return refusal('Please specify a shipping method.')
  const owner = labelOf(cart)?.clientRef ?? `outside ${account} ${cart.po}`
  const address = JSON.parse(cart.address) as Record<string, unknown>
  const of = (name: string) => textOf(address[name]) ?? ''
  const taken = admit(db, world, {
    profile,
    account,
    arrival: {
      ...arrival,
      clientRef: owner,
      po: cart.po,
      // Whoever's cart it is has its own scenario, as far as it is told.
      scenario:
        owner === arrival.clientRef
          ? arrival.scenario
          : scenarioOf({ poGiven: cart.po, lines: cart.lines }),
      lines: cart.lines.map(({ distsku, qty }) => ({ distsku, qty })),
      shipTo: {
        name: of('company') || `${of('firstname')} ${of('lastname')}`,
        address1: textOf((address['street'] as unknown[])[0]) ?? '',
        zip: of('postcode'),
      },
      firearms: LICENSE_IN_NOTE.test(cart.note),
    },
    placedAt: at,
    executedAt: at,
  })
  if (taken.outcome !== 'accepted') return refusal('reason' in taken ? taken.reason : taken.outcome)
  closeCart(db, cart.id, taken.number)
  const order = orderAt(db, { distid: profile.distid, account }, taken.number!)
  return json(String(order!.id))
}
