/** How purchase orders go to RSR as files, and what its answers tell: what is committed and sent. */
import { DAY, HOUR } from '../../../core/clock.js'
import type {
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
import { leftParcel } from '../../left-parcel.js'
import { NoReply, textOf, unanswered } from '../../session/reply.js'
import type { Session } from '../../session/session.js'
import { accountFor, accountsOf } from './accounts.js'
import type { Account, RsrSettings } from './accounts.js'
import type { Confirmation, ItemCount, OrderErrors, Shipment } from './answer-files.js'
import { answersTo, INBOX, OUTBOX, readAnswers, withFiles } from './files.js'
import type { Answer } from './files.js'
import { easternDay, fileKey, orderFile } from './order-file.js'
import type { OrderFile } from './order-file.js'

/** Firearms go by air, as RSR sends them by itself. */
const METHOD = { firearms: '2Day', others: 'Grnd' } as const

/** The connector of orders that go out as files. */
export function fileOrders(limits: FulfillmentLimits): Fulfillment {
  return { recovery: 'file', limits, preview, submit, find }
}

function preview(order: PurchaseOrder, settings: RsrSettings): Rendered[] {
  const file = fileOf(order, accountFor(settings, order), settings)
  if ('fault' in file) throw new Error(file.fault)
  return [{ what: `STOR ${INBOX}/${file.name}`, headers: {}, body: file.text }]
}

/** Written once, under its own name: whether RSR reads a name that is written and renamed is not known. */
async function submit(session: Session, order: PurchaseOrder): Promise<Submission> {
  session.signal.throwIfAborted()
  try {
    const account = accountFor(session.settings, order)
    const file = fileOf(order, account, session.settings)
    if ('fault' in file) return { outcome: 'rejected', reason: file.fault }
    return await withFiles(session, account, async (files): Promise<Submission> => {
      // RSR takes a number once a day: a second file would be a second order, or none.
      const [errors] = answersTo(keyOf(file))
      const isThere =
        (await files.size(`${INBOX}/${file.name}`)) ?? (await files.size(`${OUTBOX}/${errors}`))
      if (isThere !== null) return { outcome: 'duplicate', number: null }
      await files.upload(`${INBOX}/${file.name}`, Buffer.from(file.text, 'latin1'))
      return { outcome: 'accepted', number: null }
    })
  } catch (error) {
    return unanswered(error)
  }
}

/** The same for every send: its day is that on which the order was taken in. */
function fileOf(
  order: PurchaseOrder,
  { user }: Account,
  { order_email }: RsrSettings,
): OrderFile | { fault: string } {
  try {
    return orderFile(order, {
      account: user,
      vendorEmail: textOf(order_email) ?? '',
      carrier: 'UPS',
      method: order.fflRequired ? METHOD.firearms : METHOD.others,
    })
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

/** `99901-20261122-0007` */
const keyOf = ({ name }: OrderFile) => name.replace(/^EORD-|\.txt$/g, '')

async function find(session: Session, order: PurchaseOrder): Promise<Search> {
  session.signal.throwIfAborted()
  try {
    const account = accountFor(session.settings, order)
    const file = fileOf(order, account, session.settings)
    if ('fault' in file) return { outcome: 'answered', orders: [] }
    return await withFiles(session, account, async (files): Promise<Search> => {
      const waiting = await files.read(`${INBOX}/${file.name}`, 1_048_576)
      const answers = await readAnswers(files, {
        since: easternDay(order.takenAt - DAY),
        asked: answersTo(keyOf(file)),
      })
      return {
        outcome: 'answered',
        orders: [
          // Byte for byte ours: RSR has it, and has not read it yet.
          ...(waiting?.toString('latin1') === file.text
            ? [{ number: null, po: order.po, clientRef: order.clientRef }]
            : []),
          ...answers.flatMap((answer) => foundIn(answer, order, keyOf(file))),
        ],
      }
    })
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    return { outcome: 'unreachable', reason: error.message }
  }
}

/** What an answer shows of an order: one that names its file is an answer to it and nothing else. */
function foundIn({ file, content }: Answer, order: PurchaseOrder, ours: string): FoundOrder[] {
  const { po, clientRef } = order
  switch (content.kind) {
    case 'errors':
      // Read, whatever became of it: that is news. A repetition may be one of another's file.
      return content.orders
        .filter((errors) => errors.po === po)
        .map((errors) => ({
          number: null,
          po,
          ...(errors.file === ours && !errors.isDuplicate && { clientRef }),
        }))
    case 'confirmation':
      return content.orders
        .filter((confirmed) => confirmed.po === po)
        .map(({ number, items }) => ({
          number,
          po,
          lines: orderedIn(items),
          ...(file === ours && { clientRef }),
        }))
    case 'shipment':
      return content.orders
        .filter((shipped) => shipped.po === po)
        .map(({ number, parcels }) => ({
          number,
          po,
          lines: orderedIn(parcels.flatMap(({ items }) => items)),
        }))
    case 'incomplete':
      return []
  }
}

/** Several parcels may have units of one item, which was ordered once. */
function orderedIn(items: readonly ItemCount[]): { distsku: string; qty: number }[] {
  const units = new Map<string, number>()
  for (const { distsku, ordered } of items)
    units.set(distsku, Math.max(ordered, units.get(distsku) ?? 0))
  return [...units].map(([distsku, qty]) => ({ distsku, qty }))
}

/** News in the answers since a time, of every account that has files. */
export async function* updatesByFiles(
  session: Session,
  since: number,
  open: readonly OpenOrder[],
): AsyncGenerator<OrderUpdate> {
  for (const account of accountsOf(session.settings)) {
    if (account.filePassword === null) continue
    const ours = new Map(
      open
        .filter((order) => accountFor(session.settings, order).user === account.user)
        .map((order) => [fileKey(order, account.user), order] as const),
    )
    const answers = await withFiles(session, account, (files) =>
      readAnswers(files, {
        since: easternDay(since - DAY),
        asked: [...ours.keys()].flatMap(answersTo),
      }),
    )
    yield* newsOf(answers, session.now(), ours)
  }
}

/** Orders that are asked about, by the key of their file. */
type Ours = ReadonlyMap<string, OpenOrder>

/** Hours of a day in UTC at which news of a kind count as told: each after what goes before it. */
const TOLD_AT = { errors: 14, confirmation: 15, shipment: 16 } as const

/** The news in some answers of one account, the oldest first. */
function* newsOf(answers: readonly Answer[], now: number, ours: Ours): Generator<OrderUpdate> {
  const shipped = new Map<string, Map<string, number>>()
  for (const { day, file, content } of answers) {
    if (content.kind === 'incomplete') continue
    const at = Math.min(now, startOf(day) + TOLD_AT[content.kind] * HOUR)
    const sent = ours.get(file)
    const refOf = (po: string) => (sent?.po === po ? { clientRef: sent.clientRef } : {})
    if (content.kind === 'errors')
      for (const errors of content.orders) yield* refusalIn(errors, at, ours)
    else if (content.kind === 'confirmation')
      for (const confirmed of content.orders)
        yield { ...confirmationIn(confirmed), at, ...refOf(confirmed.po) }
    else
      for (const shipment of content.orders) {
        const units = shipped.get(shipment.number) ?? new Map<string, number>()
        shipped.set(shipment.number, units)
        yield { ...shipmentIn(shipment, units), at }
      }
  }
}

const startOf = (day: string) =>
  Date.parse(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T00:00:00Z`)

/** A refusal of one of our files; that RSR has an order already is none. */
function* refusalIn(errors: OrderErrors, at: number, ours: Ours): Generator<OrderUpdate> {
  const { po, file, isAccepted, isDuplicate, isCancelled, reasons } = errors
  const sent = file === null ? undefined : ours.get(file)
  if (isAccepted || isDuplicate || sent?.po !== po) return
  yield {
    number: null,
    clientRef: sent.clientRef,
    po,
    at,
    status: isCancelled ? 'Cancelled' : 'Not Fulfilled',
    reason: reasons.join('; '),
  }
}

const sumOf = (items: readonly ItemCount[], of: 'ordered' | 'units') =>
  items.reduce((sum, item) => sum + item[of], 0)

function confirmationIn({ number, po, items }: Confirmation): Omit<OrderUpdate, 'at'> {
  const [ordered, committed] = [sumOf(items, 'ordered'), sumOf(items, 'units')]
  return {
    number,
    po,
    lines: orderedIn(items),
    status:
      committed === 0 && ordered > 0
        ? 'Not Fulfilled'
        : committed < ordered
          ? 'Partially Fulfilled'
          : 'Submitted',
  }
}

/** `units` are those of each item that earlier answers told as shipped, and counts on. */
function shipmentIn(
  { number, po, parcels }: Shipment,
  units: Map<string, number>,
): Omit<OrderUpdate, 'at'> {
  const items = parcels.flatMap((parcel) => parcel.items)
  for (const { distsku, units: sent } of items) units.set(distsku, (units.get(distsku) ?? 0) + sent)
  const lines = orderedIn(items)
  const isWhole = lines.every(({ distsku, qty }) => (units.get(distsku) ?? 0) >= qty)
  return {
    number,
    po,
    lines,
    status: isWhole ? 'Fulfilled' : 'Partially Fulfilled',
    parcels: parcels
      .filter(({ trackingNumber }) => trackingNumber !== '')
      .map(({ trackingNumber, shippedOn, carrier, method }) =>
        leftParcel(trackingNumber, shippedOn, { ...(carrier !== null && { carrier }), method }),
      ),
  }
}
