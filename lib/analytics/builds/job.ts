/** What the process that has DuckDB is told to do for the metrics, and what it works with. */
import type { DuckDBConnection } from '@duckdb/node-api'
import type { ChildProgress } from '../../core/async/child.js'

interface Common {
  kind: 'analytics'
  /** The state folder. */
  dir: string
  /** Milliseconds since 1970. */
  now: number
}

export interface RollUpJob extends Common {
  task: 'roll-up'
}

export interface RebuildJob extends Common {
  task: 'rebuild'
}

export interface ItemJob extends Common {
  task: 'item'
  /** Key of the item's UPC (core/gtin.ts). */
  gtin: number
}

export type AnalyticsJob = RollUpJob | RebuildJob | ItemJob

/** What a task works with. */
export interface Tools {
  duck: DuckDBConnection
  /** A folder of this work alone, on the disk of the state folder. */
  work: string
  onProgress: (...progress: ChildProgress) => void
}
