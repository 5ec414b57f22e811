import type { ConfigurationCtx } from '../configuration/ctx.js'
import type { Progress } from '../core/async/progress.js'
import type { FeedInput, FeedResult } from './ingest/feed.js'

export interface FeedsCtx extends ConfigurationCtx {}

/** What the worker does for feeds. */
export interface FeedTasks {
  ingestFeed(input: { dir: string; feed: FeedInput }, onProgress?: Progress): Promise<FeedResult>
}
