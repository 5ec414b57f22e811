/** Orders by a document: as a file in a folder, or as a message. */
import { DAY, HOUR, MINUTE, SECOND } from '../../core/clock.js'
import { dropOrder, isSameOrder, waitingOrder } from '../dropped-order.js'
import type {
  FoundOrder,
  Fulfillment,
  FulfillmentLimits,
  OrderUpdate,
  Paperwork,
  PurchaseOrder,
  Rendered,
  Search,
  Submission,
} from '../fulfillment.js'
import { NoReply, unanswered } from '../session/reply.js'
import type { Session } from '../session/session.js'
import { answersSince, CLOCKS_DIFFER, foundIn, newsIn } from './answers.js'
import { withFiles } from './connections.js'
import type { FilesConnection } from './connections.js'
import type { Connection, Orders, Template } from './schema.js'
import { fillPlace, fillSettings, fillText, writeOrder } from './template.js'

type Settings = Readonly<Record<string, unknown>>
type Connections = Readonly<Record<string, Connection>>

/** Until then nothing can have come of an earlier send: it is the first, or none has left. */
const FIRST_SENDS = MINUTE

/**
 * What can be found again is known by its items and its ZIP, so an acknowledgement has to tell
 * them; without, an order of which nobody knows whether it arrived is left to a person.
 */
const isFindable = ({ by, answers = [] }: Orders): boolean =>
  by === 'file' &&
  answers.some(
    ({ tells, columns: { item, ordered, zip } }) =>
      tells === 'acknowledgement' &&
      item !== undefined &&
      ordered !== undefined &&
      zip !== undefined,
  )

/** The connector of a document that takes orders. */
export function documentOrders(orders: Orders, connections: Connections): Fulfillment {
  const limits: FulfillmentLimits = {
    po: { max: orders.po.max, chars: charsOf(orders.po.chars ?? 'A-Za-z0-9._-') },
    // Two files of one PO have one name: each looks before it is written whether the other is there.
    concurrency: 1,
    sendTimeout: 75 * SECOND,
    visibilityLag: isFindable(orders) ? 4 * HOUR : DAY,
    updatesEvery: 30 * MINUTE,
  }
  const answers = orders.answers ?? []
  return {
    recovery: isFindable(orders) ? 'file' : 'one_shot',
    numberComesLater: true,
    limits,
    preview: (order, settings) => [rendered(orders, order, settings)],
    ...(orders.licenseCopies && { paperwork: paperworkBy(orders.licenseCopies) }),
    submit: (session, order) => submit(orders, connections, session, order),
    ...(isFindable(orders) && {
      find: (session: Session, order: PurchaseOrder) => find(orders, connections, session, order),
    }),
    async *updates(session, since, open): AsyncGenerator<OrderUpdate> {
      session.signal.throwIfAborted()
      const from = Math.min(since, ...open.map((one) => one.placedAt - CLOCKS_DIFFER))
      const told = await answersSince(session, connections, answers, {
        since: from,
        onlyWhole: true,
      })
      yield* newsIn(told.answers, open)
      if (told.fault) throw told.fault
    },
  }
}

const paperworkBy =
  ({ to, businessDays }: NonNullable<Orders['licenseCopies']>) =>
  ({ ffl, shipToStore, po }: PurchaseOrder, settings: Settings): Paperwork | null =>
    ffl === null || shipToStore
      ? null
      : {
          what: `a copy of the license ${ffl.licenseNumber} of ${ffl.name}, if they have none`,
          recipients: [fillSettings(to, settings)].filter((address) => address !== ''),
          subject: `License for PO ${po}`,
          businessDays,
        }

/** One character of those that are named; `A-Z`, `a-z` and `0-9` are ranges, and nothing else is. */
function charsOf(text: string): RegExp {
  const ranges = ['A-Z', 'a-z', '0-9'].filter((range) => text.includes(range))
  const rest = ranges.reduce((left, range) => left.replace(range, ''), text)
  return new RegExp(`[${ranges.join('')}${rest.replaceAll(/[\]\\^-]/g, '\\$&')}]`)
}

const kindOf = ({ shipToStore, ffl }: PurchaseOrder) =>
  shipToStore ? 'store' : ffl === null ? 'customer' : 'dealer'

/** Throws for what cannot be written. */
function rendered(orders: Orders, order: PurchaseOrder, settings: Settings): Rendered {
  const template = orders.templates[kindOf(order)]
  if (!template) throw new Error(`an order to a ${kindOf(order)} is not described by the document`)
  const body = textFor(template, order, settings)
  return orders.by === 'file'
    ? { what: `STOR ${placeOf(orders, order, settings)}`, headers: {}, body }
    : {
        what: `MAIL ${fillText(orders.to, order, settings)}`,
        headers: {
          subject: fillText(orders.subject, order, settings),
          ...(orders.attachment && { attachment: fillText(orders.attachment, order, settings) }),
        },
        body,
      }
}

/** The file of an order. */
const placeOf = ({ path }: FileOrders, { po }: PurchaseOrder, settings: Settings): string =>
  fillPlace(path, settings, { po })

function textFor(template: Template, order: PurchaseOrder, settings: Settings): string {
  const isFirearm = order.lines.some(({ fflRequired }) => fflRequired)
  if (isFirearm && order.ffl === null && !order.shipToStore)
    throw new Error('a firearm needs the license of the dealer that receives it')
  return writeOrder(template, order, settings)
}

async function submit(
  orders: Orders,
  connections: Connections,
  session: Session,
  order: PurchaseOrder,
): Promise<Submission> {
  session.signal.throwIfAborted()
  if (!orders.templates[kindOf(order)])
    return {
      outcome: 'review',
      reason: `its document does not say how an order to a ${kindOf(order)} is written`,
    }
  let what: Rendered
  try {
    what = rendered(orders, order, session.settings)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { outcome: 'rejected', reason: `${reason}; nothing was sent` }
  }
  try {
    return orders.by === 'mail'
      ? await sendByMail(session, what)
      : await drop(orders, connections, session, { order, what })
  } catch (error) {
    return unanswered(error)
  }
}

type FileOrders = Extract<Orders, { by: 'file' }>

async function drop(
  orders: FileOrders,
  connections: Connections,
  session: Session,
  { order, what }: { order: PurchaseOrder; what: Rendered },
): Promise<Submission> {
  const file = { path: placeOf(orders, order, session.settings), text: what.body }
  const found =
    isFindable(orders) && session.now() - order.takenAt > FIRST_SENDS
      ? await answersTo(orders, connections, session, order)
      : []
  const connection = connections[orders.connection] as FilesConnection
  return withFiles(session, connection, (files) =>
    dropOrder(files, file, async () => found.some((one) => isSameOrder(one, order))),
  )
}

/** Sends the message of an order, once. Nothing tells whether somebody reads it. */
async function sendByMail(
  session: Session,
  { what, headers, body }: Rendered,
): Promise<Submission> {
  const outcome = await session.mail({
    to: what.replace(/^MAIL /, ''),
    subject: headers['subject'] ?? '',
    ...(headers['attachment'] === undefined
      ? { text: body }
      : {
          text: 'The order is attached.',
          attachment: { name: headers['attachment'], content: Buffer.from(body, 'latin1') },
        }),
  })
  switch (outcome.outcome) {
    case 'sent':
      return { outcome: 'accepted', number: null }
    case 'refused':
      return { outcome: 'rejected', reason: outcome.reason }
    case 'not_sent':
    case 'unknown':
      return { outcome: outcome.outcome, reason: outcome.reason }
  }
}

async function answersTo(
  { answers = [] }: FileOrders | Orders,
  connections: Connections,
  session: Session,
  { po, takenAt }: PurchaseOrder,
): Promise<FoundOrder[]> {
  const found = await answersSince(session, connections, answers, {
    since: takenAt - CLOCKS_DIFFER,
    onlyWhole: false,
  })
  // It may be in the file that cannot be read.
  if (found.fault) throw new NoReply(found.fault.message, { mayHaveArrived: false })
  return foundIn(found.answers).filter((one) => one.po.toUpperCase() === po.toUpperCase())
}

async function find(
  orders: Orders,
  connections: Connections,
  session: Session,
  order: PurchaseOrder,
): Promise<Search> {
  session.signal.throwIfAborted()
  if (orders.by !== 'file') return { outcome: 'answered', orders: [] }
  try {
    const file = {
      path: placeOf(orders, order, session.settings),
      text: rendered(orders, order, session.settings).body,
    }
    const connection = connections[orders.connection] as FilesConnection
    const own = await withFiles(session, connection, (files) => waitingOrder(files, file, order))
    return {
      outcome: 'answered',
      orders: [...own, ...(await answersTo(orders, connections, session, order))],
    }
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    return { outcome: 'unreachable', reason: error.message }
  }
}
