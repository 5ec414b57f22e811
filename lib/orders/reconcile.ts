/** Finds out what became of a purchase order whose outcome is not known, before anything is sent again (reliability 3.1). */
import { DAY, MINUTE } from '../core/clock.js'
import type { OperatorCtx } from '../core/ctx.js'
import { cleaned } from '../core/text.js'
import type { FoundOrder, PurchaseOrder, Search } from '../distributors/fulfillment.js'
import { contentOrNull } from '../fulfillment/content.js'
import { inTime, openLine, withoutSecrets } from './line.js'
import type { Line } from './line.js'
import { matchOrder } from '../fulfillment/match.js'
import type { Match } from '../fulfillment/match.js'
import { poIsAlone, standsElsewhere } from '../fulfillment/numbers.js'
import { OTHER_ACCOUNT, afterSearch, withoutLine, withoutSearch } from './outcome.js'
import type { Decision, Findings } from './outcome.js'
import { MAX_NUMBER, MAX_REASON, record } from './send.js'
import type { SenderTools } from './send.js'
import type { StoredPo } from './transitions.js'

const FIND_TIMEOUT = MINUTE

/** Logged with every order that waits for a person. */
export const NEEDS_REVIEW = 'an order needs a person\'s decision: `orders show` tells of it, `orders resolve` decides'

/**
 * Asks the distributor about an order and writes down what follows. Returns how it is to be sent again, where it is: the
 * distributor does not have it, or takes the same reference for the same order. While orders are paused nothing is.
 */
export async function reconcileOne(tools: SenderTools, order: StoredPo, { unknownFor, isPaused }: { unknownFor: number; isPaused: boolean }): Promise<'again' | 'afresh' | null> {
  const { ctx } = tools
  const decision = await decide(tools, order, unknownFor)
  await tools.step('after the search')
  if ('resend' in decision && !isPaused) return decision.afresh ? 'afresh' : 'again'
  const moved = await record(tools, order, 'resend' in decision ? { to: 'unknown', next_at: ctx.now() + MINUTE } : decision.change)
  if (moved?.state === 'review') ctx.log.error({ ref: order.client_ref, distid: order.distid, reason: moved.reason }, NEEDS_REVIEW)
  if (moved?.state === 'placed') ctx.log.info({ ref: order.client_ref, distid: order.distid, number: moved.distributor_order_id }, 'an order of unknown outcome was found at the distributor')
  return null
}

async function decide(tools: SenderTools, order: StoredPo, unknownFor: number): Promise<Decision> {
  const { ctx } = tools
  const line = openLine(ctx, order)
  if (typeof line === 'string') return withoutLine(order, line, ctx.now())
  const { connector } = line
  const blind = order.account !== null && order.account !== line.account ? OTHER_ACCOUNT : null
  if (!connector.find) return withoutSearch(order, connector, '', ctx.now(), blind)
  const search = await find(tools, order, line)
  if (search.outcome === 'unreachable') return withoutSearch(order, connector, `the distributor cannot be asked: ${search.reason}`, ctx.now())
  return afterSearch(order, { ...await findings(ctx, order, line, search.orders, blind !== null), blind }, connector, { now: ctx.now(), unknownFor })
}

async function find(tools: SenderTools, order: StoredPo, line: Line): Promise<Search> {
  const { connector, settings, content } = line
  const { ctx } = tools
  // A search has no stage of its own to keep.
  const session = { settings, now: ctx.now, stage: order.stage, keepStage: () => Promise.reject(new Error('a search keeps no stage')) }
  const { answer } = await inTime(tools, FIND_TIMEOUT, (signal) => connector.find!({ ...session, signal }, content))
  if ('failed' in answer) return { outcome: 'unreachable', reason: answer.failed }
  return searchOf(answer.value, line)
}

/** What a connector answered, as far as it is an answer. One order that cannot be read may be ours: then nothing is known. */
function searchOf(value: Search, line: Line): Search {
  if (value?.outcome === 'unreachable') return { outcome: 'unreachable', reason: cleaned(withoutSecrets(String(value.reason), line), MAX_REASON) }
  if (value?.outcome !== 'answered' || !Array.isArray(value.orders)) return { outcome: 'unreachable', reason: 'the connector gave no answer' }
  const isRead = ({ number, po, clientRef, lines }: FoundOrder) => (number === null || (typeof number === 'string' && number.trim() !== '' && cleaned(number, MAX_NUMBER) === number))
    && typeof po === 'string' && ['string', 'undefined'].includes(typeof clientRef) && (lines === undefined || (Array.isArray(lines) && lines.every(({ distsku, qty }) => typeof distsku === 'string' && typeof qty === 'number')))
  return value.orders.every(isRead) ? value : { outcome: 'unreachable', reason: 'the connector showed an order that cannot be read' }
}

/** Which of the orders that were found are ours, by their content and by what stands on other records. */
async function findings(ctx: OperatorCtx, order: StoredPo, { content, connector }: Line, found: readonly FoundOrder[], isElsewhere: boolean): Promise<Omit<Findings, 'blind'>> {
  const { read } = ctx
  const context = { firstSentAt: order.first_sent_at ?? order.planned_at, poIsAlone: await poIsAlone(read, order), isElsewhere, recovery: connector.recovery }
  const twins = connector.recovery === 'file' ? twinsOf(ctx, order, found) : []
  const sorted: Record<Match, FoundOrder[]> = { ours: [], other: [], unclear: [], conflict: [] }
  for (const candidate of dropRepeats(found)) {
    // A stage that is still open has no effect yet, whatever has got into it.
    if (candidate.submitted === false) sorted[isStageOf(candidate, order) ? 'ours' : 'other'].push(candidate)
    else {
      const match = matchOrder(candidate, content, { ...context, isTaken: candidate.number !== null && await standsElsewhere(read, order, candidate.number) })
      const isTwins = match === 'ours' && candidate.clientRef === undefined && twins.some((twin) => mayBe(twin, candidate))
      sorted[isTwins ? 'unclear' : match].push(candidate)
    }
  }
  return { ours: sorted.ours, conflicts: sorted.conflict, unclear: sorted.unclear }
}

/** A purchase order of the same account to which a distributor's order without a reference may belong as well. */
interface Twin {
  /** It was taken in, and only its number is missing; else its outcome is not known either. */
  isPlaced: boolean
  /** Null where it cannot be read. */
  content: PurchaseOrder | null
}

/** Only what has a number can be given to one of two whose outcome is not known: the other then sees that it is taken. */
function mayBe({ isPlaced, content }: Twin, candidate: FoundOrder): boolean {
  if (!isPlaced && candidate.number !== null) return false
  return content === null || matchOrder(candidate, content, { firstSentAt: content.takenAt, poIsAlone: false, isTaken: false, recovery: 'file' }) === 'ours'
}

/** So many are looked at; where there are more, any of the others may be it. */
const MAX_TWINS = 1_000

function twinsOf(ctx: OperatorCtx, { id, subscriber_id: owner, account, distid, mode, first_sent_at: sentAt, planned_at: plannedAt }: StoredPo, found: readonly FoundOrder[]): Twin[] {
  // What is shown without a time may be as old as any that still has no number.
  const since = found.every(({ placedAt }) => placedAt !== undefined) ? (sentAt ?? plannedAt) - 3 * DAY : 0
  const rows = ctx.engine.reader.prepare(`
    SELECT state, subscriber_id, client_ref, payload, payload_digest FROM purchase_order
    WHERE distid = ? AND mode = ? AND (subscriber_id = ? OR account = ?) AND state IN ('placed', 'sending', 'unknown', 'review') AND distributor_order_id IS NULL AND id <> ? AND planned_at > ?
    ORDER BY id DESC LIMIT ${MAX_TWINS}`)
    .all(distid, mode, owner, account, id, since) as Pick<StoredPo, 'state' | 'subscriber_id' | 'client_ref' | 'payload' | 'payload_digest'>[]
  const twins = rows.map((row): Twin => ({ isPlaced: row.state === 'placed', content: contentOrNull(ctx, row) }))
  return rows.length === MAX_TWINS ? [...twins, { isPlaced: true, content: null }] : twins
}

/** Once a stage is kept, another one under our reference is a leftover: going on there is refused, so it must not look as if it could be. */
function isStageOf({ clientRef, number }: FoundOrder, { client_ref: ref, stage }: StoredPo): boolean {
  return stage !== null && number !== null ? number === stage : clientRef === ref
}

/** A distributor may show one order twice. */
function dropRepeats(orders: readonly FoundOrder[]): FoundOrder[] {
  return orders.filter(({ number, submitted }, i) => number === null || submitted === false || orders.findIndex((other) => other.number === number && other.submitted !== false) === i)
}
