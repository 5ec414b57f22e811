/**
 * 2nd Amendment Wholesale: one cart for the whole account, which the last call turns into an order.
 */
import type { FoundOrder, Fulfillment, Search, Submission } from '../../distributors/fulfillment.js'
import { contentFault } from '../engine/admit.js'
import { call, searching, sending } from '../engine/call.js'
import type { Send } from '../engine/call.js'
import { checkOut } from '../engine/due.js'
import type { Line } from '../engine/order.js'
import type { Profile } from './profiles.js'
import type { Db, World } from '../engine/store.js'
import { updatesOf } from '../engine/updates.js'
import { findListed } from './whole.js'

interface Cart {
  note: string
  po: string
  lines: string
  number: string | null
}

export function cartOrders(world: World, profile: Profile): Fulfillment {
  return {
    recovery: profile.recovery,
    limits: profile.limits,
    submit: (session, order) => sending(profile, session, order, (send) => fillAndPay(world, send)),
    find: (session, order) => searching(profile, session, order, (send) => findCart(world, send)),
    updates: (session, since) => updatesOf(world, profile, session, since),
  }
}

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
  await call(world, send, { name: 'empty', step: 'middle' }, (db) => {
    db.prepare(
      "UPDATE cart SET lines = '[]', note = '', po = '' WHERE id = ? AND number IS NULL",
    ).run(cart)
  })
  for (const line of arrival.lines)
    await call(world, send, { name: 'line', step: 'middle' }, (db) => addToCart(db, cart, line))
  const fault = await call(world, send, { name: 'address', step: 'middle' }, (db) => {
    // The note is how the order is told from every other one later; the cart's id alone is not
    // enough.
    db.prepare('UPDATE cart SET note = ?, po = ? WHERE id = ? AND number IS NULL').run(
      arrival.clientRef,
      arrival.po,
      cart,
    )
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
        ? checkOut(db, world, { account, cart, arrival, at: world.now() })
        : { outcome: 'not_sent', reason: 'the cart holds another order by now' },
  )
}

/** The account's cart, with whatever is in it; a new one once the last became an order. */
function openCart(db: Db, account: string): number {
  db.prepare(
    "INSERT INTO cart (account, note, po, lines, number) VALUES (?, '', '', '[]', NULL) ON CONFLICT DO NOTHING",
  ).run(account)
  return db
    .prepare('SELECT id FROM cart WHERE account = ? AND number IS NULL')
    .pluck()
    .get(account) as number
}

/** A cart adds to the line that it has of an item. */
function addToCart(db: Db, cart: number, { distsku, qty }: Line): void {
  const stored = db.prepare('SELECT lines FROM cart WHERE id = ?').pluck().get(cart) as string
  const lines = JSON.parse(stored) as Line[]
  const there = lines.find((line) => line.distsku === distsku)
  if (there) there.qty += qty
  else lines.push({ distsku, qty })
  db.prepare('UPDATE cart SET lines = ? WHERE id = ? AND number IS NULL').run(
    JSON.stringify(lines),
    cart,
  )
}

/** Whether the cart has just these items; one that became an order is judged by what it became. */
function holds(db: Db, cart: number, lines: readonly Line[]): boolean {
  const { lines: stored, number } = db
    .prepare('SELECT lines, number FROM cart WHERE id = ?')
    .get(cart) as Cart
  const units = (of: readonly Line[]) => {
    const sums: Record<string, number> = {}
    for (const { distsku, qty } of of) sums[distsku] = (sums[distsku] ?? 0) + qty
    return JSON.stringify(Object.entries(sums).sort(([a], [b]) => (a < b ? -1 : 1)))
  }
  return number !== null || units(JSON.parse(stored) as Line[]) === units(lines)
}

/** The number of the order that a cart became, if it became this one. */
function becameOf(db: Db, stage: string, clientRef: string): string | null {
  const cart = db.prepare('SELECT note, number FROM cart WHERE id = ?').get(Number(stage)) as
    | Pick<Cart, 'note' | 'number'>
    | undefined
  return cart?.note === clientRef ? cart.number : null
}

/**
 * Orders by reference and PO, and the cart of an earlier send as long as it still holds this order.
 */
async function findCart(world: World, send: Send): Promise<Search> {
  const listed = await findListed(world, send)
  const { session, arrival } = send
  if (listed.outcome !== 'answered' || session.stage === null) return listed
  const cart = world.store.transact(
    (db) =>
      db
        .prepare('SELECT note, po, lines, number FROM cart WHERE id = ?')
        .get(Number(session.stage)) as Cart | undefined,
  )
  if (!cart || cart.number !== null || cart.note !== arrival.clientRef) return listed
  const open: FoundOrder = {
    number: null,
    po: cart.po,
    clientRef: cart.note,
    lines: JSON.parse(cart.lines) as Line[],
    submitted: false,
  }
  return { outcome: 'answered', orders: [...listed.orders, open] }
}
