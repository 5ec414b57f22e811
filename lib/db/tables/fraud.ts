/** Made from the migrations by `npm run tables`. */
import type { Generated } from 'kysely'
import type { Hash } from './column-types.js'

export interface FraudReportTable {
  id: Generated<number>
  /** Who reported it here; null for a partner's. */
  subscriber_id: string | null
  /** What counts as one dealer: the subscriber, or a partner's installation and pseudonym. */
  dealer: string
  partner: string | null
  /** Which taking-in of a partner's batch brought it: only that of `fraud_partner` is seen. */
  batch: number | null
  /** Name of the key under which its signals are kept. */
  key: string
  /** Tells under which other keys its values are kept besides, for the counts. */
  mirrors: Generated<string>
  /**
   * 1: it could not be opened when its signals were to be hashed anew, so they stay under `key`.
   */
  unreadable: Generated<number>
  /** Digest of its strong signals. */
  strong: string
  reported_at: number
  updated_at: number
  /** What its signals are made of, sealed for its reporter; empty for a partner's. */
  payload: string
  /** Its notes, sealed apart: they are read in every check of their writer. */
  notes: Generated<string>
  /** The raw order and its number, sealed apart: nobody reads them along. */
  extra: Generated<string>
}

/** By which reports are found. */
export interface FraudSignalTable {
  hash: Hash
  report: number
}

/** All signals of a report, the strong ones too, for the counts. */
export interface FraudEvidenceTable {
  report: number
  /** 1: under the report's own key; 0: under another, for the counts alone. */
  own: 0 | 1
  kind: number
  hash: Hash
}

export interface FraudUseTable {
  key_id: string
  kind: 'report' | 'removal'
  at: number
}

export interface FraudPartnerTable {
  name: string
  /** The installation that its batches come from. */
  sender: string
  /** Which taking-in holds. */
  batch: number
  /** When the batch that was last taken in was made: an older one is a repetition. */
  made_at: number
  reports: number
}

/** How partners tell this installation from others; one row, made when it is first asked for. */
export interface FraudInstallationTable {
  one: 1
  id: string
}
