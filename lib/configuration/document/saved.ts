/** A subscriber's saved document, as everything sees it that decides what it sees and buys. */
import type { Subscriber } from '../../accounts/caller.js'
import type { ConfigurationDocument, DistributorEntry } from './document.js'

/** One subscriber's saved document, its secrets still sealed. */
export interface Saved {
  /** Grows with every save, 0 before the first. */
  readonly version: number
  /**
   * As `GET /v1/config` sends it. Two folders with one history behind them still have different
   * ones.
   */
  readonly etag: string
  /**
   * The same for the same content, secrets included, in however many saves; computed on first use.
   */
  contentDigest(): string
  readonly document: ConfigurationDocument
  /** Names of the active distributors, in document order. */
  readonly active: readonly string[]
  /** Names of those whose credentials have passed validation, active or not. */
  readonly validated: ReadonlySet<string>
  /** The active ones that are validated (contract "Distributor eligibility"). */
  readonly eligible: readonly EligibleDistributor[]
}

export interface EligibleDistributor {
  readonly name: string
  readonly entry: DistributorEntry
}

/** Saved documents, as far as they decide what is seen. */
export interface Documents {
  of(subscriber: Subscriber): Promise<Saved>
}
