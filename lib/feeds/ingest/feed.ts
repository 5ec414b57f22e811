/** What is told to whoever takes in a feed, and what comes of it. */
import type { WatchedShare } from './guard.js'
import { createHash } from 'node:crypto'
import { dayOf } from '../../core/clock.js'
import { isDated, MAPPING_VERSION } from '../../distributors/generic/generic.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import type { Preset } from '../../distributors/generic/preset.js'
import type { BrokenLine } from '../read/lines.js'

/** What to take in; plain data, so that a worker can be told. Times are milliseconds. */
export interface FeedInput {
  now: number
  preset: Preset
  /** Names the feed: the next one of the same source is compared with this one. */
  source: string
  /** Where it is not the preset's own. */
  distid?: string
  /** Whose prices these are; null for the operator's, which all subscribers share. */
  subscriberId: string | null
  /** A local file, plain or gzip. */
  file: string
  /** The distributor says that its feed is still the one of this digest: nothing is read. */
  sameAs?: string
  /** When the feed was made. */
  asOf: number
  /** The operator accepts what the guard would refuse. */
  force?: boolean
  /**
   * The file must be this very one, a digest from `refusal`; under `force`, the refused file of
   * this time is known.
   */
  expectDigest?: string
  /** Tells what would happen and changes nothing. */
  dryRun?: boolean
}

export interface FeedResult {
  source: string
  distid: string
  outcome: 'taken' | 'unchanged' | 'refused'
  /** Why it was refused. */
  reasons: string[]
  rows: number
  /** Offers that the feed names. */
  offers: number
  rejected: number
  /** The first 20. */
  rejects: BrokenLine[]
  added: number
  changed: number
  removed: number
  price_changes: number
  stock_changes: number
  /** Rows of a quantity feed that no offer has the item number of. */
  unmatched: number
  /** What the guard measured; empty where the file could not be read, or brought nothing new. */
  watched: WatchedShare[]
  /** Of the catalog's state afterwards. */
  version: string
}

export interface Handles {
  catalog: Raw
  history: Raw
  /** Bytes read, bytes in all, rows so far. */
  onProgress?: ((bytesRead: number, bytesTotal: number, rows: number) => void) | undefined
}

/**
 * Names what the bytes of a feed mean, `at` a time in milliseconds: a sale ends without a line of
 * the file changing, even when the file is not renewed, so each day reads such a feed anew.
 */
export function meaningOf(
  { preset, distid, subscriberId }: Pick<FeedInput, 'preset' | 'distid' | 'subscriberId'>,
  at: number,
): string {
  return seedOf([
    MAPPING_VERSION,
    preset,
    distid ?? preset.distid,
    subscriberId,
    isDated(preset) ? dayOf(at) : null,
  ])
}

/** A short name for everything but the file's bytes that decides what a feed means. */
export function seedOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
