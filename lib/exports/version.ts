/**
 * The names of exports, and how often one may be asked for (contract "Catalog export").
 */
import type { ExportsCtx, Wanted } from './ctx.js'
import { createHash } from 'node:crypto'
import type { Key } from '../accounts/caller.js'
import type { Saved } from '../configuration/document/saved.js'
import { MINUTE, SECOND } from '../core/clock.js'
import { ApiError } from '../core/errors.js'
import { lastPoll, savePoll } from './queries.js'

/** Changes whenever a file is written in another way. */
export const FORM = 1

/** By which who makes a file somebody's and who removes it take turns. */
export const EXPORTS = 'exports'

/**
 * The version of an export: a digest of the snapshot's version, the saved document, the
 * distributors that have passed validation, the subscriber (whose own feeds may hold prices) and
 * what is asked for. Equal content has an equal version, so that saving a document again, or
 * restoring an earlier one, finds the exports that were made of it.
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

type Metered = Pick<ExportsCtx, 'engine' | 'db' | 'now'>

/** Throws `catalog_polled_too_early` within 20 minutes of the key's last answered call. */
export async function assertPollDue(ctx: Metered, key: Key): Promise<void> {
  const last = await lastPoll(ctx.engine.meter.db, key.id)
  if (last === undefined) return
  const now = await ctx.engine.time(ctx)
  // A clock that was ahead must not lock a key for longer than the interval: a later time is taken
  // as now, from now on.
  if (last > now) await notePoll(ctx, key)
  const wait = Math.min(last, now) + POLL_INTERVAL - now
  if (wait <= 0) return
  const seconds = Math.ceil(wait / SECOND)
  throw new ApiError('catalog_polled_too_early', {
    message: `The catalog export may be called once every 20 minutes; call again in ${seconds} seconds.`,
    details: { retry_after_seconds: seconds },
    headers: { 'retry-after': String(seconds) },
  })
}

/** Notes that a call of the key is answered. */
export async function notePoll(ctx: Metered, key: Key): Promise<void> {
  await savePoll(ctx.engine.meter.db, key.id, await ctx.engine.time(ctx))
}
