/** All simulated distributors of one state folder. */
import type { Fulfillment } from '../../distributors/fulfillment.js'
import { cartOrders } from './cart.js'
import { runDue } from '../engine/due.js'
import { fileOrders } from './inbox.js'
import { listOrders } from '../engine/inspect.js'
import type { SimulatorOrder } from '../engine/inspect.js'
import { profileOf } from './profiles.js'
import type { Profile } from './profiles.js'
import { stagedOrders } from './staged.js'
import { openStore } from '../engine/store.js'
import type { World } from '../engine/store.js'
import { wholeOrders } from './whole.js'

export interface Simulators {
  /** What plays a distributor; undefined for one that nobody plays. */
  fulfillmentOf(distid: string): Fulfillment | undefined
  /** Every order that the distributors have by now, what is due included. */
  orders(): SimulatorOrder[]
  /** Waits for nothing: a call under way fails. */
  close(): void
}

export interface SimulatorOptions extends Omit<World, 'store'> {
  /** The state folder. */
  dir: string
}

/** Opens no file before the first order. */
export function openSimulators({ dir, now, stockOf, log }: SimulatorOptions): Simulators {
  const store = openStore(dir)
  const world: World = { store, now, stockOf, log }
  const made = new Map<string, Fulfillment>()
  return {
    fulfillmentOf(distid) {
      const profile = profileOf(distid)
      if (profile && !made.has(distid)) made.set(distid, connectorFor(world, profile))
      return made.get(distid)
    },
    orders: () =>
      store.transact((db) => {
        runDue(db, world)
        return listOrders(db, now())
      }),
    close: () => store.close(),
  }
}

function connectorFor(world: World, profile: Profile): Fulfillment {
  switch (profile.recovery) {
    case 'resend':
    case 'lookup':
    case 'one_shot':
      return wholeOrders(world, profile)
    case 'file':
      return fileOrders(world, profile)
    case 'staged':
      return profile.distid === '2AW' ? cartOrders(world, profile) : stagedOrders(world, profile)
  }
}
