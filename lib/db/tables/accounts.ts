/** Made from the migrations by `npm run tables`. */
import type { Generated } from 'kysely'

/** Times are milliseconds since 1970. */
export interface SubscriberTable {
  id: string
  name: string
  email: string
  created_at: number
}

/** Which secret key wrapped the data keys. */
export interface SecretKeyTable {
  key_id: string
}

export interface DataKeyTable {
  /** A subscriber's id, or `operator`. */
  owner: string
  /** Wrapped by the secret key of the installation. */
  wrapped: string
}

/** Tiers of a key's limits (contract "Limits"). */
export type Tier = 'standard' | 'pro' | 'enterprise'

export interface ApiKeyTable {
  id: string
  subscriber_id: string
  name: string
  contact_email: string
  tier: Tier
  /** SHA-256 of the whole key; the key itself is shown once and kept nowhere. */
  hash: Buffer
  /** First and last two characters, upper-cased: PO numbers carry them (contract "Place order"). */
  po_tag: string
  /** JSON array of addresses and CIDR ranges. */
  allowlist: string
  status: 'enabled' | 'disabled' | 'cancelled'
  created_at: number
}

export interface AuditTable {
  seq: Generated<number>
  at: number
  actor: string
  action: string
  /** JSON. */
  detail: string
  /** Closes the row, and chains it to the one before. */
  mac: Generated<string>
}
