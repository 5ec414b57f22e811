/**
 * What a build is told, and what it tells. It runs in a process of its own (lib/app/background/duckdb.ts),
 * which is started here.
 */
import { runChild } from '../core/async/child.js'
import { SECOND } from '../core/clock.js'
import type { Section, Totals } from './number-columns.js'

export interface BuildJob {
  kind: 'export'
  /** Path of catalog.db, which has the texts. */
  catalog: string
  /** The columns of numbers.ts, one after the other. */
  numbers: string
  rows: number
  /** With the files of texts that each is joined with; they are made where they are not there. */
  sections: (Section & { texts: string; attributes: string })[]
  /** A folder of this build alone. */
  work: string
  parquet: string
  /** Path of the attributes feed; null where none is asked for. */
  attributes: string | null
  hasRetail: boolean
  /** Megabytes for DuckDB. */
  memory: number
}

/** What was read back from the finished file. */
export interface BuildResult extends Totals {
  /** Offers by distributor. */
  byDistributor: Record<string, number>
  /** Lines of the attributes feed. */
  attributes: number
  /** Files of texts that were not what was written, and were made anew. */
  damaged: number
  /** The most bytes of memory that the process had. */
  peak: number
}

/** Milliseconds after which a build is killed. */
export const BUILD_LIMIT = 120 * SECOND
/** Megabytes of JavaScript that a build may hold. */
const HEAP = 192

/**
 * Runs one build. Rejects when it fails, takes longer than `limit` milliseconds, or its process
 * ends without a word.
 */
export function runBuild(
  job: BuildJob,
  { limit = BUILD_LIMIT, file, signal }: { limit?: number; file?: string; signal: AbortSignal },
): Promise<BuildResult> {
  return runChild(job, { limit, heap: HEAP, signal, file, failure: 'the export was not built' })
}
