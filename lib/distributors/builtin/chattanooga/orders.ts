/** How purchase orders go to Chattanooga, how one is found again, and what is heard of them. */
import { HOUR, MINUTE, SECOND } from '../../../core/clock.js'
import type { OrderStatus } from '../../../db/tables/column-types.js'
import type { CheckOutcome } from '../../distributor.js'
import type {
  DealerAnswer,
  FoundOrder,
  Fulfillment,
  FulfillmentLimits,
  OpenOrder,
  OrderUpdate,
  PurchaseOrder,
  Rendered,
  Search,
  Submission,
} from '../../fulfillment.js'
import { listOf, memberOf, NoReply, textOf, unanswered } from '../../session/reply.js'
import { Unreachable } from '../../session/session.js'
import type { Session } from '../../session/session.js'
import { API, ask, codeIn, isGood, NOT_APPROVED, numberOf, readGood, said } from './api.js'
import type { Answer, ChattanoogaSettings } from './api.js'
import { listOrders, listShipments, SHIPMENTS_A_PAGE } from './lists.js'
import type { Listed, Shipped } from './lists.js'
import { bareLicense, payloadOf } from './payload.js'
import { refusalOf } from './refusals.js'

/** News are asked for by POs with commas between them, so that no PO can hold one. */
export const PO: FulfillmentLimits['po'] = { max: 24, chars: /[\x20-\x2b\x2d-\x7e]/ }

export const LIMITS: FulfillmentLimits = {
  po: PO,
  sendTimeout: 75 * SECOND,
  // How soon the list shows an order is not known: only after this is it taken for absent.
  visibilityLag: HOUR,
  updatesEvery: 30 * MINUTE,
}

/** Milliseconds for a question about a license: the order itself needs the rest of its time. */
const LICENSE_TIMEOUT = 15 * SECOND

/** The connector; limits are others where a simulator answers. */
export function chattanoogaOrders(limits: FulfillmentLimits = LIMITS): Fulfillment {
  return { recovery: 'lookup', limits, preview, askDealer, submit, find, updates }
}

/** Asks for one item. Throws an Unreachable that says why nothing is known. */
export async function checkLogin(session: Session): Promise<CheckOutcome> {
  try {
    const answer = await ask(session, { method: 'GET', path: 'items?page=1&per_page=1' })
    if (answer.status === 403) throw new Unreachable(NOT_APPROVED)
    // Without its words: what is said here is logged.
    if (!isGood(answer)) throw new Unreachable(`HTTP ${answer.status}`)
    if (!Array.isArray(memberOf(answer.body, 'items')))
      throw new Unreachable('the reply has no list of items')
    return 'valid'
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    if (error.isLoginRefused) return 'invalid'
    throw new Unreachable(error.message, { cause: error })
  }
}

function preview(order: PurchaseOrder, settings: ChattanoogaSettings): Rendered[] {
  const { default_shipping_method: method } = settings
  const license =
    order.ffl === null || order.shipToStore ? null : licensePath(order.ffl.licenseNumber)
  const headers = { authorization: `Basic ${String(settings.api_sid)}:<MD5 of the token>` }
  return [
    ...(license === null ? [] : [{ what: `GET ${API}${license}`, headers, body: '' }]),
    {
      what: `POST ${API}orders`,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(payloadOf(order, method)),
    },
  ]
}

const licensePath = (license: string) =>
  `federal-firearms-licenses/${encodeURIComponent(bareLicense(license))}`

async function submit(session: Session, order: PurchaseOrder): Promise<Submission> {
  session.signal.throwIfAborted()
  const { default_shipping_method: method } = session.settings as ChattanoogaSettings
  const refusal = await refusedDealer(session, order)
  if (refusal) return refusal
  try {
    const body = JSON.stringify(payloadOf(order, method))
    return outcomeOf(await ask(session, { method: 'POST', path: 'orders', body }), order)
  } catch (error) {
    return unanswered(error)
  }
}

/** Asks about the dealer before anything is ordered: whatever comes of it, nothing was sent. */
async function refusedDealer(session: Session, order: PurchaseOrder): Promise<Submission | null> {
  if (order.ffl === null || order.shipToStore) return null
  try {
    const { takes, onFile, reason } = await askDealer(session, order)
    if (takes === false || onFile === false) return { outcome: 'rejected', reason }
    if (takes === null || onFile === null) throw new NoReply(reason, { mayHaveArrived: false })
    return null
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    return unanswered(
      new NoReply(`whether the dealer's license is on file cannot be asked: ${error.message}`, {
        ...error,
        mayHaveArrived: false,
      }),
    )
  }
}

/** Whether the license is on file, and whether its dealer takes drop shipments. Throws a NoReply. */
async function askDealer(session: Session, { ffl }: PurchaseOrder): Promise<DealerAnswer> {
  if (ffl === null) throw new NoReply('the order goes to no dealer', { mayHaveArrived: false })
  const path = licensePath(ffl.licenseNumber)
  const answer = await ask(session, { method: 'GET', path, answerTimeout: LICENSE_TIMEOUT })
  if (answer.status === 404 && codeIn(answer.body) !== null)
    return {
      takes: null,
      onFile: false,
      reason: said(`Chattanooga does not know the license of ${ffl.name}`, answer.body),
    }
  const licenses = memberOf(readGood(answer), 'federal_firearms_licenses')
  const license: unknown = Array.isArray(licenses) ? licenses[0] : undefined
  const isKnown = !(Array.isArray(licenses) && licenses.length === 0)
  const onFile = isKnown ? flagIn(license, 'on_file_flag') : false
  const isOptedOut = flagIn(license, 'drop_ship_opted_out_flag')
  const takes = isOptedOut === null ? null : !isOptedOut
  return { takes, onFile, reason: reasonFor(ffl.name, { takes, onFile }) }
}

function reasonFor(name: string, { takes, onFile }: Omit<DealerAnswer, 'reason'>): string {
  if (onFile === false)
    return (
      `Chattanooga has no copy of the license of ${name} on file: have the dealer send ` +
      'them one, or choose another dealer'
    )
  if (takes === false)
    return `${name} takes no drop shipments of Chattanooga: choose another dealer`
  return takes === null || onFile === null
    ? 'the reply does not say whether'
    : `Chattanooga has the license of ${name} on file`
}

/** Null for what is no flag. */
function flagIn(value: unknown, member: string): boolean | null {
  const flag = memberOf(value, member)
  if (flag === true || flag === 1 || flag === '1') return true
  return flag === false || flag === 0 || flag === '0' ? false : null
}

/** What was ordered is told as a list of one order with its number. */
function outcomeOf(answer: Answer, order: PurchaseOrder): Submission {
  const { body } = answer
  if (!isGood(answer) || body === null) return refusalOf(answer)
  const orders = readGood(answer)['orders']
  const told = listOf(orders)
  const [first] = told
  const number = numberOf(first)
  const unknown = (reason: string): Submission => ({ outcome: 'unknown', reason })
  if (number === null) return unknown('the reply has no number of an order')
  if (told.length > 1)
    return unknown(
      `the reply tells of ${told.length} orders: ${told.map((one) => numberOf(one) ?? '?').join(', ')}`,
    )
  const po = textOf(memberOf(first, 'purchase_order_number'))
  return po === null || isSamePo(po, order.po)
    ? { outcome: 'accepted', number }
    : unknown(`the reply tells of an order ${number} with another PO`)
}

/** The list of orders has those that were not shipped yet: what is not in it is not there. */
async function find(session: Session, order: PurchaseOrder): Promise<Search> {
  session.signal.throwIfAborted()
  try {
    const listed = await listOrders(session, order.takenAt)
    return {
      outcome: 'answered',
      orders: listed.filter((one) => mayBe(one, order)).map(foundFrom),
    }
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    return { outcome: 'unreachable', reason: error.message }
  }
}

const foundFrom = ({ status: _status, ...found }: Listed): FoundOrder => found

/** What comes of it, the engine judges. */
const mayBe = ({ po, clientRef }: Listed, order: PurchaseOrder) =>
  isSamePo(po, order.po) || clientRef?.toUpperCase() === order.clientRef.toUpperCase()

/** Lists may show a PO in capitals, without its dashes, and cut off. */
function isSamePo(shown: string, ours: string): boolean {
  const [a, b] = [bare(shown), bare(ours)]
  if (a === '' || b === '') return shown.trim() === ours.trim() && ours.trim() !== ''
  return b.startsWith(a) || a.startsWith(b)
}
const bare = (text: string) => text.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')

/** Parcels of the orders that are open, then what the list of all orders tells. */
async function* updates(
  session: Session,
  since: number,
  open: readonly OpenOrder[],
): AsyncGenerator<OrderUpdate> {
  session.signal.throwIfAborted()
  const placedAt = new Map(open.flatMap((order) => timesOf(order)))
  const pos = [...new Set(open.map(({ po }) => po))]
  // What is told without a day is of the day of the order: the same news have the same time.
  const timeOf = ({ number, po }: Pick<OrderUpdate, 'number' | 'po'>) =>
    placedAt.get(`number ${number}`) ?? placedAt.get(`PO ${po}`) ?? session.now()
  for (let at = 0; at < pos.length; at += SHIPMENTS_A_PAGE)
    for (const shipped of await listShipments(session, pos.slice(at, at + SHIPMENTS_A_PAGE)))
      if (shipped.parcels.length > 0) yield shipmentOf(shipped, timeOf(shipped))
  const oldest = Math.min(since, ...placedAt.values())
  for (const { status, placedAt: at, ...listed } of await listOrders(session, oldest)) {
    const known = statusOf(status)
    yield { ...listed, at: at ?? timeOf(listed), ...(known && { status: known }) }
  }
}

const timesOf = ({ number, po, placedAt }: OpenOrder): [string, number][] => [
  [`number ${number}`, placedAt],
  [`PO ${po}`, placedAt],
]

function shipmentOf({ number, po, parcels }: Shipped, placedAt: number): OrderUpdate {
  const [day] = parcels.flatMap(({ shippedOn }) => shippedOn ?? []).sort()
  return {
    number,
    po,
    at: day === undefined ? placedAt : Date.parse(`${day}T18:00:00Z`),
    // What was not shipped with it, nobody tells.
    status: 'Fulfilled',
    parcels: [...parcels],
  }
}

/** Only what can mean one thing alone: whether it tells any of this is not known. */
function statusOf(status: string | null): OrderStatus | null {
  const text = (status ?? '').toLowerCase().replaceAll(/[^a-z]/g, '')
  if (text === 'cancelled' || text === 'canceled') return 'Cancelled'
  return text === 'backordered' || text === 'backorder' ? 'Backordered' : null
}
