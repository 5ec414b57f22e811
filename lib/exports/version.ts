/**
 * The names of exports, and how often one may be asked for (contract "Catalog export", decisions
 * 4.8-9).
 */
import type { ExportsCtx, Wanted } from './ctx.js'
import { createHash } from 'node:crypto'
import type { Key } from '../accounts/caller.js'
import type { Saved } from '../configuration/document/saved.js'
import { MINUTE, SECOND } from '../core/clock.js'
import { ApiError } from '../core/errors.js'

/** Changes whenever a file is written in another way. */
export const FORM = 1

/**
 * Another one for every other content, and the same for the same: of the snapshot's version, the
 * saved document with the distributors that have passed validation, the subscriber, whose own feeds
 * may hold prices, and what is asked for. However often a document is saved, and where an earlier
 * one is restored, its exports keep their names.
 */
export function exportVersion(
  subscriberId: string,
  saved: Saved,
  snapshot: string,
  { ignoreRestrictions, attributes }: Wanted,
): string {
  const parts = [
    FORM,
    subscriberId,
    saved.contentDigest(),
    saved.eligible.map(({ name }) => name),
    snapshot,
    ignoreRestrictions,
    attributes,
  ]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 24)
}

/** From one answered call of a key to its next. */
export const POLL_INTERVAL = 20 * MINUTE

/** Throws `catalog_polled_too_early` within 20 minutes of the key's last answered call. */
export function assertPollDue({ engine, now }: Pick<ExportsCtx, 'engine' | 'now'>, key: Key): void {
  const last = engine.meter
    .prepare('SELECT at FROM export_poll WHERE key_id = ?')
    .pluck()
    .get(key.id) as number | undefined
  if (last === undefined) return
  // A clock that was ahead must not lock a key for longer than the interval: a later time is taken
  // as now, from now on.
  if (last > now()) notePoll({ engine, now }, key)
  const wait = Math.min(last, now()) + POLL_INTERVAL - now()
  if (wait <= 0) return
  const seconds = Math.ceil(wait / SECOND)
  throw new ApiError('catalog_polled_too_early', {
    message: `The catalog export may be called once every 20 minutes; call again in ${seconds} seconds.`,
    details: { retry_after_seconds: seconds },
    headers: { 'retry-after': String(seconds) },
  })
}

/** Notes that a call of the key is answered. */
export function notePoll({ engine, now }: Pick<ExportsCtx, 'engine' | 'now'>, key: Key): void {
  engine.meter
    .prepare(
      'INSERT INTO export_poll (key_id, at) VALUES (?, ?) ON CONFLICT (key_id) DO UPDATE SET at = excluded.at',
    )
    .run(key.id, now())
}
