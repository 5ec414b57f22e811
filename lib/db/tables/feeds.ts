/** Made from the migrations by `npm run tables`. */
import type { Generated } from 'kysely'

export interface FeedSourceTable {
  id: string
  distid: string
  /** Null for the operator's source, which all subscribers share. */
  subscriber_id: string | null
  preset: string
  /** Where to pull from, sealed; null for a distributor that is only imported by hand. */
  location: string | null
  every_ms: number
  active: number
  /** 1: the location may be in this machine or its own network. */
  allow_private: number
  last_pull_at: number | null
  /** The last FeedResult or FailedPull as JSON. */
  last_result: string | null
  created_at: number
  /** JSON of a KnownMark: how the distributor names the feed that was taken in last. */
  mark: string | null
  /** Pulls in a row that brought nothing; 0 after one that brought a feed. */
  failures: Generated<number>
  /** When the last pull began that brought a feed which could be used. */
  good_at: number | null
}

export interface FeedImportTable {
  distid: string
  imported_at: number
}

/** When an account may be asked for a feed again. */
export interface FeedHoldTable {
  /** A keyed digest of who logs in, and where. */
  account: string
  preset: string
  not_before: number
}
