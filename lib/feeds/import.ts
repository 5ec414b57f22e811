/** Taking in one file of a source: into the catalog, and into the operator's books. */
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { MB } from '../core/figures.js'
import { audit } from '../accounts/audit.js'
import type { Background } from '../core/async/background.js'
import type { Progress } from '../core/async/progress.js'
import { ApiError, invalid } from '../core/errors.js'
import { ROOM_FOR_FEEDS } from '../core/storage/disk-space.js'
import { touch } from '../db/state.js'
import type { FeedTasks, FeedsCtx } from './ctx.js'
import { causeOf } from './fetch/fetch.js'
import type { FeedResult } from './ingest/feed.js'
import { choosePreset, resolveSource } from './source.js'
import type { Source, SourceInput } from './source.js'

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
  const { isFile, madeAt } = lookAt(input.file)
  if (!isFile) throw invalid('file', `${input.file} is a folder: name the file in it`)
  // A file from a clock that is ahead must not make every later one look old.
  const asOf = Math.floor(options.asOf ?? Math.min(madeAt, ctx.now()))
  const result = await ingestFile(ctx, background, source, {
    ...options,
    file: input.file,
    asOf,
  })
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

function lookAt(file: string): { isFile: boolean; madeAt: number } {
  try {
    const found = statSync(file)
    // A pipe is as good as a file.
    return { isFile: !found.isDirectory(), madeAt: Math.floor(found.mtimeMs) }
  } catch (error) {
    throw invalid('file', `cannot read ${file}: ${causeOf(error)}`)
  }
}

export async function ingestFile(
  ctx: FeedsCtx,
  background: Background<FeedTasks>,
  source: Source,
  options: ImportOptions & { file: string; asOf: number; sameAs?: string },
): Promise<FeedResult> {
  const { dryRun = false } = options
  needRoom(ctx)
  const ingest = () => ingestNow(ctx, background, source, options)
  const result = await (dryRun || !ctx.sharing ? ingest() : ctx.sharing.write(ingest))
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

function ingestNow(
  ctx: FeedsCtx,
  background: Background<FeedTasks>,
  source: Source,
  options: ImportOptions & { file: string; asOf: number; sameAs?: string },
): Promise<FeedResult> {
  const { onProgress, file, asOf, sameAs, force = false, dryRun = false } = options
  return background.run(
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
        ...(sameAs !== undefined && { sameAs }),
      },
    },
    onProgress,
  )
}

/** A nearly full disk is for orders. */
export function needRoom({ space }: FeedsCtx): void {
  const free = space.free()
  if (free >= ROOM_FOR_FEEDS) return
  const [left, needed] = [free, ROOM_FOR_FEEDS].map((bytes) => Math.floor(bytes / MB))
  throw new ApiError('service_unavailable', {
    message:
      `the disk has ${left} MB left; below ${needed} MB no feed is taken in, ` +
      'so that orders can be written down',
  })
}

/**
 * The first taken feed validates a distributor that has no credentials to check:
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
