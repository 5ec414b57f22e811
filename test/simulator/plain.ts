/**
 * A distributor that nobody is: it speaks no protocol, takes an order in one call, and tells all that
 * can be told. What simulators have in common is tried with it.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wholeMilliseconds } from '../../lib/core/clock.js'
import type { PurchaseOrder } from '../../lib/distributors/fulfillment.js'
import { admit } from '../../lib/simulator/engine/admit.js'
import { lifeOf } from '../../lib/simulator/engine/life.js'
import type { News } from '../../lib/simulator/engine/life.js'
import type { SalesOrder } from '../../lib/simulator/engine/order.js'
import { ordersAnywhere } from '../../lib/simulator/engine/queries.js'
import { perform, reachOf } from '../../lib/simulator/engine/perform.js'
import { arrivalOf } from '../../lib/simulator/engine/sales-order.js'
import { scenarioOf } from '../../lib/simulator/engine/scenarios/scenarios.js'
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
  connector: () => assert.fail('it speaks no protocol'),
  recovery: 'lookup',
  words: PLAIN_WORDS,
  shows: 'at_once',
  tells: { reference: true, content: true },
  limits: COMMON_LIMITS,
  firearms: ['UPS', '2nd Day Air'],
  others: ['UPS', 'Ground'],
}

export interface PlainRig extends Pick<SimulatorRig, 'clock' | 'order'> {
  submit(order: PurchaseOrder): void
  /** All that happens to an order, in order of time. */
  life(order: PurchaseOrder): News[]
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
  const has = ({ clientRef }: PurchaseOrder) =>
    store.transact((db) => ordersAnywhere(db, clientRef))
  try {
    await run({
      clock,
      order: (more) => others.order({ takenAt: clock.ms, ...more }),
      submit(order) {
        const arrival = arrivalOf(order, scenarioOf(order))
        const send = { profile: PLAIN, account: 'token', arrival }
        const at = world.now()
        perform(
          world,
          { ...send, reach: reachOf(PLAIN, send.account, order) },
          { name: 'submit', step: 'only', isReached: true },
          (db) => admit(db, world, { ...send, placedAt: at, executedAt: at }),
        )
      },
      life: (order) => lifeOf(PLAIN, has(order)[0]!),
      has,
    })
  } finally {
    others.close()
    store.close()
    rmSync(dir, { recursive: true, force: true })
    watch.check()
  }
}
