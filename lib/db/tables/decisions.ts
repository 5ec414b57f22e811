/** Made from the migrations by `npm run tables`. */
import type { Generated } from 'kysely'

/** What was decided, and by which rules. */
export interface RestrictionDecisionTable {
  seq: Generated<number>
  at: number
  subscriber_id: string
  /** Of the active rules. */
  digest: string
  /** Codes, with a space between them. */
  state: string
  zip: string | null
  target: string | null
  approved: number
  /** JSON. */
  items: string
}
