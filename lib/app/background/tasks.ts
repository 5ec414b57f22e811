/**
 * What the worker can do. Each task opens its own database handles; nothing is shared with the main
 * thread but what it returns.
 */
import type { CatalogTasks } from '../../catalog/snapshot/live.js'
import type { FeedTasks } from '../../feeds/ctx.js'
import { buildSnapshot, buildTick } from '../../catalog/snapshot/build.js'
import type { SnapshotParts } from '../../catalog/snapshot/parts.js'
import { copyDatabase } from '../../db/copy.js'
import { filesIn } from '../../db/engine.js'
import { openFile } from '../../db/sqlite.js'
import { ingestFeed } from '../../feeds/ingest/ingest.js'

export interface Tasks extends CatalogTasks, FeedTasks {
  copyDatabase(input: { from: string; to: string }): void
}

/**
 * The tasks of one worker, which remembers the last snapshot that it built: new prices then need no
 * new text.
 */
export function makeTasks(): Tasks {
  const built = new Map<string, SnapshotParts>()
  return {
    buildSnapshot({ dir }) {
      const raw = openFile(filesIn(dir).catalog, {
        synchronous: 'NORMAL',
        readonly: true,
        patient: true,
      })
      try {
        const previous = built.get(dir)
        const parts = (previous && buildTick(raw, previous)) ?? buildSnapshot(raw)
        built.set(dir, parts)
        return parts
      } finally {
        raw.close()
      }
    },

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
