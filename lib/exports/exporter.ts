/**
 * Builds exports and knows where they are (contract "Catalog export"). One build at a time for all
 * who wait for the same one; what fails leaves the version before it where it is.
 */
import type { Exporter, ExportsCtx, Published, Wanted } from './ctx.js'
import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import type { Subscriber } from '../accounts/caller.js'
import type { View } from '../catalog/view/view.js'
import { SECOND } from '../core/clock.js'
import { ApiError, kindOf } from '../core/errors.js'
import { inTime } from '../core/async/in-time.js'
import { ROOM_FOR_FEEDS } from '../core/storage/space.js'
import { buildFiles, catalogOf, withWorkFolder } from './build-files.js'
import type { BuildTools, Files } from './build-files.js'
import { isRetailPriced, makeNumbers } from './numbers.js'
import type { Numbers } from './numbers.js'
import { findPublished, findTwin, savePublished } from './published.js'
import { FORM } from './version.js'

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
  { patience = PATIENCE, limit, file }: ExporterOptions = {},
): Exporter {
  const building = new Map<string, Promise<Published>>()
  const failures = new Map<string, { until: number; error: Error }>()
  const stopping = new AbortController()
  const queue: (() => void)[] = []
  let running = 0

  /** Runs a build when it is its turn. */
  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running < MOST_BUILDS) running++
    else await new Promise<void>((resolve) => queue.push(resolve))
    try {
      if (stopping.signal.aborted) throw new Error('the app closes')
      return await work()
    } finally {
      // Handed on, not given up: somebody else could be here before the one who waits.
      const next = queue.shift()
      if (next) next()
      else running--
    }
  }

  async function make(
    subscriber: Subscriber,
    view: View,
    version: string,
    wanted: Wanted,
  ): Promise<Published> {
    const ctx = context()
    const tools: BuildTools = {
      ctx,
      signal: stopping.signal,
      ...(limit !== undefined && { limit }),
      ...(file !== undefined && { file }),
    }
    const numbers = await makeNumbers(view)
    const hasRetail = isRetailPriced(view)
    const content = await digestOf(ctx, numbers, hasRetail, wanted)
    const publish = (keys: Files): Published => {
      const row: Published = {
        subscriber_id: subscriber.id,
        export_version: version,
        content,
        parquet_key: keys.parquet_key,
        attributes_key: keys.attributes_key,
        made_at: ctx.now(),
        urls_until: 0,
      }
      savePublished(ctx, row)
      return row
    }
    const twin = findTwin(ctx, content)
    // In the same turn, so that its objects are of use to somebody before anybody can remove them.
    const row = twin && publish(twin)
    if (row && (await isThere(ctx, row))) return row
    return publish(
      await withWorkFolder(tools, (work) =>
        buildFiles(tools, work, { numbers, hasRetail, attributes: wanted.attributes }),
      ),
    )
  }

  function begin(
    subscriber: Subscriber,
    view: View,
    version: string,
    wanted: Wanted,
  ): Promise<Published> {
    const { log, monotonic, space } = context()
    const place = `${subscriber.id} ${version}`
    const failed = failures.get(place)
    if (failed && failed.until > monotonic()) return Promise.reject(failed.error)
    failures.delete(place)
    let build = building.get(place)
    if (!build) {
      if (space.free() < ROOM_FOR_FEEDS)
        throw unavailable(
          "The export cannot be built: the server's disk is nearly full. Tell the operator.",
        )
      build = inTurn(() => make(subscriber, view, version, wanted))
        .catch((error: unknown) => {
          if (!stopping.signal.aborted)
            log.error(
              { err: error, subscriber: subscriber.id, version },
              'an export could not be built',
            )
          const refusal = unavailable(
            'The export could not be built or stored at the moment. Try again shortly.',
          )
          for (const [other, { until }] of failures)
            if (until <= monotonic()) failures.delete(other)
          failures.set(place, { until: monotonic() + PAUSE, error: refusal })
          throw refusal
        })
        .finally(() => building.delete(place))
      building.set(place, build)
      // Whoever waits may have left.
      build.catch(() => {})
    }
    return build
  }

  return {
    async files(subscriber, view, version, wanted) {
      const ctx = context()
      const known = findPublished(ctx, subscriber.id, version)
      if (known && (await answered(ctx, isThere(ctx, known)))) return known
      const late = () =>
        new ApiError('feed_unavailable', {
          message: 'The export is still being built. Call again in half a minute.',
          headers: { 'retry-after': '30' },
        })
      return inTime(begin(subscriber, view, version, wanted), patience, late)
    },
    url(key, options) {
      const ctx = context()
      return answered(ctx, ctx.objects.url(key, options))
    },
    async stop() {
      stopping.abort()
      for (const next of queue.splice(0)) next()
      await Promise.allSettled(building.values())
    },
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
    JSON.stringify([FORM, catalogOf(engine), sections, hasRetail, attributes]),
  )
  for (let at = 0; at < bytes.length; at += HASHED) {
    hash.update(bytes.subarray(at, at + HASHED))
    await new Promise(setImmediate)
  }
  return hash.digest('base64url')
}
