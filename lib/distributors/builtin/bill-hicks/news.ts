/** What answers tell of orders: committed, short, shipped in which parcels. */
import { DAY, HOUR } from '../../../core/clock.js'
import type { FoundOrder, OrderUpdate, Parcel } from '../../fulfillment.js'
import { carrierOf, leftParcel } from '../../left-parcel.js'
import type { Answer, AnswerItem } from './answer-files.js'
import type { DatedAnswer } from './outbox.js'

/** Hours of a day in UTC at which what happened on it counts as told, where its time is unknown. */
const TOLD_AT = { ack: 15, asn: 16 } as const
/** A day of theirs ends so much later than one in UTC. */
const DAY_THERE = 1.5 * DAY

type Items = Map<string, number>

/** The news in some answers of one account, the oldest first. */
export function* newsOf(answers: readonly DatedAnswer[], now: number): Generator<OrderUpdate> {
  const told = answers
    .map((answer) => ({ answer, at: timeOf(answer, now) }))
    .toSorted((a, b) => a.at - b.at)
  const orders = new Map<string, Progress>()
  // An acknowledgement that is repeated after the goods have left still says what was ordered.
  for (const { answer } of told)
    if (answer.kind === 'ack') order(progressOf(orders, answer), orderedIn(answer))
  for (const { answer, at } of told) {
    const { po, number, shipTo } = answer
    const lines = linesOf(orderedIn(answer))
    const update = { number, po, at, lines, shipTo }
    yield answer.kind === 'ack'
      ? { ...update, ...statusOf(answer) }
      : { ...update, ...shippedBy(answer, progressOf(orders, answer)) }
  }
}

/** An order as far as answers tell of it. */
interface Progress {
  readonly ordered: Items
  /** Units by tracking number and item: a notice that comes twice tells of nothing twice. */
  readonly sent: Map<string, number>
}

function progressOf(orders: Map<string, Progress>, answer: Answer): Progress {
  const key = keyOf(answer)
  const progress = orders.get(key) ?? { ordered: new Map(), sent: new Map() }
  orders.set(key, progress)
  return progress
}

/** A later acknowledgement may be of what was missing alone. */
function order({ ordered }: Progress, items: Items): void {
  for (const [distsku, qty] of items) ordered.set(distsku, Math.max(qty, ordered.get(distsku) ?? 0))
}

const keyOf = ({ po, number, shipTo }: Answer) =>
  JSON.stringify([po.toUpperCase(), number, shipTo.zip.slice(0, 5)])

/** By the day that the answer gives: a file that is put there anew has another time. */
function timeOf({ kind, day, modifiedAt }: DatedAnswer, now: number): number {
  const start = day === null ? NaN : Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(start)) return Math.min(now, modifiedAt ?? now)
  const isOfThatDay = modifiedAt !== null && modifiedAt >= start && modifiedAt < start + DAY_THERE
  return Math.min(now, isOfThatDay ? modifiedAt : start + TOLD_AT[kind] * HOUR)
}

/** An item may stand in several rows: of an acknowledgement with its own units in each. */
function orderedIn({ kind, items }: Answer): Items {
  const units = new Map<string, number>()
  for (const { distsku, ordered } of items) {
    const before = units.get(distsku) ?? 0
    units.set(distsku, kind === 'ack' ? before + ordered : Math.max(before, ordered))
  }
  return units
}

const linesOf = (items: Items) => [...items].map(([distsku, qty]) => ({ distsku, qty }))

const sumOf = (items: readonly AnswerItem[], of: 'ordered' | 'units') =>
  items.reduce((sum, item) => sum + item[of], 0)

function statusOf({ items }: Answer): Pick<OrderUpdate, 'status' | 'reason'> {
  const [ordered, committed] = [sumOf(items, 'ordered'), sumOf(items, 'units')]
  if (committed === 0)
    return { status: 'Not Fulfilled', reason: 'Bill Hicks commits no unit of the order' }
  return { status: committed < ordered ? 'Partially Fulfilled' : 'Submitted' }
}

/** Counts on in what has left. */
function shippedBy(
  answer: Answer,
  { ordered, sent }: Progress,
): Pick<OrderUpdate, 'status' | 'parcels'> {
  const units = new Map<string, number>()
  for (const { distsku, trackingNumber, units: some } of answer.items) {
    const key = JSON.stringify([trackingNumber, distsku])
    units.set(key, (units.get(key) ?? 0) + some)
  }
  for (const [key, some] of units) sent.set(key, Math.max(some, sent.get(key) ?? 0))
  const left = new Map<string, number>()
  for (const [key, some] of sent) {
    const [, distsku] = JSON.parse(key) as [string, string]
    left.set(distsku, (left.get(distsku) ?? 0) + some)
  }
  const isWhole = [...(ordered.size > 0 ? ordered : orderedIn(answer))].every(
    ([distsku, qty]) => (left.get(distsku) ?? 0) >= qty,
  )
  const parcels = parcelsIn(answer)
  if (left.size === 0 || [...left.values()].every((some) => some === 0)) return {}
  return { status: isWhole ? 'Fulfilled' : 'Partially Fulfilled', parcels }
}

function parcelsIn({ day, items }: Answer): Parcel[] {
  const parcels = new Map<string, Parcel>()
  for (const { trackingNumber, carrier } of items)
    if (trackingNumber !== '' && !parcels.has(trackingNumber))
      parcels.set(
        trackingNumber,
        leftParcel(trackingNumber, day, {
          carrier: companyOf(carrier) ?? carrierOf(trackingNumber),
          method: carrier || null,
        }),
      )
  return [...parcels.values()]
}

/** `UPSG` is a way of UPS's. */
function companyOf(carrier: string): string | null {
  const known = ['UPS', 'USPS', 'FedEx', 'OnTrac'].find((name) =>
    carrier.toUpperCase().startsWith(name.toUpperCase()),
  )
  return known ?? (carrier || null)
}

/** Every order that answers show, once. */
export function ordersIn(answers: readonly DatedAnswer[], now: number): FoundOrder[] {
  const found = new Map<string, FoundOrder>()
  for (const kind of ['ack', 'asn'] as const)
    for (const answer of answers) {
      const key = keyOf(answer)
      if (answer.kind !== kind || found.has(key)) continue
      const { number, po, shipTo } = answer
      const lines = linesOf(orderedIn(answer))
      found.set(key, { number, po, lines, shipTo, placedAt: timeOf(answer, now) })
    }
  return [...found.values()]
}
