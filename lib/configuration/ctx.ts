import type { Caller, Subscriber } from '../accounts/caller.js'
import type { SingleFlight } from '../core/async/single-flight.js'
import type { CatalogCtx } from '../catalog/ctx.js'
import type { CheckOutcome } from '../distributors/distributor.js'
import type { CheckDocument } from './check-document.js'
import type { Saved } from './document/saved.js'

export interface Configurations {
  of(subscriber: Subscriber): Promise<Saved>
  /** Checks a candidate against the schema; compiled on first use. */
  readonly check: CheckDocument
}

/** Checks that run at the moment; a second call for the same credentials waits for the first. */
export interface CheckRuns {
  readonly running: SingleFlight<string, CheckOutcome>
  /** Those that nobody waits for, from before their document is read. */
  readonly later: SingleFlight<symbol, void>
  readonly closing: AbortController
}

export interface ConfigurationCtx extends CatalogCtx {
  readonly configurations: Configurations
  readonly checkRuns: CheckRuns
}

export interface ConfigurationCall extends ConfigurationCtx, Caller {}
