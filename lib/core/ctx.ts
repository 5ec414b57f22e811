/**
 * What every function of the domains gets first: no more than it needs. There are no globals, so
 * two apps in one process know nothing of each other. Each domain says in its own `ctx.ts` what its
 * functions get; app/ctx.ts has the sum.
 */
import type { Log } from './log.js'
import type { Secrets } from './storage/secrets.js'
import type { Space } from './storage/disk-space.js'

export interface CoreCtx {
  /** Whole milliseconds since 1970. The only clock. */
  readonly now: () => number
  /**
   * Whole milliseconds of a clock that never steps, from no day in particular: for what must not
   * depend on the wall clock.
   */
  readonly monotonic: () => number
  readonly random: (bytes: number) => Buffer
  readonly log: Log
  readonly secrets: Secrets
  readonly space: Space
  /** Who acts, for the audit: `cli`, `library`, `job:feeds`. */
  readonly actor: string
}
