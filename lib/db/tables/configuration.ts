/** Made from the migrations by `npm run tables`. */

export interface ConfigurationTable {
  subscriber_id: string
  version: number
  /** The document as JSON, its secrets sealed. */
  document: string
  saved_at: number
  /** Who saved it: the id of a key, or `cli`, `library`. */
  saved_by: string
}

/** Every version that was saved, also the one of now. */
export interface ConfigurationHistoryTable {
  subscriber_id: string
  version: number
  document: string
  saved_at: number
  saved_by: string
}

export interface CredentialCheckTable {
  subscriber_id: string
  distid: string
  /** Digest of the credentials that were checked: a change withdraws the result. */
  fingerprint: string
  valid: number
  checked_at: number
}
