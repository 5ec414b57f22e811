/** Work that comes back, declared beside its domain; app/jobs.ts runs it. */

export interface Job<C> {
  readonly name: string
  /** Milliseconds from one start to the next. */
  readonly every: number
  /** Ends soon after the signal is aborted; what it leaves undone, its next run does. */
  run(ctx: C, signal: AbortSignal): Promise<void>
}
