/**
 * What the worker can do. Each task opens its own database handles; nothing is shared with the main
 * thread but what it returns.
 */
import type { CatalogTasks } from '../../catalog/snapshot/live.js'
import type { FeedTasks } from '../../feeds/ctx.js'
import type { SharedTasks } from '../../feeds/shared/tasks.js'
import { historyFiles } from '../../analytics/shared-files.js'
import { openBuilder } from '../../catalog/kept/build.js'
import { copyDatabase } from '../../db/sqlite/copy.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { openFile } from '../../db/sqlite/sqlite.js'
import { ingestFeed } from '../../feeds/ingest/ingest.js'
import { sharedTasks } from '../../feeds/shared/tasks.js'

export interface Tasks extends CatalogTasks, FeedTasks, SharedTasks {
  copyDatabase(input: { from: string; to: string }): void
}

/**
 * The tasks of one worker, which remembers the last snapshot that it built. A worker of its own is
 * that of who keeps the snapshot on the disk; tasks on the calling thread are a command's.
 */
export function makeTasks({ isWorker }: { isWorker: boolean }): Tasks {
  const builder = openBuilder({ isOwner: isWorker })
  return {
    ...sharedTasks(builder.forget, historyFiles),
    buildSnapshot: ({ dir }) => builder.build(dir),
    keepSnapshot: ({ dir }) => !isWorker || builder.keep(dir),

    async ingestFeed({ dir, feed }, onProgress) {
      const files = filesIn(dir)
      const catalog = openFile(files.catalog, { synchronous: 'NORMAL', patient: true })
      const history = openFile(files.history, { synchronous: 'NORMAL', patient: true })
      try {
        const result = await ingestFeed({ ...feed, catalog, history, onProgress })
        // A feed can leave a large write-ahead log behind, which every reader would have to search.
        catalog.pragma('wal_checkpoint(TRUNCATE)')
        return result
      } finally {
        history.close()
        catalog.close()
      }
    },

    copyDatabase,
  }
}
