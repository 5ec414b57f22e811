import type { Tier } from '../db/tables/accounts.js'

/** Rate limits by tier (contract "Limits"), in requests. */
export const TIERS = {
  standard: { per_minute: 60, per_day: 10_000 },
  pro: { per_minute: 300, per_day: 100_000 },
  enterprise: { per_minute: 1_000, per_day: 1_000_000 },
} as const satisfies Record<Tier, unknown>

export const TIER_NAMES = Object.keys(TIERS) as Tier[]
