/**
 * 2nd Amendment Wholesale: one cart for the whole account, which the last call turns into an order.
 */
import { admit, contentFault } from '../../../simulator/engine/admit.js'
import { call } from '../../../simulator/engine/call.js'
import type { Send } from '../../../simulator/engine/call.js'
import { simulatedConnector } from '../../../simulator/engine/simulated-connector.js'
import type { Line } from '../../../simulator/engine/order.js'
import {
  cartOf,
  closeCart,
  emptyCart,
  labelCart,
  openCart,
  setCartLines,
} from '../../../simulator/engine/queries.js'
import type { Db } from '../../../simulator/engine/store.js'
import { findListed } from '../../../simulator/engine/single-call-orders.js'
import { COMMON_LIMITS, PLAIN_WORDS } from '../../../simulator/engine/world.js'
import type {
  DistributorSimulator,
  Happening,
  Words,
  World,
} from '../../../simulator/engine/world.js'
import type { FoundOrder, Search, Submission } from '../../fulfillment.js'

async function fillAndPay(world: World, send: Send): Promise<Submission> {
  const { profile, session, order, account, arrival } = send
  const begun = session.stage
  if (begun !== null) {
    const number = await call(world, send, { name: 'status', step: 'first' }, (db) =>
      becameOf(db, begun, arrival.clientRef),
    )
    if (number !== null) return { outcome: 'accepted', number }
  }
  const cart = await call(
    world,
    send,
    { name: 'cart', step: begun === null ? 'first' : 'middle' },
    (db) => openCart(db, account),
  )
  // Whatever an order that was cut off has left in it must not come along.
  await call(world, send, { name: 'empty', step: 'middle' }, (db) => emptyCart(db, cart))
  for (const line of arrival.lines)
    await call(world, send, { name: 'line', step: 'middle' }, (db) => addToCart(db, cart, line))
  const fault = await call(world, send, { name: 'address', step: 'middle' }, (db) => {
    // The note is how the order is told from every other one later; the cart's id alone is not
    // enough.
    labelCart(db, cart, { note: arrival.clientRef, po: arrival.po })
    return contentFault(profile, order)
  })
  if (fault !== null) return { outcome: 'rejected', reason: fault }
  await session.keepStage(String(cart))
  return call<Submission>(
    world,
    send,
    { name: 'checkout', step: 'last', late: { kind: 'checkout', id: cart } },
    (db) =>
      holds(db, cart, arrival.lines)
        ? checkOut(db, world, { ...send, id: cart, at: world.now() })
        : { outcome: 'not_sent', reason: 'the cart holds another order by now' },
  )
}

/** A cart adds to the line that it has of an item. */
function addToCart(db: Db, cart: number, { distsku, qty }: Line): void {
  const lines = cartOf(db, cart)?.lines ?? []
  const there = lines.find((line) => line.distsku === distsku)
  if (there) there.qty += qty
  else lines.push({ distsku, qty })
  setCartLines(db, cart, lines)
}

/** Whether the cart has just these items; one that became an order is judged by what it became. */
function holds(db: Db, cart: number, lines: readonly Line[]): boolean {
  const held = cartOf(db, cart)
  const units = (of: readonly Line[]) => {
    const sums: Record<string, number> = {}
    for (const { distsku, qty } of of) sums[distsku] = (sums[distsku] ?? 0) + qty
    return JSON.stringify(Object.entries(sums).sort(([a], [b]) => (a < b ? -1 : 1)))
  }
  return held !== undefined && (held.number !== null || units(held.lines) === units(lines))
}

/** The number of the order that a cart became, if it became this one. */
function becameOf(db: Db, stage: string, clientRef: string): string | null {
  const cart = cartOf(db, Number(stage))
  return cart?.note === clientRef ? cart.number : null
}

/**
 * Orders by reference and PO, and the cart of an earlier send as long as it still holds this order.
 */
async function findCart(world: World, send: Send): Promise<Search> {
  const listed = await findListed(world, send)
  const { session, arrival } = send
  if (listed.outcome !== 'answered' || session.stage === null) return listed
  const cart = world.store.transact((db) => cartOf(db, Number(session.stage)))
  if (!cart || cart.number !== null || cart.note !== arrival.clientRef) return listed
  const open: FoundOrder = {
    number: null,
    po: cart.po,
    clientRef: cart.note,
    lines: cart.lines,
    submitted: false,
  }
  return { outcome: 'answered', orders: [...listed.orders, open] }
}

/**
 * What 2nd Amendment Wholesale does with a cart that is paid for; one that holds another order by
 * now is left alone.
 */
function checkOut(
  db: Db,
  world: World,
  { profile, account, arrival, id, at }: Happening,
): Submission {
  const cart = Number(id)
  const held = cartOf(db, cart)
  if (held?.account !== account || held.note !== arrival.clientRef)
    return { outcome: 'not_sent', reason: 'the cart holds another order by now' }
  if (held.number !== null) return { outcome: 'accepted', number: held.number }
  const answer = admit(db, world, {
    profile,
    account,
    arrival: { ...arrival, po: held.po, lines: held.lines },
    placedAt: at,
    executedAt: at,
  })
  if (answer.outcome === 'accepted') closeCart(db, cart, answer.number)
  return answer
}

const words: Words = {
  ...PLAIN_WORDS,
  unknownItem: (sku) => `The product "${sku}" that was requested doesn't exist.`,
  outOfStock: (sku) => `The requested qty of "${sku}" is not available.`,
  credit: 'The requested payment method is not available.',
  po: (fault) => `The PO number ${fault}.`,
  missingFfl: 'A license is required for this cart.',
  badFfl: 'The license number is invalid.',
  badZip: (zip) => `The postcode "${zip}" is invalid.`,
}

export const simulator: DistributorSimulator = {
  credentials: { api_token: 'demo-2aw' },
  orders: {
    due: { checkout: checkOut },
    connector: (world, profile) =>
      simulatedConnector(world, profile, { submit: fillAndPay, find: findCart }),
    recovery: 'staged',
    refusesMix: false,
    words,
    shows: 'at_once',
    tells: { reference: true, content: true },
    limits: { ...COMMON_LIMITS, po: { max: 40 }, concurrency: 1 },
    firearms: ['UPS', '2nd Day Air'],
    others: ['UPS', 'Ground'],
  },
}
