/** Made from the migrations by `npm run tables`. */

/** Calls of a key on a day, in ms, of one endpoint. */
export interface UsageTable {
  key_id: string
  day: number
  /** Its route: `GET /v1/products/{upc}`. */
  endpoint: string
  requests: number
}

/** The last answered call of the catalog export. */
export interface ExportPollTable {
  key_id: string
  at: number
}

/** Which files of the object store are whose export. */
export interface ExportFileTable {
  subscriber_id: string
  export_version: string
  /** Digest of what the file was made of: equal views share one file. */
  content: string
  parquet_key: string
  attributes_key: string | null
  made_at: number
  /** When its last URL expires; 0 before there is one. */
  urls_until: number
}

/** One check of a key, for its rolling quota. */
export interface FraudCheckTable {
  key_id: string
  at: number
}

/** What was tried against a reported signal, from the first try on. */
export interface FraudTryTable {
  asker: string
  signal: string
  at: number
  /** The first answer, with `similar`. */
  overlap: number
  similar: number
  /** JSON: digests of what the first basket held. */
  free: string
  /** JSON: digests of what came later. */
  later: string
}
