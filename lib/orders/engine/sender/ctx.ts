import type { OrdersCtx } from '../../ctx.js'

/** What the steps of a send get: what all of orders gets, and what the engine lends them. */
export interface SenderCtx extends OrdersCtx {
  /** This life of this process: what it is sending bears its name. */
  readonly owner: string
  /** In which the work began; null where there is one folder. */
  readonly epoch: number | null
  /** Aborted once the engine is told to stop: nothing new is begun. */
  readonly noNewWork: AbortSignal
  /** Aborted when a closing engine waits no longer for the calls that are under way. */
  readonly abandonCalls: AbortSignal
  /** Waits until the journal's file has every line that is committed now. */
  flushJournal(): Promise<void>
  /** Throws 503 once the disk has failed: from then on nothing may leave. */
  refuseFailed(): void
  /** Named points at which a test may end this life; nothing in production. */
  step(name: string): Promise<void> | undefined
}
