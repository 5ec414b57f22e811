/** All simulated distributors of one state folder, behind the connector type. */
import { simulated } from '../distributors/builtin/index.js'
import type { Distributor } from '../distributors/distributor.js'
import { checkCredentials } from './engine/credentials.js'
import { runDue } from './engine/due.js'
import { listOrders } from './inspect.js'
import type { SimulatorOrder } from './inspect.js'
import { openStore } from './engine/store.js'
import type { ListenOptions, SimulatedConnector, World } from './engine/world.js'
import { demoFeedFile } from './demo/feeds.js'
import { profiles } from './profiles.js'

export interface Simulators {
  /** What plays a distributor; undefined for one that nobody plays. */
  fulfillmentOf(distid: string): SimulatedConnector | undefined
  /** Every order that the distributors have by now, what is due included. */
  orders(): SimulatorOrder[]
  /** Waits for nothing: a call under way fails. */
  close(): void
}

export interface SimulatorOptions extends Pick<World, 'now' | 'stockOf' | 'log'> {
  /** The state folder. */
  dir: string
  listen?: ListenOptions
}

/** Opens no file before the first order. */
export function openSimulators({
  dir,
  now,
  stockOf,
  log,
  listen = {},
}: SimulatorOptions): Simulators {
  const store = openStore(dir)
  const closings: (() => void)[] = []
  const whenClosed = (close: () => void) => void closings.push(close)
  const feedFile = (distid: string) => demoFeedFile(dir, distid)
  const world: World = { store, now, stockOf, feedFile, listen, log, profiles, whenClosed }
  const connectors = new Map(
    [...profiles].map(([distid, profile]) => [distid, profile.connector(world, profile)]),
  )
  return {
    fulfillmentOf: (distid) => connectors.get(distid),
    orders: () =>
      store.transact((db) => {
        runDue(db, world)
        return listOrders(db, now())
      }),
    close() {
      for (const close of closings) close()
      store.close()
    },
  }
}

/** The distributor with its simulator in place; what it can do by itself stays as it is. */
export function withSimulator(
  distributor: Distributor,
  simulators: Pick<Simulators, 'fulfillmentOf'>,
): Distributor {
  const ours = simulators.fulfillmentOf(distributor.distid)
  const simulator = distributor.simulator ?? ours
  const played = simulator ? { ...distributor, simulator } : distributor
  const known = simulated.get(distributor.distid)
  // A check that somebody else brings is asked in either mode.
  if (!known || distributor.check !== known.distributor.check) return played
  const { credentials } = known.simulator
  return {
    ...played,
    simulated: true,
    simulatorTakes: credentials,
    ...(ours?.there && { simulatorSession: ours.there }),
    simulatorCheck:
      ours?.check ??
      (async ({ settings }) => checkCredentials(distributor.settings, credentials, settings)),
  }
}
