/**
 * Feed sources: where a distributor's offers come from, for all subscribers or for one.
 */
import type { Selectable } from 'kysely'
import { audit } from '../accounts/audit.js'
import { findSubscriber } from '../accounts/subscribers.js'
import { MINUTE } from '../core/clock.js'
import type { FeedsCtx } from './ctx.js'
import { invalid } from '../core/errors.js'
import { nearest } from '../core/text.js'
import { OPERATOR } from '../core/storage/secrets.js'
import { touch } from '../db/state.js'
import type { FeedSourceTable } from '../db/tables/feeds.js'
import type { Preset } from '../distributors/generic/preset.js'
import type { Registry } from '../distributors/registry.js'
import { redact } from './fetch/fetch.js'
import { distidOf } from './suggest.js'

/** Every 20 minutes, as the contract refreshes product data. */
const DEFAULT_EVERY = 20 * MINUTE
const LEAST_EVERY = MINUTE

export type StoredSource = Selectable<FeedSourceTable>

export interface SourceInput {
  distid: string
  /** Which preset reads it; the distributor's catalog preset by default. */
  preset?: string
  /** Name or id of the subscriber whose own source it is; the operator's, for all, by default. */
  subscriber?: string
}

export interface Source {
  id: string
  distid: string
  preset: string
  subscriberId: string | null
}

/** A preset by id, or the distributor's own catalog preset. */
export function choosePreset(
  { presets }: Registry,
  distid: string,
  id: string | undefined,
): Preset {
  const found =
    id === undefined
      ? [...presets.values()].find(
          (preset) => preset.distid === distid && preset.kind === 'catalog',
        )
      : presets.get(id)
  if (found) return found
  const known = [...presets.keys()].join(', ')
  const close = id === undefined ? null : nearest(id, presets.keys())
  throw invalid(
    'preset',
    id === undefined
      ? `there is no preset for ${distid}; name one: ${known}`
      : `there is no preset "${id}"; ${close === null ? '' : `did you mean ${close}? `}` +
          `known are ${known}`,
  )
}

export async function resolveSource(ctx: FeedsCtx, input: SourceInput): Promise<Source> {
  const distid = distidOf(ctx.distributors, input.distid)
  if (!ctx.distributors.byDistid(distid)) {
    const { all } = ctx.distributors
    const known = all.map((distributor) => distributor.distid)
    const close = nearest(input.distid, [...known, ...all.map(({ name }) => name)])
    throw invalid(
      'distid',
      `"${input.distid}" is not a known distributor; ` +
        (close === null ? '' : `did you mean ${distidOf(ctx.distributors, close)}? `) +
        `known are ${known.join(', ')}`,
    )
  }
  const { id: preset } = choosePreset(ctx.distributors, distid, input.preset)
  const subscriberId =
    input.subscriber === undefined ? null : (await findSubscriber(ctx, input.subscriber)).id
  return {
    id: [distid, preset, ...(subscriberId ? [subscriberId] : [])].join('/'),
    distid,
    preset,
    subscriberId,
  }
}

/** The location of a source that is the account of its subscriber at the distributor. */
export const ACCOUNT = 'account'

export interface SourceSettings extends SourceInput {
  /** An http(s) URL, a path, or `account`: the subscriber's own account at the distributor. */
  location: string
  /** Milliseconds between pulls. */
  every?: number
  active?: boolean
  /** Lets the location be in this machine or its own network. */
  allowPrivate?: boolean
}

/** Sets or replaces a source that is pulled on a schedule. */
export async function setFeedSource(
  ctx: FeedsCtx,
  input: SourceSettings,
): Promise<{ id: string; every: number }> {
  const source = await resolveSource(ctx, input)
  const { location, active = true, allowPrivate = false } = input
  const usual =
    location === ACCOUNT
      ? ctx.distributors.byDistid(source.distid)?.feeds?.[source.preset]?.every
      : undefined
  const every = Math.ceil(input.every ?? usual ?? DEFAULT_EVERY)
  if (every < LEAST_EVERY) throw invalid('every', 'must be at least one minute')
  if (!isLocation(location))
    throw invalid('location', `must be a path, an http(s) URL or ${ACCOUNT}`)
  if (location === ACCOUNT) await checkAccount(ctx, source, { allowPrivate })
  await ctx.engine.atomic(ctx, async (tx) => {
    const values = {
      location: sealerOf(ctx).seal(location, placeOf(source.id)),
      every_ms: every,
      active: active ? 1 : 0,
      allow_private: allowPrivate ? 1 : 0,
    }
    await tx.db
      .insertInto('feed_source')
      .values({
        id: source.id,
        distid: source.distid,
        subscriber_id: source.subscriberId,
        preset: source.preset,
        ...values,
        last_pull_at: null,
        last_result: null,
        mark: null,
        created_at: tx.now(),
      })
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet({ ...values, last_pull_at: null, mark: null, failures: 0 }),
      )
      .execute()
    await audit(tx, 'feeds.set', {
      id: source.id,
      location: redact(location),
      every,
      allow_private: allowPrivate,
    })
    await touch(tx.db, 'sources')
  })
  return { id: source.id, every }
}

/** Throws 400 where no account could ever bring the feed. */
async function checkAccount(
  ctx: FeedsCtx,
  { distid, preset, subscriberId }: Source,
  { allowPrivate }: { allowPrivate: boolean },
): Promise<void> {
  const { name, feeds = {} } = ctx.distributors.byDistid(distid)!
  const known = Object.keys(feeds)
  if (known.length === 0)
    throw invalid(
      'location',
      `no feed of ${name} comes with an account in this release; give a path or an http(s) URL`,
    )
  if (!Object.hasOwn(feeds, preset))
    throw invalid(
      'preset',
      `an account at ${name} brings feeds for ${known.join(' and ')}, not for ${preset}`,
    )
  if (subscriberId === null)
    throw invalid(
      'subscriber',
      'an account is that of a shop, and its prices are for that shop alone: say whose it is',
    )
  if (allowPrivate)
    throw invalid('allow_private', 'is for a path or an http(s) URL, not for an account')
  const subscriber = await findSubscriber(ctx, subscriberId)
  const { distributors } = (await ctx.configurations.of(subscriber)).document
  if (!Object.values(distributors).some((entry) => entry.distid === distid))
    throw invalid(
      'subscriber',
      `${subscriber.name} has no entry for ${name} in its configuration; save one with its credentials first`,
    )
}

/** A location may hold a user and a password. */
const sealerOf = (ctx: FeedsCtx) => ctx.secrets.of(OPERATOR)
const placeOf = (source: string) => `location of ${source}`

export function locationOf(ctx: FeedsCtx, { id, location }: StoredSource): string {
  return sealerOf(ctx).open(location!, placeOf(id))
}

function isLocation(text: string): boolean {
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(text)?.[1]
  return scheme === undefined
    ? text.trim() !== ''
    : /^(https?|file)$/i.test(scheme) && URL.canParse(text)
}
