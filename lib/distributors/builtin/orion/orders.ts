/**
 * How purchase orders go to Orion: one call that names it all.
 *
 * An order that is not shipped yet is shown nowhere, and its number stands in the answer to that
 * call alone. So what is lost of it is left to a person at once: there is no `find`, and nothing is
 * sent a second time.
 */
import { DAY, MINUTE, SECOND } from '../../../core/clock.js'
import type { CheckOutcome } from '../../distributor.js'
import { planFirearmParts } from '../../firearm-parts.js'
import type {
  Fulfillment,
  FulfillmentLimits,
  PurchaseOrder,
  Rendered,
  Submission,
} from '../../fulfillment.js'
import { NoReply, textOf, unanswered } from '../../session/reply.js'
import { Unreachable } from '../../session/session.js'
import type { Session } from '../../session/session.js'
import { API, ask, KEY_HEADER } from './api.js'
import type { Told } from './api.js'
import { paramsOf } from './payload.js'
import { updates } from './shipments.js'

export const LIMITS: FulfillmentLimits = {
  po: { max: 32, chars: /[\x20-\x7e]/ },
  sendTimeout: 75 * SECOND,
  // Nobody can be asked: a person decides at once.
  visibilityLag: DAY,
  updatesEvery: 30 * MINUTE,
}

/** The connector; limits are others where a simulator answers. */
export function orionOrders(limits: FulfillmentLimits = LIMITS): Fulfillment {
  return {
    recovery: 'one_shot',
    limits,
    plan: planFirearmParts,
    preview,
    submit,
    updates,
    asksByOrder: true,
  }
}

/** Asks about the key alone. Throws an Unreachable that says why it cannot tell. */
export async function checkKey(session: Session): Promise<CheckOutcome> {
  try {
    // Any other no is about the key too: nothing else was asked.
    const { isOk } = await ask(session, 'test_credentials')
    return isOk ? 'valid' : 'invalid'
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    if (error.isLoginRefused) return 'invalid'
    throw new Unreachable(error.message, { cause: error })
  }
}

function preview(order: PurchaseOrder): Rendered[] {
  return [
    {
      what: `POST ${API}api.php?method=place_order`,
      headers: { [KEY_HEADER]: '<the connection key>' },
      // In the query, in truth: there is no body.
      body: paramsOf(order).toString(),
    },
  ]
}

async function submit(session: Session, order: PurchaseOrder): Promise<Submission> {
  session.signal.throwIfAborted()
  try {
    const told = await ask(session, 'place_order', { verb: 'POST', query: paramsOf(order) })
    return outcomeOf(told)
  } catch (error) {
    return unanswered(error)
  }
}

function outcomeOf({ isOk, body, words }: Told): Submission {
  const number = textOf(body['order_id'])
  const isNumber = number !== null && /^[1-9]\d{0,17}$/.test(number)
  const unknown = (reason: string): Submission => ({ outcome: 'unknown', reason })
  if (isOk)
    return isNumber
      ? { outcome: 'accepted', number }
      : unknown('place_order answers OK, and no number of an order')
  // With a number something of it may be there; without words it may be any trouble of theirs.
  if (isNumber) return unknown(`place_order names an order ${number} and refuses it: ${words}`)
  return words === ''
    ? unknown('place_order refuses the order and does not say why')
    : { outcome: 'rejected', reason: words }
}
