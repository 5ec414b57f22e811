/** The feed of a source that the guard refused: kept until the operator decides on it. */
import { existsSync } from 'node:fs'
import { audit } from '../accounts/audit.js'
import type { Background } from '../core/async/background.js'
import { ApiError } from '../core/errors.js'
import type { FeedTasks, FeedsCtx } from './ctx.js'
import { downloadsOf, sweepDownloads } from './fetch/downloads.js'
import { ingestFile } from './import.js'
import type { ImportOptions } from './import.js'
import type { FeedResult } from './ingest/feed.js'
import { refusedFile } from './queries.js'
import { resolveSource } from './source.js'
import type { SourceInput } from './source.js'

/**
 * Removes what was downloaded for a source up to this pull, but for the file that waits for the
 * operator's decision.
 */
export async function sweepSource(ctx: FeedsCtx, source: string, started: number): Promise<void> {
  try {
    await sweepDownloads(
      downloadsOf(ctx.engine.dir, source),
      started,
      refusedFile(ctx.engine.catalog, source)?.file ?? null,
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
  const refusal = refusedFile(ctx.engine.catalog, source.id)
  if (!refusal?.file)
    throw new ApiError('not_found', { message: `no refused feed of ${source.id} is waiting` })
  if (!existsSync(refusal.file))
    throw new ApiError('not_found', {
      message: `the refused feed of ${source.id} is gone from ${refusal.file}; pull or import it again`,
    })
  const started = ctx.now()
  const result = await ingestFile(ctx, background, source, {
    file: refusal.file,
    ...options,
    asOf: refusal.asOf ?? started,
    force: true,
  })
  if (options.dryRun) return result
  await ctx.engine.atomic(ctx, (tx) =>
    audit(tx, 'feeds.accept', { source: source.id, outcome: result.outcome }),
  )
  await sweepSource(ctx, source.id, started)
  return result
}
