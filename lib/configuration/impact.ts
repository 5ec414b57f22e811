/**
 * What a candidate document would do to the live catalog (contract "Configuration").
 */
import { isObject } from '../core/json.js'
import type { Subscriber } from '../accounts/caller.js'
import type { Bits } from '../catalog/snapshot/bits.js'
import type { Snapshot } from '../catalog/snapshot/snapshot.js'
import { makeView } from '../catalog/view/view.js'
import type { View } from '../catalog/view/view.js'
import type { ConfigurationCtx } from './ctx.js'
import { isApiError } from '../core/errors.js'
import { fingerprintOf } from './credentials.js'
import type { ConfigurationDocument } from './document/document.js'
import type { EligibleDistributor, Saved } from './document/saved.js'
import { openSaved } from './secrets.js'

export interface Impact {
  /** Offers that are visible now and would not be. */
  deleted: number
  /** Offers that are visible now. */
  live: number
  /** Fractions: 0.25 is a quarter. */
  deleted_percent: number
  threshold_percent: number
  by_distributor: {
    distid: string
    distributor: string
    deleted: number
    live: number
    deleted_percent: number
  }[]
}

/** How many offers are listed now, and would be. */
export interface Offers {
  before: number
  after: number
  by_distributor: { distid: string; distributor: string; before: number; after: number }[]
}

/** Where a document sets none. */
const THRESHOLD = 0.25

/**
 * Compares the live catalog with what the candidate would show, by the same code that search uses.
 */
export async function impactOf(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  candidate: ConfigurationDocument,
): Promise<Impact> {
  const saved = await ctx.configurations.of(subscriber)
  const threshold = thresholdOf(saved.document)
  const view = await liveView(ctx, subscriber)
  if (!view || view.total === 0)
    return {
      deleted: 0,
      live: 0,
      deleted_percent: 0,
      threshold_percent: threshold,
      by_distributor: [],
    }
  const { snapshot } = view
  const after = await viewUnder(ctx, subscriber, candidate, snapshot)
  const gone = view.visible.copy().andNot(after.visible)
  const count = (rows: Bits, place: number) =>
    snapshot.distributorRows(place).copy().and(rows).count()
  const deleted = gone.count()
  return {
    deleted,
    live: view.total,
    deleted_percent: share(deleted, view.total),
    threshold_percent: threshold,
    by_distributor: [...view.distributors.values()].map(({ name, entry, place }) => {
      const [lost, live] = [count(gone, place), count(view.visible, place)]
      return {
        distid: entry.distid,
        distributor: name,
        deleted: lost,
        live,
        deleted_percent: share(lost, live),
      }
    }),
  }
}

/**
 * Counts what is listed now and would be under the candidate, also where nothing is listed now.
 */
export async function offersUnder(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  candidate: ConfigurationDocument,
): Promise<Offers> {
  const live = await liveView(ctx, subscriber)
  if (!live) await ctx.catalog.refresh()
  const snapshot = live?.snapshot ?? ctx.catalog.current()
  const next = snapshot && (await viewUnder(ctx, subscriber, candidate, snapshot))
  const named = new Map(
    [live, next].flatMap((view) =>
      [...(view?.distributors.values() ?? [])].map(({ name, entry, place }) => [
        place,
        { distid: entry.distid, distributor: name },
      ]),
    ),
  )
  return {
    before: live?.total ?? 0,
    after: next?.total ?? 0,
    by_distributor: [...named].map(([place, names]) => ({
      ...names,
      before: offersOf(live, place),
      after: offersOf(next, place),
    })),
  }
}

function offersOf(view: View | null, place: number): number {
  return view ? view.snapshot.distributorRows(place).copy().and(view.visible).count() : 0
}

/** What the subscriber would see of a snapshot if the candidate were saved. */
async function viewUnder(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  candidate: ConfigurationDocument,
  snapshot: Snapshot,
): Promise<View> {
  return makeView(snapshot, {
    subscriberId: subscriber.id,
    document: candidate,
    eligible: eligibleUnder(ctx, subscriber, await ctx.configurations.of(subscriber), candidate),
    ignoreRestrictions: false,
  })
}

/**
 * Whether a save would take more of the catalog away than its subscriber allows; an empty catalog
 * never blocks.
 */
export function exceedsThreshold({ deleted, live, threshold_percent: threshold }: Impact): boolean {
  return live > 0 && deleted / live > threshold
}

/** As a fraction, to a millionth. */
function share(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 1e6) / 1e6
}

/**
 * The threshold that the saved document sets: the candidate's own would let anything pass that
 * brings a higher one.
 */
function thresholdOf({ targets }: ConfigurationDocument): number {
  const alerts = isObject(targets['woo']) ? targets['woo']['alerts'] : undefined
  const threshold = isObject(alerts) ? alerts['delete_threshold_percent'] : undefined
  return typeof threshold === 'number' ? threshold : THRESHOLD
}

/** Null where nothing is served now. */
export async function liveView(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
): Promise<View | null> {
  try {
    return await ctx.catalog.view(subscriber, false)
  } catch (error) {
    if (
      isApiError(error) &&
      ['no_active_distributors', 'no_validated_distributors', 'feed_unavailable'].includes(
        error.code,
      )
    )
      return null
    throw error
  }
}

/**
 * Active distributors of the candidate that are validated; credentials that it changes count as
 * valid.
 */
export function eligibleUnder(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  saved: Saved,
  candidate: ConfigurationDocument,
): EligibleDistributor[] {
  const before = openSaved(ctx, subscriber, saved)
  const sealer = ctx.secrets.of(subscriber.id)
  return Object.entries(candidate.distributors)
    .filter(([, entry]) => entry.active)
    .map(([name, entry]) => ({ name, entry }))
    .filter(({ name, entry }) => {
      const known = Object.hasOwn(before.distributors, name) ? before.distributors[name] : undefined
      if (!known || saved.validated.has(name)) return true
      return (
        fingerprintOf(entry, name, ctx.distributors, sealer) !==
        fingerprintOf(known, name, ctx.distributors, sealer)
      )
    })
}
