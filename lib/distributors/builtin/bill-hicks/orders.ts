/** How purchase orders go to Bill Hicks as files, and what its answers tell of them. */
import { DAY, MINUTE, SECOND } from '../../../core/clock.js'
import { dropOrder, isSameOrder, waitingOrder } from '../../dropped-order.js'
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
import type { FtpFiles } from '../../session/ftp.js'
import { NoReply, textOf, textsOf, unanswered } from '../../session/reply.js'
import type { Session } from '../../session/session.js'
import { foldersOf, withFiles } from './account.js'
import type { BillHicksSettings } from './account.js'
import { newsOf, ordersIn } from './news.js'
import { orderFile, PO_LIMITS } from './order-file.js'
import type { OrderFile } from './order-file.js'
import { answersSince, answersTo, listAnswers } from './outbox.js'

export const LIMITS: FulfillmentLimits = {
  po: PO_LIMITS,
  // Two files of one PO have one name: each looks before it is written whether the other is there.
  concurrency: 1,
  sendTimeout: 75 * SECOND,
  // How soon an order is acknowledged is not known.
  visibilityLag: 10 * MINUTE,
  updatesEvery: 30 * MINUTE,
}

/** Their clock, or the zone that it tells the time of, may differ from ours by so much. */
const CLOCKS_DIFFER = DAY
/** Until then nothing can have come of an earlier send: it is the first, or none has left. */
const FIRST_SENDS = MINUTE

/** The connector; limits are others where a simulator answers. */
export function billHicksOrders(
  limits: FulfillmentLimits = LIMITS,
): Fulfillment<BillHicksSettings> {
  return {
    recovery: 'file',
    limits,
    preview,
    paperwork,
    submit,
    find,
    updates,
    endsWithShipment: true,
  }
}

/** How long an order waits for the license is not known: it is wanted at once. */
function paperwork({ ffl, shipToStore, po }: PurchaseOrder, settings: BillHicksSettings) {
  if (ffl === null || shipToStore) return null
  return {
    what: `a copy of the license ${ffl.licenseNumber} of ${ffl.name}, if they have none`,
    recipients: textsOf(settings.ffl_recipient_emails),
    subject: `${textOf(settings.customer_number) ?? ''} - ${po}`,
    businessDays: 1,
  }
}

function preview(order: PurchaseOrder, settings: BillHicksSettings): Rendered[] {
  const { name, text } = orderFile(order, settings)
  return [{ what: `STOR ${foldersOf(settings).orders}/${name}`, headers: {}, body: text }]
}

async function submit(
  session: Session<BillHicksSettings>,
  order: PurchaseOrder,
): Promise<Submission> {
  session.signal.throwIfAborted()
  try {
    const file = fileOf(order, session.settings)
    if ('fault' in file) return { outcome: 'rejected', reason: file.fault }
    const { orders, answers } = foldersOf(session.settings)
    const named = { path: `${orders}/${file.name}`, text: file.text }
    return await withFiles(session, (files) =>
      dropOrder(
        files,
        named,
        async () =>
          session.now() - order.takenAt > FIRST_SENDS &&
          (await answersFrom(files, answers, order, session.now())).some((found) =>
            isSameOrder(found, order),
          ),
      ),
    )
  } catch (error) {
    return unanswered(error)
  }
}

function fileOf(order: PurchaseOrder, settings: BillHicksSettings): OrderFile | { fault: string } {
  try {
    return orderFile(order, settings)
  } catch (error) {
    if (error instanceof NoReply) throw error
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

/** Nothing that answers an order is older than the order. */
async function answersFrom(
  files: FtpFiles,
  folder: string,
  { takenAt }: PurchaseOrder,
  now: number,
): Promise<FoundOrder[]> {
  const listed = await listAnswers(files, folder)
  return ordersIn(await answersSince(files, listed, { since: takenAt - CLOCKS_DIFFER, now }), now)
}

const isSamePo = (a: string, b: string) => a.toUpperCase() === b.toUpperCase()

async function find(session: Session<BillHicksSettings>, order: PurchaseOrder): Promise<Search> {
  session.signal.throwIfAborted()
  const { orders, answers } = foldersOf(session.settings)
  try {
    const file = fileOf(order, session.settings)
    if ('fault' in file) return { outcome: 'answered', orders: [] }
    return await withFiles(session, async (files): Promise<Search> => {
      const named = { path: `${orders}/${file.name}`, text: file.text }
      return {
        outcome: 'answered',
        orders: [
          ...(await waitingOrder(files, named, order)),
          ...(await answersFrom(files, answers, order, session.now())).filter(({ po }) =>
            isSamePo(po, order.po),
          ),
        ],
      }
    })
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    return { outcome: 'unreachable', reason: error.message }
  }
}

async function* updates(
  session: Session<BillHicksSettings>,
  since: number,
  open: readonly OpenOrder[],
): AsyncGenerator<OrderUpdate> {
  session.signal.throwIfAborted()
  const now = session.now()
  const { answers } = foldersOf(session.settings)
  yield* newsOf(
    await withFiles(session, (files) => answersTo(files, answers, { open, since, now })),
    now,
  )
}
