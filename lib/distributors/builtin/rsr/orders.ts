/** How purchase orders go to RSR by its API, and what is heard of them: by PO, item for item. */
import { MINUTE, SECOND } from '../../../core/clock.js'
import { askEach } from '../../ask-each.js'
import { planFirearmParts } from '../../firearm-parts.js'
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
import { NoReply, textOf, unanswered } from '../../session/reply.js'
import type { Session } from '../../session/session.js'
import { accountFor, accountsOf, isByFiles } from './accounts.js'
import type { RsrSettings } from './accounts.js'
import { API, ask, bodyOf, DONE, HEADERS, inLowerCase, PLACE } from './api.js'
import type { Reply } from './api.js'
import { answerReason, UNKNOWN_LICENSE } from './error-codes.js'
import { fileOrders, updatesByFiles } from './file-orders.js'
import { parcelsIn } from './parcels.js'
import { payloadOf } from './payload.js'

export const LIMITS: FulfillmentLimits = {
  po: { max: 22, chars: /[A-Za-z0-9 -]/ },
  needsConsumerPhone: 'ffl',
  sendTimeout: 75 * SECOND,
  // How soon an order is shown is not known.
  visibilityLag: 10 * MINUTE,
  updatesEvery: 30 * MINUTE,
}

/** Parts of a shop that orders by files have their own names, so that they stay what they are. */
const FILES = 'by-file-'

/** The connector; limits are others where a simulator answers. */
export function rsrOrders(limits: FulfillmentLimits = LIMITS): Fulfillment {
  const files = fileOrders(limits)
  return {
    recovery: 'lookup',
    limits,
    plan: (lines, settings) =>
      planFirearmParts(lines).map((part) =>
        isByFiles(settings) ? { ...part, name: FILES + part.name } : part,
      ),
    inLane: (lane) => (lane.startsWith(FILES) ? files : undefined),
    preview,
    askDealer,
    submit,
    find,
    updates,
    asksByOrder: true,
    endsWithShipment: true,
  }
}

function preview(order: PurchaseOrder, settings: RsrSettings): Rendered[] {
  const payload = payloadOf(order, settings)
  if ('fault' in payload) throw new Error(payload.fault)
  return [
    {
      what: `POST ${API}${PLACE}`,
      headers: HEADERS,
      body: bodyOf(accountFor(settings, order), payload.body),
    },
  ]
}

/** `check-catalog` with where it would go: a code about the license stands beside the item's. */
async function askDealer(session: Session, order: PurchaseOrder): Promise<DealerAnswer> {
  const { ffl, shipTo, lines } = order
  if (ffl === null) throw new NoReply('the order goes to no dealer', { mayHaveArrived: false })
  const accounts = accountsOf(session.settings)
  // It is asked with the main account, where there is one.
  const account = accounts[1] ?? accountFor(session.settings, { shipToStore: false })
  const reply = await ask(session, account, 'check-catalog', {
    LookupBy: 'S',
    PartNum: lines[0]!.distsku,
    ShipAddress: shipTo.address1,
    ShipCity: shipTo.city,
    ShipState: shipTo.state.toUpperCase(),
    ShipZip: shipTo.zip,
    ShipFFL: ffl.licenseNumber.replaceAll('-', ''),
  })
  const code = textOf(reply.member('FFLErrCode')) ?? ''
  if (code === '')
    return { takes: null, onFile: null, reason: 'RSR does not say anything of the license' }
  if (Number(code) === 0)
    return { takes: true, onFile: true, reason: `RSR has the license of ${ffl.name}` }
  return {
    takes: false,
    onFile: code === UNKNOWN_LICENSE ? false : null,
    reason: answerReason(code, textOf(reply.member('FFLErrMsg')) ?? ''),
  }
}

async function submit(session: Session, order: PurchaseOrder): Promise<Submission> {
  session.signal.throwIfAborted()
  const payload = payloadOf(order, session.settings)
  if ('fault' in payload) return { outcome: 'rejected', reason: payload.fault }
  try {
    const account = accountFor(session.settings, order)
    return submissionOf(await ask(session, account, PLACE, payload.body))
  } catch (error) {
    return unanswered(error)
  }
}

/** Only what RSR numbered is an order, and only what it neither did nor numbered is refused. */
function submissionOf(reply: Reply): Submission {
  const number = numberOf(reply)
  if (reply.code === DONE)
    return number === null
      ? { outcome: 'unknown', reason: 'it was accepted without a number' }
      : { outcome: 'accepted', number }
  const reason = answerReason(reply.code, reply.says)
  if (number !== null)
    return { outcome: 'unknown', reason: `refused, and numbered ${number}: ${reason}` }
  return reply.says === ''
    ? { outcome: 'unknown', reason: `RSR answers ${reply.code}, and not why` }
    : { outcome: 'rejected', reason }
}

/** What an order is asked for by besides its PO. */
function numberOf({ member }: Reply): string | null {
  const number = textOf(member('WebRef')) ?? textOf(member('ConfirmResp'))
  return number === '0' ? null : number
}

/** How RSR says that it has no such order is not known: by its words. */
const NONE = /not found|no (such |matching )?order|does not exist|no record/i

async function find(session: Session, order: PurchaseOrder): Promise<Search> {
  session.signal.throwIfAborted()
  try {
    const reply = await checkOrder(session, order, order.po)
    if (reply.code === DONE)
      return { outcome: 'answered', orders: [foundIn(reply, order.po)], showsOne: true }
    if (NONE.test(reply.says)) return { outcome: 'answered', orders: [] }
    return { outcome: 'unreachable', reason: answerReason(reply.code, reply.says) }
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    return { outcome: 'unreachable', reason: error.message }
  }
}

/** An order is asked for with the account that it was placed with. */
const checkOrder = (
  session: Session,
  order: { shipToStore: boolean },
  PONum: string,
  WebRef?: string,
): Promise<Reply> =>
  ask(session, accountFor(session.settings, order), 'check-order', {
    PONum,
    ...(WebRef !== undefined && { WebRef }),
  })

function foundIn(reply: Reply, asked: string): FoundOrder {
  const items = itemsOf(reply)
  const lines = items.flatMap((item) => {
    const distsku = textOf(item.get('partnum'))
    const qty = Number(textOf(item.get('wishqty')) ?? Number.NaN)
    return distsku !== null && Number.isSafeInteger(qty) && qty > 0 ? [{ distsku, qty }] : []
  })
  return {
    number: numberOf(reply),
    po: textOf(reply.member('PONum')) ?? asked,
    // Some of the items prove nothing.
    ...(lines.length > 0 && lines.length === items.length && { lines }),
  }
}

const itemsOf = ({ member }: Reply): ReadonlyMap<string, unknown>[] => {
  const items = member('Items')
  return Array.isArray(items) ? items.map(inLowerCase) : []
}

async function* updates(
  session: Session,
  since: number,
  open: readonly OpenOrder[],
): AsyncGenerator<OrderUpdate> {
  session.signal.throwIfAborted()
  const [byFile, byApi] = [true, false].map((isFile) =>
    open.filter(({ lane }) => lane.startsWith(FILES) === isFile),
  ) as [OpenOrder[], OpenOrder[]]
  // A shop that changed over to the API may still wait for answers to its files.
  if (isByFiles(session.settings) || byFile.length > 0)
    yield* updatesByFiles(session, since, byFile)
  yield* askEach(session, byApi, async (order) => {
    const reply = await checkOrder(session, order, order.po, order.number ?? undefined)
    // Not shown yet, or no longer.
    return reply.code === DONE ? updateOf(session, order, reply) : []
  })
}

function updateOf(session: Session, open: OpenOrder, reply: Reply): OrderUpdate[] {
  const items = itemsOf(reply)
  const told = items.map((item) => parcelsIn(item))
  const parcels = [...new Map(told.flat().map((one) => [one.trackingNumber, one])).values()]
  const number = numberOf(reply)
  if (parcels.length === 0 && (open.number !== null || number === null)) return []
  const { po, lines } = foundIn(reply, open.po)
  const isShipped = items.length > 0 && told.every((parts) => parts.length > 0)
  // What is pending may still leave: a later answer says so.
  const status = isShipped ? 'Fulfilled' : parcels.length > 0 ? 'Partially Fulfilled' : null
  const days = parcels.flatMap(({ shippedOn }) => shippedOn ?? [])
  return [
    {
      number,
      po,
      at: Math.min(
        session.now(),
        ...(days.length > 0 ? [Date.parse(`${days.sort().at(-1)}T17:00:00Z`)] : []),
      ),
      ...(status !== null && { status }),
      ...(parcels.length > 0 && { parcels }),
      ...(lines && { lines }),
    },
  ]
}
