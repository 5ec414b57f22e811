/** Made from the migrations by `npm run tables`. */
import type { Generated } from 'kysely'

export interface RuleSetTable {
  /** SHA-256 of the rules, as they are sorted and written. */
  digest: string
  /** JSON array of rules. */
  rules: string
  rule_count: number
  /** A file's name, or `starter <date>`. */
  origin: string
  imported_at: number
  imported_by: string
}

/** The newest row names the set that is active. */
export interface ActiveRuleSetTable {
  seq: Generated<number>
  digest: string
  activated_at: number
  activated_by: string
}

export interface RuleOverrideTable {
  id: string
  subscriber_id: string
  effect: 'allow' | 'block'
  /** JSON: what it applies to. */
  detail: string
  author: string
  reason: string
  expires_at: number | null
  created_at: number
  withdrawn_at: number | null
}

export interface SettingTable {
  name: 'enforce_restrictions'
  value: string
}
