/** When a call meets what can go wrong. */
import { MINUTE } from '../../../core/clock.js'
import { DEMO_SEED } from '../../market/market.js'
import { createRandom } from '../../market/random.js'
import type { FaultName } from './fault-table.js'
import { countCall } from '../queries.js'
import { chaosOf, scenario } from './scenarios.js'
import type { Arrival } from '../order.js'
import type { Db } from '../store.js'
import type { World } from '../world.js'

/** Milliseconds after which an order that was sent `late` is executed. */
export const LATE_AFTER = 2 * MINUTE

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
 * The fault that this call meets (`po`: of which account and part, and as the caller gave it),
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
    isReached = false,
  }: {
    name: string | null
    ref: string
    po: string
    call: string
    step: Step
    /** Whether the distributor can be reached was looked at before. */
    isReached?: boolean
  },
): FaultName | null {
  const chance = chaosOf(asked)
  const { fault, sends = 1 } = scenario(asked) ?? {}
  if (chance > 0) {
    const random = createRandom(DEMO_SEED, `${ref} ${call} ${countCall(db, ref, call)}`)
    return random.chance(chance) ? random.pick(CHANCES[step]) : null
  }
  if (fault === undefined || step === 'look') return null
  // Of several calls, the first meets what keeps the distributor out of reach, the last all else.
  if (isReached && UNREACHED.has(fault)) return null
  if (UNREACHED.has(fault) || fault === 'rate_limited' || fault === 'rate_limited_untold')
    return (step === 'first' || step === 'only') && isKeptOut(db, po, sends) ? fault : null
  return (step === 'last' || step === 'only') && countCall(db, ref, call) <= sends ? fault : null
}

/**
 * Counted by the PO: who was told that nobody can be reached comes again with an order of another
 * reference. Once it was served, the next order of that PO begins anew.
 */
const isKeptOut = (db: Db, po: string, sends: number): boolean =>
  sends === Infinity || countCall(db, po, 'reach') % (sends + 1) > 0

/** What a send meets before it has spoken to anybody. */
export type Unreached = 'unreachable' | 'certificate' | 'passive_refused'
const UNREACHED: ReadonlySet<FaultName> = new Set<Unreached>([
  'unreachable',
  'certificate',
  'passive_refused',
])

/** What keeps this send from the distributor; null where it gets there. */
export function keptFrom(
  { store }: Pick<World, 'store'>,
  { arrival, reach }: { arrival: Pick<Arrival, 'scenario'>; reach: string },
): Unreached | null {
  const { fault, sends = 1 } = scenario(arrival.scenario) ?? {}
  return fault !== undefined &&
    UNREACHED.has(fault) &&
    store.transact((db) => isKeptOut(db, reach, sends))
    ? (fault as Unreached)
    : null
}
