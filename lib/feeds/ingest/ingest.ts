/**
 * One feed into the catalog: read, compare with the last one, write what differs, judge, and commit
 * or leave all as it was.
 */
import { meaningOf } from './feed.js'
import type { FeedInput, FeedResult, Handles } from './feed.js'
import { stat } from 'node:fs/promises'
import type { Raw } from '../../db/sqlite/sqlite.js'
import { digestFile } from '../fetch/bytes.js'
import { ChangeLog, noteUnchanged } from './change-log.js'
import { readRows } from '../read/rows.js'
import { readState } from '../../catalog/queries.js'
import {
  noteSame,
  readCounts,
  readDigest,
  readTally,
  recordRefusal,
  refusedDigest,
} from './queries.js'
import { FeedImport } from './feed-import.js'

/** Of each of the two database files, while a feed is taken in. */
const CACHE_KB = 65_536
/** The seed of a refused file's digest, which must be the same tomorrow. */
const BYTES_ONLY = ''

/**
 * Takes in one feed. Both handles are the caller's own: a write
 * transaction is held on them over awaits. A feed that is refused leaves the catalog as it was, but
 * for its row in `refusal`; it is an answer, not an exception. Throws when the file cannot be
 * opened or a database fails.
 */
export async function ingestFeed(input: FeedInput & Handles): Promise<FeedResult> {
  const { catalog, preset, source, file, asOf, now } = input
  const at = Math.max(asOf, now)
  const seed = meaningOf(input, at)
  // Of the file that waits for the operator, when this is to accept it.
  const expected =
    input.expectDigest ?? (input.force ? refusedDigest(catalog, input) : null) ?? null
  if (expected !== null && (await digestFile(input.file, BYTES_ONLY)) !== expected) {
    return nothingTaken(input, {
      outcome: 'refused',
      reasons: [
        'the file is another than the one that was refused; pull or import it again to have it judged',
      ],
    })
  }
  const digest = readDigest(catalog, source)
  if (input.sameAs !== undefined) {
    if (digest === input.sameAs) return unchanged(input)
    throw new Error('another feed was taken in meanwhile')
  }
  if (digest !== undefined && (await isSameFile(input.file, digest, seed))) return unchanged(input)
  // Changes lie all over the tables: with SQLite's usual 2 MB each page would be written and read
  // again many times.
  for (const raw of [catalog, input.history]) raw.pragma(`cache_size = -${CACHE_KB}`)
  catalog.exec('BEGIN IMMEDIATE')
  const distid = input.distid ?? preset.distid
  const isFirst =
    preset.kind === 'catalog' &&
    input.subscriberId === null &&
    readTally(catalog, distid).priced === 0
  const changes = new ChangeLog(input.history, distid, { asOf, now, isFirst })
  try {
    const feed = new FeedImport(input, seed, changes)
    const result = feed.finish(await readRows({ preset, file: input.file, at, seed }, feed))
    if (result.outcome !== 'taken' || input.dryRun) {
      undo(catalog, changes)
      if (!input.dryRun) {
        const digest = await digestFile(file, BYTES_ONLY)
        recordRefusal(catalog, { source, at: now, reasons: result.reasons, file, asOf, digest })
      }
      return result
    }
    // First the history: a row in it without its offer is written again by the next try, one that
    // is missing is lost.
    changes.commit()
    catalog.exec('COMMIT')
    return result
  } catch (error) {
    undo(catalog, changes)
    throw error
  }
}

function undo(catalog: Raw, changes: ChangeLog): void {
  changes.rollback()
  // A full disk ends the transaction by itself.
  if (catalog.inTransaction) catalog.exec('ROLLBACK')
}

async function isSameFile(file: string, digest: string, seed: string): Promise<boolean> {
  const { size } = await stat(file)
  return digest.startsWith(`${size}-`) && (await digestFile(file, seed)) === digest
}

/**
 * Nothing to read: only the feed's age is noted, and an alarm about a worse one in between is over.
 */
function unchanged(input: FeedInput & Handles): FeedResult {
  const { catalog, history, source, asOf, now, dryRun } = input
  const { rows, rejected, offers } = readCounts(catalog, source)
  if (!dryRun) {
    noteSame(catalog, { source, asOf, now })
    noteUnchanged(history, input.distid ?? input.preset.distid, { asOf, now })
  }
  return nothingTaken(input, { outcome: 'unchanged', rows, offers, rejected })
}

function nothingTaken(
  { catalog, source, preset, distid }: FeedInput & Handles,
  told: Pick<FeedResult, 'outcome'> & Partial<FeedResult>,
): FeedResult {
  return {
    source,
    distid: distid ?? preset.distid,
    reasons: [],
    rows: 0,
    offers: 0,
    rejected: 0,
    rejects: [],
    added: 0,
    changed: 0,
    removed: 0,
    price_changes: 0,
    stock_changes: 0,
    unmatched: 0,
    watched: [],
    version: readState(catalog).version,
    ...told,
  }
}
