/** Finds out what became of a purchase order whose outcome is not known, before anything is sent again (reliability 3.1). */
import { sql } from 'kysely'
import { MINUTE } from '../core/clock.js'
import type { OperatorCtx } from '../core/ctx.js'
import type { Search } from '../distributors/fulfillment.js'
import { matchOrder } from './match.js'
import { afterSearch, withoutSearch } from './outcome.js'
import type { Decision, Findings } from './outcome.js'
import { inTime, openLine, record } from './send.js'
import type { Line, SenderTools } from './send.js'
import type { StoredPo } from './transitions.js'

const FIND_TIMEOUT = MINUTE

/** Logged with every order that waits for a person. */
export const NEEDS_REVIEW = 'an order needs a person\'s decision: `orders show` tells of it, `orders resolve` decides'

/**
 * Asks the distributor about an order and writes down what follows. Returns true when it is to be sent again: the distributor
 * does not have it, or takes the same reference for the same order.
 */
export async function reconcileOne(tools: SenderTools, order: StoredPo, unknownFor: number): Promise<boolean> {
  const { ctx } = tools
  const decision = await decide(tools, order, unknownFor)
  await tools.step('after the search')
  if ('resend' in decision) return true
  const moved = await record(tools, order, decision.change)
  if (moved?.state === 'review') ctx.log.error({ ref: order.client_ref, distid: order.distid, reason: moved.reason }, NEEDS_REVIEW)
  if (moved?.state === 'placed') ctx.log.info({ ref: order.client_ref, distid: order.distid, number: moved.distributor_order_id }, 'an order of unknown outcome was found at the distributor')
  return false
}

async function decide(tools: SenderTools, order: StoredPo, unknownFor: number): Promise<Decision> {
  const { ctx } = tools
  const line = openLine(ctx, order)
  if (typeof line === 'string') return { change: { to: 'unknown', failures: order.failures + 1, next_at: ctx.now() + 5 * MINUTE, reason: line } }
  const { connector } = line
  if (!connector.find) return withoutSearch(order, connector, '', ctx.now())
  const search = await find(tools, order, line)
  if (search.outcome === 'unreachable') return withoutSearch(order, connector, `the distributor cannot be asked: ${search.reason}`, ctx.now())
  return afterSearch(order, await findings(ctx, order, line, search.orders), connector, { now: ctx.now(), unknownFor })
}

async function find(tools: SenderTools, order: StoredPo, { connector, settings, content }: Line): Promise<Search> {
  const { ctx } = tools
  // A search has no stage of its own to keep.
  const session = { settings, now: ctx.now, stage: order.stage, keepStage: () => Promise.reject(new Error('a search keeps no stage')) }
  const answer = await inTime(tools, FIND_TIMEOUT, (signal) => connector.find!({ ...session, signal }, content))
  if ('failed' in answer) return { outcome: 'unreachable', reason: answer.failed }
  const search = answer.value as Partial<Search> | null
  return search?.outcome === 'answered' || search?.outcome === 'unreachable' ? answer.value : { outcome: 'unreachable', reason: 'the connector gave no answer' }
}

/** Which of the orders that were found are ours: same content, and a number that stands on no other record. */
async function findings({ read }: OperatorCtx, order: StoredPo, { content }: Line, found: Extract<Search, { outcome: 'answered' }>['orders']): Promise<Findings> {
  // Distributors fold the case of a PO, so one that differs by it alone is no other.
  const other = await read.selectFrom('purchase_order').select('id').where('distid', '=', order.distid).where(sql<boolean>`po_number = ${order.po_number} COLLATE NOCASE`)
    .where('mode', '=', order.mode).where('id', '<>', order.id).executeTakeFirst()
  const context = { firstSentAt: order.first_sent_at ?? order.planned_at, poIsAlone: other === undefined }
  // A stage that is still open has no effect yet, whatever has got into it.
  const matches = found.map((candidate) => ({ candidate, match: candidate.submitted === false ? 'ours' as const : matchOrder(candidate, content, context) }))
  const ours = matches.filter(({ match }) => match === 'ours').map(({ candidate }) => candidate)
  const free = []
  for (const candidate of dropRepeats(ours)) if (candidate.number === null || !await isTaken(read, order, candidate.number)) free.push(candidate)
  return { ours: free, conflicts: matches.filter(({ match }) => match === 'conflict').length }
}

/** A distributor may show one order twice. */
function dropRepeats<T extends { number: string | null }>(orders: readonly T[]): T[] {
  return orders.filter(({ number }, i) => number === null || orders.findIndex((other) => other.number === number) === i)
}

async function isTaken(read: OperatorCtx['read'], { id, distid, mode, subscriber_id: owner }: StoredPo, number: string): Promise<boolean> {
  return await read.selectFrom('purchase_order').select('id').where('subscriber_id', '=', owner).where('distributor_order_id', '=', number)
    .where('distid', '=', distid).where('mode', '=', mode).where('id', '<>', id).executeTakeFirst() !== undefined
}
