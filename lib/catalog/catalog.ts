/**
 * The live catalog of an app: the newest snapshot, swapped by one pointer, and the subscribers'
 * views of it.
 */
import { ApiError } from '../core/errors.js'
import type { Log } from '../core/log.js'
import type { Subscriber } from '../accounts/caller.js'
import type { Documents } from '../configuration/document/saved.js'
import type { Engine } from '../db/engine.js'
import type { Background } from '../core/async/background.js'
import { LiveSnapshot } from './snapshot/live.js'
import type { CatalogTasks } from './snapshot/live.js'
import { openRecords } from './search/records.js'
import type { Records } from './search/records.js'
import type { Snapshot } from './snapshot/snapshot.js'
import { ViewCache } from './view/view-cache.js'
import type { View } from './view/view.js'

export interface Catalog {
  readonly records: Records
  /**
   * The newest snapshot that is built; null before the first feed. Notices what any process has
   * changed.
   */
  current(): Snapshot | null
  /** Waits until the snapshot holds everything that is committed now. */
  refresh(): Promise<void>
  /**
   * The subscriber's view; the first call waits until a snapshot is built. Throws 409
   * `no_active_distributors`, 409 `no_validated_distributors` and, without any snapshot, 503
   * `feed_unavailable` (contract "Distributor eligibility").
   */
  view(subscriber: Subscriber, ignoreRestrictions: boolean): Promise<View>
  /** Builds no more; one that is under way may be cut off. */
  stop(): void
}

export function openCatalog(
  engine: Engine,
  configurations: Documents,
  background: Background<CatalogTasks>,
  log: Log,
): Catalog {
  const views = new ViewCache()
  const onSwap = (before: Snapshot | null) => views.keepOnly(before)
  const live = new LiveSnapshot({ engine, background, log, onSwap })
  return {
    records: openRecords(engine.catalog),
    current: () => live.current(),
    refresh: () => live.refresh(),
    stop: () => live.stop(),
    async view(subscriber, ignoreRestrictions) {
      const saved = configurations.of(subscriber)
      if (saved.active.length === 0) throw new ApiError('no_active_distributors')
      if (saved.eligible.length === 0) throw new ApiError('no_validated_distributors')
      const snapshot = await live.first()
      if (!snapshot) throw new ApiError('feed_unavailable')
      return views.viewOf(snapshot, subscriber, saved, ignoreRestrictions)
    },
  }
}
