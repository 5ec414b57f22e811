/** What the operator does with the sources of feeds. */
import type { Background } from '../core/async/background.js'
import type { FeedTasks, FeedsCtx } from './ctx.js'
import { listDistributors } from './distributor-list.js'
import { importFeed } from './import.js'
import { pullFeed } from './pull.js'
import type { PullOptions } from './pull.js'
import { recordDistributor } from './record/record.js'
import { acceptFeed } from './refused.js'
import { setFeedSource } from './source.js'
import { refusedFeed, rejectsOf } from './rejects.js'
import { feedStatus } from './status.js'

/** Which distributors there are, and what one answers an account, for who maintains its connector. */
export const distributors = { list: listDistributors, record: recordDistributor }

export const feeds = { set: setFeedSource, status: feedStatus, rejects: rejectsOf }

/** What takes a feed in, which the worker does. A pull also ends with the app. */
export function feedsByWorker(closing: AbortSignal) {
  return {
    import: importFeed,
    accept: acceptFeed,
    refused: refusedFeed,
    pull: (
      ctx: FeedsCtx,
      background: Background<FeedTasks>,
      { signal = closing, ...input }: PullOptions = {},
    ) => pullFeed(ctx, background, { ...input, signal: AbortSignal.any([signal, closing]) }),
  }
}
