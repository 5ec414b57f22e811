/**
 * A distributor that nobody is: it speaks no protocol, takes an order in one call, and tells all that
 * can be told. What simulators have in common is tried with it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wholeMilliseconds } from '../../lib/core/clock.js'
import type { OrderUpdate, PurchaseOrder } from '../../lib/distributors/fulfillment.js'
import type { SalesOrder } from '../../lib/simulator/engine/order.js'
import { ordersAnywhere } from '../../lib/simulator/engine/queries.js'
import { wholeOrders } from '../../lib/simulator/engine/single-call-orders.js'
import { openStore } from '../../lib/simulator/engine/store.js'
import { COMMON_LIMITS, PLAIN_WORDS } from '../../lib/simulator/engine/world.js'
import type { Profile, World } from '../../lib/simulator/engine/world.js'
import { watchErrors } from '../../server/testing/error-watch.js'
import { fractional } from '../../server/testing/clock.js'
import { SHELF, simulatorRig, START } from './rig.js'
import type { SimulatorRig } from './rig.js'

const PLAIN: Profile = {
  distid: 'PLAIN',
  settings: {},
  credentials: {},
  connector: wholeOrders,
  recovery: 'lookup',
  refusesMix: false,
  words: PLAIN_WORDS,
  shows: 'at_once',
  tells: { reference: true, content: true },
  limits: COMMON_LIMITS,
  firearms: ['UPS', '2nd Day Air'],
  others: ['UPS', 'Ground'],
}

export interface PlainRig extends Pick<SimulatorRig, 'clock' | 'order'> {
  submit(order: PurchaseOrder): Promise<void>
  news(since?: number): Promise<OrderUpdate[]>
  /** What it has of this reference. */
  has(order: PurchaseOrder): SalesOrder[]
}

/** Runs with such a distributor, which is put away afterwards. */
export const withPlain = (run: (rig: PlainRig) => Promise<void>) => async () => {
  const dir = mkdtempSync(join(tmpdir(), 'qm-plain-'))
  const [store, watch, clock] = [openStore(dir), watchErrors(), { ms: START }]
  const others = simulatorRig()
  const world: World = {
    store,
    now: wholeMilliseconds(fractional(() => clock.ms)),
    stockOf: () => SHELF,
    feedFile: () => null,
    listen: {},
    log: watch.log,
    profiles: new Map([[PLAIN.distid, PLAIN]]),
    whenClosed: () => {},
  }
  const connector = wholeOrders(world, PLAIN)
  const session = (order: PurchaseOrder) => ({
    ...others.session('PLAIN', order, { settings: {} }),
    now: world.now,
  })
  try {
    await run({
      clock,
      order: (more) => others.order({ takenAt: clock.ms, ...more }),
      async submit(order) {
        await connector.submit(session(order), order)
      },
      async news(since = START) {
        const told: OrderUpdate[] = []
        for await (const update of connector.updates!(session(others.order()), since, []))
          told.push(update)
        return told
      },
      has: ({ clientRef }) => store.transact((db) => ordersAnywhere(db, clientRef)),
    })
  } finally {
    others.close()
    store.close()
    rmSync(dir, { recursive: true, force: true })
    watch.check()
  }
}
