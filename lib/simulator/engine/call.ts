/** One call to a simulated distributor, over a network that breaks where the order asks for it. */
import { pause } from '../../core/async/wait.js'
import type {
  OrderSession,
  PurchaseOrder,
  Search,
  Submission,
} from '../../distributors/fulfillment.js'
import { checkCredentials } from './credentials.js'
import { perform, reachOf } from './perform.js'
import type { Arriving, CallKind } from './perform.js'
import { FAULTS } from './scenarios/fault-table.js'
import type { Fault, FaultName } from './scenarios/fault-table.js'
import { arrivalOf } from './sales-order.js'
import type { Profile } from './world.js'
import { scenarioOf } from './scenarios/scenarios.js'
import type { Db } from './store.js'
import type { World } from './world.js'

/** One send of one order. */
export interface Send extends Arriving {
  readonly session: OrderSession
  readonly order: PurchaseOrder
}

/** Thrown by a call that the caller sees no answer of; carries what is seen instead. */
class BrokenCall extends Error {
  override readonly name = 'BrokenCall'
  readonly seen: Submission
  constructor(seen: Submission) {
    super('reason' in seen ? seen.reason : seen.outcome)
    this.seen = seen
  }
}

/**
 * The account that the credentials name; undefined for credentials that the distributor does not
 * know.
 */
export function accountOf(
  { settings: declared, credentials, account }: Profile,
  settings: Readonly<Record<string, unknown>>,
): string | undefined {
  if (checkCredentials(declared, credentials, settings) !== 'valid') return undefined
  return account === undefined ? 'token' : String(settings[account])
}

export const NOT_LOGGED_IN = 'the credentials were refused'

/** Begins a send and tells how it ended; what a broken network throws goes through. */
export async function sending(
  profile: Profile,
  session: OrderSession,
  order: PurchaseOrder,
  work: (send: Send) => Promise<Submission>,
): Promise<Submission> {
  session.signal.throwIfAborted()
  const account = accountOf(profile, session.settings)
  if (account === undefined) return { outcome: 'not_sent', reason: NOT_LOGGED_IN }
  try {
    return await work({
      profile,
      session,
      order,
      account,
      arrival: arrivalOf(order, scenarioOf(order)),
      reach: reachOf(profile, account, order),
    })
  } catch (error) {
    if (error instanceof BrokenCall) return error.seen
    throw error
  }
}

/** As `sending`, for a question about an order. */
export async function searching(
  profile: Profile,
  session: OrderSession,
  order: PurchaseOrder,
  work: (send: Send) => Promise<Search>,
): Promise<Search> {
  session.signal.throwIfAborted()
  const account = accountOf(profile, session.settings)
  if (account === undefined) return { outcome: 'unreachable', reason: NOT_LOGGED_IN }
  try {
    return await work({
      profile,
      session,
      order,
      account,
      arrival: arrivalOf(order, scenarioOf(order)),
      reach: reachOf(profile, account, order),
    })
  } catch (error) {
    if (error instanceof BrokenCall) return { outcome: 'unreachable', reason: error.message }
    throw error
  }
}

/** One call within this process: everything that it does is one transaction. */
export async function call<R>(
  world: World,
  send: Send,
  kind: CallKind,
  effect: (db: Db) => R,
): Promise<R> {
  send.session.signal.throwIfAborted()
  const { fault, result } = perform(world, send, kind, effect)
  if (fault !== null) await meet(world, fault, { ...send, name: kind.name })
  return result as R
}

/** Returns only where the answer arrives in spite of the fault. */
async function meet(
  { log }: World,
  fault: FaultName,
  {
    profile,
    session,
    arrival,
    name,
  }: Pick<Send, 'profile' | 'session' | 'arrival'> & { name: string },
): Promise<void> {
  const { seen, wait = 0 }: Fault = FAULTS[fault]
  log.info(
    { distid: profile.distid, scenario: arrival.scenario, call: name },
    'a simulated distributor fails as the order asks for',
  )
  if (wait === Infinity) await aborted(session.signal)
  else if (wait > 0) await pause(wait, session.signal)
  session.signal.throwIfAborted()
  if (!seen) return
  if ('throws' in seen) throw Object.assign(new Error(`read ${seen.throws}`), { code: seen.throws })
  throw new BrokenCall(seen)
}

/** Rejects once the signal is aborted. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = () => reject(signal.reason as Error)
    if (signal.aborted) fail()
    else signal.addEventListener('abort', fail, { once: true })
  })
}

/** Ends a search as a distributor that cannot be asked does. */
export function unreachable(reason: string): never {
  throw new BrokenCall({ outcome: 'unknown', reason })
}
