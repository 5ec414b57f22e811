/**
 * Builds exports and knows where they are (contract "Catalog export"). One build at a time for all who wait for the same
 * one; what fails leaves the version before it where it is.
 */
import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import type { Subscriber } from '../accounts/subscribers.js'
import type { View } from '../catalog/view.js'
import { SECOND } from '../core/clock.js'
import type { OperatorCtx } from '../core/ctx.js'
import { ApiError, kindOf } from '../core/errors.js'
import { ROOM_FOR_FEEDS } from '../core/space.js'
import { buildFiles, catalogOf, withWorkFolder } from './build-files.js'
import type { BuildTools } from './build-files.js'
import { COLUMNS, makeNumbers } from './numbers.js'
import type { Numbers } from './numbers.js'
import { findPublished, findTwin, savePublished } from './published.js'
import type { Published } from './published.js'
import type { Wanted } from './version.js'

export interface Exporter {
  /** The files of an export, built if they are not there. Throws `feed_unavailable` where that fails or takes too long. */
  files(subscriber: Subscriber, view: View, version: string, wanted: Wanted): Promise<Published>
  /** Ends what is being built. */
  stop(): Promise<void>
}

export interface ExporterOptions {
  /** Milliseconds that a caller waits, and that a build may take. */
  patience?: number
  limit?: number
}

/** A caller is answered before a proxy gives up on it (contract: "up to about 60 seconds"); its next call finds the file. */
const PATIENCE = 55 * SECOND
/** For so long after a failure nobody tries again: a store that is down must not cost a build for each call. */
const PAUSE = 15 * SECOND
/** Each takes half a gigabyte; one processor is left to who searches. */
const MOST_BUILDS = Math.max(1, Math.min(2, availableParallelism() - 1))

export function openExporter(context: () => OperatorCtx, { patience = PATIENCE, limit }: ExporterOptions = {}): Exporter {
  const building = new Map<string, Promise<Published>>()
  const failures = new Map<string, { until: number; error: Error }>()
  const stopping = new AbortController()
  const queue: (() => void)[] = []
  let running = 0

  /** Runs a build when it is its turn. */
  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= MOST_BUILDS) await new Promise<void>((resolve) => queue.push(resolve))
    running++
    try {
      if (stopping.signal.aborted) throw new Error('the app closes')
      return await work()
    } finally {
      running--
      queue.shift()?.()
    }
  }

  async function make(subscriber: Subscriber, view: View, version: string, wanted: Wanted): Promise<Published> {
    const ctx = context()
    const tools: BuildTools = { ctx, signal: stopping.signal, ...limit !== undefined && { limit } }
    const numbers = await makeNumbers(view)
    const content = await digestOf(ctx, numbers, view.retailPrice !== null, wanted)
    const twin = findTwin(ctx, content)
    const shared = twin && await ctx.objects.has(twin.parquet_key) && (twin.attributes_key === null || await ctx.objects.has(twin.attributes_key)) ? twin : null
    const keys = shared ?? await withWorkFolder(tools, (work) => buildFiles(tools, work, { numbers, hasRetail: view.retailPrice !== null, attributes: wanted.attributes }))
    const row: Published = { subscriber_id: subscriber.id, export_version: version, content, parquet_key: keys.parquet_key, attributes_key: keys.attributes_key, made_at: ctx.now(), urls_until: 0 }
    savePublished(ctx, row)
    return row
  }

  function begin(subscriber: Subscriber, view: View, version: string, wanted: Wanted): Promise<Published> {
    const { log, monotonic, space } = context()
    const place = `${subscriber.id} ${version}`
    const failed = failures.get(place)
    if (failed && failed.until > monotonic()) return Promise.reject(failed.error)
    failures.delete(place)
    let build = building.get(place)
    if (!build) {
      if (space.free() < ROOM_FOR_FEEDS) throw new ApiError('feed_unavailable', { message: 'The export cannot be built: the server\'s disk is nearly full. Tell the operator.' })
      build = inTurn(() => make(subscriber, view, version, wanted)).catch((error: unknown) => {
        log.error({ err: error, subscriber: subscriber.id, version }, 'an export could not be built')
        const refusal = new ApiError('feed_unavailable', { message: 'The export could not be built or stored at the moment. Try again shortly.', headers: { 'retry-after': String(PAUSE / SECOND) } })
        failures.set(place, { until: monotonic() + PAUSE, error: refusal })
        throw refusal
      }).finally(() => building.delete(place))
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
      if (known && await isThere(ctx, known)) return known
      return inTime(begin(subscriber, view, version, wanted), patience)
    },
    async stop() {
      stopping.abort()
      for (const next of queue.splice(0)) next()
      await Promise.allSettled(building.values())
    },
  }
}

/** A store that cannot be asked is a store from which nothing can be read. */
async function isThere({ objects, log }: OperatorCtx, { parquet_key: parquet, attributes_key: attributes }: Published): Promise<boolean> {
  try {
    return await objects.has(parquet) && (attributes === null || await objects.has(attributes))
  } catch (error) {
    log.error({ err: error, kind: kindOf(error) }, 'the object store cannot be asked for an export')
    throw new ApiError('feed_unavailable', { message: 'The place where exports are kept cannot be reached at the moment. Try again shortly.', headers: { 'retry-after': String(PAUSE / SECOND) } })
  }
}

async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ApiError('feed_unavailable', { message: 'The export is still being built. Call again in half a minute.', headers: { 'retry-after': '30' } })), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Bytes that are hashed in one turn of the loop. */
const HASHED = 1 << 20

/** Equal for files with equal bytes in them: which texts, which numbers. */
async function digestOf({ engine }: OperatorCtx, { columns, sections }: Numbers, hasRetail: boolean, { attributes }: Wanted): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([catalogOf(engine), sections, hasRetail, attributes]))
  for (const name of COLUMNS) {
    const bytes = new Uint8Array(columns[name].buffer)
    for (let at = 0; at < bytes.length; at += HASHED) {
      hash.update(bytes.subarray(at, at + HASHED))
      await new Promise(setImmediate)
    }
  }
  return hash.digest('base64url')
}
