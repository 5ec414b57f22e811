/** What is heard of orders that were placed: what was shipped of them, and their parcels. */
import { MINUTE } from '../../../core/clock.js'
import type { OpenOrder, OrderUpdate, Parcel } from '../../fulfillment.js'
import type { Session } from '../../session/session.js'
import { askEach } from '../../ask-each.js'
import { centralDay, writtenDay } from '../../days.js'
import { trackingUrl } from '../../tracking-url.js'
import { SportsSouthAccount } from './api.js'
import type { Row } from './api.js'
import { detailsOf, headerAt, headersOf, isSameReference, statusOf } from './lookup.js'

/** Asks for each order by itself: where it stands by its number, and its parcels by its PO. */
export async function* updates(
  session: Session,
  _since: number,
  open: readonly OpenOrder[],
): AsyncGenerator<OrderUpdate> {
  session.signal.throwIfAborted()
  const account = new SportsSouthAccount(session)
  yield* askEach(session, open, (order) => newsOf(session, account, order))
  if (open.length === 0) await account.rows('users', 'GetEmailPrefs', {})
}

async function newsOf(
  session: Session,
  account: SportsSouthAccount,
  { number: known, po, clientRef, placedAt }: OpenOrder,
): Promise<OrderUpdate[]> {
  const number = known ?? (await numberOf(account, clientRef))
  if (number === null) return []
  const asked = { number, reference: clientRef }
  const details = await detailsOf(account, asked)
  const [ordered, shipped] = [sum(details.map(({ qty }) => qty)), sum(details.map(unitsShipped))]
  if (shipped === 0) return (await isRefused(account, asked)) ? [refusal(number, po, placedAt)] : []
  // Asked for last: what has been shipped by then is in it, beside a stranger's of the same PO.
  const rows = await account.rowsIfAny('invoices', 'GetTrackingByPo', { PONumber: po })
  const shipments = rows.filter((row) => isSamePo(row['PONBR'] ?? '', po))
  const at = shippedAt(shipments, placedAt, session.now())
  return [
    // By the number, which is this order's alone.
    { number, po, at, status: shipped < ordered ? 'Partially Fulfilled' : 'Fulfilled' },
    ...(isSomebodysBefore(shipments, placedAt) ? [] : parcelsOf(shipments, at)),
  ]
}

/** The number of what was placed under our reference. */
async function numberOf(account: SportsSouthAccount, reference: string): Promise<string | null> {
  const headers = await headersOf(account, { number: null, reference })
  const ours = headers.filter((header) => isSameReference(header.reference, reference))
  return ours.find((header) => statusOf(header) !== 'W')?.number ?? null
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)
const unitsShipped = ({ qty, shipped }: { qty: number; shipped: number }) => Math.min(qty, shipped)

/** What was placed, and then could not be: it is not told why. */
async function isRefused(
  account: SportsSouthAccount,
  asked: { number: string; reference: string },
): Promise<boolean> {
  const header = await headerAt(account, asked)
  return header !== null && statusOf(header) === 'E'
}

/** Nobody tells when. News of a shipment, which would be later, take its place. */
const refusal = (number: string, po: string, placedAt: number): OrderUpdate => ({
  number,
  po,
  at: placedAt,
  status: 'Not Fulfilled',
})

/** The same each time that it is asked for: noon of the last day, or right after it was placed. */
function shippedAt(shipments: readonly Row[], placedAt: number, now: number): number {
  const days = shipments.flatMap((row) => writtenDay(row['SHPDTE'] ?? '') ?? [])
  const noons = days.map((day) => Date.parse(`${day}T18:00:00Z`))
  return Math.max(placedAt + MINUTE, Math.min(now, Math.max(0, ...noons)))
}

/**
 * Parcels are told by the PO alone, which may stand on somebody else's order too: they are handed
 * on without a number, so that the engine believes them only under a PO that nobody else has. Of
 * two invoices of one PO nobody can tell whose they are, so neither is told.
 */
function parcelsOf(shipments: readonly Row[], at: number): OrderUpdate[] {
  const invoices = new Set(shipments.map(({ INVNO = '' }) => INVNO))
  const parcels = shipments.flatMap((row) => parcelIn(row) ?? [])
  const [first] = shipments
  return parcels.length === 0 || invoices.size > 1
    ? []
    : [{ number: null, po: first!['PONBR']!, at, parcels }]
}

/** Who has shipped under this PO before it was ours may do so again. */
function isSomebodysBefore(shipments: readonly Row[], placedAt: number): boolean {
  const placedOn = centralDay(placedAt)
  return shipments.some((row) => (writtenDay(row['SHPDTE'] ?? '') ?? placedOn) < placedOn)
}

function parcelIn({ TRACKNO = '', SERVICE = '', SHPDTE = '' }: Row): Parcel | null {
  // Words such as PENDING stand there until there is a number.
  if (!/^(?=.*\d)[\w-]{8,40}$/.test(TRACKNO)) return null
  const [company, method] = serviceOf(SERVICE, TRACKNO)
  return {
    trackingNumber: TRACKNO,
    company,
    method,
    shippedOn: writtenDay(SHPDTE),
    url: trackingUrl(company, TRACKNO),
    // What is invoiced has left; what becomes of it, nobody tells.
    status: 'in_transit',
  }
}

/** `UPS Ground`: carrier and method; only UPS has numbers that begin with 1Z. */
function serviceOf(
  service: string,
  trackingNumber: string,
): [company: string | null, method: string | null] {
  const [, company, method] =
    /^(fedex|ups|usps|dhl|ontrac|spee-?dee)\b\s*(.*)$/i.exec(service) ?? []
  const rest = company === undefined ? service : method!
  return [company ?? (trackingNumber.startsWith('1Z') ? 'UPS' : null), rest === '' ? null : rest]
}

/** A PO may be shown in capitals, and cut off; what comes of that, the engine judges. */
function isSamePo(shown: string, ours: string): boolean {
  const [a, b] = [shown.toUpperCase(), ours.toUpperCase()]
  return a !== '' && b.startsWith(a)
}
