/** What is heard of orders that were placed: their parcels, by the number of each. */
import { MINUTE } from '../../../core/clock.js'
import { askEach } from '../../ask-each.js'
import { writtenDay } from '../../days.js'
import type { OpenOrder, OrderUpdate, Parcel } from '../../fulfillment.js'
import { NoReply } from '../../session/reply.js'
import type { Session } from '../../session/session.js'
import { trackingUrl } from '../../tracking-url.js'
import { loginFor, loginsOf } from './accounts.js'
import { ask, DONE, logIn, mapsIn, textIn } from './api.js'
import type { AnsweredMap } from './soap.js'

/** Asks for each order by its number, with the account that placed it. */
export async function* updates(
  session: Session,
  _since: number,
  open: readonly OpenOrder[],
): AsyncGenerator<OrderUpdate> {
  session.signal.throwIfAborted()
  const numbered = open.filter(({ number }) => number !== null)
  yield* askEach(session, numbered, async ({ number, ...order }) =>
    number === null ? [] : newsOf(session, { ...order, number }),
  )
  if (numbered.length > 0) return
  const [login] = loginsOf(session.settings)
  if (!login) throw new NoReply('the credentials are not configured', { mayHaveArrived: false })
  await logIn(session, login)
}

type Numbered = OpenOrder & { readonly number: string }

async function newsOf(session: Session, order: Numbered): Promise<OrderUpdate[]> {
  const { number, po, placedAt, status } = order
  const info = await askFor(session, order, 'getOrderInfo')
  const shown = textIn(info, 'purchaseOrderNumber') ?? ''
  if (!isSamePo(shown, po))
    throw new NoReply(`getOrderInfo shows order ${number} with another PO than ours`)
  const tracking = await askFor(session, order, 'getTrackingInfo')
  const at = shippedAt(info, placedAt, session.now())
  const told = mapsIn(tracking, 'trackingNumbers')
  const parcels = told.flatMap((one) => parcelIn(one, writtenDay(dayShipped(info))) ?? [])
  if (parcels.length === 0) return []
  const isWhole = told.length >= Number(textIn(tracking, 'numberOfShipments') ?? 0)
  // What was short when it was taken is not among them.
  const isShort = status === 'Partially Fulfilled' || status === 'Not Fulfilled'
  return [{ number, po, at, ...(isWhole && !isShort && { status: 'Fulfilled' }), parcels }]
}

async function askFor(
  session: Session,
  order: Numbered,
  operation: 'getOrderInfo' | 'getTrackingInfo',
): Promise<AnsweredMap> {
  const login = loginFor(session.settings, order)
  const { code, told } = await ask(session, login, ['orders', operation], {
    ordernumber: order.number,
  })
  // Also 21: the order is not of this account.
  if (code !== DONE)
    throw new NoReply(`${operation} of order ${order.number} answers return code ${code}`)
  return told
}

/** A PO may be shown in capitals, and cut off. */
function isSamePo(shown: string, ours: string): boolean {
  const [a, b] = [shown.trim().toUpperCase(), ours.trim().toUpperCase()]
  return a !== '' && b.startsWith(a)
}

const dayShipped = (info: AnsweredMap): string =>
  textIn(info, 'datePicked') ?? textIn(info, 'orderShipDate') ?? ''

/** The same each time that it is asked for: noon of the day, or right after it was placed. */
function shippedAt(info: AnsweredMap, placedAt: number, now: number): number {
  const day = writtenDay(dayShipped(info))
  const noon = day === null ? 0 : Date.parse(`${day}T18:00:00Z`)
  return Math.max(placedAt + MINUTE, Math.min(now, noon))
}

function parcelIn(row: AnsweredMap, shippedOn: string | null): Parcel | null {
  const trackingNumber = textIn(row, 'trackingNumber') ?? ''
  // Words may stand there until there is a number.
  if (!/^(?=.*\d)[\w-]{8,40}$/.test(trackingNumber)) return null
  const company = textIn(row, 'shipCompany')
  const url = textIn(row, 'url')
  return {
    trackingNumber,
    company,
    method: textIn(row, 'shipVia'),
    shippedOn,
    url: url !== null && /^https?:\/\//i.test(url) ? url : trackingUrl(company, trackingNumber),
    // What has a number has left; what becomes of it, nobody tells.
    status: 'in_transit',
  }
}
