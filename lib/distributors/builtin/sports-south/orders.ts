/**
 * How purchase orders go to Sports South: a header that gets a number, lines, and a submit, which
 * alone has an effect.
 *
 * What an outcome may say at each step follows from that, and from what the order engine makes of
 * it (lib/orders/engine/rules):
 *
 * - Before the header is posted, nothing of the order is there: `not_sent`. The question whether the
 *   dealer accepts transfers changes nothing.
 * - From the header on, whatever has no answer that can be read is `unknown`, never `not_sent`,
 *   although an open order has no effect: the engine then asks by the number and goes on with it,
 *   where `not_sent` would have it begin anew and leave one more open order behind. A header whose
 *   own answer is lost does leave one: nobody knows its number, it is never submitted, and whether
 *   Sports South finds it by our reference alone is not known.
 * - `keepStage` is awaited before anything is added, so there is no submit of which the number is
 *   not on the disk.
 * - `false` to a line, to the instructions or to the submit is Sports South's own no. In the send
 *   that began the order it is deleted then, lest somebody in the store submits it by hand: where
 *   `DeleteOpenOrder` says that it did, nothing is left, and the order is `rejected`. Where it does
 *   not, it is `unknown`: the engine finds it open and tries once more.
 * - A send that goes on with an order, which an earlier send may have submitted, deletes nothing. An
 *   order that is still shown as open minutes later proves that the earlier submit never arrived;
 *   one that is not shown proves nothing (see `find`), and would be left to a person. Its `rejected`
 *   is no last word either: the engine waits until two looks have shown the order still open, or
 *   with an error, and only then believes it.
 * - A submit may be repeated: it is of one number, which is one order.
 */
import { MINUTE } from '../../../core/clock.js'
import type { CheckOutcome } from '../../distributor.js'
import type {
  DealerAnswer,
  Fulfillment,
  FulfillmentLimits,
  OrderSession,
  PurchaseOrder,
  PurchaseOrderLine,
  Rendered,
  Submission,
} from '../../fulfillment.js'
import { Unreachable } from '../../session/session.js'
import type { Session } from '../../session/session.js'
import { NoReply, textsOf } from '../../session/reply.js'
import { API, formOf, HEADERS, loginOf, SportsSouthAccount, textOf } from './api.js'
import type { Params, SportsSouthSettings } from './api.js'
import { detailsOf, find, headerAt, statusOf } from './lookup.js'
import type { Detail } from './lookup.js'
import { updates } from './news.js'
import { contentFault, detailOf, headerOf, instructionsOf, LONGEST_PO } from './payloads.js'

export const LIMITS: FulfillmentLimits = {
  po: { max: LONGEST_PO },
  needsConsumerPhone: 'always',
  // Several calls, each of which it may take its time for.
  sendTimeout: 5 * MINUTE,
  visibilityLag: 2 * MINUTE,
  updatesEvery: 30 * MINUTE,
}

/** The connector; limits are others where a simulator answers. */
export function sportsSouthOrders(limits: FulfillmentLimits = LIMITS): Fulfillment {
  return {
    recovery: 'staged',
    limits,
    preview,
    paperwork,
    askDealer,
    submit,
    find,
    updates,
    asksByOrder: true,
    endsWithShipment: true,
  }
}

/** Asks for what any account may ask. Throws an Unreachable that says why it has no answer. */
export async function checkLogin(session: Session): Promise<CheckOutcome> {
  try {
    const rows = await new SportsSouthAccount(session).rows('users', 'GetEmailPrefs', {})
    if (rows.length > 0) return 'valid'
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    if (error.isLoginRefused) return 'invalid'
    if (!error.isQuoting) throw new Unreachable(error.message, { cause: error })
  }
  throw new Unreachable('GetEmailPrefs answers something else than what was asked for')
}

/** What the number of an answer stands for, before there is one. */
const NUMBER = '<number>'

/** As the guide of Sports South asks: within three working days, with this subject. */
function paperwork({ ffl, shipToStore, po }: PurchaseOrder, settings: SportsSouthSettings) {
  if (ffl === null || shipToStore) return null
  return {
    what: `a copy of the license ${ffl.licenseNumber} of ${ffl.name}`,
    recipients: textsOf(settings.ffl_recipient_emails),
    subject: `${textOf(settings.api_customer_number)} - ${po}`,
    businessDays: 3,
  }
}

function preview(order: PurchaseOrder, settings: SportsSouthSettings): Rendered[] {
  const fault = contentFault(order)
  if (fault !== null) throw new Error(fault)
  const instructions = instructionsOf(order)
  const calls: (readonly [operation: string, params: Params])[] = [
    ...(instructions
      ? [['TransferDocumentsRequired', { FFL: instructions.license }] as const]
      : []),
    ['AddHeader', headerOf(order)],
    ...(instructions
      ? [['AddShipInstructions', { SystemOrderNumber: NUMBER, ...instructions.params }] as const]
      : []),
    ...order.lines.map(
      (line) => ['AddDetail', { OrderNumber: NUMBER, ...detailOf(line) }] as const,
    ),
    ['Submit', { OrderNumber: NUMBER }],
  ]
  return calls.map(([operation, params]) => ({
    what: `POST ${API}orders.asmx/${operation}`,
    headers: HEADERS,
    body: formOf({ ...loginOf(settings), ...params }).replaceAll(
      formOf({ n: NUMBER }).slice(2),
      NUMBER,
    ),
  }))
}

/** `FFLAcceptsTransfer`: until when the license is valid, `0` for a dealer that refuses, or UNKNOWN. */
async function askDealer(session: Session, { ffl }: PurchaseOrder): Promise<DealerAnswer> {
  if (ffl === null) throw new NoReply('the order goes to no dealer', { mayHaveArrived: false })
  const params = { FFL: ffl.licenseNumber }
  const word = await new SportsSouthAccount(session).word('orders', 'FFLAcceptsTransfer', params)
  if (word === '0')
    return { takes: false, onFile: null, reason: `${ffl.name} accepts no transfers` }
  if (word.toUpperCase() === 'UNKNOWN')
    return {
      takes: null,
      onFile: false,
      reason: `Sports South does not know the license of ${ffl.name}: mail them a copy`,
    }
  const isDate = /^\d{1,2}\/\d{1,2}\/\d{4}$/.test(word)
  return isDate
    ? { takes: true, onFile: true, reason: `${ffl.name} accepts transfers, until ${word}` }
    : { takes: null, onFile: null, reason: `FFLAcceptsTransfer answers "${word}"` }
}

async function submit(session: OrderSession, order: PurchaseOrder): Promise<Submission> {
  session.signal.throwIfAborted()
  const fault = contentFault(order)
  if (fault !== null) return { outcome: 'rejected', reason: `${fault}; nothing was sent` }
  const account = new SportsSouthAccount(session)
  if (session.stage !== null) return resume(new Staged(account, order, session.stage))
  const begun = await begin(account, order)
  if ('outcome' in begun) return begun
  await session.keepStage(begun.number)
  return orUnknown(() => build(new Staged(account, order, begun.number)))
}

/** An order that has a number. */
class Staged {
  readonly account: SportsSouthAccount
  readonly order: PurchaseOrder
  readonly number: string

  constructor(account: SportsSouthAccount, order: PurchaseOrder, number: string) {
    this.account = account
    this.order = order
    this.number = number
  }

  /** What it is asked by. */
  get asked(): { number: string; reference: string } {
    return { number: this.number, reference: this.order.clientRef }
  }
}

/** Makes the header. Returns its number, or how the send ended. */
async function begin(
  account: SportsSouthAccount,
  order: PurchaseOrder,
): Promise<{ number: string } | Submission> {
  try {
    const refusal = await refusalOfDealer(account, order)
    if (refusal) return refusal
  } catch (error) {
    return notSent(error)
  }
  try {
    return { number: await account.number('orders', 'AddHeader', headerOf(order)) }
  } catch (error) {
    return error instanceof NoReply && error.mayHaveArrived ? unknown(error) : notSent(error)
  }
}

/** Whether the dealer takes the transfer has to be asked before anything is begun. */
async function refusalOfDealer(
  account: SportsSouthAccount,
  order: PurchaseOrder,
): Promise<Submission | null> {
  const { license } = instructionsOf(order) ?? {}
  if (license === undefined) return null
  const params = { FFL: license }
  const word = await account.word('orders', 'TransferDocumentsRequired', params)
  if (word === 'N')
    return {
      outcome: 'rejected',
      reason: `the dealer ${license} accepts no transfers (TransferDocumentsRequired: N)`,
    }
  if (word === 'E')
    return { outcome: 'not_sent', reason: 'TransferDocumentsRequired: E, to be asked again' }
  return null
}

/** All that follows the header, in the send that made it. */
async function build(staged: Staged): Promise<Submission> {
  const { account, order } = staged
  const refusal =
    (await refusalOfInstructions(staged)) ?? (await refusalOfLines(staged, order.lines))
  if (refusal !== null) return withdraw(staged, refusal)
  if (await account.flag('orders', 'Submit', { OrderNumber: staged.number }))
    return { outcome: 'accepted', number: staged.number }
  const not = await refusalOfSubmit(staged)
  return typeof not === 'string' ? withdraw(staged, not) : not
}

/** Goes on with what an earlier send has left; see above why it deletes nothing. */
function resume(staged: Staged): Promise<Submission> {
  return orUnknown(async () => {
    const { account, order, number } = staged
    const header = await headerAt(account, staged.asked)
    if (!header)
      return { outcome: 'unknown', reason: `order ${number} was begun, and is not shown` }
    const status = statusOf(header)
    if (status === 'D' || status === 'R') return { outcome: 'accepted', number }
    if (status === 'E') return { outcome: 'rejected', reason: ERROR }
    const missing = linesMissing(order.lines, await detailsOf(account, staged.asked))
    if (missing === null) return { outcome: 'unknown', reason: OTHER_LINES }
    const refusal = (await refusalOfInstructions(staged)) ?? (await refusalOfLines(staged, missing))
    if (refusal !== null) return { outcome: 'rejected', reason: refusal }
    // A line of the earlier send may have arrived after we looked: twice is not what was ordered.
    const whole = linesMissing(order.lines, await detailsOf(account, staged.asked))
    if (whole === null || whole.length > 0) return { outcome: 'unknown', reason: OTHER_LINES }
    if (await account.flag('orders', 'Submit', { OrderNumber: number }))
      return { outcome: 'accepted', number }
    const not = await refusalOfSubmit(staged)
    return typeof not === 'string' ? { outcome: 'rejected', reason: not } : not
  })
}

const ERROR = 'Sports South could not place the order (STATUS E)'
const OTHER_LINES = 'the order that was begun holds other lines than were sent'

/** Lines that are not there yet; null where there is anything else. */
function linesMissing(
  lines: readonly PurchaseOrderLine[],
  there: readonly Detail[],
): PurchaseOrderLine[] | null {
  const left = [...there]
  const missing = lines.filter(({ distsku, qty }) => {
    const place = left.findIndex(
      (line) => line.qty === qty && line.distsku.toUpperCase() === distsku.trim().toUpperCase(),
    )
    if (place >= 0) left.splice(place, 1)
    return place < 0
  })
  return left.length > 0 ? null : missing
}

/** Given once more where they are not taken at first, as the guide of Sports South asks. */
async function refusalOfInstructions({ account, order, number }: Staged): Promise<string | null> {
  const { params } = instructionsOf(order) ?? {}
  if (!params) return null
  const given = { SystemOrderNumber: number, ...params }
  const isTaken =
    (await account.flag('orders', 'AddShipInstructions', given)) ||
    (await account.flag('orders', 'AddShipInstructions', given))
  return isTaken
    ? null
    : "Sports South did not take the dealer's license and the telephone number " +
        '(AddShipInstructions: false, twice)'
}

async function refusalOfLines(
  { account, number }: Staged,
  lines: readonly PurchaseOrderLine[],
): Promise<string | null> {
  for (const line of lines) {
    const params = { OrderNumber: number, ...detailOf(line) }
    if (!(await account.flag('orders', 'AddDetail', params)))
      return `Sports South did not take item ${line.distsku}, ${line.qty} of it (AddDetail: false)`
  }
  return null
}

/** What the header shows once the submit was answered with `false`. */
async function refusalOfSubmit(staged: Staged): Promise<string | Submission> {
  const header = await headerAt(staged.account, staged.asked)
  const status = header && statusOf(header)
  if (status === 'E') return `${ERROR} and answers Submit: false`
  if (status === 'W')
    return 'Sports South did not place the order (Submit: false); it does not say why'
  return {
    outcome: 'unknown',
    reason: `Submit: false, and the order is ${header ? 'shown as placed' : 'not shown'}`,
  }
}

/** Deletes what has no effect yet. Only where that is confirmed, nothing is left of it. */
async function withdraw({ account, number }: Staged, refusal: string): Promise<Submission> {
  const isGone = await account
    .flag('orders', 'DeleteOpenOrder', { OrderNumber: number })
    .catch((error: unknown) => {
      if (error instanceof NoReply) return false
      throw error
    })
  return isGone
    ? { outcome: 'rejected', reason: refusal }
    : { outcome: 'unknown', reason: `${refusal}; the open order ${number} could not be deleted` }
}

async function orUnknown(work: () => Promise<Submission>): Promise<Submission> {
  try {
    return await work()
  } catch (error) {
    return unknown(error)
  }
}

function unknown(error: unknown): Submission {
  if (!(error instanceof NoReply)) throw error
  return { outcome: 'unknown', reason: error.message }
}

function notSent(error: unknown): Submission {
  if (!(error instanceof NoReply)) throw error
  const { message: reason, retryAfter } = error
  return { outcome: 'not_sent', reason, ...(retryAfter !== undefined && { retryAfter }) }
}
