/**
 * Finds out what became of a purchase order whose outcome is not known, before anything is sent
 * again (reliability 3.1).
 */
import { MINUTE } from '../../core/clock.js'
import type { OrdersCtx } from '../ctx.js'
import type { FoundOrder } from '../../distributors/fulfillment.js'
import { openLine } from './line.js'
import type { Line } from './line.js'
import { matchOrder } from '../tracking/match.js'
import type { Match } from '../tracking/match.js'
import { poIsAlone, standsElsewhere } from '../tracking/numbers.js'
import { afterSearch, otherAccount, withoutLine, withoutSearch } from './outcome.js'
import type { Decision, Findings } from './outcome.js'
import { search } from './search.js'
import { record } from './send.js'
import type { SenderTools } from './send.js'
import type { StoredPo } from '../stored.js'
import { mayBe, twinsOf } from './twins.js'

/** Logged with every order that waits for a person. */
export const NEEDS_REVIEW =
  "an order needs a person's decision: `orders show` tells of it, `orders resolve` decides"

/**
 * Asks the distributor about an order and writes down what follows. Returns how it is to be sent
 * again, where it is: the distributor does not have it, or takes the same reference for the same
 * order. While orders are paused nothing is.
 */
export async function reconcileOne(
  tools: SenderTools,
  order: StoredPo,
  { unknownFor, isPaused }: { unknownFor: number; isPaused: boolean },
): Promise<'again' | 'afresh' | null> {
  const { ctx } = tools
  const decision = await decide(tools, order, unknownFor)
  await tools.step('after the search')
  if ('resend' in decision && !isPaused) return decision.afresh ? 'afresh' : 'again'
  const moved = await record(
    tools,
    order,
    'resend' in decision ? { to: 'unknown', next_at: ctx.now() + MINUTE } : decision.change,
  )
  if (moved?.state === 'review')
    ctx.log.error(
      { ref: order.client_ref, distid: order.distid, reason: moved.reason },
      NEEDS_REVIEW,
    )
  if (moved?.state === 'placed')
    ctx.log.info(
      { ref: order.client_ref, distid: order.distid, number: moved.distributor_order_id },
      'an order of unknown outcome was found at the distributor',
    )
  return null
}

async function decide(tools: SenderTools, order: StoredPo, unknownFor: number): Promise<Decision> {
  const { ctx } = tools
  const line = openLine(ctx, order)
  if (typeof line === 'string') return withoutLine(order, line, ctx.now())
  const { connector } = line
  const blind = otherAccount(order, line.account)
  if (!connector.find) return withoutSearch(order, connector, '', ctx.now(), blind)
  const found = await search(tools, order, line)
  if (found.outcome === 'unreachable')
    return withoutSearch(
      order,
      connector,
      `the distributor cannot be asked: ${found.reason}`,
      ctx.now(),
    )
  return afterSearch(
    order,
    { ...(await findings(ctx, order, line, found.orders, blind !== null)), blind },
    connector,
    { now: ctx.now(), unknownFor },
  )
}

/**
 * Which of the orders that were found are ours, by their content and by what stands on other
 * records.
 */
async function findings(
  ctx: OrdersCtx,
  order: StoredPo,
  { content, connector }: Line,
  found: readonly FoundOrder[],
  isElsewhere: boolean,
): Promise<Omit<Findings, 'blind'>> {
  const { read } = ctx
  const context = {
    firstSentAt: order.first_sent_at ?? order.planned_at,
    poIsAlone: await poIsAlone(read, order),
    isElsewhere,
    recovery: connector.recovery,
  }
  const twins = connector.recovery === 'file' ? twinsOf(ctx, order, found) : []
  const sorted: Record<Match, FoundOrder[]> = { ours: [], other: [], unclear: [], conflict: [] }
  for (const candidate of dropRepeats(found)) {
    // A stage that is still open has no effect yet, whatever has got into it.
    if (candidate.submitted === false)
      sorted[isStageOf(candidate, order) ? 'ours' : 'other'].push(candidate)
    else {
      const match = matchOrder(candidate, content, {
        ...context,
        isTaken:
          candidate.number !== null && (await standsElsewhere(read, order, candidate.number)),
      })
      const isTwins =
        match === 'ours' &&
        candidate.clientRef === undefined &&
        twins.some((twin) => mayBe(twin, candidate))
      sorted[isTwins ? 'unclear' : match].push(candidate)
    }
  }
  return { ours: sorted.ours, conflicts: sorted.conflict, unclear: sorted.unclear }
}

/**
 * Once a stage is kept, another one under our reference is a leftover: going on there is refused,
 * so it must not look as if it could be.
 */
function isStageOf(
  { clientRef, number }: FoundOrder,
  { client_ref: ref, stage }: StoredPo,
): boolean {
  return stage !== null && number !== null ? number === stage : clientRef === ref
}

/** A distributor may show one order twice. */
function dropRepeats(orders: readonly FoundOrder[]): FoundOrder[] {
  return orders.filter(
    ({ number, submitted }, i) =>
      number === null ||
      submitted === false ||
      orders.findIndex((other) => other.number === number && other.submitted !== false) === i,
  )
}
