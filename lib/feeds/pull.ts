/** Pulling sources: now, or when they are due. */
import type { Background } from '../core/async/background.js'
import type { Job } from '../core/async/job.js'
import type { Progress } from '../core/async/progress.js'
import { MINUTE } from '../core/clock.js'
import { ApiError } from '../core/errors.js'
import { LeadLost } from '../db/lead.js'
import type { Distributor } from '../distributors/distributor.js'
import type { FeedTasks, FeedsCtx } from './ctx.js'
import { accountOf, bringFromAccount, heldUntil, keepMark } from './account.js'
import type { FromAccount } from './account.js'
import { downloadAt, downloadsOf } from './fetch/downloads.js'
import { fetchFeed } from './fetch/fetch.js'
import type { FetchedFeed } from './fetch/fetch.js'
import { ingestFile, needRoom } from './import.js'
import type { FeedResult } from './ingest/feed.js'
import { sweepSource } from './refused.js'
import { ACCOUNT, locationOf } from './source.js'
import type { StoredSource } from './source.js'
import { distidOf } from './suggest.js'

export interface PullOptions {
  /**
   * Pulls all sources of this distributor; only those that are due, of all distributors, when it is
   * not given.
   */
  distid?: string
  /**
   * For each download, milliseconds; 10 minutes by default, and 30 for one that comes with an
   * account.
   */
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
): Promise<(StoredSource & { location: string })[]> {
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
  await ctx.sharing?.check()
  return pullAll(ctx, background, await sourcesToPull(ctx, input.distid), input)
}

async function pullAll(
  ctx: FeedsCtx,
  background: Background<FeedTasks>,
  wanted: readonly (StoredSource & { location: string })[],
  input: PullOptions,
): Promise<(FeedResult | FailedPull)[]> {
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

function isDue(row: StoredSource, now: number): boolean {
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
  row: StoredSource & { location: string },
  options: PullOptions,
): Promise<FeedResult | FailedPull | undefined> {
  const { signal, onProgress } = options
  const started = ctx.now()
  const record = (result: FeedResult | FailedPull) =>
    ctx.engine.atomic(ctx, ({ db }) =>
      db
        .updateTable('feed_source')
        .set(({ eb }) => ({
          last_pull_at: started,
          last_result: JSON.stringify(result),
          failures: result.outcome === 'failed' ? eb('failures', '+', 1) : 0,
          ...(isGood(result) && { good_at: started }),
        }))
        .where('id', '=', row.id)
        .execute(),
    )
  try {
    if (signal?.aborted) return undefined
    needRoom(ctx)
    const fetched = await fetchedFrom(ctx, row, started, options)
    if ('heldUntil' in fetched)
      return options.distid === undefined ? undefined : tooSoon(row, fetched)
    const source = {
      id: row.id,
      distid: row.distid,
      preset: row.preset,
      subscriberId: row.subscriber_id,
    }
    const result = await ingestFile(ctx, background, source, {
      file: fetched.file,
      asOf: fetched.asOf,
      ...('sameAs' in fetched && { sameAs: fetched.sameAs }),
      ...(onProgress && { onProgress }),
    })
    if ('mark' in fetched && fetched.mark && result.outcome !== 'refused')
      await keepMark(ctx, row.id, fetched.mark)
    await record(result)
    return result
  } catch (error) {
    // An epoch that is over says nothing about the source either: it stays due for who leads now.
    const isOver = error instanceof LeadLost || (ctx.sharing && !(await ctx.sharing.mayWrite()))
    if (signal?.aborted || isOver) return undefined
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
    await sweepSource(ctx, row.id, started)
  }
}

const isGood = ({ outcome }: FeedResult | FailedPull) =>
  outcome === 'taken' || outcome === 'unchanged'

interface Held {
  /** Milliseconds. */
  heldUntil: number
}

/** The file of a source, or until when its account may not be asked for it. */
async function fetchedFrom(
  ctx: FeedsCtx,
  row: StoredSource & { location: string },
  started: number,
  { signal, timeoutMs }: PullOptions,
): Promise<FetchedFeed | FromAccount | Held> {
  const into = downloadAt(downloadsOf(ctx.engine.dir, row.id), started)
  if (row.location !== ACCOUNT)
    return fetchFeed({
      location: row.location,
      into,
      now: started,
      allowPrivate: row.allow_private === 1,
      signal,
      ...(timeoutMs !== undefined && { timeoutMs }),
    })
  const account = await accountOf(ctx, row)
  const until = await heldUntil(ctx, account, row.preset)
  if (until !== null) return { heldUntil: until }
  return bringFromAccount(ctx, row, account, { into, signal, timeoutMs })
}

/** Not recorded: nobody was asked. */
const tooSoon = ({ id, distid }: StoredSource, { heldUntil: until }: Held): FailedPull => ({
  source: id,
  outcome: 'failed',
  reasons: [
    `${distid} gives this account the feed again from ${new Date(until).toISOString()} on; ` +
      'asking earlier would lengthen the wait',
  ],
})

/**
 * Look every minute for sources that are due; each has its own period. What comes with accounts has
 * a job for each distributor: one that needs half an hour for its catalog holds up no other.
 */
export function pullJobs(
  background: Background<FeedTasks>,
  distributors: readonly Pick<Distributor, 'distid' | 'feeds'>[],
): Job<FeedsCtx>[] {
  const job = (name: string, isOf: (row: StoredSource) => boolean): Job<FeedsCtx> => ({
    name,
    every: MINUTE,
    run: async (ctx, signal) => {
      // Who has just begun to lead may lack what was published last; it comes back in a minute.
      if (!((await ctx.sharing?.mayWrite()) ?? true)) return
      const due = await sourcesToPull(ctx)
      await pullAll(ctx, background, due.filter(isOf), { signal })
    },
  })
  const isAccount = (row: StoredSource) => row.location === ACCOUNT
  return [
    job('feeds', (row) => !isAccount(row)),
    ...distributors
      .filter(({ feeds }) => feeds)
      .map(({ distid }) =>
        job(`feeds-${distid}`, (row) => row.distid === distid && isAccount(row)),
      ),
  ]
}
