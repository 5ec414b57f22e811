import type { Caller } from '../accounts/caller.js'
import type { CatalogCtx } from '../catalog/ctx.js'
import type { FeedsCtx } from '../feeds/ctx.js'
import type { Question } from './answers/answer.js'
import type { Metric } from './metrics/metric.js'

export interface Status {
  /** The build's name. */
  build: string
  /** When its data were read, milliseconds since 1970. */
  at: number
  items: number
  fed: readonly string[]
  /** The newest one is damaged: this is the one before it. */
  isSecondChoice: boolean
}

export interface Analytics {
  /**
   * The payload as JSON, for whoever has these distributors active, or of all of them. Without any
   * build it has no results.
   */
  answer(metric: Metric, question: Question, distids: readonly string[] | 'all'): Promise<string>
  /** The build that serves; null where there is none. */
  status(): Status | null
  /** How many columns, combinations and answers are kept in memory. */
  kept(): { sections: number; combined: number; answers: number }
  /** How rebuilds are started. */
  readonly process: Pick<AnalyticsOptions, 'limit' | 'file'>
  /** Aborted when the app closes. */
  readonly closing: AbortSignal
  /** Lets go of everything, and ends what is being built. */
  stop(): void
}

export interface AnalyticsOptions {
  /** Milliseconds without a question after which columns are dropped. */
  idle?: number
  /** Milliseconds that a rebuild may take. */
  limit?: number
  /** The file of the process that rebuilds; `duckdb.mjs` beside this package by default. */
  file?: string
}

export interface AnalyticsCtx extends CatalogCtx, Pick<FeedsCtx, 'sharing'> {
  /** Answers of the metrics, out of the build that all subscribers share. */
  readonly analytics: Analytics
}

export interface AnalyticsCall extends AnalyticsCtx, Caller {}
