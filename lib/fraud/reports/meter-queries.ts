/** What meter.db counts of fraud calls: checks of a key, and what was tried with a signal. */
import type { RawHandle } from '../../db/engine.js'

/**
 * Times of a key's checks after `since`, oldest first; older ones are forgotten, and those after
 * `latest`, which come from a clock that was wrong, count as made `at`.
 */
export function checksOf(
  meter: RawHandle,
  keyId: string,
  { at, since, latest }: { at: number; since: number; latest: number },
): number[] {
  meter.prepare('UPDATE fraud_check SET at = ? WHERE key_id = ? AND at > ?').run(at, keyId, latest)
  meter.prepare('DELETE FROM fraud_check WHERE key_id = ? AND at <= ?').run(keyId, since)
  return meter
    .prepare('SELECT at FROM fraud_check WHERE key_id = ? ORDER BY at')
    .pluck()
    .all(keyId) as number[]
}

/** How many checks each key made after `since`. */
export function checksByKey(meter: RawHandle, since: number): { key_id: string; uses: number }[] {
  return meter
    .prepare('SELECT key_id, count(*) AS uses FROM fraud_check WHERE at > ? GROUP BY key_id')
    .all(since) as { key_id: string; uses: number }[]
}

export function addCheck(meter: RawHandle, keyId: string, at: number): void {
  meter.prepare('INSERT INTO fraud_check (key_id, at) VALUES (?, ?)').run(keyId, at)
}

/** What an asker tried with a signal that matched. */
export interface Tried {
  at: number
  overlap: number
  similar: number
  /** JSON: digests of what the first basket held, and of what came after it. */
  free: string
  later: string
}

export function triedWith(meter: RawHandle, asker: string, signal: string): Tried | undefined {
  return meter
    .prepare(`SELECT at, overlap, similar, free, later FROM fraud_try
      WHERE asker = ? AND signal = ?`)
    .get(asker, signal) as Tried | undefined
}

export function saveLater(meter: RawHandle, asker: string, signal: string, later: string): void {
  meter
    .prepare('UPDATE fraud_try SET later = ? WHERE asker = ? AND signal = ?')
    .run(later, asker, signal)
}

export function insertTry(
  meter: RawHandle,
  tried: Omit<Tried, 'later'> & { asker: string; signal: string },
): void {
  meter
    .prepare(`INSERT INTO fraud_try (asker, signal, at, overlap, similar, free, later)
      VALUES (@asker, @signal, @at, @overlap, @similar, @free, '[]')`)
    .run(tried)
}

/** What was begun up to `since`, or after `latest`. */
export function triesOutside(
  meter: RawHandle,
  since: number,
  latest: number,
): { asker: string; signal: string }[] {
  return meter
    .prepare('SELECT asker, signal FROM fraud_try WHERE at <= ? OR at > ?')
    .all(since, latest) as { asker: string; signal: string }[]
}

export function deleteTry(meter: RawHandle, asker: string, signal: string): void {
  meter.prepare('DELETE FROM fraud_try WHERE asker = ? AND signal = ?').run(asker, signal)
}
