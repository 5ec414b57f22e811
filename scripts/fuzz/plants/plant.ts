/** What a bug of the fuzzer's is. */
import type { Planted } from '../../plants/seam.js'

export interface FuzzPlant extends Planted {
  /** The rule that must notice, and what it says. */
  readonly found: RegExp
}
