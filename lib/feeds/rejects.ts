/** What a person looks at to decide on a feed: rows that could not be used, and a refused file. */
import { existsSync } from 'node:fs'
import type { Background } from '../core/async/background.js'
import { ApiError } from '../core/errors.js'
import type { FeedTasks, FeedsCtx } from './ctx.js'
import type { ImportOptions } from './import.js'
import type { FeedResult } from './ingest/feed.js'
import { refusedFile, refusedFiles, rejectedRows, takenFiles } from './queries.js'
import type { RejectedRow } from './queries.js'
import { acceptFeed } from './refused.js'
import { resolveSource } from './source.js'
import type { SourceInput } from './source.js'

/** The rows of the feed last taken that could not be used, page by page. */
export async function rejectsOf(
  ctx: FeedsCtx,
  input: SourceInput,
  { after = 0, limit = 100 }: { after?: number | undefined; limit?: number | undefined } = {},
): Promise<{ source: string; rejected: number; rows: RejectedRow[] }> {
  const { id } = await resolveSource(ctx, input)
  const taken = takenFiles(ctx.engine.catalog).find(({ source }) => source === id)
  return {
    source: id,
    rejected: taken?.rejected ?? 0,
    rows: rejectedRows(ctx.engine.catalog, id, { after, limit }),
  }
}

export interface RefusedFeed {
  source: string
  refused_at: string
  reasons: string[]
  /** What the last good one had; null before the first. */
  last: { as_of: string; taken_at: string; rows: number; rejected: number } | null
  /** What accepting it would do; null where its file is gone. */
  would: FeedResult | null
}

/**
 * The feed of a source that the guard refused, beside the last good one: its file is read again, as
 * if it were accepted, and nothing is written. 404 where none is waiting.
 */
export async function refusedFeed(
  ctx: FeedsCtx,
  background: Background<FeedTasks>,
  input: SourceInput,
  options: Pick<ImportOptions, 'onProgress'> = {},
): Promise<RefusedFeed> {
  const { id } = await resolveSource(ctx, input)
  const { catalog } = ctx.engine
  const refusal = refusedFiles(catalog).find(({ source }) => source === id)
  if (!refusal) throw new ApiError('not_found', { message: `no refused feed of ${id} is waiting` })
  const last = takenFiles(catalog).find(({ source }) => source === id)
  const file = refusedFile(catalog, id)?.file ?? null
  const iso = (ms: number) => new Date(ms).toISOString()
  return {
    source: id,
    refused_at: iso(refusal.at),
    reasons: JSON.parse(refusal.reasons) as string[],
    last: last
      ? {
          as_of: iso(last.as_of),
          taken_at: iso(last.taken_at),
          rows: last.rows,
          rejected: last.rejected,
        }
      : null,
    would:
      file !== null && existsSync(file)
        ? await acceptFeed(ctx, background, input, { ...options, dryRun: true })
        : null,
  }
}
