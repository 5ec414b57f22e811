/** The times of an order, and what they say of it. Pure. */
import { DAY, MINUTE, SECOND } from '../../../core/clock.js'
import type { Fulfillment } from '../../../distributors/fulfillment.js'
import type { StoredPo } from '../../stored.js'

export const SEND_TIMEOUT = MINUTE
/** An order that could not be sent for so long is given up. */
export const EXPIRES = 15 * MINUTE
/** After this time a person decides. */
export const GIVE_UP = DAY
/** At least so long an order may be on its way before its absence means anything. */
const SETTLE = 10 * MINUTE

/** Milliseconds until the next attempt after so many failures: 5 s, 15 s, ... up to 5 minutes. */
export function backoff(failures: number): number {
  return Math.min(5 * MINUTE, 5 * SECOND * 3 ** Math.min(failures, 10))
}

/** What is due about an open order: only what never left may be given up in time. */
export function whatIsDue(order: StoredPo, now: number): 'look up' | 'give up' | 'send' {
  if (order.state === 'unknown') return 'look up'
  return isTooOld(order, now) ? 'give up' : 'send'
}

/** Nobody expects an order any more that could not be sent for so long. */
export function isTooOld(
  { first_sent_at: sentAt, planned_at: plannedAt }: StoredPo,
  now: number,
): boolean {
  return sentAt === null && now - plannedAt >= EXPIRES
}

/** Nobody expects an order any more that was sent a day ago. */
export function isOld(order: StoredPo, now: number): boolean {
  return now - (order.first_sent_at ?? order.planned_at) >= GIVE_UP
}

/** Milliseconds after which nothing that was sent is on its way any more. */
export function settleTime({
  limits: { sendTimeout = SEND_TIMEOUT, visibilityLag = 0 },
}: Pick<Fulfillment, 'limits'>): number {
  // A connector may declare fractions.
  return Math.max(SETTLE, Math.ceil(2 * sendTimeout + visibilityLag))
}
