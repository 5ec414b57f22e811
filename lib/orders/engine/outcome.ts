/**
 * What follows from what a distributor answered, or did not answer (reliability 3.1, 3.3). Pure:
 * the rules that keep an order from being placed twice stand here and nowhere else.
 */
import { DAY, MINUTE, SECOND } from '../../core/clock.js'
import type { FoundOrder, Fulfillment, Submission } from '../../distributors/fulfillment.js'
import type { Change, StoredPo } from '../stored.js'

export const SEND_TIMEOUT = MINUTE
/** An order that could not be sent for so long is not shot off any more. */
export const EXPIRES = 15 * MINUTE
/** A distributor that asks for a longer pause is asked again all the same. */
const LONGEST_RETRY = 60 * MINUTE
/** After this time a person decides. */
export const GIVE_UP = DAY
/** So long at least an order may be on its way before its absence means anything. */
const SETTLE = 10 * MINUTE
/** Between the two looks that prove an absence. */
const LOOKS_APART = MINUTE
const LOOKS = 2

/** Milliseconds until the next try after so many failures: 5 s, 15 s, 45 s, ... up to 5 minutes. */
export function backoff(failures: number): number {
  return Math.min(5 * MINUTE, 5 * SECOND * 3 ** Math.min(failures, 10))
}

type Rules = Pick<Fulfillment, 'recovery' | 'limits' | 'find'>

/** The state after a send. */
export function afterSend(
  order: StoredPo,
  sent: Submission,
  connector: Rules,
  now: number,
): Change {
  const wasUnknown = order.ever_unknown === 1
  switch (sent.outcome) {
    case 'accepted':
      // Only a file is taken in before it has a number.
      if (sent.number === null && connector.recovery !== 'file')
        return unknown(order, 'it was accepted without a number', now)
      return {
        to: 'placed',
        distributor_order_id: sent.number,
        reason: null,
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

/** Orders of a distributor that may be ours. */
export interface Findings {
  ours: readonly FoundOrder[]
  /** Carry our reference, and cannot be ours. */
  conflicts: readonly FoundOrder[]
  /** May be ours, or may not: as long as there is one, nothing is absent. */
  unclear: readonly FoundOrder[]
  /**
   * Why not showing it proves nothing, such as another account than the one that it was sent with;
   * null where it does.
   */
  blind: string | null
}

export interface Elapsed {
  now: number
  /** Milliseconds since the last send whose outcome is not known, by the clock that says less. */
  unknownFor: number
}

/** `afresh`: it has no stage that could be gone on with. */
export type Decision = { change: Change } | { resend: true; afresh?: true }

/** What to do about an order of unknown outcome, now that the distributor was asked. */
export function afterSearch(
  order: StoredPo,
  findings: Findings,
  connector: Rules,
  at: Elapsed,
): Decision {
  const { ours, conflicts, unclear, blind } = findings
  const there = ours.filter(({ submitted }) => submitted !== false)
  if (conflicts.length > 0)
    return review(
      `the distributor has an order under our reference that cannot be it: ${numbersOf(conflicts)}`,
    )
  if (there.length > 1)
    return review(`the distributor has ${there.length} orders like this one: ${numbersOf(there)}`)
  const [hit] = there
  if (hit && (hit.number !== null || connector.recovery === 'file')) {
    return {
      change: {
        to: 'placed',
        distributor_order_id: hit.number,
        reason: null,
        refusal: null,
        next_at: null,
        failures: 0,
      },
    }
  }
  const doubt =
    unclear.length > 0 ? `the distributor has what may be this order: ${numbersOf(unclear)}` : blind
  const decision = hit
    ? waitOn(order, at.now)
    : doubt !== null
      ? waitForClarity(order, connector, doubt, at)
      : whileAbsent(order, ours.length > 0, connector, at)
  return isOld(order, at.now) && (!('change' in decision) || decision.change.to === 'unknown')
    ? review(ageReason(order))
    : decision
}

const numbersOf = (orders: readonly FoundOrder[]) =>
  orders.map(({ number }) => number ?? 'without a number').join(', ')
const ageReason = ({ refusal, reason }: StoredPo) =>
  `${refusal ?? reason ?? 'its outcome is not known'}; a day has gone by, and the distributor has shown no sign of it`

/**
 * The distributor was asked and shows nothing that may be it, but for a stage that is still open.
 */
function whileAbsent(
  order: StoredPo,
  hasOpenStage: boolean,
  connector: Rules,
  at: Elapsed,
): Decision {
  const refused = order.refusal !== null
  switch (connector.recovery) {
    // What is sent again under its reference is not a second order.
    case 'resend':
      return refused ? provenAbsent(order, connector, at) : { resend: true }
    // Before there is a stage, nothing could have had an effect; one that is open goes on where it
    // was.
    case 'staged':
      return !refused && (order.stage === null || hasOpenStage)
        ? { resend: true }
        : provenAbsent(order, connector, at)
    case 'lookup':
      return provenAbsent(order, connector, at)
    case 'file':
    case 'one_shot':
      return waitOn(order, at.now)
  }
}

/**
 * What is late may still show itself, and what is unclear become clear; then a person decides. A
 * look before it proves nothing any more.
 */
function waitForClarity(
  order: StoredPo,
  connector: Rules,
  doubt: string,
  { now, unknownFor }: Elapsed,
): Decision {
  const settle = settleTime(connector)
  return unknownFor < settle
    ? {
        change: {
          to: 'unknown',
          failures: 0,
          misses: 0,
          missed_at: null,
          reason: doubt,
          next_at: now + Math.min(MINUTE, settle - unknownFor),
        },
      }
    : review(doubt)
}

/** Nobody can be asked, or could be reached. */
export function withoutSearch(
  order: StoredPo,
  connector: Rules,
  reason: string,
  now: number,
  blind: string | null = null,
): Decision {
  if (!connector.find && blind !== null) return review(blind)
  if (isOld(order, now)) return review(`${ageReason(order)}: ${reason}`)
  if (!connector.find && connector.recovery === 'resend' && order.refusal === null)
    return { resend: true }
  if (!connector.find)
    return review(
      order.refusal ??
        `${order.reason ?? 'its outcome is not known'}, and this distributor cannot be asked`,
    )
  return {
    change: {
      to: 'unknown',
      reason,
      failures: order.failures + 1,
      next_at: now + backoff(order.failures),
    },
  }
}

/** Milliseconds after which nothing that was sent is on its way any more. */
export function settleTime({
  limits: { sendTimeout = SEND_TIMEOUT, visibilityLag = 0 },
}: Pick<Rules, 'limits'>): number {
  // A connector may declare fractions.
  return Math.max(SETTLE, Math.ceil(2 * sendTimeout + visibilityLag))
}

/** Its distributor is no longer configured, or the order cannot be opened. */
export function withoutLine(order: StoredPo, reason: string, now: number): Decision {
  if (isOld(order, now)) return review(reason)
  return {
    change: { to: 'unknown', reason, failures: order.failures + 1, next_at: now + 5 * MINUTE },
  }
}

/** Two looks, long enough after the send and apart from each other, showed nothing. */
function provenAbsent(order: StoredPo, connector: Rules, at: Elapsed): Decision {
  const settle = settleTime(connector)
  if (at.unknownFor < settle)
    return { change: { to: 'unknown', failures: 0, next_at: at.now + settle - at.unknownFor } }
  if (
    order.missed_at !== null &&
    at.now - order.missed_at < LOOKS_APART &&
    at.now >= order.missed_at
  )
    return { change: { to: 'unknown', failures: 0, next_at: order.missed_at + LOOKS_APART } }
  const misses = order.misses + 1
  if (misses < LOOKS)
    return {
      change: {
        to: 'unknown',
        failures: 0,
        misses,
        missed_at: at.now,
        next_at: at.now + LOOKS_APART,
      },
    }
  if (order.refusal !== null)
    return { change: { to: 'rejected', reason: order.refusal, next_at: null } }
  return { resend: true, afresh: true }
}

/** Only a later report can tell: it is looked for ever less often. */
function waitOn(order: StoredPo, now: number): Decision {
  const age = now - (order.first_sent_at ?? now)
  return {
    change: {
      to: 'unknown',
      failures: 0,
      next_at: now + Math.min(15 * MINUTE, Math.max(10 * SECOND, Math.ceil(age / 10))),
    },
  }
}

/** Nobody expects an order any more that was sent a day ago. */
function isOld(order: StoredPo, now: number): boolean {
  return now - (order.first_sent_at ?? order.planned_at) >= GIVE_UP
}

const review = (reason: string): Decision => ({ change: { to: 'review', reason, next_at: null } })
