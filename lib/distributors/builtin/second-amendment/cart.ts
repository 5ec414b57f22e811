/**
 * The one cart of an account: what is in it, whose it is, and whether it may be filled.
 *
 * Whatever is called for `carts/mine` is done to whatever that cart is when the call arrives. So a
 * call without an answer is a danger to the next order: it may still be on its way, and put an item,
 * an address or a payment of one order into another's cart. There is no number that a call could be
 * bound to, so orders are kept apart in time: before anything else, the cart is given a label, with
 * our reference and the time. It is taken off again where every call was answered. A label that
 * still stands tells that some call was not, and nobody of us touches the cart before nothing of
 * that send can be on its way any more, whether this process or another one made it.
 */
import { MINUTE } from '../../../core/clock.js'
import type { PurchaseOrder } from '../../fulfillment.js'
import { memberOf, NoReply, textOf } from '../../session/reply.js'

/** Milliseconds that a send takes at most. */
export const SEND_TIMEOUT = 2 * MINUTE
/**
 * Milliseconds from a label's time until nothing of its send is on its way any more: nine minutes at
 * least after its last call. No longer than the order engine needs to find out that a payment never
 * arrived, so that this order is then sent afresh.
 */
const OWN_REST = 11 * MINUTE
/** Longer for all others, so that they do not empty the cart that tells of it. */
const REST = SEND_TIMEOUT + OWN_REST

export interface CartItem {
  readonly id: string
  readonly distsku: string
  readonly qty: number
}

export interface Cart {
  readonly id: string
  readonly items: readonly CartItem[]
  readonly note: string
  /** The number that an order would have; told where somebody has begun to make one of it. */
  readonly reserved: string | null
  /** Where it would go: the ZIP code, as far as it is told. */
  readonly zip: string | null
}

/** Throws a NoReply for what is no cart. */
export function cartIn(told: unknown): Cart {
  const id = textOf(memberOf(told, 'id'))
  const items = memberOf(told, 'items') ?? []
  if (id === null || !Array.isArray(items)) throw new NoReply('the cart cannot be read')
  return {
    id,
    items: (items as unknown[]).map(itemIn),
    note: textOf(memberOf(told, 'customer_note')) ?? '',
    reserved: textOf(memberOf(told, 'reserved_order_id')),
    zip: zipIn(told),
  }
}

function itemIn(item: unknown): CartItem {
  const [id, distsku] = [textOf(memberOf(item, 'item_id')), textOf(memberOf(item, 'sku'))]
  const qty = Number(memberOf(item, 'qty'))
  if (id === null || distsku === null || !Number.isSafeInteger(qty) || qty < 1)
    throw new NoReply('the cart has an item without a number, an SKU or a whole quantity')
  return { id, distsku, qty }
}

function zipIn(told: unknown): string | null {
  const assignments = memberOf(memberOf(told, 'extension_attributes'), 'shipping_assignments')
  const first: unknown = Array.isArray(assignments) ? assignments[0] : undefined
  return textOf(memberOf(memberOf(memberOf(first, 'shipping'), 'address'), 'postcode'))
}

/** Whose order is, or was, put together in the cart. */
export interface Label {
  readonly clientRef: string
  /** Milliseconds since 1970. */
  readonly begun: number
}

export const labelText = ({ clientRef, begun }: Label): string =>
  `[ref ${clientRef} ${new Date(begun).toISOString()}]`

/** Null for a cart that none of our orders is in. */
export function labelOf({ note }: Pick<Cart, 'note'>): Label | null {
  const [, clientRef, time] = /\[ref ([A-Z0-9]+) (\d{4}-\d\d-\d\dT[\d:.]+Z)\]/i.exec(note) ?? []
  const begun = Date.parse(time ?? '')
  return clientRef === undefined || Number.isNaN(begun) ? null : { clientRef, begun }
}

/**
 * Milliseconds until nothing of an earlier send can be on its way to this cart any more, for who
 * has an order of this reference.
 */
export function restOf(cart: Pick<Cart, 'note'>, clientRef: string, now: number): number {
  const label = labelOf(cart)
  if (label === null) return 0
  const rest = label.clientRef === clientRef ? OWN_REST : REST
  // Of a clock that was set back nothing follows but that the time is not over.
  return Math.min(rest, Math.max(0, label.begun + rest - now))
}

/** Whether the cart is this order's, and would become just what it is to be. */
export function isOrder(cart: Cart, order: PurchaseOrder): boolean {
  return labelOf(cart)?.clientRef === order.clientRef && differenceTo(cart, order) === null
}

/** What of the cart is not as the order has it; null where nothing is. */
export function differenceTo(cart: Cart, { lines, shipTo }: PurchaseOrder): string | null {
  const [held, wanted] = [unitsOf(cart.items), unitsOf(lines)]
  for (const [sku, qty] of wanted)
    if (held.get(sku) !== qty) return `it holds ${held.get(sku) ?? 0} of ${sku} and not ${qty}`
  const other = [...held.keys()].find((sku) => !wanted.has(sku))
  if (other !== undefined) return `it holds ${other} as well`
  return cart.zip === null || cart.zip.slice(0, 5) === shipTo.zip.slice(0, 5)
    ? null
    : 'it would go to another ZIP code'
}

/** Units of each item; capitals do not tell items apart. */
function unitsOf(lines: readonly { distsku: string; qty: number }[]): Map<string, number> {
  const units = new Map<string, number>()
  for (const { distsku, qty } of lines) {
    const sku = distsku.trim().toUpperCase()
    units.set(sku, (units.get(sku) ?? 0) + qty)
  }
  return units
}
