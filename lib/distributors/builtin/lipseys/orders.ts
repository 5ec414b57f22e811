/** How purchase orders go to Lipsey's, and what is heard of them: shipments, day by day. */
import { DAY, HOUR, MINUTE, SECOND } from '../../../core/clock.js'
import { planFirearmParts } from '../../firearm-parts.js'
import type {
  FoundOrder,
  Fulfillment,
  FulfillmentLimits,
  OrderUpdate,
  Parcel,
  PurchaseOrder,
  Rendered,
  Search,
  Submission,
} from '../../fulfillment.js'
import type { CheckOutcome } from '../../distributor.js'
import { Unreachable } from '../../session/session.js'
import type { Session } from '../../session/session.js'
import { trackingUrl } from '../../tracking-url.js'
import { listOf, memberOf, NoReply, textOf, textsOf, unanswered } from '../../session/reply.js'
import { API, LipseysAccount, LOGIN } from './api.js'
import type { Login, Reply } from './api.js'
import { daysBetween } from './days.js'
import type { ReportDay } from './days.js'

/** The settings that this connector reads. */
export interface LipseysSettings {
  readonly api_user?: unknown
  readonly api_password?: unknown
  readonly store_user?: unknown
  readonly store_password?: unknown
  readonly ffl_recipient_emails?: unknown
}

export const LIMITS: FulfillmentLimits = {
  po: { max: 30 },
  needsConsumerPhone: 'ffl',
  sendTimeout: 75 * SECOND,
  // An order is seen first when it is shipped.
  visibilityLag: DAY,
  updatesEvery: 30 * MINUTE,
}

/** The connector; limits are others where a simulator answers. */
export function lipseysOrders(limits: FulfillmentLimits = LIMITS): Fulfillment {
  return {
    recovery: 'one_shot',
    numberComesLater: true,
    limits,
    plan: planFirearmParts,
    preview,
    paperwork,
    submit,
    find,
    updates,
  }
}

/** Asks for a token with each login that is set. Throws an Unreachable that says why. */
export async function checkLogins(session: Session): Promise<CheckOutcome> {
  for (const login of loginsOf(session.settings)) {
    try {
      await new LipseysAccount(session, login).logIn()
    } catch (error) {
      if (!(error instanceof NoReply)) throw error
      if (error.isLoginRefused) return 'invalid'
      throw new Unreachable(error.message, { cause: error })
    }
  }
  return 'valid'
}

/** The answer says whether it is needed; that it is not is no harm. Until then an order is held. */
function paperwork({ ffl, shipToStore, po }: PurchaseOrder, settings: LipseysSettings) {
  if (ffl === null || shipToStore) return null
  return {
    what: `a signed copy of the license ${ffl.licenseNumber} of ${ffl.name}, if they have none`,
    recipients: textsOf(settings.ffl_recipient_emails),
    subject: `License for PO ${po}`,
    businessDays: 5,
  }
}

function preview(order: PurchaseOrder, settings: LipseysSettings): Rendered[] {
  const { path, body } = payloadOf(order)
  const { email: Email, password: Password } = loginFor(settings, order)
  const headers = { 'content-type': 'application/json' }
  return [
    {
      what: `POST ${API}${LOGIN}`,
      headers,
      body: JSON.stringify({ Email, Password }),
    },
    {
      what: `POST ${API}${path}`,
      headers: { ...headers, token: '<the token of that answer>' },
      body: JSON.stringify(body),
    },
  ]
}

async function submit(session: Session, order: PurchaseOrder): Promise<Submission> {
  session.signal.throwIfAborted()
  const { path, body } = payloadOf(order)
  try {
    const reply = await accountFor(session, order).post(path, body)
    return reply.success ? { outcome: 'accepted', number: numberIn(reply) } : refused(reply)
  } catch (error) {
    return unanswered(error)
  }
}

/**
 * Without a reason it is not a refusal that could be told to anybody: it may be some other trouble.
 * With a number something of it was taken.
 */
function refused(reply: Reply): Submission {
  const reason = reply.errors.join('; ')
  const number = numberIn(reply)
  if (number !== null)
    return { outcome: 'unknown', reason: `refused, and numbered ${number}: ${reason}` }
  return reason === ''
    ? { outcome: 'unknown', reason: 'the reply says that it did not succeed, and not why' }
    : { outcome: 'rejected', reason }
}

/** Told as an object or in a list, or not at all: then it comes with the shipment. */
function numberIn({ data }: Reply): string | null {
  const one: unknown = Array.isArray(data) ? data[0] : data
  const number = textOf(memberOf(one, 'orderNumber'))
  return number === '0' ? null : number
}

/** What is posted, and where: to the store, to a dealer, or to a customer. */
export function payloadOf(order: PurchaseOrder): { path: string; body: unknown } {
  const { po, lines, ffl, customer, shipTo } = order
  const Items = lines.map(({ distsku, qty }) => ({ ItemNo: distsku, Quantity: qty, Note: '' }))
  if (order.shipToStore)
    return {
      path: 'order/apiorder',
      body: { PONumber: po, EmailConfirmation: false, DisableEmail: true, Items },
    }
  if (ffl !== null)
    return {
      path: 'order/DropShipFirearm',
      body: {
        // 15 characters, without dashes.
        Ffl: ffl.licenseNumber.replaceAll('-', ''),
        Po: po,
        Name: customer.name,
        Phone: customer.phone ?? '',
        DelayShipping: false,
        DisableEmail: true,
        Items,
      },
    }
  return {
    path: 'order/DropShip',
    body: {
      Warehouse: '',
      PoNumber: po,
      ...addressOf('Billing', customer),
      ...addressOf('Shipping', shipTo),
      MessageForSalesExec: '',
      DisableEmail: true,
      Overnight: false,
      Items,
    },
  }
}

/** States are two letters, and ZIP codes the first five digits. */
function addressOf(
  kind: 'Billing' | 'Shipping',
  { name, address1, address2, city, state, zip }: PurchaseOrder['shipTo'],
): Record<string, string> {
  return {
    [`${kind}Name`]: name,
    [`${kind}AddressLine1`]: address1,
    [`${kind}AddressLine2`]: address2 ?? '',
    [`${kind}AddressCity`]: city,
    [`${kind}AddressState`]: state.toUpperCase(),
    [`${kind}AddressZip`]: zip.slice(0, 5),
  }
}

/** Nothing tells of an order before it is shipped: its day's report, by PO. */
async function find(session: Session, order: PurchaseOrder): Promise<Search> {
  session.signal.throwIfAborted()
  const account = accountFor(session, order)
  try {
    const found = new Map<string, FoundOrder>()
    for (const day of daysBetween(order.takenAt - HOUR, session.now()))
      for (const { number, po, shipName } of await shipmentsOf(account, day))
        if (isSamePo(po, order.po))
          found.set(`${number} ${po}`, { number, po, shipTo: { name: shipName } })
    return { outcome: 'answered', orders: [...found.values()] }
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    return { outcome: 'unreachable', reason: error.message }
  }
}

/** Reports may show a PO in capitals, and cut off; what comes of that, the engine judges. */
function isSamePo(shown: string, ours: string): boolean {
  const [a, b] = [shown.toUpperCase(), ours.toUpperCase()]
  return a !== '' && (b.startsWith(a) || a.startsWith(b))
}

async function* updates(session: Session, since: number): AsyncGenerator<OrderUpdate> {
  session.signal.throwIfAborted()
  const days = daysBetween(since, session.now())
  for (const login of loginsOf(session.settings)) {
    const account = new LipseysAccount(session, login)
    for (const day of days) {
      const at = Math.min(day.noon, session.now())
      for (const shipment of await shipmentsOf(account, day)) yield updateOf(shipment, day, at)
    }
  }
}

function updateOf(
  { number, po, shipName, ...row }: Shipment,
  day: ReportDay,
  at: number,
): OrderUpdate {
  const [company, method] = serviceOf(row.service)
  const parcel: Parcel = {
    trackingNumber: row.trackingNumber,
    company,
    method,
    shippedOn: day.day,
    url: trackingUrl(company, row.trackingNumber),
    // What is reported has left; what becomes of it, nobody tells.
    status: 'in_transit',
  }
  return {
    number,
    po,
    at,
    // What was not shipped with it is told by mail.
    status: 'Fulfilled',
    parcels: [parcel],
    ...(shipName !== '' && { shipTo: { name: shipName } }),
  }
}

/** `FedEx Ground`: carrier and method; a service that names no carrier we know is the method. */
function serviceOf(service: string | null): [company: string | null, method: string | null] {
  const [, company, method] =
    /^(fedex|ups|usps|dhl|ontrac|spee-?dee)\b\s*(.*)$/i.exec(service ?? '') ?? []
  return company === undefined ? [null, service] : [company, method === '' ? null : method!]
}

interface Shipment {
  number: string | null
  po: string
  shipName: string
  trackingNumber: string
  service: string | null
}

/** The parcels that left on a day. Throws a NoReply. */
async function shipmentsOf(account: LipseysAccount, { asked }: ReportDay): Promise<Shipment[]> {
  const { success, errors, data } = await account.post('shipping/oneday', asked)
  // A day without shipments may be told as a failure without a reason.
  if (!success && errors.length > 0)
    throw new NoReply(`the report of ${asked}: ${errors.join('; ')}`, { mayHaveArrived: true })
  return listOf(data).flatMap((row) => {
    const trackingNumber = textOf(memberOf(row, 'trackingNumber'))
    const po = textOf(memberOf(row, 'poNumber')) ?? ''
    const number = textOf(memberOf(row, 'orderNumber'))
    return trackingNumber === null || (po === '' && number === null)
      ? []
      : {
          number,
          po,
          trackingNumber,
          shipName: textOf(memberOf(row, 'shipName')) ?? '',
          service: textOf(memberOf(row, 'shippingService')),
        }
  })
}

const accountFor = (session: Session, order: PurchaseOrder) =>
  new LipseysAccount(session, loginFor(session.settings, order))

/** A shop with one account orders to its store with that. */
function loginFor(settings: LipseysSettings, { shipToStore }: PurchaseOrder): Login {
  const [dropShip, main] = loginsOf(settings)
  return (shipToStore ? main : undefined) ?? dropShip!
}

/** The drop-ship account, then the main one where it is set. */
export function loginsOf(settings: LipseysSettings): Login[] {
  const { api_user, api_password, store_user, store_password } = settings
  const [main, secret] = [textOf(store_user), textOf(store_password)]
  return [
    { email: textOf(api_user) ?? '', password: String(api_password ?? '') },
    ...(main === null || secret === null ? [] : [{ email: main, password: secret }]),
  ]
}
