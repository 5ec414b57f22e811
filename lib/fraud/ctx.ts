import type { Caller } from '../accounts/caller.js'
import type { Remembered } from '../db/state.js'
import type { FflsCtx } from '../ffls/ctx.js'
import type { FraudKeys, KeyStore } from './keys/keys.js'

/** What one process has counted. */
export interface FraudCounts {
  /**
   * Steady times of the uses within the last day, oldest first, by use and key. Beside the rows by
   * the wall clock: one that is set ahead must not empty a window.
   */
  readonly times: Map<string, number[]>
  /** The latest checks of each key, up to a hundred. */
  readonly checks: Map<string, { made: number; matched: number }>
  /** When each caller first tried something against a signal. */
  readonly tries: Map<string, number>
}

export interface FraudCtx extends FflsCtx {
  /** The keys under which fraud signals are kept; read again when one was added or replaced. */
  readonly fraudKeys: Remembered<FraudKeys>
  /** Where those keys are kept. */
  readonly fraudKeyStore: KeyStore
  /** What this process has counted of the use of fraud signals. */
  readonly fraudCounts: FraudCounts
}

export interface FraudCall extends FraudCtx, Caller {}
