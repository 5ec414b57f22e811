/** The connector of a simulated distributor: what all of them have alike. */
import { planFirearmParts } from '../../distributors/firearm-parts.js'
import type { Fulfillment, Search, Submission } from '../../distributors/fulfillment.js'
import { searching, sending } from './call.js'
import type { Send } from './call.js'
import { updatesOf } from './updates.js'
import type { Profile, World } from './world.js'

export interface OrderCalls {
  submit(world: World, send: Send): Promise<Submission>
  find(world: World, send: Send): Promise<Search>
}

/** A connector that takes and finds orders by these calls. */
export function simulatedConnector(
  world: World,
  profile: Profile,
  { submit, find }: OrderCalls,
): Fulfillment {
  return {
    recovery: profile.recovery,
    limits: profile.limits,
    ...(profile.refusesMix && { plan: planFirearmParts }),
    submit: (session, order) => sending(profile, session, order, (send) => submit(world, send)),
    find: (session, order) => searching(profile, session, order, (send) => find(world, send)),
    updates: (session, since) => updatesOf(world, profile, session, since),
  }
}
