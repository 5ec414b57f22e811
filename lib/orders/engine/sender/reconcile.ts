/**
 * Finds out what became of a purchase order whose outcome is not known, before anything is sent
 * again.
 */
import { MINUTE } from '../../../core/clock.js'
import type { FoundOrder, Search } from '../../../distributors/fulfillment.js'
import { loginsOf } from '../../../distributors/session/logins.js'
import { openSession } from '../../../distributors/session/open-session.js'
import { Transcript } from '../../../distributors/session/transcript.js'
import { keepTranscript, sealTranscript } from '../../transcripts.js'
import type { OrdersCtx } from '../../ctx.js'
import type { StoredPo } from '../../stored.js'
import { matchOrder } from '../../matching/match.js'
import type { Match } from '../../matching/match.js'
import { sharersOfPo, standsElsewhere } from '../../matching/order-numbers.js'
import { afterSearch, withoutAccess, withoutSearch } from '../rules/after-search.js'
import type { Decision, Findings } from '../rules/after-search.js'
import { otherAccount } from '../rules/after-send.js'
import { searchOf } from './answers.js'
import { callInTime } from './call.js'
import type { SenderCtx } from './ctx.js'
import { lookAlikesOf, mayBelongTo } from '../../matching/look-alikes.js'
import { openOrder } from './open-order.js'
import type { OpenedOrder } from './open-order.js'
import { record } from './record.js'

/** Milliseconds that a distributor has to answer. */
const SEARCH_TIMEOUT = MINUTE
/** Logged with every order that waits for a person. */
export const NEEDS_REVIEW =
  "an order needs a person's decision: see `orders show`, then use `orders resolve`"

/**
 * Asks the distributor about an order and writes down what follows. Returns how it is to be sent
 * again, where it is: the distributor does not have it, or takes the same reference for the same
 * order. While orders are paused nothing is.
 */
export async function reconcile(
  ctx: SenderCtx,
  order: StoredPo,
  { unknownFor, isPaused }: { unknownFor: number; isPaused: boolean },
): Promise<'again' | 'afresh' | null> {
  const decision = await decide(ctx, order, unknownFor)
  await ctx.step('after the search')
  if ('resend' in decision && !isPaused) return decision.afresh ? 'afresh' : 'again'
  const moved = await record(
    ctx,
    order,
    'resend' in decision ? { to: 'unknown', next_at: ctx.now() + MINUTE } : decision.change,
  )
  const recorded = moved?.order
  if (recorded?.state === 'review')
    ctx.log.error(
      { ref: order.client_ref, distid: order.distid, reason: recorded.reason },
      NEEDS_REVIEW,
    )
  if (recorded?.state === 'placed')
    ctx.log.info(
      { ref: order.client_ref, distid: order.distid, number: recorded.distributor_order_id },
      'an order of unknown outcome was found at the distributor',
    )
  return null
}

async function decide(ctx: SenderCtx, order: StoredPo, unknownFor: number): Promise<Decision> {
  const opened = await openOrder(ctx, order)
  if (typeof opened === 'string') return withoutAccess(order, opened, ctx.now())
  const { connector } = opened
  const blind = otherAccount(order, opened.account)
  const found = await search(ctx, order, opened)
  if (found === null) return withoutSearch(order, connector, { reason: '', blind, now: ctx.now() })
  if (found.outcome === 'unreachable')
    return withoutSearch(order, connector, {
      reason: `the distributor cannot be asked: ${found.reason}`,
      now: ctx.now(),
    })
  return afterSearch(
    order,
    {
      ...(await findings(ctx, order, opened, { ...found, isElsewhere: blind !== null })),
      blind,
    },
    connector,
    { now: ctx.now(), unknownFor },
  )
}

/** What the distributor has of it, asked for a minute at most; null where it cannot be asked. */
async function search(
  ctx: SenderCtx,
  order: StoredPo,
  opened: OpenedOrder,
): Promise<Search | null> {
  const { connector, distributor, settings, secrets, content } = opened
  const { find } = connector
  if (!find) return null
  const transcript = new Transcript(ctx.now, secrets)
  const login = loginsOf(ctx, order)
  const stage = {
    stage: order.stage,
    keepStage: () => Promise.reject(new Error('a search keeps no stage')),
  }
  const { answer } = await callInTime(ctx, SEARCH_TIMEOUT, (signal) => {
    const session = openSession(distributor, {
      settings,
      signal,
      now: ctx.now,
      transcript,
      login,
      egress: ctx.egress,
    })
    return find.call(connector, { ...session, ...stage }, content)
  })
  await keepTranscript(ctx, sealTranscript(ctx, order, 'search', transcript)).catch(
    (error: unknown) =>
      ctx.log.warn({ err: error, ref: order.client_ref }, 'a transcript could not be kept'),
  )
  return searchOf(answer, transcript)
}

/**
 * Which of the orders that were found are ours, by their content and by what stands on other
 * records.
 */
async function findings(
  ctx: OrdersCtx,
  order: StoredPo,
  { content, connector }: OpenedOrder,
  {
    orders: found,
    showsOne = false,
    isElsewhere,
  }: { orders: readonly FoundOrder[]; showsOne?: boolean; isElsewhere: boolean },
): Promise<Omit<Findings, 'blind'>> {
  const { read } = ctx
  const context = {
    firstSentAt: order.first_sent_at ?? order.planned_at,
    ...(await sharersOfPo(read, order)),
    isElsewhere,
    recovery: connector.recovery,
  }
  const lookAlikes = connector.recovery === 'file' ? await lookAlikesOf(ctx, order, found) : []
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
      const isAmbiguous =
        match === 'ours' &&
        candidate.clientRef === undefined &&
        lookAlikes.some((other) => mayBelongTo(other, candidate))
      sorted[isAmbiguous ? 'unclear' : match].push(candidate)
    }
  }
  const { ours, other, unclear, conflict: conflicts } = sorted
  return { ours, conflicts, unclear: showsOne ? [...unclear, ...other] : unclear }
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
