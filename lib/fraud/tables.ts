import type { ColumnType, Generated } from 'kysely'

/** 64 bits: written and compared as BigInt, never read into JavaScript, where they would come as rounded numbers. */
type Hash = ColumnType<bigint, bigint, never>

export interface FraudReportTable {
  id: Generated<number>
  /** Who reported it here; null for a partner's. */
  subscriber_id: string | null
  /** What counts as one dealer: the subscriber, or a partner's pseudonym. */
  dealer: string
  partner: string | null
  /** When the partner's batch was made that had it last. */
  batch: number | null
  /** Name of the key under which its signals are kept. */
  key: string
  /** Digest of its strong signals. */
  strong: string
  reported_at: number
  updated_at: number
  /** What was sent, sealed for its reporter; empty for a partner's. */
  payload: string
}

/** By which reports are found. */
export interface FraudSignalTable {
  hash: Hash
  report: number
}

/** All signals of a report, the strong ones too, for the counts. */
export interface FraudEvidenceTable {
  report: number
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
  /** When the batch that was last taken in was made: an older one is a repetition. */
  made_at: number
  reports: number
}
