/** What an order would send, call by call. */
import type { PurchaseOrder, Rendered } from '../../fulfillment.js'
import { CALLS } from './account.js'
import { API, headersOf } from './api.js'
import type { Call, SecondAmendmentSettings } from './api.js'
import {
  billingAddress,
  itemOf,
  noteFor,
  noteOf,
  paymentInformation,
  poOf,
  shippingAddress,
  shippingInformation,
} from './payload.js'
import type { RegionIds } from './payload.js'

/** A number, or a list, that is not known yet. */
const BARE = /"#(<[^"]+>)"/g
const CART = '<number of the cart>'

/** A state's name is asked for with its number. */
const regionOf: RegionIds = (state) => ({ id: `#<number of ${state}>`, name: `<name of ${state}>` })

/** The calls of an order whose cart is empty; what is asked for first stands in angle brackets. */
export function callsOf(order: PurchaseOrder, settings: SecondAmendmentSettings): Rendered[] {
  const billing = billingAddress(settings, regionOf)
  const shipping = shippingAddress(order, regionOf, '<telephone of the billing address>')
  const calls: readonly (readonly [call: Call, body?: unknown])[] = [
    [CALLS.open],
    [CALLS.cart],
    [CALLS.regions],
    ...(billing === null ? [[CALLS.ownAddress] as const] : []),
    [CALLS.agreements],
    [CALLS.note, noteFor(CART, noteOf(order, 0).replace(/1970-[\dT:.-]+Z/, '<the time>'))],
    [CALLS.po, poOf(CART, order.po)],
    ...order.lines.map((line) => [CALLS.item, itemOf(CART, line)] as const),
    [CALLS.methods, { address: shipping }],
    [
      CALLS.shipping,
      shippingInformation(
        { shipping, billing: billing ?? '#<billing address of the account>' },
        { carrier: '<carrier of the cheapest>', method: '<method of the cheapest>' },
      ),
    ],
    [CALLS.cart],
    [CALLS.pay, paymentInformation('<way to pay>', ['<number of each agreement>'], order.po)],
    [{ method: 'GET', path: 'orders/<key of the order>' }],
  ]
  const { authorization: _token, ...headers } = headersOf(settings)
  return calls.map(([{ method, path }, body]) => ({
    what: `${method} ${API}${path}`,
    headers: { ...headers, authorization: 'Bearer <the token>' },
    body: body === undefined ? '' : JSON.stringify(body).replaceAll(BARE, '$1'),
  }))
}
