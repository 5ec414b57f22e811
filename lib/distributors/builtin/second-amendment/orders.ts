/**
 * How purchase orders go to 2nd Amendment Wholesale: a cart is filled, addressed and paid for, and
 * the payment alone has an effect. There is one cart an account, one order in it at a time (see
 * cart.ts), and no list of orders that could be looked into.
 *
 * Why no order can be placed twice:
 *
 * - `payment-information` is the only call that buys, and it buys what is in the cart. It is made
 *   once in a send, after the cart was read back and found to hold this order and nothing else, and
 *   after its number was written down (`keepStage`).
 * - Whatever fails before it has bought nothing. Where every call was answered, the cart is emptied
 *   and its label taken off; else the label stands, and keeps everybody away until nothing is on its
 *   way any more. What the shop refuses is `rejected`, all else `not_sent`.
 * - A refused payment is believed only if the cart is read again and is still as it was.
 * - A payment without an answer is `unknown`. A cart that became an order is closed, and the account
 *   gets another: so one of that very number that still bears our label and our items did not become
 *   one. The order engine believes that after two looks, ten minutes and more after the send, and
 *   only then has the order sent afresh.
 * - Any other cart proves nothing. The order may have been placed, or somebody may have emptied the
 *   cart by hand: nothing is sent again, the reports of shipments are looked into, and after a day a
 *   person decides. The same is done with a cart for which a number was reserved.
 */
import { MINUTE } from '../../../core/clock.js'
import type { CheckOutcome } from '../../distributor.js'
import type {
  Fulfillment,
  FulfillmentLimits,
  OrderSession,
  PurchaseOrder,
  Rendered,
  Search,
  Submission,
} from '../../fulfillment.js'
import { NoReply, textsOf } from '../../session/reply.js'
import { Unreachable } from '../../session/session.js'
import type { Session } from '../../session/session.js'
import { CartAccount, Impossible } from './account.js'
import type { Prepared } from './account.js'
import { ask, NOT_APPROVED, reasonOf, Refused } from './api.js'
import type { SecondAmendmentSettings } from './api.js'
import { differenceTo, isOrder, labelOf, restOf, SEND_TIMEOUT } from './cart.js'
import type { Cart } from './cart.js'
import { noteOf } from './payload.js'
import { callsOf } from './preview.js'
import { shipmentsOf, updates } from './shipments.js'

export const LONGEST_PO = 40

export const LIMITS: FulfillmentLimits = {
  po: { max: LONGEST_PO },
  // One cart.
  concurrency: 1,
  sendTimeout: SEND_TIMEOUT,
  // An order is seen first when it is shipped.
  visibilityLag: 4 * MINUTE,
  updatesEvery: 30 * MINUTE,
}

/** In place of a cart's number: what was kept for it came to nothing, which was made sure of. */
const NOTHING = 'nothing was paid for'

/** The connector; limits are others where a simulator answers. */
export function secondAmendmentOrders(limits: FulfillmentLimits = LIMITS): Fulfillment {
  return {
    recovery: 'staged',
    numberComesLater: true,
    limits,
    preview,
    paperwork,
    submit,
    find,
    updates,
  }
}

/** Asks whether the token is good. Throws an Unreachable that says why nothing is known. */
export async function checkToken(session: Session): Promise<CheckOutcome> {
  try {
    const told = await ask(session, { method: 'GET', path: 'token/validate' })
    if (told === false) return 'invalid'
    if (told !== null && told !== '') return 'valid'
    throw new Unreachable('the reply does not say whether the token is good')
  } catch (error) {
    if (error instanceof Refused) throw new Unreachable(`HTTP ${error.status}`, { cause: error })
    if (!(error instanceof NoReply)) throw error
    if (error.isLoginRefused) return 'invalid'
    const isTurnedAway = error.message.includes('HTTP 403')
    throw new Unreachable(isTurnedAway ? NOT_APPROVED : error.message, { cause: error })
  }
}

function preview(order: PurchaseOrder, settings: SecondAmendmentSettings): Rendered[] {
  return callsOf(order, settings)
}

/** The interface has no place for a license: a copy goes by mail. */
function paperwork({ ffl, shipToStore, po }: PurchaseOrder, settings: SecondAmendmentSettings) {
  if (ffl === null || shipToStore) return null
  return {
    what: `a signed copy of the license ${ffl.licenseNumber} of ${ffl.name}, if they have none`,
    recipients: textsOf(settings.ffl_recipient_emails),
    subject: `License for PO ${po}`,
    businessDays: 3,
  }
}

async function submit(session: OrderSession, order: PurchaseOrder): Promise<Submission> {
  session.signal.throwIfAborted()
  const account = new CartAccount(session)
  return session.stage === null || session.stage === NOTHING
    ? begin(session, account, order)
    : resume(session, account, order)
}

/** A cart that is filled with an order, and how it is to be paid. */
interface Filled {
  readonly cart: Cart
  readonly prepared: Prepared
  readonly payment: string
}

async function begin(
  session: OrderSession,
  account: CartAccount,
  order: PurchaseOrder,
): Promise<Submission> {
  let opened: { cart: Cart; prepared: Prepared }
  try {
    const cart = await account.openCart()
    const rest = restOf(cart, order.clientRef, session.now())
    if (rest > 0) return isTaken(cart, order, rest)
    const prepared = await account.askFirst(order)
    await account.empty(cart)
    opened = { cart, prepared }
  } catch (error) {
    // Nothing was put into the cart, and what was taken out was nobody's.
    return refusalIn(error) ?? notSent(error)
  }
  const filled = await fill(session, account, { ...opened, order })
  if ('outcome' in filled) return filled
  await session.keepStage(filled.cart.id)
  return pay(session, account, order, filled)
}

function isTaken(cart: Cart, order: PurchaseOrder, rest: number): Submission {
  const isOwn = labelOf(cart)?.clientRef === order.clientRef
  return {
    outcome: 'not_sent',
    reason: isOwn
      ? 'the cart still holds an earlier send of this order, of which something may be on its way'
      : 'the cart holds another order, of which something may still be on its way',
    retryAfter: Math.ceil(rest / 1_000),
  }
}

/** Puts the order into the empty cart, and makes sure that it is there. */
async function fill(
  session: OrderSession,
  account: CartAccount,
  { cart: { id }, prepared, order }: { cart: Cart; prepared: Prepared; order: PurchaseOrder },
): Promise<Filled | Submission> {
  try {
    const note = noteOf(order, session.now())
    // Once more: a label that comes late would be taken for a label of somebody's who is at it.
    await account.note(id, note).catch((error: unknown) => {
      if (!(error instanceof NoReply) || !error.mayHaveArrived) throw error
      return account.note(id, note)
    })
    await account.fill(id, order)
    const payment = await account.ship(prepared)
    const cart = await account.cart()
    const fault = cart.id === id ? faultOf(cart, order) : 'it is another cart by now'
    if (fault === null) return { cart, prepared, payment }
    await withdraw(account, order)
    const reason = `the cart is not as it was filled: ${fault}; nothing was ordered`
    return { outcome: 'not_sent', reason }
  } catch (error) {
    const refusal = refusalIn(error)
    if (!refusal) return notSent(error)
    await withdraw(account, order)
    return refusal
  }
}

function faultOf(cart: Cart, order: PurchaseOrder): string | null {
  const label = labelOf(cart)
  if (label === null) return 'it does not show the note that was put into it'
  return label.clientRef === order.clientRef
    ? differenceTo(cart, order)
    : 'it bears the note of another order'
}

/** Goes on with a cart that was filled by an earlier send, and that it is known not to have paid. */
async function resume(
  session: OrderSession,
  account: CartAccount,
  order: PurchaseOrder,
): Promise<Submission> {
  try {
    const cart = await account.cartIfAny()
    if (!cart || !isStill(cart, session.stage, order)) return { outcome: 'unknown', reason: GONE }
    const prepared = await account.askFirst(order)
    const payment = await account.ship(prepared)
    const again = await account.cartIfAny()
    if (!again || !isStill(again, session.stage, order)) return { outcome: 'unknown', reason: GONE }
    return await pay(session, account, order, { cart: again, prepared, payment })
  } catch (error) {
    if (error instanceof Refused || error instanceof Impossible || error instanceof NoReply)
      return { outcome: 'unknown', reason: error.message }
    throw error
  }
}

/** The very cart that was filled, as it was filled: it did not become an order. */
function isStill(cart: Cart, stage: string | null, order: PurchaseOrder): boolean {
  return cart.id === stage && cart.reserved === null && isOrder(cart, order)
}

const GONE =
  'the cart does not hold the order any more, so it may have been placed: 2nd Amendment Wholesale ' +
  'tells of an order first when it is shipped'

async function pay(
  session: OrderSession,
  account: CartAccount,
  order: PurchaseOrder,
  { cart, prepared, payment }: Filled,
): Promise<Submission> {
  let key: string
  try {
    key = await account.pay(payment, prepared, order.po)
  } catch (error) {
    if (error instanceof Refused) return refusedPayment(session, account, order, { cart, error })
    if (!(error instanceof NoReply)) throw error
    if (error.mayHaveArrived) return { outcome: 'unknown', reason: error.message }
    await withdraw(account, order)
    await session.keepStage(NOTHING)
    return notSent(error)
  }
  return { outcome: 'accepted', number: await numberOf(account, key) }
}

/** It is bought: where its number cannot be asked for, it comes with the shipment. */
async function numberOf(account: CartAccount, key: string): Promise<string | null> {
  for (let time = 0; time < 2; time++) {
    try {
      return await account.numberOf(key)
    } catch (error) {
      if (!(error instanceof NoReply) && !(error instanceof Refused)) throw error
    }
  }
  return null
}

async function refusedPayment(
  session: OrderSession,
  account: CartAccount,
  order: PurchaseOrder,
  { cart, error }: { cart: Cart; error: Refused },
): Promise<Submission> {
  const now = await account.cartIfAny().catch((fault: unknown) => {
    if (fault instanceof NoReply || fault instanceof Refused) return null
    throw fault
  })
  if (!now || !isStill(now, cart.id, order))
    return { outcome: 'unknown', reason: `refused (${error.message}), and ${GONE}` }
  await withdraw(account, order)
  await session.keepStage(NOTHING)
  return { outcome: 'rejected', reason: reasonOf(error) }
}

/**
 * Empties the cart and takes the label off it, unless it is another's by now. Where that cannot be
 * confirmed, the label is what the next order waits for.
 */
async function withdraw(account: CartAccount, order: PurchaseOrder): Promise<void> {
  try {
    const cart = await account.cart()
    const label = labelOf(cart)
    if (label !== null && label.clientRef !== order.clientRef) return
    await account.empty(cart)
    await account.note(cart.id, '')
  } catch (error) {
    if (!(error instanceof NoReply) && !(error instanceof Refused)) throw error
  }
}

/** The shop's own no, or what no send could change. */
function refusalIn(error: unknown): Submission | null {
  if (error instanceof Refused) return { outcome: 'rejected', reason: reasonOf(error) }
  return error instanceof Impossible ? { outcome: 'rejected', reason: error.message } : null
}

/** Nothing was paid for. */
function notSent(error: unknown): Submission {
  if (!(error instanceof NoReply)) throw error
  const { message: reason, retryAfter } = error
  return { outcome: 'not_sent', reason, ...(retryAfter !== undefined && { retryAfter }) }
}

/**
 * Shipments of the PO, and the cart that was to be paid for. That cart tells that the order is not
 * there, or nothing: then what is shown under the PO may be the order, and proves no absence.
 */
async function find(session: OrderSession, order: PurchaseOrder): Promise<Search> {
  session.signal.throwIfAborted()
  try {
    const orders = await shipmentsOf(session, order)
    const { stage } = session
    if (stage === null || stage === NOTHING) return { outcome: 'answered', orders }
    const cart = await new CartAccount(session).cartIfAny()
    if (cart && isStill(cart, stage, order)) return { outcome: 'answered', orders }
    if (orders.length > 0) return { outcome: 'answered', orders, showsOne: true }
    const reserved = cart?.id === stage ? cart.reserved : null
    return {
      outcome: 'unreachable',
      reason: reserved === null ? GONE : `the number ${reserved} was reserved for it, and ${GONE}`,
    }
  } catch (error) {
    if (!(error instanceof NoReply) && !(error instanceof Refused)) throw error
    return { outcome: 'unreachable', reason: error.message }
  }
}
