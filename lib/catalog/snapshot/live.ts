/** The newest snapshot of a catalog: built anew when any process has changed it, and swapped in. */
import type { Background } from '../../core/async/background.js'
import type { Log } from '../../core/log.js'
import type { Engine } from '../../db/engine.js'
import type { Built } from '../kept/build.js'
import { highestOffer, revisionOf } from '../queries.js'
import { buildSnapshot } from './build.js'
import { openSnapshot } from './open.js'
import type { SnapshotParts } from './parts.js'
import type { Snapshot } from './snapshot.js'

/** What the worker does for the catalog. */
export interface CatalogTasks {
  buildSnapshot(input: { dir: string }): Promise<Built>
  /** Keeps the last one on the disk; false without enough room. */
  keepSnapshot(input: { dir: string }): boolean
}

/** Whether there is a snapshot, for who watches the server. */
export interface CatalogStatus {
  /**
   * `absent` before the first feed, `loading` until the first snapshot is there, `failed` where it
   * cannot be made: it is tried again.
   */
  state: 'absent' | 'loading' | 'ready' | 'failed'
  /** When that began, in milliseconds of the clock. */
  since: number
  /** A newer snapshot is being made; where one is there, it serves on. */
  isBuilding: boolean
  offers: number
  /** The public name of the snapshot; null where there is none. */
  version: string | null
  /** The last one that was made: when, how long that took, and out of what. */
  lastBuild: { at: number; milliseconds: number; from: Built['from'] } | null
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
  now: () => number
  monotonic: () => number
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
  /** Of a file that was not open yet when it was built. */
  #ahead: { built: Built; begun: number } | null = null
  #retry: NodeJS.Timeout | undefined
  #isStopped = false
  #lastBuild: CatalogStatus['lastBuild'] = null
  #state: Pick<CatalogStatus, 'state' | 'since'>
  /** The last one could not be kept on the disk, which was told. */
  #isUnkept = false

  constructor(options: LiveOptions) {
    this.#options = options
    this.#revision = revisionOf(options.engine.catalog)
    this.#offers = highestOffer(options.engine.catalog)
    this.#state = { state: 'absent', since: options.now() }
  }

  /** Looks at nothing: the state is that of the last call of another function. */
  status(): CatalogStatus {
    return {
      ...this.#state,
      isBuilding: this.#building !== null,
      offers: this.#newest?.rows ?? 0,
      version: this.#newest?.version ?? null,
      lastBuild: this.#lastBuild,
    }
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

  /**
   * Builds the one of another file that has the catalog's place, before that is opened: until then
   * the last one serves on, with the texts of its own file. The first look afterwards swaps it in.
   */
  async buildAhead(): Promise<void> {
    const { engine, background, log, monotonic } = this.#options
    if (this.#newest === null || this.#isStopped) return
    const begun = monotonic()
    try {
      this.#ahead = { built: await background.run('buildSnapshot', { dir: engine.dir }), begun }
    } catch (error) {
      // It is built once the file is open; where that fails, too, it is told as an error.
      if (!this.#isStopped) log.warn({ err: error }, 'the next snapshot could not be built ahead')
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
    const ahead = this.#ahead
    if (ahead && this.#revision() === ahead.built.parts.revision) {
      this.#ahead = null
      this.#swap(ahead.built, ahead.begun)
      void this.#keep()
      return
    }
    if (this.#offers() > INLINE_OFFERS) return void this.#build()
    const { engine, monotonic } = this.#options
    const begun = monotonic()
    this.#swap({ parts: buildSnapshot(engine.catalog.raw), from: 'catalog', fault: null }, begun)
  }

  #build(): Promise<void> {
    const { engine, background, log, monotonic } = this.#options
    if (this.#building) return this.#building
    const begun = monotonic()
    this.#become('loading')
    return (this.#building = background
      .run('buildSnapshot', { dir: engine.dir })
      .then((built) => {
        this.#swap(built, begun)
        void this.#keep()
      })
      .catch((error: unknown) => {
        if (this.#isStopped) return
        log.error({ err: error }, 'the snapshot could not be built; the last one serves on')
        this.#become('failed')
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

  #swap({ parts: next, from, fault }: Built, begun: number): void {
    const { log, now, monotonic, onSwap } = this.#options
    const before = this.#parts
    // A slow build must not take the place of a newer one.
    if (before && before.made === next.made && next.revision <= before.revision) return
    // A buffer that was posted is another object over the same memory; what is remembered of the
    // text hangs on the object.
    const isSameText = before?.made === next.made && before.textRevision === next.textRevision
    this.#parts = isSameText ? { ...next, text: before.text } : next
    const replaced = this.#newest
    this.#newest = openSnapshot(this.#parts)
    const milliseconds = Math.round(monotonic() - begun)
    this.#lastBuild = { at: now(), milliseconds, from }
    if (fault !== null)
      log.warn({}, `the snapshot on the disk was thrown away, and built anew: ${fault}`)
    log[replaced ? 'debug' : 'info'](
      { offers: next.rows, version: next.version, milliseconds, from },
      'the catalog is ready',
    )
    this.#become('ready')
    onSwap(replaced)
  }

  /** A snapshot that is there stays there, whatever becomes of the next. */
  #become(state: CatalogStatus['state']): void {
    if (this.#state.state === state || (this.#newest && state !== 'ready')) return
    this.#state = { state, since: this.#options.now() }
  }

  /** Has the worker write the last one to the disk; without it the next start takes longer. */
  async #keep(): Promise<void> {
    const { engine, background, log } = this.#options
    const said = 'the snapshot cannot be kept on the disk: the next start has to build it'
    try {
      const isKept = await background.run('keepSnapshot', { dir: engine.dir })
      if (!isKept && !this.#isUnkept) log.warn({}, `${said} (too little room)`)
      this.#isUnkept = !isKept
    } catch (error) {
      if (this.#isStopped) return
      if (!this.#isUnkept) log.warn({ err: error }, said)
      this.#isUnkept = true
    }
  }
}
