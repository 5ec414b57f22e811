import type { ConfigurationCtx } from '../configuration/ctx.js'
import type { Progress } from '../core/async/progress.js'
import type { FeedInput, FeedResult } from './ingest/feed.js'
import type { Sharing } from './shared/sharing.js'

export interface FeedsCtx extends ConfigurationCtx {
  /** Of several nodes; null where one folder has it all. */
  readonly sharing: Sharing | null
}

/** What the worker does for feeds. */
export interface FeedTasks {
  ingestFeed(input: { dir: string; feed: FeedInput }, onProgress?: Progress): Promise<FeedResult>
}
