/**
 * The live catalog of an app: the newest snapshot, swapped by one pointer, and the subscribers'
 * views of it.
 */
import { ApiError } from '../core/errors.js'
import type { Subscriber } from '../accounts/caller.js'
import type { Documents, Saved } from '../configuration/document/saved.js'
import { LiveSnapshot } from './snapshot/live.js'
import type { CatalogStatus, LiveOptions } from './snapshot/live.js'
import { openRecords } from './search/records.js'
import type { Records } from './search/records.js'
import { Recent } from './search/recent.js'
import type { Snapshot } from './snapshot/snapshot.js'
import { ViewCache } from './view/view-cache.js'
import type { View } from './view/view.js'

export interface Catalog {
  readonly records: Records
  /** What searches found lately in the views of the newest snapshot. */
  readonly recent: Recent
  /**
   * The newest snapshot that is built; null before the first feed. Notices what any process has
   * changed.
   */
  current(): Snapshot | null
  /** Waits until the snapshot holds everything that is committed now. */
  refresh(): Promise<void>
  /** Waits until there is a snapshot, or nothing is there or can be done to make one. */
  first(): Promise<Snapshot | null>
  /** Builds the snapshot of another file that has the catalog's place, before it is opened. */
  buildAhead(): Promise<void>
  /** Whether there is a snapshot, since when, and how long the last one took. */
  status(): CatalogStatus
  /**
   * The subscriber's view; the first call waits until a snapshot is built. Throws 409
   * `no_active_distributors`, 409 `no_validated_distributors` and, without any snapshot, 503
   * `feed_unavailable` (contract "Distributor eligibility"). `saved` is the subscriber's document
   * where the caller has it, so that both go by the same one.
   */
  view(subscriber: Subscriber, ignoreRestrictions: boolean, saved?: Saved): Promise<View>
  /** Builds no more, and forgets what searches found; a build that is under way may be cut off. */
  stop(): void
}

export interface CatalogParts extends Omit<LiveOptions, 'onSwap'> {
  configurations: Documents
}

export function openCatalog({ configurations, ...parts }: CatalogParts): Catalog {
  const views = new ViewCache()
  const recent = new Recent()
  const live = new LiveSnapshot({
    ...parts,
    onSwap(before) {
      views.keepOnly(before)
      recent.clear()
    },
  })
  return {
    records: openRecords(parts.engine.catalog),
    recent,
    current: () => live.current(),
    refresh: () => live.refresh(),
    first: () => live.first(),
    buildAhead: () => live.buildAhead(),
    status: () => live.status(),
    stop() {
      live.stop()
      recent.clear()
    },
    async view(subscriber, ignoreRestrictions, given) {
      const saved = given ?? (await configurations.of(subscriber))
      if (saved.active.length === 0) throw new ApiError('no_active_distributors')
      if (saved.eligible.length === 0) throw new ApiError('no_validated_distributors')
      const snapshot = await live.first()
      if (!snapshot) throw new ApiError('feed_unavailable')
      return views.viewOf(snapshot, subscriber, saved, ignoreRestrictions)
    },
  }
}
