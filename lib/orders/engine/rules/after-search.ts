/**
 * What follows once a distributor was asked for an order whose outcome is not known. Pure: with
 * after-send.ts, the rules that keep an order from being placed twice.
 */
import { MINUTE, SECOND } from '../../../core/clock.js'
import type { FoundOrder, Fulfillment } from '../../../distributors/fulfillment.js'
import type { Change, StoredPo } from '../../stored.js'
import { backoff, isOld, settleTime } from './timing.js'

/** Between the two looks that prove an absence. */
const LOOKS_APART = MINUTE
const LOOKS = 2

type Rules = Pick<Fulfillment, 'recovery' | 'limits' | 'find'>

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
  `${refusal ?? reason ?? 'its outcome is not known'}; a day has gone by, and the distributor ` +
  'has shown no sign of it'

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
  { reason, blind = null, now }: { reason: string; blind?: string | null; now: number },
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

/** Its distributor is no longer configured, or the order cannot be opened. */
export function withoutAccess(order: StoredPo, reason: string, now: number): Decision {
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

const review = (reason: string): Decision => ({ change: { to: 'review', reason, next_at: null } })
