/**
 * Feed sources: where a distributor's offers come from, for all subscribers or for one (decisions
 * 4.6).
 */
import { existsSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { audit } from '../accounts/audit.js'
import { findSubscriber } from '../accounts/subscribers.js'
import type { Progress } from '../core/async/progress.js'
import type { Background } from '../core/async/background.js'
import { oddMaps, oddMapsWarning } from '../catalog/view/odd-maps.js'
import { MINUTE } from '../core/clock.js'
import type { FeedTasks, FeedsCtx } from './ctx.js'
import { ApiError, invalid } from '../core/errors.js'
import type { Job } from '../core/async/job.js'
import { OPERATOR } from '../core/storage/secrets.js'
import { ROOM_FOR_FEEDS } from '../core/storage/space.js'
import { touch } from '../db/state.js'
import type { Preset } from '../distributors/generic/preset.js'
import type { Registry } from '../distributors/registry.js'
import { downloadAt, downloadsOf, sweepDownloads } from './fetch/downloads.js'
import { fetchFeed, redact } from './fetch/fetch.js'
import type { FeedResult } from './ingest/feed.js'
import { distidOf } from './suggest.js'
import type { FeedSourceTable } from '../db/tables/feeds.js'

/** Every 20 minutes, as the contract refreshes product data. */
const DEFAULT_EVERY = 20 * MINUTE
const LEAST_EVERY = MINUTE

export interface SourceInput {
  distid: string
  /** Which preset reads it; the distributor's catalog preset by default. */
  preset?: string
  /** Name or id of the subscriber whose own source it is; the operator's, for all, by default. */
  subscriber?: string
}

interface Source {
  id: string
  distid: string
  preset: string
  subscriberId: string | null
}

/** A preset by id, or the distributor's own catalog preset. */
function choosePreset({ presets }: Registry, distid: string, id: string | undefined): Preset {
  const found =
    id === undefined
      ? [...presets.values()].find(
          (preset) => preset.distid === distid && preset.kind === 'catalog',
        )
      : presets.get(id)
  if (found) return found
  const known = [...presets.keys()].join(', ')
  throw invalid(
    'preset',
    id === undefined
      ? `there is no preset for ${distid}; name one: ${known}`
      : `there is no preset "${id}"; known are ${known}`,
  )
}

async function resolveSource(ctx: FeedsCtx, input: SourceInput): Promise<Source> {
  const distid = distidOf(ctx.distributors, input.distid)
  if (!ctx.distributors.byDistid(distid)) {
    throw invalid(
      'distid',
      `"${input.distid}" is no known distributor; known are ${ctx.distributors.all.map(({ distid }) => distid).join(', ')}`,
    )
  }
  const { id: preset } = choosePreset(ctx.distributors, distid, input.preset)
  const subscriberId =
    input.subscriber === undefined ? null : (await findSubscriber(ctx, input.subscriber)).id
  return {
    id: [distid, preset, ...(subscriberId ? [subscriberId] : [])].join('/'),
    distid,
    preset,
    subscriberId,
  }
}

export interface SourceSettings extends SourceInput {
  /** An http(s) URL or a path. */
  location: string
  /** Milliseconds between pulls. */
  every?: number
  active?: boolean
  /** Lets the location be in this machine or its own network. */
  allowPrivate?: boolean
}

/** Sets or replaces a source that is pulled on a schedule. */
export async function setFeedSource(ctx: FeedsCtx, input: SourceSettings): Promise<{ id: string }> {
  const source = await resolveSource(ctx, input)
  const { location, active = true, allowPrivate = false } = input
  const every = Math.ceil(input.every ?? DEFAULT_EVERY)
  if (every < LEAST_EVERY) throw invalid('every', 'must be at least one minute')
  if (!isLocation(location)) throw invalid('location', 'must be a path or an http(s) URL')
  await ctx.engine.atomic(ctx, async (tx) => {
    const values = {
      location: sealerOf(ctx).seal(location, placeOf(source.id)),
      every_ms: every,
      active: active ? 1 : 0,
      allow_private: allowPrivate ? 1 : 0,
    }
    await tx.db
      .insertInto('feed_source')
      .values({
        id: source.id,
        distid: source.distid,
        subscriber_id: source.subscriberId,
        preset: source.preset,
        ...values,
        last_pull_at: null,
        last_result: null,
        created_at: tx.now(),
      })
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet({ ...values, last_pull_at: null }),
      )
      .execute()
    await audit(tx, 'feeds.set', {
      id: source.id,
      location: redact(location),
      every,
      allow_private: allowPrivate,
    })
    await touch(tx.db, 'sources')
  })
  return { id: source.id }
}

/** A location may hold a user and a password. */
const sealerOf = (ctx: FeedsCtx) => ctx.secrets.of(OPERATOR)
const placeOf = (source: string) => `location of ${source}`

function locationOf(ctx: FeedsCtx, { id, location }: FeedSourceTable): string {
  return sealerOf(ctx).open(location!, placeOf(id))
}

function isLocation(text: string): boolean {
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(text)?.[1]
  return scheme === undefined
    ? text.trim() !== ''
    : /^(https?|file)$/i.test(scheme) && URL.canParse(text)
}

export interface ImportOptions {
  /** When the file was made, milliseconds; its modification time by default. */
  asOf?: number
  /** Skips the guard's comparisons with the previous feed. */
  force?: boolean
  /** Tells what would happen and changes nothing. */
  dryRun?: boolean
  onProgress?: Progress
}

/**
 * Takes in a local file, plain or gzip. A refused feed is an answer (`outcome: 'refused'`), not an
 * exception.
 */
export async function importFeed(
  ctx: FeedsCtx,
  background: Background<FeedTasks>,
  input: SourceInput & { file: string },
  options: ImportOptions = {},
): Promise<FeedResult> {
  const source = await resolveSource(ctx, input)
  let asOf = options.asOf === undefined ? undefined : Math.floor(options.asOf)
  try {
    // A file from a clock that is ahead must not make every later one look old.
    asOf ??= Math.min(Math.floor(statSync(input.file).mtimeMs), ctx.now())
  } catch {
    throw invalid('file', `cannot read ${input.file}`)
  }
  const result = await takeIn(ctx, background, source, input.file, { ...options, asOf })
  if (options.dryRun || result.outcome === 'refused') return result
  const act = {
    source: source.id,
    file: basename(input.file),
    force: options.force === true,
    outcome: result.outcome,
  }
  await ctx.engine.atomic(ctx, (tx) => audit(tx, 'feeds.import', act))
  return result
}

async function takeIn(
  ctx: FeedsCtx,
  background: Background<FeedTasks>,
  source: Source,
  file: string,
  options: ImportOptions & { asOf: number },
): Promise<FeedResult> {
  const { onProgress, asOf, force = false, dryRun = false } = options
  needRoom(ctx)
  const result = await background.run(
    'ingestFeed',
    {
      dir: ctx.engine.dir,
      feed: {
        now: ctx.now(),
        preset: choosePreset(ctx.distributors, source.distid, source.preset),
        source: source.id,
        distid: source.distid,
        subscriberId: source.subscriberId,
        file,
        asOf,
        force,
        dryRun,
      },
    },
    onProgress,
  )
  if (dryRun) return result
  if (result.outcome !== 'refused') await recordImport(ctx, source)
  else
    ctx.log.warn(
      { source: source.id, reasons: result.reasons },
      'a feed was refused; the previous one serves on',
    )
  await ctx.catalog.refresh()
  return result
}

/** A nearly full disk is for orders. */
function needRoom({ space }: FeedsCtx): void {
  const free = space.free()
  if (free < ROOM_FOR_FEEDS)
    throw new ApiError('service_unavailable', {
      message: `the disk has ${Math.floor(free / 1_048_576)} MB left; below ${ROOM_FOR_FEEDS / 1_048_576} MB no feed is taken in, so that orders can be written down`,
    })
}

/**
 * The first taken feed validates a distributor that has no credentials to check (decisions 3.9):
 * the operator's for all subscribers, a subscriber's own for that one alone. What its credentials
 * once told is left as it stands.
 */
async function recordImport(ctx: FeedsCtx, { distid, subscriberId }: Source): Promise<void> {
  await ctx.engine.atomic(ctx, async (tx) => {
    const insert =
      subscriberId === null
        ? tx.db.insertInto('feed_import').values({ distid, imported_at: tx.now() })
        : tx.db.insertInto('credential_check').values({
            subscriber_id: subscriberId,
            distid,
            fingerprint: '',
            valid: 1,
            checked_at: tx.now(),
          })
    const added = await insert.onConflict((conflict) => conflict.doNothing()).executeTakeFirst()
    if (added.numInsertedOrUpdatedRows) await touch(tx.db, 'documents')
  })
}

export interface PullOptions {
  /**
   * Pulls all sources of this distributor; only those that are due, of all distributors, when it is
   * not given.
   */
  distid?: string
  /** For each download, milliseconds; 10 minutes by default. */
  timeoutMs?: number
  /**
   * Gives up the download that runs and begins no other; a source that was not pulled stays due.
   */
  signal?: AbortSignal
  onProgress?: Progress
}

/**
 * The sources that a pull brings: all of a distributor, or those that are due. 404 for a
 * distributor without one.
 */
export async function sourcesToPull(
  ctx: FeedsCtx,
  named?: string,
): Promise<(FeedSourceTable & { location: string })[]> {
  const distid = named === undefined ? undefined : distidOf(ctx.distributors, named)
  const rows = await ctx.read
    .selectFrom('feed_source')
    .selectAll()
    .where('active', '=', 1)
    .where('location', 'is not', null)
    .orderBy('id')
    .execute()
  const wanted = rows.filter((row) =>
    distid === undefined ? isDue(row, ctx.now()) : row.distid === distid,
  )
  if (distid !== undefined && wanted.length === 0)
    throw new ApiError('not_found', {
      message: `no feed source is set for ${distid}; set one with \`feeds set\``,
    })
  return wanted.map((row) => ({ ...row, location: locationOf(ctx, row) }))
}

/**
 * Pulls sources now, distributors side by side. One that fails or is refused is an answer, and the
 * next one is pulled.
 */
export async function pullFeed(
  ctx: FeedsCtx,
  background: Background<FeedTasks>,
  input: PullOptions = {},
): Promise<(FeedResult | FailedPull)[]> {
  const wanted = await sourcesToPull(ctx, input.distid)
  // Side by side, so that a distributor that hangs holds up no other; one distributor's sources one
  // after the other.
  const results = await Promise.all(
    [...new Set(wanted.map(({ distid }) => distid))].map(async (distid) => {
      const own = []
      for (const row of wanted)
        if (row.distid === distid) own.push(await pullOne(ctx, background, row, input))
      return own
    }),
  )
  return results.flat().filter((result) => result !== undefined)
}

function isDue(row: FeedSourceTable, now: number): boolean {
  // A pull in the future comes from a clock that was wrong.
  return (
    row.last_pull_at === null || row.last_pull_at > now || now - row.last_pull_at >= row.every_ms
  )
}

export interface FailedPull {
  source: string
  outcome: 'failed'
  reasons: string[]
}

/**
 * Undefined when the signal came first: that says nothing about the source, so nothing is recorded.
 */
async function pullOne(
  ctx: FeedsCtx,
  background: Background<FeedTasks>,
  row: FeedSourceTable & { location: string },
  { timeoutMs, signal, onProgress }: PullOptions,
): Promise<FeedResult | FailedPull | undefined> {
  const started = ctx.now()
  const record = (result: unknown) =>
    ctx.db
      .updateTable('feed_source')
      .set({ last_pull_at: started, last_result: JSON.stringify(result) })
      .where('id', '=', row.id)
      .execute()
  try {
    if (signal?.aborted) return undefined
    needRoom(ctx)
    const into = downloadAt(downloadsOf(ctx.engine.dir, row.id), started)
    const fetched = await fetchFeed({
      location: row.location,
      into,
      now: started,
      allowPrivate: row.allow_private === 1,
      signal,
      ...(timeoutMs !== undefined && { timeoutMs }),
    })
    const source = {
      id: row.id,
      distid: row.distid,
      preset: row.preset,
      subscriberId: row.subscriber_id,
    }
    const result = await takeIn(ctx, background, source, fetched.file, {
      asOf: fetched.asOf,
      ...(onProgress && { onProgress }),
    })
    await record(result)
    return result
  } catch (error) {
    if (signal?.aborted) return undefined
    const failure: FailedPull = {
      source: row.id,
      outcome: 'failed',
      reasons: [error instanceof Error ? error.message : String(error)],
    }
    ctx.log.warn(
      { source: row.id, reasons: failure.reasons },
      'a feed could not be pulled; the previous one serves on',
    )
    await record(failure)
    return failure
  } finally {
    await tidy(ctx, row.id, started)
  }
}

/** The refused file of a source that `feeds accept` would take. */
function refusalOf(ctx: FeedsCtx, source: string) {
  return ctx.engine.catalog
    .prepare('SELECT file, as_of AS asOf FROM refusal WHERE source = ?')
    .get(source) as { file: string | null; asOf: number | null } | undefined
}

/**
 * Removes what was downloaded for a source up to this pull, but for the file that waits for the
 * operator's decision.
 */
async function tidy(ctx: FeedsCtx, source: string, started: number): Promise<void> {
  try {
    await sweepDownloads(
      downloadsOf(ctx.engine.dir, source),
      started,
      refusalOf(ctx, source)?.file ?? null,
    )
  } catch (error) {
    ctx.log.warn(
      { err: error, source },
      'old downloads could not be removed; the next pull tries again',
    )
  }
}

/** Takes the feed that the guard last refused, all the same. */
export async function acceptFeed(
  ctx: FeedsCtx,
  background: Background<FeedTasks>,
  input: SourceInput,
  options: Pick<ImportOptions, 'onProgress' | 'dryRun'> = {},
): Promise<FeedResult> {
  const source = await resolveSource(ctx, input)
  const refusal = refusalOf(ctx, source.id)
  if (!refusal?.file)
    throw new ApiError('not_found', { message: `no refused feed of ${source.id} is waiting` })
  if (!existsSync(refusal.file))
    throw new ApiError('not_found', {
      message: `the refused feed of ${source.id} is gone from ${refusal.file}; pull or import it again`,
    })
  const started = ctx.now()
  const result = await takeIn(ctx, background, source, refusal.file, {
    ...options,
    asOf: refusal.asOf ?? started,
    force: true,
  })
  if (options.dryRun) return result
  await ctx.engine.atomic(ctx, (tx) =>
    audit(tx, 'feeds.accept', { source: source.id, outcome: result.outcome }),
  )
  await tidy(ctx, source.id, started)
  return result
}

/**
 * What each source last brought: the accepted feed, the schedule, and the refusal that waits, if
 * any.
 */
export async function feedStatus(ctx: FeedsCtx) {
  const taken = ctx.engine.catalog
    .prepare(
      'SELECT source, distid, preset, subscriber_id, as_of, taken_at, rows, rejected FROM feed',
    )
    .all() as {
    source: string
    distid: string
    preset: string
    subscriber_id: string | null
    as_of: number
    taken_at: number
    rows: number
    rejected: number
  }[]
  const refused = ctx.engine.catalog.prepare('SELECT source, at, reasons FROM refusal').all() as {
    source: string
    at: number
    reasons: string
  }[]
  const odd = oddMaps(ctx.engine.catalog)
  const sources = await ctx.read.selectFrom('feed_source').selectAll().execute()
  const offers = ctx.engine.catalog.prepare('SELECT offers FROM tally WHERE distid = ?').pluck()
  const ids = [
    ...new Set(
      [...taken, ...refused].map((row) => row.source).concat(sources.map((row) => row.id)),
    ),
  ].sort()
  const iso = (ms: number | null | undefined) => (ms ? new Date(ms).toISOString() : null)
  return ids.map((id) => {
    const feed = taken.find((row) => row.source === id)
    const source = sources.find((row) => row.id === id)
    const refusal = refused.find((row) => row.source === id)
    const maps = odd.find((row) => row.source === id)
    const distid = feed?.distid ?? source?.distid ?? id.split('/')[0]!
    return {
      source: id,
      distid,
      location: source?.location ? redact(locationOf(ctx, source)) : null,
      allow_private: source?.allow_private === 1,
      every_minutes: source ? source.every_ms / MINUTE : null,
      last_pull: iso(source?.last_pull_at),
      last_outcome: outcomeOf(source?.last_result),
      as_of: iso(feed?.as_of),
      taken_at: iso(feed?.taken_at),
      rows: feed?.rows ?? 0,
      rejected: feed?.rejected ?? 0,
      offers: (offers.get(distid) as number | undefined) ?? 0,
      warnings: maps ? [oddMapsWarning(maps)] : [],
      refused: refusal
        ? { at: iso(refusal.at), reasons: JSON.parse(refusal.reasons) as string[] }
        : null,
    }
  })
}

/** `taken`, or what went wrong: a source that fails must not look like one that is merely quiet. */
function outcomeOf(lastResult: string | null | undefined): string | null {
  if (!lastResult) return null
  const { outcome, reasons } = JSON.parse(lastResult) as FeedResult | FailedPull
  return reasons.length > 0 ? `${outcome}: ${reasons.join('; ')}` : outcome
}

/** Looks every minute for sources that are due; each has its own period. */
export function pullJob(background: Background<FeedTasks>): Job<FeedsCtx> {
  return {
    name: 'feeds',
    every: MINUTE,
    run: async (ctx, signal) => void (await pullFeed(ctx, background, { signal })),
  }
}
