/** The newest snapshot of a catalog: built anew when any process has changed it, and swapped in. */
import type { Background } from '../../core/async/background.js'
import type { Log } from '../../core/log.js'
import type { Engine } from '../../db/engine.js'
import { highestOffer, revisionOf } from '../queries.js'
import { buildSnapshot } from './build.js'
import { openSnapshot } from './open.js'
import type { SnapshotParts } from './parts.js'
import type { Snapshot } from './snapshot.js'

/** What the worker does for the catalog. */
export interface CatalogTasks {
  buildSnapshot(input: { dir: string }): SnapshotParts
}

/**
 * Offers up to which a snapshot is built on the spot, in a few milliseconds, instead of in the
 * worker.
 */
export const INLINE_OFFERS = 2_000

/** Milliseconds until a snapshot that could not be built is tried again. */
const RETRY = 30_000

export interface LiveOptions {
  engine: Engine
  background: Background<CatalogTasks>
  log: Log
  /** Told of the snapshot that a new one takes the place of. */
  onSwap: (before: Snapshot | null) => void
}

export class LiveSnapshot {
  readonly #options: LiveOptions
  readonly #revision: () => number
  readonly #offers: () => number
  #parts: SnapshotParts | null = null
  #newest: Snapshot | null = null
  /** Version of the catalog file that holds nothing newer. */
  #seen = -1
  #building: Promise<void> | null = null
  #retry: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(options: LiveOptions) {
    this.#options = options
    this.#revision = revisionOf(options.engine.catalog)
    this.#offers = highestOffer(options.engine.catalog)
  }

  /**
   * The newest one that is built; null before the first feed. Notices what any process has changed,
   * and begins to build what it lacks.
   */
  current(): Snapshot | null {
    this.#update()
    return this.#newest
  }

  /** The same; the first one is waited for. */
  async first(): Promise<Snapshot | null> {
    this.#update()
    if (!this.#newest && this.#building) await this.#building
    return this.#newest
  }

  /** Waits until it holds everything that is committed now. */
  async refresh(): Promise<void> {
    this.#options.engine.lookAgain()
    // One round may have begun before the commit that the caller waits for.
    for (let round = 0; round < 3 && this.#isStale(); round++) {
      this.#update()
      if (this.#building) await this.#building
    }
  }

  /** Builds no more; one that is under way may be cut off. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#retry)
  }

  #isStale(): boolean {
    const version = this.#options.engine.catalogVersion()
    if (version === this.#seen) return false
    if (this.#revision() > (this.#newest?.revision ?? 0)) return true
    this.#seen = version
    return false
  }

  #update(): void {
    if (!this.#isStale() || this.#isStopped) return
    if (this.#offers() <= INLINE_OFFERS) this.#swap(buildSnapshot(this.#options.engine.catalog.raw))
    else void this.#build()
  }

  #build(): Promise<void> {
    const { engine, background, log } = this.#options
    return (this.#building ??= background
      .run('buildSnapshot', { dir: engine.dir })
      .then((parts) => this.#swap(parts))
      .catch((error: unknown) => {
        if (this.#isStopped) return
        log.error({ err: error }, 'the snapshot could not be built; the last one serves on')
        // Tried again after a pause, or with the next commit.
        this.#seen = engine.catalogVersion()
        clearTimeout(this.#retry)
        this.#retry = setTimeout(() => {
          this.#seen = -1
        }, RETRY).unref()
      })
      .finally(() => {
        this.#building = null
      }))
  }

  #swap(next: SnapshotParts): void {
    const before = this.#parts
    // A slow build must not take the place of a newer one.
    if (before && next.revision <= before.revision) return
    // A buffer that was posted is another object over the same memory; what is remembered of the
    // text hangs on the object.
    this.#parts = before?.textRevision === next.textRevision ? { ...next, text: before.text } : next
    const replaced = this.#newest
    this.#newest = openSnapshot(this.#parts)
    this.#options.onSwap(replaced)
  }
}
