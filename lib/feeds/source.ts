/** Feed sources: where a distributor's offers come from, for all subscribers or for one (decisions 4.6). */
import { join } from 'node:path'
import { statSync } from 'node:fs'
import { audit } from '../accounts/audit.js'
import { findSubscriber } from '../accounts/subscribers.js'
import type { Background, Progress } from '../background.js'
import { MINUTE } from '../core/clock.js'
import type { OperatorCtx } from '../core/ctx.js'
import { ApiError, invalid } from '../core/errors.js'
import type { Job } from '../core/job.js'
import { touch } from '../db/state.js'
import { presets } from '../distributors/presets/index.js'
import { fetchFeed } from './fetch.js'
import type { FeedResult } from './ingest.js'
import type { FeedSourceTable } from './tables.js'

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
function choosePreset(distid: string, id: string | undefined): string {
  const known = Object.values(presets)
  const found = id === undefined ? known.find((preset) => preset.distid === distid && preset.kind === 'catalog') : known.find((preset) => preset.id === id)
  if (!found) {
    throw invalid('preset', id === undefined
      ? `there is no preset for ${distid}; name one: ${Object.keys(presets).join(', ')}`
      : `there is no preset "${id}"; known are ${Object.keys(presets).join(', ')}`)
  }
  return found.id
}

async function resolveSource(ctx: OperatorCtx, input: SourceInput): Promise<Source> {
  if (!ctx.distributors.byDistid(input.distid)) {
    throw invalid('distid', `"${input.distid}" is no known distributor; known are ${ctx.distributors.all.map(({ distid }) => distid).join(', ')}`)
  }
  const preset = choosePreset(input.distid, input.preset)
  const subscriberId = input.subscriber === undefined ? null : (await findSubscriber(ctx, input.subscriber)).id
  return { id: [input.distid, preset, ...subscriberId ? [subscriberId] : []].join('/'), distid: input.distid, preset, subscriberId }
}

/** Sets or replaces a source that is pulled on a schedule. `location` is an http(s) URL or a path; `every` is milliseconds. */
export async function setFeedSource(ctx: OperatorCtx, input: SourceInput & { location: string; every?: number; active?: boolean }): Promise<{ id: string }> {
  const source = await resolveSource(ctx, input)
  const every = input.every ?? DEFAULT_EVERY
  if (every < LEAST_EVERY) throw invalid('every', 'must be at least one minute')
  if (input.location.trim() === '') throw invalid('location', 'must be a path or an http(s) URL')
  await ctx.engine.atomic(ctx, async (tx) => {
    const values = { location: input.location, every_ms: every, active: input.active === false ? 0 : 1 }
    await tx.db.insertInto('feed_source')
      .values({ id: source.id, distid: source.distid, subscriber_id: source.subscriberId, preset: source.preset, ...values, last_pull_at: null, last_result: null, created_at: tx.now() })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...values, last_pull_at: null })).execute()
    await audit(tx, 'feeds.set', { id: source.id, location: redactLocation(input.location), every })
    await touch(tx.db, 'sources')
  })
  return { id: source.id }
}

/** A URL without its user and password. */
export function redactLocation(location: string): string {
  return location.replace(/^([a-z]+:\/\/)[^/@]*@/i, '$1')
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

/** Takes in a local file, plain or gzip. A refused feed is an answer (`outcome: 'refused'`), not an exception. */
export async function importFeed(ctx: OperatorCtx, background: Background, input: SourceInput & { file: string }, options: ImportOptions = {}): Promise<FeedResult> {
  const source = await resolveSource(ctx, input)
  let asOf = options.asOf
  try {
    asOf ??= Math.floor(statSync(input.file).mtimeMs)
  } catch {
    throw invalid('file', `cannot read ${input.file}`)
  }
  return takeIn(ctx, background, source, input.file, { ...options, asOf })
}

async function takeIn(ctx: OperatorCtx, background: Background, source: Source, file: string, options: ImportOptions & { asOf: number }): Promise<FeedResult> {
  const { onProgress, asOf, force = false, dryRun = false } = options
  const result = await background.run('ingestFeed', {
    dir: ctx.engine.dir,
    feed: { now: ctx.now(), preset: presets[source.preset]!, source: source.id, distid: source.distid, subscriberId: source.subscriberId, file, asOf, force, dryRun },
  }, onProgress)
  if (dryRun) return result
  if (result.outcome !== 'refused') await recordImport(ctx, source)
  else ctx.log.warn({ source: source.id, reasons: result.reasons }, 'a feed was refused; the previous one serves on')
  await ctx.catalog.refresh()
  return result
}

/** The first taken feed of the operator validates a distributor that has no credentials to check (decisions 3.9). */
async function recordImport(ctx: OperatorCtx, source: Source): Promise<void> {
  await ctx.engine.atomic(ctx, async (tx) => {
    const added = await tx.db.insertInto('feed_import').values({ distid: source.distid, imported_at: tx.now() })
      .onConflict((conflict) => conflict.doNothing()).executeTakeFirst()
    if (added.numInsertedOrUpdatedRows) await touch(tx.db, 'documents')
  })
}

/** Pulls the set sources of a distributor now, or all that are due when no distid is given. */
export async function pullFeed(ctx: OperatorCtx, background: Background, input: { distid?: string; onProgress?: Progress } = {}): Promise<(FeedResult | { source: string; outcome: 'failed'; reasons: string[] })[]> {
  const rows = await ctx.read.selectFrom('feed_source').selectAll().where('active', '=', 1).where('location', 'is not', null).orderBy('id').execute()
  const wanted = rows.filter((row) => input.distid === undefined ? isDue(row, ctx.now()) : row.distid === input.distid)
  if (input.distid !== undefined && wanted.length === 0) throw new ApiError('not_found', { message: `no feed source is set for ${input.distid}; set one with \`feeds set\`` })
  const results = []
  for (const row of wanted) results.push(await pullOne(ctx, background, row, input.onProgress))
  return results
}

function isDue(row: FeedSourceTable, now: number): boolean {
  // A pull in the future comes from a clock that was wrong.
  return row.last_pull_at === null || row.last_pull_at > now || now - row.last_pull_at >= row.every_ms
}

async function pullOne(ctx: OperatorCtx, background: Background, row: FeedSourceTable, onProgress: Progress | undefined) {
  const started = ctx.now()
  const record = (result: unknown) => ctx.db.updateTable('feed_source').set({ last_pull_at: started, last_result: JSON.stringify(result) }).where('id', '=', row.id).execute()
  try {
    const fetched = await fetchFeed({ location: row.location!, into: join(ctx.engine.dir, 'feeds'), now: started })
    const source = { id: row.id, distid: row.distid, preset: row.preset, subscriberId: row.subscriber_id }
    const result = await takeIn(ctx, background, source, fetched.file, { asOf: fetched.asOf, ...onProgress && { onProgress } })
    await record(result)
    return result
  } catch (error) {
    const failure = { source: row.id, outcome: 'failed' as const, reasons: [error instanceof Error ? error.message : String(error)] }
    ctx.log.warn({ source: row.id, reasons: failure.reasons }, 'a feed could not be pulled; the previous one serves on')
    await record(failure)
    return failure
  }
}

/** Takes the feed that the guard last refused, all the same. */
export async function acceptFeed(ctx: OperatorCtx, background: Background, input: SourceInput, options: Pick<ImportOptions, 'onProgress' | 'dryRun'> = {}): Promise<FeedResult> {
  const source = await resolveSource(ctx, input)
  const refusal = ctx.engine.catalog.prepare('SELECT file, as_of FROM refusal WHERE source = ?').get(source.id) as { file: string | null; as_of: number | null } | undefined
  if (!refusal?.file) throw new ApiError('not_found', { message: `no refused feed of ${source.id} is waiting` })
  const result = await takeIn(ctx, background, source, refusal.file, { ...options, asOf: refusal.as_of ?? ctx.now(), force: true })
  await ctx.engine.atomic(ctx, (tx) => audit(tx, 'feeds.accept', { source: source.id, outcome: result.outcome }))
  return result
}

/** What each source last brought: the accepted feed, the schedule, and the refusal that waits, if any. */
export async function feedStatus(ctx: OperatorCtx) {
  const taken = ctx.engine.catalog.prepare('SELECT source, distid, preset, subscriber_id, as_of, taken_at, rows, rejected FROM feed').all() as
    { source: string; distid: string; preset: string; subscriber_id: string | null; as_of: number; taken_at: number; rows: number; rejected: number }[]
  const refused = ctx.engine.catalog.prepare('SELECT source, at, reasons FROM refusal').all() as { source: string; at: number; reasons: string }[]
  const sources = await ctx.read.selectFrom('feed_source').selectAll().execute()
  const count = ctx.engine.catalog.prepare('SELECT count(*) FROM offer WHERE distid = ?').pluck()
  const ids = [...new Set([...taken, ...refused].map((row) => row.source).concat(sources.map((row) => row.id)))].sort()
  const iso = (ms: number | null | undefined) => ms ? new Date(ms).toISOString() : null
  return ids.map((id) => {
    const feed = taken.find((row) => row.source === id)
    const source = sources.find((row) => row.id === id)
    const refusal = refused.find((row) => row.source === id)
    const distid = feed?.distid ?? source?.distid ?? id.split('/')[0]!
    return {
      source: id, distid, location: source?.location ? redactLocation(source.location) : null,
      every_minutes: source ? source.every_ms / MINUTE : null, last_pull: iso(source?.last_pull_at),
      as_of: iso(feed?.as_of), taken_at: iso(feed?.taken_at), rows: feed?.rows ?? 0, rejected: feed?.rejected ?? 0, offers: count.get(distid) as number,
      refused: refusal ? { at: iso(refusal.at), reasons: JSON.parse(refusal.reasons) as string[] } : null,
    }
  })
}

/** Looks every minute for sources that are due; each has its own period. */
export function pullJob(background: Background): Job {
  return { name: 'feeds', every: MINUTE, run: async (ctx) => void await pullFeed(ctx, background) }
}
