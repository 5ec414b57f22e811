/** Seams of bugs that several harnesses must find. */
import type * as Durable from '../../../lib/core/storage/durable.js'
import type * as Lease from '../../../lib/orders/engine/lease.js'
import type { Seam } from '../../plants/seam.js'

/** Every process takes itself for the sender, whoever holds the lock. */
export const EVERYBODY_SENDS: Seam = {
  at: 'lib/orders/engine/lease.ts#openLease',
  make:
    (real: typeof Lease.openLease): typeof real =>
    (ctx, copy) => {
      const lock = (name: string) => ctx.engine.lock(name) || true
      return real({ ...ctx, engine: { ...ctx.engine, lock } }, copy)
    },
}

/** Lines of the journal are not synced, but for those that the file had when it was opened. */
export const UNSYNCED_LINES: Seam = {
  at: 'lib/core/storage/durable.ts#syncData',
  make: (real: typeof Durable.syncData): typeof real => {
    const opened = new WeakSet<object>()
    return async (file) => {
      if (!opened.has(file)) await real(file)
      opened.add(file)
    }
  },
}
