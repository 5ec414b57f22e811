/**
 * What follows from the answer to a send, or from none. Pure: the rules that
 * keep an order from being placed twice stand here, in after-search.ts, and nowhere else.
 */
import { MINUTE, SECOND } from '../../../core/clock.js'
import type { Fulfillment, Submission } from '../../../distributors/fulfillment.js'
import type { Change, StoredPo } from '../../stored.js'
import { EXPIRES, backoff } from './timing.js'

/** A distributor that asks for a longer pause is asked again all the same. */
const LONGEST_RETRY = 60 * MINUTE
/** Why nothing was sent, where the disk has no room for the journal. */
export const DISK_FULL = 'the disk is full'

/** The state after a send. */
export function afterSend(
  order: StoredPo,
  sent: Submission,
  connector: Pick<Fulfillment, 'recovery' | 'find' | 'numberComesLater'>,
  now: number,
): Change {
  const wasUnknown = order.ever_unknown === 1
  switch (sent.outcome) {
    case 'accepted':
      // A file is taken in before it has a number.
      if (sent.number === null && connector.recovery !== 'file' && !connector.numberComesLater)
        return unknown(order, 'it was accepted without a number', now)
      return {
        to: 'placed',
        distributor_order_id: sent.number,
        ...(sent.told && { told: sent.told.status }),
        reason: sent.told?.reason ?? null,
        refusal: null,
        next_at: null,
        owner: null,
        failures: 0,
      }
    // Where it does not show yet, it is not sent again and again.
    case 'duplicate':
      if (!connector.find)
        return {
          to: 'review',
          reason: 'the distributor says that it has this order, and cannot be asked for it',
          next_at: null,
          owner: null,
        }
      return {
        ...unknown(order, 'the distributor says that it has this order', now),
        failures: order.failures + 1,
        next_at: now + (order.failures === 0 ? 0 : backoff(order.failures - 1)),
      }
    case 'rejected':
      // A refusal of a second send says nothing of the first.
      if (wasUnknown)
        return {
          ...unknown(order, `refused after a send without a known outcome: ${sent.reason}`, now),
          refusal: sent.reason,
        }
      return { to: 'rejected', reason: sent.reason, next_at: null, owner: null }
    case 'review':
      return { to: 'review', reason: sent.reason, next_at: null, owner: null }
    case 'not_sent':
      return notSent(order, sent, now)
    case 'unknown':
      return {
        ...unknown(order, sent.reason, now),
        failures: order.failures + 1,
        next_at:
          now +
          (connector.recovery === 'resend' || connector.recovery === 'staged'
            ? backoff(order.failures)
            : 5 * SECOND),
      }
  }
}

/** No byte of it left: it is tried again, unless an earlier send already left its outcome open. */
export function notSent(
  order: StoredPo,
  { reason, retryAfter = 0 }: { reason: string; retryAfter?: number },
  now: number,
): Change {
  const next =
    now + Math.max(backoff(order.failures), Math.min(Math.ceil(retryAfter * SECOND), LONGEST_RETRY))
  const common = { reason, owner: null, failures: order.failures + 1 }
  if (order.ever_unknown === 1) return { to: 'unknown', ...common, next_at: next }
  // What was never sent may go to another account, and is given up in time however long it was told
  // to wait.
  return {
    to: 'planned',
    ...common,
    next_at: Math.max(now, Math.min(next, order.planned_at + EXPIRES)),
    first_sent_at: null,
    account: null,
  }
}

/** As `notSent`, for a reason that is none of the distributor's: whoever may sends it at once. */
export function givenBack(order: StoredPo, reason: string, now: number): Change {
  return { ...notSent(order, { reason }, now), failures: order.failures, next_at: now }
}

const OTHER_ACCOUNT = 'it was sent with another account than the one that is configured now'

function unknown(order: StoredPo, reason: string, now: number): Change {
  return {
    to: 'unknown',
    ever_unknown: 1,
    unknown_since: now,
    misses: 0,
    missed_at: null,
    reason,
    next_at: now,
    owner: null,
    failures: order.failures,
  }
}

/**
 * Why nothing is sent, and nothing found, with the account that is configured now; null where it is
 * the one that it was sent with.
 */
export function otherAccount(
  { account }: Pick<StoredPo, 'account'>,
  configured: string,
): string | null {
  return account !== null && account !== configured ? OTHER_ACCOUNT : null
}

/** The sender died while it was sending. */
export function afterDeath(order: StoredPo, now: number): Change {
  return { ...unknown(order, 'the server ended while the order was being sent', now), next_at: now }
}

/** A fault of ours after the send began: no more is known of it than after a death. */
export function afterFault(order: StoredPo, now: number): Change {
  return afterDeath(order, now)
}
