/**
 * How purchase orders go to Zanders: a dealer's ship-to is asked for, and then one call places the
 * order, with the account for what is in it.
 *
 * Nothing tells of an order but its number, which the answer to that call alone tells. So what is
 * lost before it may be tried again, and what is lost of it is left to a person at once: there is
 * no `find`, and nothing is sent a second time.
 */
import { DAY, MINUTE, SECOND } from '../../../core/clock.js'
import { centralDay } from '../../days.js'
import type { CheckOutcome } from '../../distributor.js'
import { planFirearmParts } from '../../firearm-parts.js'
import type {
  Fulfillment,
  FulfillmentLimits,
  PurchaseOrder,
  Rendered,
  Submission,
  ToldAtOnce,
} from '../../fulfillment.js'
import { NoReply, textsOf, unanswered } from '../../session/reply.js'
import { Unreachable } from '../../session/session.js'
import type { Session } from '../../session/session.js'
import { laneOf, loginFor, loginsOf } from './accounts.js'
import type { ZandersSettings } from './accounts.js'
import { API, ask, bodyOf, DONE, logIn, mapsIn, saying, textIn } from './api.js'
import type { Reply, Service } from './api.js'
import { checkFiles } from './files.js'
import { updates } from './news.js'
import { addressOf, contentFault, LONGEST_PO, needsPerson, orderOf } from './payloads.js'
import { shipToOf } from './ship-to.js'
import type { ShipTo } from './ship-to.js'
import { SOAP_HEADERS } from './soap.js'
import type { ValueMap } from './soap.js'

export const LIMITS: FulfillmentLimits = {
  po: { max: LONGEST_PO },
  // Two calls, each of which it may take its time for.
  sendTimeout: 150 * SECOND,
  // Nobody can be asked: a person decides at once.
  visibilityLag: DAY,
  updatesEvery: 30 * MINUTE,
}

/** The connector; limits are others where a simulator answers. */
export function zandersOrders(limits: FulfillmentLimits = LIMITS): Fulfillment {
  return {
    recovery: 'one_shot',
    limits,
    plan: planFirearmParts,
    preview,
    paperwork,
    submit,
    updates,
    asksByOrder: true,
    endsWithShipment: true,
  }
}

/** Asks with each login that is set. Throws an Unreachable that says why it cannot tell. */
export async function checkLogins(session: Session): Promise<CheckOutcome> {
  const logins = loginsOf(session.settings)
  if (logins.length === 0) return 'invalid'
  try {
    for (const login of logins) await logIn(session, login)
    await checkFiles(session)
    return 'valid'
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    if (error.isLoginRefused) return 'invalid'
    // Without its words: what is said here is logged.
    const reason = error.isQuoting ? 'loginCheck could not be done' : error.message
    throw new Unreachable(reason, { cause: error })
  }
}

/** Whether Zanders has a copy, and how long it waits for one, is not known. */
function paperwork({ ffl, shipToStore, po }: PurchaseOrder, settings: ZandersSettings) {
  if (ffl === null || shipToStore) return null
  return {
    what: `a copy of the license ${ffl.licenseNumber} of ${ffl.name}, if they have none`,
    recipients: textsOf(settings.ffl_recipient_emails),
    subject: `License for PO ${po}`,
    businessDays: 1,
  }
}

function preview(order: PurchaseOrder, settings: ZandersSettings): Rendered[] {
  const fault = contentFault(order) ?? needsPerson(order)
  if (fault !== null) throw new Error(fault)
  const login = loginFor(settings, placeOf(order))
  const call = (service: Service, operation: string, params: ValueMap): Rendered => ({
    what: `POST ${API}${service}`,
    headers: SOAP_HEADERS,
    body: bodyOf(service, operation, login, params),
  })
  const addressinfo = addressOf(order)
  const made = orderOf(order, {
    kind: login.kind,
    shipDate: '<the day it is sent>',
    shipToNo: addressinfo && '<ShipToNo of that answer>',
  })
  return [
    ...(addressinfo === null ? [] : [call('shiptoaddresses', 'useShipTo', { addressinfo })]),
    call('orders', 'createOrder', { order: made }),
  ]
}

const placeOf = (order: PurchaseOrder) => ({
  shipToStore: order.shipToStore,
  lane: laneOf(order),
})

async function submit(session: Session, order: PurchaseOrder): Promise<Submission> {
  session.signal.throwIfAborted()
  const fault = contentFault(order)
  if (fault !== null) return { outcome: 'rejected', reason: `${fault}; nothing was sent` }
  const reason = needsPerson(order)
  if (reason !== null) return { outcome: 'review', reason }
  try {
    const login = loginFor(session.settings, placeOf(order))
    const shipTo = await shipToOf(session, login, order)
    if ('outcome' in shipTo) return shipTo
    const { kind } = login
    const made = orderOf(order, {
      kind,
      shipDate: centralDay(session.now()),
      shipToNo: shipTo.number,
    })
    const reply = await ask(session, login, ['orders', 'createOrder'], { order: made })
    return outcomeOf(reply, order, shipTo)
  } catch (error) {
    return unanswered(error)
  }
}

/** Of `createOrder`: nothing of it was placed, for good. */
const REFUSALS: ReadonlyMap<number, string> = new Map([
  [2, 'there was a problem creating the order'],
  [5, 'an order cannot be without items'],
  [9, 'nothing of it is available'],
  [11, 'the ship date is more than 30 days ahead: the clock of this server is wrong'],
  [31, 'a quantity must be at least 1'],
])
/** The day has just ended there, or the clock of this server is behind: it is tried again. */
const DATE_PAST = 10
/** It may be any trouble of theirs; only what they say about it makes it a refusal. */
const PROBLEM = 2

function outcomeOf(reply: Reply, order: PurchaseOrder, shipTo: ShipTo): Submission {
  const { code, reason, told } = reply
  const number = numberIn(reply)
  const unknown = (why: string): Submission => ({ outcome: 'unknown', reason: why })
  if (code === DONE && number === null)
    return unknown('createOrder answers return code 0, and no number of an order')
  if (code === DONE) {
    const also = toldAtOnce(reply, order, shipTo)
    return { outcome: 'accepted', number, ...(also && { told: also }) }
  }
  // With a number something of it may be there.
  if (told.has('orderNumber') && textIn(told, 'orderNumber') !== null)
    return unknown(`createOrder names an order ${number ?? ''} with ${saying(reply)}`)
  const said = saying(reply, [REFUSALS.get(code) ?? '', shortOf(reply)].filter(Boolean).join('; '))
  if (code === DATE_PAST) return { outcome: 'not_sent', reason: `the ship date is past (${said})` }
  return REFUSALS.has(code) && (code !== PROBLEM || reason !== '')
    ? { outcome: 'rejected', reason: said }
    : unknown(said)
}

/** A number of digits; 0 is the number of no order. */
function numberIn({ told }: Reply): string | null {
  const number = textIn(told, 'orderNumber')
  return number !== null && /^[1-9]\d{0,17}$/.test(number) ? number : null
}

/** What is short of an order that was taken, or what it waits for: this answer alone tells it. */
function toldAtOnce(reply: Reply, order: PurchaseOrder, shipTo: ShipTo): ToldAtOnce | null {
  const short = shortOf(reply)
  if (short !== '') {
    const removed = new Set(
      removedFrom(reply).flatMap(({ item, available }) => (Number(available) === 0 ? item : [])),
    )
    const isNothing = order.lines.every(({ distsku }) => removed.has(distsku.trim().toUpperCase()))
    return { status: isNothing ? 'Not Fulfilled' : 'Partially Fulfilled', reason: short }
  }
  return shipTo.lacksLicense
    ? {
        status: 'FFL Hold',
        reason: `Zanders shows no valid license of ${order.ffl!.name}: mail them a copy`,
      }
    : null
}

const removedFrom = ({ told }: Reply) =>
  mapsIn(told, 'removedItems').map((one) => ({
    item: (textIn(one, 'itemNumber') ?? '').toUpperCase(),
    requested: textIn(one, 'quantityRequested') ?? '?',
    available: textIn(one, 'quantityAvailable') ?? '?',
  }))

/** `of AB12 0 of 2 are available`; empty where nothing was removed. */
const shortOf = (reply: Reply): string =>
  removedFrom(reply)
    .map(
      ({ item, requested, available }) => `of ${item} ${available} of ${requested} are available`,
    )
    .join(', ')
