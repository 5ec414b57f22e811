/** How purchase orders go to Hicks Inc. as files, and what its folders tell of them. */
import { HOUR, MINUTE, SECOND } from '../../../core/clock.js'
import { dropOrder, isSameOrder, waitingOrder } from '../../dropped-order.js'
import type { OrderFile } from '../../dropped-order.js'
import type {
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
import { NoReply, unanswered } from '../../session/reply.js'
import type { Session } from '../../session/session.js'
import { withFiles } from './account.js'
import type { HicksIncSettings } from './account.js'
import { answersSince, CLOCKS_DIFFER, foundFrom, keyOf, trackedIn } from './answers.js'
import type { Answer } from './answers.js'
import { orderFile, PO_LIMITS } from './order-file.js'

export const LIMITS: FulfillmentLimits = {
  po: PO_LIMITS,
  // Two files of one PO have one name: each looks before it is written whether the other is there.
  concurrency: 1,
  sendTimeout: 75 * SECOND,
  // Files wait while Hicks pauses: from 18:00 to 18:15, and from 22:50 to 1:50 in Central time.
  visibilityLag: 4 * HOUR,
  updatesEvery: 30 * MINUTE,
}

/** Until then nothing can have come of an earlier send: it is the first, or none has left. */
const FIRST_SENDS = MINUTE

/** The connector; limits are others where a simulator answers. */
export function hicksIncOrders(limits: FulfillmentLimits = LIMITS): Fulfillment<HicksIncSettings> {
  return { recovery: 'file', limits, preview, paperwork, submit, find, updates }
}

/** Whether they have a copy is not known: it is wanted at once. */
function paperwork({ ffl, shipToStore, po }: PurchaseOrder) {
  if (ffl === null || shipToStore) return null
  const name = ffl.licenseNumber.replaceAll('-', '')
  return {
    what:
      `a copy of the license ${ffl.licenseNumber} of ${ffl.name}, if they have none, by FTP: ` +
      `an image as th/fflonly/${name} with the ending of its kind`,
    recipients: [],
    subject: `License for PO ${po}`,
    businessDays: 1,
  }
}

function preview(order: PurchaseOrder, settings: HicksIncSettings): Rendered[] {
  const { path, text } = orderFile(order, settings)
  return [{ what: `STOR ${path}`, headers: {}, body: text }]
}

async function submit(
  session: Session<HicksIncSettings>,
  order: PurchaseOrder,
): Promise<Submission> {
  session.signal.throwIfAborted()
  try {
    const file = fileOf(order, session.settings)
    if ('fault' in file) return { outcome: 'rejected', reason: file.fault }
    return await withFiles(session, (files) =>
      dropOrder(
        files,
        file,
        async () =>
          session.now() - order.takenAt > FIRST_SENDS &&
          (await answersTo(files, session, order)).some((answer) =>
            isSameOrder(foundFrom(answer), order),
          ),
      ),
    )
  } catch (error) {
    return unanswered(error)
  }
}

function fileOf(order: PurchaseOrder, settings: HicksIncSettings): OrderFile | { fault: string } {
  try {
    return orderFile(order, settings)
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

/** Answers that can change no more are not read again. */
const knownOf = ({ settings, login }: Session<HicksIncSettings>) =>
  login(String(settings.ftp_user), String(settings.ftp_password)).known

/** Nothing that answers an order is older than the order. */
async function answersTo(
  files: FtpFiles,
  session: Session<HicksIncSettings>,
  { po, takenAt }: Pick<PurchaseOrder, 'po' | 'takenAt'>,
): Promise<Answer[]> {
  const answers = await answersSince(files, knownOf(session), {
    since: takenAt - CLOCKS_DIFFER,
    now: session.now(),
  })
  return answers.filter((answer) => answer.po.toUpperCase() === po.toUpperCase())
}

async function find(session: Session<HicksIncSettings>, order: PurchaseOrder): Promise<Search> {
  session.signal.throwIfAborted()
  try {
    const file = fileOf(order, session.settings)
    if ('fault' in file) return { outcome: 'answered', orders: [] }
    return await withFiles(session, async (files): Promise<Search> => {
      const answers = await answersTo(files, session, order)
      return {
        outcome: 'answered',
        orders: [
          ...(await waitingOrder(files, file, order)),
          ...new Map(answers.map((answer) => [keyOf(answer), foundFrom(answer)])).values(),
        ],
      }
    })
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    return { outcome: 'unreachable', reason: error.message }
  }
}

/**
 * News of orders by what they hold. The list of parcels names a PO alone: where several orders have
 * it, nobody knows whose they are.
 */
async function* updates(
  session: Session<HicksIncSettings>,
  since: number,
  open: readonly OpenOrder[],
): AsyncGenerator<OrderUpdate> {
  session.signal.throwIfAborted()
  const now = session.now()
  const from = Math.min(since, ...open.map(({ placedAt }) => placedAt - CLOCKS_DIFFER))
  const { answers, tracked } = await withFiles(session, async (files) => ({
    answers: await answersSince(files, knownOf(session), { since: from, now }),
    tracked: await trackedIn(files),
  }))
  const contents = new Map<string, Set<string>>()
  for (const answer of answers)
    if (answer.problem === null) {
      const po = answer.po.toUpperCase()
      contents.set(po, (contents.get(po) ?? new Set()).add(keyOf(answer)))
    }
  for (const { po, lines, shipTo, at, problem } of answers) {
    const update = { number: null, po, at: Math.min(now, at ?? now), lines: [...lines], shipTo }
    if (problem !== null) {
      yield { ...update, status: 'Not Fulfilled', reason: problem }
      continue
    }
    yield { ...update, status: 'Submitted' }
    const parcels = contents.get(po.toUpperCase())!.size === 1 && tracked.get(po.toUpperCase())
    // What was not shipped with it, nobody tells.
    if (parcels)
      yield {
        ...update,
        number: parcels.number,
        at: update.at + MINUTE,
        status: 'Fulfilled',
        parcels: [...parcels.parcels],
      }
  }
}
