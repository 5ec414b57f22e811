/** What `feeds status` shows of each source. */
import { MINUTE } from '../core/clock.js'
import { offersOf } from '../catalog/queries.js'
import { oddMaps, oddMapsWarning } from '../catalog/view/doubtful-maps.js'
import type { FeedsCtx } from './ctx.js'
import { redact } from './fetch/fetch.js'
import type { FeedResult } from './ingest/feed.js'
import { refusedFiles, takenFiles } from './queries.js'
import type { FailedPull } from './pull.js'
import { ACCOUNT, locationOf } from './source.js'
import type { StoredSource } from './source.js'
import { accountOf, heldUntil } from './account.js'

/**
 * What each source last brought: the accepted feed, the schedule, and the refusal that waits, if
 * any.
 */
export async function feedStatus(ctx: FeedsCtx) {
  const { catalog } = ctx.engine
  const taken = takenFiles(catalog)
  const refused = refusedFiles(catalog)
  const odd = oddMaps(catalog)
  const sources = await ctx.read.selectFrom('feed_source').selectAll().execute()
  const offers = offersOf(catalog)
  const ids = [
    ...new Set(
      [...taken, ...refused].map((row) => row.source).concat(sources.map((row) => row.id)),
    ),
  ].sort()
  const iso = (ms: number | null | undefined) => (ms ? new Date(ms).toISOString() : null)
  const holds = new Map(
    await Promise.all(
      sources
        .filter((source) => source.location !== null && locationOf(ctx, source) === ACCOUNT)
        .map(async (source) => [source.id, await holdOf(ctx, source)] as const),
    ),
  )
  return ids.map((id) => {
    const feed = taken.find((row) => row.source === id)
    const source = sources.find((row) => row.id === id)
    const refusal = refused.find((row) => row.source === id)
    const maps = odd.find((row) => row.source === id)
    const distid = feed?.distid ?? source?.distid ?? id.split('/')[0]!
    return {
      source: id,
      distid,
      location: source?.location ? redact(locationOf(ctx, source)) : null,
      allow_private: source?.allow_private === 1,
      every_minutes: source ? source.every_ms / MINUTE : null,
      not_before: iso(holds.get(id)),
      last_pull: iso(source?.last_pull_at),
      last_outcome: outcomeOf(source?.last_result),
      as_of: iso(feed?.as_of),
      taken_at: iso(feed?.taken_at),
      rows: feed?.rows ?? 0,
      rejected: feed?.rejected ?? 0,
      offers: offers(distid),
      warnings: maps ? [oddMapsWarning(maps)] : [],
      refused: refusal
        ? { at: iso(refusal.at), reasons: JSON.parse(refusal.reasons) as string[] }
        : null,
    }
  })
}

/** Null also where there is no account any more: the next pull says so. */
async function holdOf(ctx: FeedsCtx, source: StoredSource): Promise<number | null> {
  try {
    return await heldUntil(ctx, await accountOf(ctx, source), source.preset)
  } catch {
    return null
  }
}

/** `taken`, or what went wrong: a source that fails must not look like one that is merely quiet. */
function outcomeOf(lastResult: string | null | undefined): string | null {
  if (!lastResult) return null
  const { outcome, reasons } = JSON.parse(lastResult) as FeedResult | FailedPull
  return reasons.length > 0 ? `${outcome}: ${reasons.join('; ')}` : outcome
}
