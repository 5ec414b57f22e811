/**
 * The live catalog of an app: the newest snapshot, swapped by one pointer, and the subscribers'
 * views of it.
 */
import { ApiError } from '../core/errors.js'
import type { Log } from '../core/log.js'
import type { Subscriber } from '../accounts/caller.js'
import type { Documents, Saved } from '../configuration/document/saved.js'
import type { Engine } from '../db/engine.js'
import type { Background } from '../core/async/background.js'
import { buildSnapshot } from './snapshot/build.js'
import type { SnapshotParts } from './snapshot/parts.js'
import { openSnapshot } from './snapshot/open.js'
import { openRecords } from './search/records.js'
import type { Records } from './search/records.js'
import type { Snapshot } from './snapshot/snapshot.js'
import { makePrices, makeView } from './view/view.js'
import type { Prices, View } from './view/view.js'

/** What the worker does for the catalog. */
export interface CatalogTasks {
  buildSnapshot(input: { dir: string }): SnapshotParts
}

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

/**
 * Offers up to which a snapshot is built on the spot, in a few milliseconds, instead of in the
 * worker.
 */
const INLINE_OFFERS = 2_000

/** Milliseconds until a snapshot that could not be built is tried again. */
const RETRY = 30_000

/**
 * One subscriber's views, with restrictions and without, of one snapshot and one saved document.
 */
interface Kept {
  snapshot: Snapshot
  saved: Saved
  prices: Prices
  views: Map<boolean, View>
}

export function openCatalog(
  engine: Engine,
  configurations: Documents,
  background: Background<CatalogTasks>,
  log: Log,
): Catalog {
  const { raw, prepare } = engine.catalog
  const revision = prepare('SELECT revision FROM state').pluck()
  const highest = prepare('SELECT max(id) FROM offer').pluck()
  const views = new Map<string, Kept>()
  let parts: SnapshotParts | null = null
  let snapshot: Snapshot | null = null
  let seen = -1
  let building: Promise<void> | null = null
  let retry: NodeJS.Timeout | undefined
  let isStopped = false

  const swap = (next: SnapshotParts) => {
    // A slow build must not take the place of a newer one.
    if (parts && next.revision <= parts.revision) return
    // A buffer that was posted is another object over the same memory; what is remembered of the
    // text hangs on the object.
    parts = parts?.textRevision === next.textRevision ? { ...next, text: parts.text } : next
    const before = snapshot
    snapshot = openSnapshot(parts)
    // The view before helps to compute the next one; an older one would only keep its snapshot in
    // memory.
    for (const [id, kept] of views) if (kept.snapshot !== before) views.delete(id)
  }

  function isStale(): boolean {
    const version = engine.catalogVersion()
    if (version === seen) return false
    const newest = revision.get() as number
    if (newest <= (snapshot?.revision ?? 0)) {
      seen = version
      return false
    }
    return true
  }

  function build(): Promise<void> {
    return (building ??= background
      .run('buildSnapshot', { dir: engine.dir })
      .then(swap)
      .catch((error: unknown) => {
        if (isStopped) return
        log.error({ err: error }, 'the snapshot could not be built; the last one serves on')
        // Tried again after a pause, or with the next commit.
        seen = engine.catalogVersion()
        clearTimeout(retry)
        retry = setTimeout(() => {
          seen = -1
        }, RETRY).unref()
      })
      .finally(() => {
        building = null
      }))
  }

  function update(): void {
    if (!isStale() || isStopped) return
    if (((highest.get() as number | null) ?? 0) <= INLINE_OFFERS) swap(buildSnapshot(raw))
    else void build()
  }

  return {
    records: openRecords(engine.catalog),
    current() {
      update()
      return snapshot
    },
    async refresh() {
      engine.lookAgain()
      // One round may have begun before the commit that the caller waits for.
      for (let round = 0; round < 3 && isStale(); round++) {
        update()
        if (building) await building
      }
    },
    stop() {
      isStopped = true
      clearTimeout(retry)
    },
    async view(subscriber, ignoreRestrictions) {
      const saved = configurations.of(subscriber)
      if (saved.active.length === 0) throw new ApiError('no_active_distributors')
      if (saved.eligible.length === 0) throw new ApiError('no_validated_distributors')
      update()
      if (!snapshot && building) await building
      const current = snapshot
      if (!current) throw new ApiError('feed_unavailable')
      const input = {
        subscriberId: subscriber.id,
        document: saved.document,
        eligible: saved.eligible,
        ignoreRestrictions,
      }
      // Prices, view and what follows, such as a sort, are each work for a turn of the loop of its
      // own.
      const turn = () => (current.rows > INLINE_OFFERS ? new Promise(setImmediate) : undefined)
      const before = views.get(subscriber.id)
      let kept = before
      if (kept?.snapshot !== current || kept.saved !== saved) {
        views.set(
          subscriber.id,
          (kept = {
            snapshot: current,
            saved,
            prices: makePrices(current, input),
            views: new Map(),
          }),
        )
        await turn()
      }
      let view = kept.views.get(ignoreRestrictions)
      if (!view) {
        const previous = before?.saved === saved ? before.views.get(ignoreRestrictions) : undefined
        kept.views.set(ignoreRestrictions, (view = makeView(current, input, kept.prices, previous)))
        await turn()
      }
      return view
    },
  }
}
