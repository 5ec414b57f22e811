/** Who calls: a shop, by one of its keys. */
import type { ApiKeyTable, Tier } from '../db/tables/accounts.js'

export interface Subscriber {
  readonly id: string
  readonly name: string
  readonly email: string
}

/** A key as the rest of the program sees it. */
export interface Key {
  readonly id: string
  readonly subscriberId: string
  readonly name: string
  readonly contactEmail: string
  readonly tier: Tier
  readonly poTag: string
  readonly allowlist: readonly string[]
  readonly status: ApiKeyTable['status']
  readonly allows: (address: string) => boolean
}

/** Who calls. */
export interface Caller {
  readonly subscriber: Subscriber
  /** Null for a library caller that named a subscriber instead of a key. */
  readonly key: Key | null
}
