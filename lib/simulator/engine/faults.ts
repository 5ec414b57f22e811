/** What can go wrong between an order and its answer, and when a call meets it. */
import { MINUTE, SECOND } from '../../core/clock.js'
import type { Submission } from '../../distributors/fulfillment.js'
import { DEMO_SEED } from '../market/market.js'
import { createRandom } from '../market/random.js'
import { chaosOf, scenario } from './scenarios.js'
import type { Db } from './store.js'

/** Milliseconds after which an order that was sent `late` is executed. */
export const LATE_AFTER = 2 * MINUTE

export interface Fault {
  /** What the distributor does in spite of it. */
  readonly effect: 'none' | 'whole' | 'late'
  /** What the caller sees; absent: the answer itself. */
  readonly seen?: Submission | { throws: string }
  /** Milliseconds of real time before that. */
  readonly wait?: number
}

const unknown = (reason: string): Submission => ({ outcome: 'unknown', reason })
const reset = { throws: 'ECONNRESET' }

const FAULTS = {
  unreachable: {
    effect: 'none',
    seen: { outcome: 'not_sent', reason: 'the connection was refused' },
  },
  rate_limited: {
    effect: 'none',
    seen: { outcome: 'not_sent', reason: 'HTTP 429: too many requests', retryAfter: 5 },
  },
  timeout: { effect: 'none', seen: unknown('no answer in time') },
  timeout_after: { effect: 'whole', seen: unknown('no answer in time') },
  cut: { effect: 'whole', seen: unknown('the reply was cut off') },
  error_before: { effect: 'none', seen: unknown('HTTP 500') },
  error_after: { effect: 'whole', seen: unknown('HTTP 500') },
  late: { effect: 'late', seen: unknown('no answer in time') },
  garbage: { effect: 'whole', seen: unknown('the reply cannot be read') },
  html: { effect: 'none', seen: unknown('a page in HTML instead of a reply (HTTP 403)') },
  reset_before: { effect: 'none', seen: reset },
  reset_after: { effect: 'whole', seen: reset },
  slow: { effect: 'whole', wait: 3 * SECOND },
  hang: { effect: 'whole', wait: Infinity },
} as const satisfies Record<string, Fault>
export type FaultName = keyof typeof FAULTS

/**
 * Which of the calls of one send this is: its only one, the first, middle or last of several (only
 * the last has an effect that counts), or a look at what the distributor has.
 */
export type Step = 'only' | 'first' | 'middle' | 'last' | 'look'

/** Faults that a call may meet by chance. None that wait: they would only make a rehearsal long. */
const CHANCES: Record<Step, readonly FaultName[]> = {
  only: [
    'unreachable',
    'rate_limited',
    'timeout',
    'timeout_after',
    'cut',
    'error_before',
    'error_after',
    'late',
    'garbage',
    'html',
    'reset_before',
    'reset_after',
  ],
  first: [
    'unreachable',
    'rate_limited',
    'timeout',
    'timeout_after',
    'cut',
    'reset_before',
    'reset_after',
  ],
  middle: [
    'timeout',
    'timeout_after',
    'cut',
    'error_before',
    'html',
    'reset_before',
    'reset_after',
  ],
  last: [
    'timeout',
    'timeout_after',
    'cut',
    'error_before',
    'error_after',
    'late',
    'garbage',
    'html',
    'reset_before',
    'reset_after',
  ],
  look: ['timeout', 'error_before', 'html', 'reset_before', 'cut'],
}

/**
 * The fault that this call meets (`po`: of which account and lane, and as the caller gave it),
 * counted in the call's own transaction: a restart goes on in the sequence.
 */
export function faultOf(
  db: Db,
  {
    name: asked,
    ref,
    po,
    call,
    step,
  }: { name: string | null; ref: string; po: string; call: string; step: Step },
): Fault | null {
  const chance = chaosOf(asked)
  const { fault, sends = 1 } = scenario(asked) ?? {}
  if (chance > 0) {
    const random = createRandom(DEMO_SEED, `${ref} ${call} ${countCall(db, ref, call)}`)
    return random.chance(chance) ? FAULTS[random.pick(CHANCES[step])] : null
  }
  if (fault === undefined || step === 'look') return null
  // Of several calls, the first meets what keeps the distributor out of reach, the last all else.
  if (fault === 'unreachable' || fault === 'rate_limited') {
    // Counted by the PO: who was told that nobody can be reached comes again with an order of
    // another reference. Once it was served, the next order of that PO begins anew.
    const meets =
      (step === 'first' || step === 'only') &&
      (sends === Infinity || countCall(db, po, 'reach') % (sends + 1) > 0)
    return meets ? FAULTS[fault] : null
  }
  return (step === 'last' || step === 'only') && countCall(db, ref, call) <= sends
    ? FAULTS[fault]
    : null
}

/** How often this call was made, with this one. */
function countCall(db: Db, ref: string, call: string): number {
  return db
    .prepare(
      'INSERT INTO call (ref, name, n) VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET n = n + 1 RETURNING n',
    )
    .pluck()
    .get(ref, call) as number
}
