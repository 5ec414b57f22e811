/**
 * Builds exports and knows where they are (contract "Catalog export"). One build at a time for all
 * who wait for the same one; what fails leaves the version before it where it is.
 */
import type { Exporter, ExportsCtx, Published, Wanted } from './ctx.js'
import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import pLimit from 'p-limit'
import { SingleFlight } from '../core/async/single-flight.js'
import { inTime, nextTurn } from '../core/async/wait.js'
import type { Subscriber } from '../accounts/caller.js'
import type { View } from '../catalog/view/view.js'
import { SECOND } from '../core/clock.js'
import { ApiError, kindOf } from '../core/errors.js'
import { ROOM_FOR_FEEDS } from '../core/storage/disk-space.js'
import { catalogMade } from '../catalog/queries.js'
import { buildFiles, withWorkFolder } from './build-files.js'
import type { BuildTools, Files } from './build-files.js'
import { isRetailPriced, makeNumbers } from './number-columns.js'
import type { Numbers } from './number-columns.js'
import { findPublished, savePublished, twin } from './queries.js'
import { leads } from '../db/lead.js'
import { change, first } from '../db/reading.js'
import { sweepTexts } from './sweep.js'
import { EXPORTS, FORM } from './version.js'

export interface ExporterOptions {
  /** Milliseconds that a caller waits, and that a build may take. */
  patience?: number
  limit?: number
  /** The file of the process that builds; `duckdb.mjs` beside this package by default. */
  file?: string
}

/**
 * A caller is answered before a proxy gives up on it (contract: "up to about 60 seconds"); its next
 * call finds the file.
 */
const PATIENCE = 55 * SECOND
/**
 * For so long after a failure nobody tries again: a store that is down must not cost a build for
 * each call.
 */
const PAUSE = 15 * SECOND
/** Each takes half a gigabyte; one processor is left to who searches. */
const MOST_BUILDS = Math.max(1, Math.min(2, availableParallelism() - 1))

export function openExporter(
  context: () => ExportsCtx,
  { patience = PATIENCE, ...process }: ExporterOptions = {},
): Exporter {
  const builds = new Builds(context, process)
  return {
    async files(subscriber, view, version, wanted) {
      const ctx = context()
      const known = await findPublished(ctx.engine.meter.db, subscriber.id, version)
      if (known && (await answered(ctx, isThere(ctx, known)))) return known
      return inTime(() => builds.begin({ subscriber, view, version, wanted }), {
        ms: patience,
        late: () => {
          throw new ApiError('feed_unavailable', {
            message: 'The export is still being built. Call again in half a minute.',
            headers: { 'retry-after': '30' },
          })
        },
      })
    },
    url(key, options) {
      const ctx = context()
      return answered(ctx, ctx.objects.url(key, options))
    },
    stop: () => builds.stop(),
  }
}

/** An export that is asked for. */
interface Order {
  subscriber: Subscriber
  view: View
  version: string
  wanted: Wanted
}

/** Builds that are under way, and what became of those that failed a moment ago. */
class Builds {
  readonly #context: () => ExportsCtx
  readonly #process: Pick<ExporterOptions, 'limit' | 'file'>
  readonly #building = new SingleFlight<string, Published>()
  readonly #failures = new Map<string, { until: number; error: Error }>()
  readonly #stopping = new AbortController()
  readonly #inTurn = pLimit(MOST_BUILDS)

  constructor(context: () => ExportsCtx, process: Pick<ExporterOptions, 'limit' | 'file'>) {
    this.#context = context
    this.#process = process
  }

  /** The build of an export: the one that is under way, or a new one. */
  begin(order: Order): Promise<Published> {
    const { monotonic } = this.#context()
    const place = `${order.subscriber.id} ${order.version}`
    const failed = this.#failures.get(place)
    if (failed && failed.until > monotonic()) return Promise.reject(failed.error)
    this.#failures.delete(place)
    const build = this.#building.run(place, () => this.#build(place, order))
    // Whoever waits may have left.
    build.catch(() => {})
    return build
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#building.ended()
  }

  async #build(place: string, order: Order): Promise<Published> {
    const { log, monotonic, space } = this.#context()
    if (space.free() < ROOM_FOR_FEEDS)
      throw unavailable(
        "The export cannot be built: the server's disk is nearly full. Tell the operator.",
      )
    try {
      return await this.#inTurn(async () => {
        if (this.#stopping.signal.aborted) throw new Error('the app closes')
        return this.#make(order)
      })
    } catch (error) {
      if (!this.#stopping.signal.aborted)
        log.error(
          { err: error, subscriber: order.subscriber.id, version: order.version },
          'an export could not be built',
        )
      const refusal = unavailable(
        'The export could not be built or stored at the moment. Try again shortly.',
      )
      for (const [other, { until }] of this.#failures)
        if (until <= monotonic()) this.#failures.delete(other)
      this.#failures.set(place, { until: monotonic() + PAUSE, error: refusal })
      throw refusal
    }
  }

  async #make({ subscriber, view, version, wanted }: Order): Promise<Published> {
    const ctx = this.#context()
    const { limit, file } = this.#process
    const tools: BuildTools = {
      ctx,
      signal: this.#stopping.signal,
      ...(limit !== undefined && { limit }),
      ...(file !== undefined && { file }),
    }
    const numbers = await makeNumbers(view)
    const hasRetail = isRetailPriced(view)
    const content = await digestOf(ctx, numbers, hasRetail, wanted)
    const rowOf = (keys: Files): Published => ({
      subscriber_id: subscriber.id,
      export_version: version,
      content,
      parquet_key: keys.parquet_key,
      attributes_key: keys.attributes_key,
      made_at: ctx.now(),
      urls_until: 0,
    })
    const { meter } = ctx.engine
    // At once, so that its objects are of use to somebody before anybody can remove them.
    const joined = await meter.alone(ctx, EXPORTS, function* () {
      const known = yield* first(twin, { content })
      if (!known) return undefined
      const row = rowOf(known)
      yield* change(savePublished, row)
      return row
    })
    if (joined && (await isThere(ctx, joined))) return joined
    const row = rowOf(
      await withWorkFolder(tools, (work) =>
        buildFiles(tools, work, { numbers, hasRetail, attributes: wanted.attributes }),
      ),
    )
    await meter.change(savePublished, row)
    // The job runs at the node that leads, and these are in the folder of this one.
    if (!leads(ctx.engine)) await sweepTexts(ctx)
    return row
  }
}

function unavailable(message: string): ApiError {
  return new ApiError('feed_unavailable', {
    message,
    headers: { 'retry-after': String(PAUSE / SECOND) },
  })
}

/** A store that cannot be asked is a store from which nothing can be read. */
async function answered<T>({ log }: ExportsCtx, answer: Promise<T>): Promise<T> {
  return answer.catch((error: unknown) => {
    log.error({ err: error, kind: kindOf(error) }, 'the object store cannot be asked for an export')
    throw unavailable(
      'The place where exports are kept cannot be reached at the moment. Try again shortly.',
    )
  })
}

async function isThere(
  { objects }: ExportsCtx,
  { parquet_key: parquet, attributes_key: attributes }: Published,
): Promise<boolean> {
  return (await objects.has(parquet)) && (attributes === null || (await objects.has(attributes)))
}

/** Bytes that are hashed in one turn of the loop. */
const HASHED = 1 << 20

/** Equal for files with equal bytes in them: which texts, which numbers. */
async function digestOf(
  { engine }: ExportsCtx,
  { bytes, sections }: Numbers,
  hasRetail: boolean,
  { attributes }: Wanted,
): Promise<string> {
  const hash = createHash('sha256').update(
    JSON.stringify([FORM, catalogMade(engine.catalog), sections, hasRetail, attributes]),
  )
  for (let at = 0; at < bytes.length; at += HASHED) {
    hash.update(bytes.subarray(at, at + HASHED))
    await nextTurn()
  }
  return hash.digest('base64url')
}
