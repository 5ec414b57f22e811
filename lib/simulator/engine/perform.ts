/** What a call of a client does at a simulated distributor, whichever way it came. */
import type { OrderSession, PurchaseOrder } from '../../distributors/fulfillment.js'
import { addStranger } from './admit.js'
import { runDue, schedule } from './due.js'
import type { Due } from './due.js'
import type { Arrival } from './order.js'
import { FAULTS } from './scenarios/fault-table.js'
import type { FaultName } from './scenarios/fault-table.js'
import { faultOf, LATE_AFTER } from './scenarios/faults.js'
import type { Step } from './scenarios/faults.js'
import type { Db } from './store.js'
import type { Profile, World } from './world.js'

/** An order on its way to a distributor. */
export interface Arriving {
  readonly profile: Profile
  readonly account: string
  readonly arrival: Arrival
  /** By what it is counted how often a distributor could not be reached. */
  readonly reach: string
}

/** One send of one order. */
export interface Send extends Arriving {
  readonly session: OrderSession
  readonly order: PurchaseOrder
}

/** The account and part that an order is for, and its PO as the caller gave it. */
export const reachOf = (
  { distid }: Profile,
  account: string,
  { lane, poGiven }: Pick<PurchaseOrder, 'lane' | 'poGiven'>,
): string => [distid, account, lane, poGiven].join(' ')

/** Which call it is. `late` is what happens later in place of its effect, where that is asked for. */
export interface CallKind {
  readonly name: string
  readonly step: Step
  readonly late?: Pick<Due, 'kind' | 'id'>
}

/**
 * What a call does at the distributor, in one transaction with the count of the call, and the fault
 * that its caller sees.
 */
export function perform<R>(
  world: World,
  { profile, arrival, account, reach }: Arriving,
  { name, step, late, isReached = false }: CallKind & { isReached?: boolean },
  effect: (db: Db) => R,
): { fault: FaultName | null; result?: R } {
  return world.store.transact((db) => {
    runDue(db, world)
    if (arrival.scenario?.startsWith('STRANGER') && (step === 'only' || step === 'last'))
      addStranger(db, { profile, account, arrival }, world.now())
    const fault = faultOf(db, {
      name: arrival.scenario,
      ref: arrival.clientRef,
      po: reach,
      call: name,
      step,
      isReached,
    })
    const does = fault === null ? 'whole' : FAULTS[fault]
    if (does === 'none') return { fault }
    if (does === 'late' && late) {
      schedule(db, { ...late, distid: profile.distid, account, arrival }, world.now() + LATE_AFTER)
      return { fault }
    }
    return { fault, result: effect(db) }
  })
}
