/**
 * What the harness puts into the simulated distributors, and into nothing else: a place to die at
 * behind every call, and an end of all faults once a run lets everything settle.
 */
import type * as Dropped from '../../../lib/distributors/dropped-order.js'
import type * as Mail from '../../../lib/distributors/session/mail.js'
import type * as Perform from '../../../lib/simulator/engine/perform.js'
import type * as Faults from '../../../lib/simulator/engine/scenarios/faults.js'
import type * as Scenarios from '../../../lib/simulator/engine/scenarios/scenarios.js'
import type { Planted } from '../../plants/seam.js'
import type { Step } from './life.js'

/** Of this process. */
export const probes = {
  /** Told of each call that a distributor has dealt with and not answered yet. */
  pass(_step: Step): void {},
  /** No distributor fails any more. */
  isCalm: false,
}

export const PROBES: Planted = {
  name: 'probes',
  seams: [
    {
      at: 'lib/simulator/engine/perform.ts#perform',
      make:
        (real: typeof Perform.perform): typeof real =>
        (world, ...rest) => {
          const { store } = world
          const transact: typeof store.transact = (work) => {
            const result = store.transact(work)
            probes.pass('distributor called')
            return result
          }
          return real({ ...world, store: { ...store, transact } }, ...rest)
        },
    },
    // Those that documents describe have the order once these are through.
    {
      at: 'lib/distributors/dropped-order.ts#dropOrder',
      make:
        (real: typeof Dropped.dropOrder): typeof real =>
        async (...given) => {
          const result = await real(...given)
          probes.pass('distributor called')
          return result
        },
    },
    {
      at: 'lib/distributors/session/mail.ts#sendMail',
      make:
        (real: typeof Mail.sendMail): typeof real =>
        async (...given) => {
          const result = await real(...given)
          probes.pass('distributor called')
          return result
        },
    },
    {
      at: 'lib/simulator/engine/scenarios/scenarios.ts#chaosOf',
      make:
        (real: typeof Scenarios.chaosOf): typeof real =>
        (name) =>
          probes.isCalm ? 0 : real(name),
    },
    {
      at: 'lib/simulator/engine/scenarios/faults.ts#faultOf',
      make:
        (real: typeof Faults.faultOf): typeof real =>
        (db, call) =>
          probes.isCalm ? null : real(db, call),
    },
  ],
}

export const PLANTS: readonly Planted[] = [PROBES]
