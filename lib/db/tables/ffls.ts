/** Made from the migrations by `npm run tables`. */
import type { Generated } from 'kysely'

/** A dealer of the FFL directory. Dates are `YYYY-MM-DD`, fees cents, flags 0 or 1. */
export interface DealerTable {
  row: Generated<number>
  /** Region, district and sequence of the license: `1-57-67890`. */
  id: string
  /** With dashes: `1-57-033-01-7E-67890`. */
  license_number: string
  license_type: string
  /** From the license's own code; valid through that day. */
  expires_on: string
  /** An operator's later date, or null. */
  valid_until: string | null
  license_name: string
  business_name: string | null
  premise_street: string
  premise_city: string
  premise_state: string
  /** 5 digits, or 5+4 with a dash. */
  premise_zip: string
  mail_street: string | null
  mail_city: string | null
  mail_state: string | null
  mail_zip: string | null
  voice_phone: string | null
  email: string | null
  fee_longgun: number | null
  fee_handgun: number | null
  residential: Generated<number>
  contact_required: Generated<number>
  /** Marked by the operator; distributors' lists are `dealer_on_file`. */
  marked_on_file: Generated<number>
  sot_on_file: Generated<number>
  /** 0: gone from the newest list of its state. */
  listed: Generated<number>
  source: 'atf' | 'on_file' | 'operator'
  updated_at: number
  /** 1: the operator set `voice_phone`, and no list replaces it. */
  own_phone: number | null
}

/** Whose list says that a dealer's license is on file. */
export interface DealerOnFileTable {
  distid: string
  dealer_id: string
}

export interface DealerDocumentTable {
  dealer_id: string
  kind: 'ffl' | 'sot'
  object_key: string
  content_type: string
  stored_at: number
}

/** The last whole list: one row. */
export interface DealerListTable {
  one: 1
  /** When it was made, ms. */
  as_of: number
  /** JSON of a `ListOrder`. */
  content: string
}
