/**
 * A feed that comes with a subscriber's own account at the distributor: asked for by the connector,
 * with the credentials that are saved now, and in the mode that orders go in.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { accountSettings, fingerprintOf } from '../configuration/account.js'
import { DAY, MINUTE } from '../core/clock.js'
import { deadlineIn } from '../core/async/wait.js'
import { kindOf } from '../core/errors.js'
import { findSubscriber } from '../accounts/subscribers.js'
import type { FeedSourceTable } from '../db/tables/feeds.js'
import type { Mode } from '../db/tables/column-types.js'
import { FeedFault } from '../distributors/account-feed.js'
import { isCredential } from '../distributors/distributor.js'
import type { Distributor } from '../distributors/distributor.js'
import { JsonFault } from '../distributors/session/json-rows.js'
import { loginsOf } from '../distributors/session/logins.js'
import { openSession } from '../distributors/session/open-session.js'
import { hidingSecrets } from '../distributors/session/redact.js'
import { NoReply } from '../distributors/session/reply.js'
import type { Session } from '../distributors/session/session.js'
import type { FeedsCtx } from './ctx.js'
import { meaningOf } from './ingest/feed.js'
import { readDigest } from './ingest/queries.js'
import { choosePreset } from './source.js'

/** Milliseconds that a whole feed may take: one distributor is known to need 16 minutes. */
export const PATIENCE = 30 * MINUTE
/** A hold that is further ahead comes from a clock that was wrong, here or there. */
const LONGEST_HOLD = DAY

/** The account of a source as it is now. */
export interface FeedAccount {
  readonly distributor: Distributor
  readonly mode: Mode
  readonly settings: Readonly<Record<string, unknown>>
  /** Tells accounts apart, and nothing of them. */
  readonly fingerprint: string
}

type SourceRow = Pick<FeedSourceTable, 'id' | 'distid' | 'preset' | 'subscriber_id' | 'mark'>

/** Throws a FeedFault where the subscriber has no account that could be asked now. */
export async function accountOf(
  ctx: FeedsCtx,
  { distid, subscriber_id: id }: Pick<SourceRow, 'distid' | 'subscriber_id'>,
): Promise<FeedAccount> {
  const distributor = ctx.distributors.byDistid(distid)
  if (!distributor || id === null) throw new FeedFault(`there is no account at ${distid}`)
  const subscriber = await findSubscriber(ctx, id)
  const { document } = await ctx.configurations.of(subscriber)
  const entry = Object.values(document.distributors).find((one) => one.distid === distid)
  const { name } = distributor
  if (!entry) throw new FeedFault(`${subscriber.name} has no entry for ${name} any more`)
  if (!entry.active || entry.product_feed?.active === false)
    throw new FeedFault(
      `${subscriber.name} has switched ${entry.active ? 'the feed of ' : ''}${name} off in its configuration`,
    )
  const settings = (await accountSettings(ctx, subscriber, distid))!
  const mode = ctx.modes.of(distid)
  return {
    distributor,
    mode,
    settings,
    fingerprint: fingerprintOf(ctx, { distid, mode }, settings),
  }
}

/** Until when an account is not to be asked for a feed, milliseconds; null where it may be. */
export async function heldUntil(
  ctx: FeedsCtx,
  { fingerprint }: FeedAccount,
  preset: string,
): Promise<number | null> {
  const row = await ctx.read
    .selectFrom('feed_hold')
    .select('not_before')
    .where('account', '=', fingerprint)
    .where('preset', '=', preset)
    .executeTakeFirst()
  const left = (row?.not_before ?? 0) - ctx.now()
  return left > 0 && left <= LONGEST_HOLD ? row!.not_before : null
}

export async function hold(
  ctx: FeedsCtx,
  { fingerprint: account }: FeedAccount,
  preset: string,
  time: number,
): Promise<void> {
  const not_before = Math.ceil(Math.min(time, ctx.now() + LONGEST_HOLD))
  await ctx.engine.atomic(ctx, ({ db }) =>
    db.replaceInto('feed_hold').values({ account, preset, not_before }).execute(),
  )
}

export interface BringOptions {
  /** Folder for the download; made when it is missing. */
  into: string
  signal: AbortSignal | undefined
  /** Milliseconds for all of it; 30 minutes by default. */
  timeoutMs: number | undefined
}

/** The file of a feed; or, where the distributor still has the one that was taken in, its digest. */
export interface FromAccount {
  file: string
  asOf: number
  sameAs?: string
  /** To be kept once the file is taken in. */
  mark: KnownMark | null
}

/** How the distributor names a feed, and which one that was here. */
export interface KnownMark {
  mark: string
  mode: Mode
  /** What its bytes were taken to mean. */
  meaning: string
  /** Of what was taken in; empty until then. */
  digest: string
}

/** Brings the feed. Errors say in plain English why there is none, and hold no secret. */
export async function bringFromAccount(
  ctx: FeedsCtx,
  row: SourceRow,
  account: FeedAccount,
  { into, signal, timeoutMs }: BringOptions,
): Promise<FromAccount> {
  const { distributor, mode } = account
  const feed = distributor.feeds?.[row.preset]
  if (!feed)
    throw new FeedFault(`no account at ${distributor.name} brings a feed for ${row.preset}`)
  const [meaning, known] = [meaningNow(ctx, row), knownMark(ctx, row, mode)]
  mkdirSync(into, { recursive: true })
  const file = join(into, 'account.feed')
  const brought = await withAccount(ctx, account, { signal, timeoutMs }, (session) =>
    feed.bring(session, {
      file,
      mark: known?.meaning === meaning ? known.mark : null,
      holdUntil: (time) => hold(ctx, account, row.preset, time),
    }),
  )
  const asOf = Math.min(Math.floor(brought.asOf ?? ctx.now()), ctx.now())
  if (brought.outcome === 'unchanged') return { file, asOf, mark: null, sameAs: known!.digest }
  const mark = brought.mark === undefined ? null : { mark: brought.mark, mode, meaning, digest: '' }
  return { file, asOf, mark }
}

/**
 * What comes of an account's session. Errors say in plain English why nothing does, and hold no
 * secret.
 */
export async function withAccount<R>(
  ctx: FeedsCtx,
  account: FeedAccount,
  { signal, timeoutMs = PATIENCE }: Partial<Pick<BringOptions, 'signal' | 'timeoutMs'>>,
  work: (session: Session) => Promise<R>,
): Promise<R> {
  const { distributor, mode } = account
  const secrets = secretsOf(account)
  const deadline = deadlineIn(timeoutMs, signal)
  try {
    return await work(await sessionOf(ctx, account, { signal: deadline.signal, secrets }))
  } catch (error) {
    const cause = signal?.aborted
      ? 'it was stopped'
      : deadline.signal.aborted
        ? `it took longer than ${timeoutMs / MINUTE} minutes`
        : reasonOf(error)
    const { name } = distributor
    const whose = mode === 'live' ? name : `the simulator of ${name}`
    throw new Error(`${whose}: ${hidingSecrets([...secrets])(cause)}`, { cause: error })
  } finally {
    deadline.clear()
  }
}

/** Keeps the mark of a feed that was taken in. */
export async function keepMark(ctx: FeedsCtx, source: string, mark: KnownMark): Promise<void> {
  const digest = readDigest(ctx.engine.catalog, source) ?? ''
  // Without a digest the same bytes must be read again.
  const kept = digest === '' ? null : JSON.stringify({ ...mark, digest } satisfies KnownMark)
  await ctx.engine.atomic(ctx, ({ db }) =>
    db.updateTable('feed_source').set({ mark: kept }).where('id', '=', source).execute(),
  )
}

/** The mark of the very feed that the catalog has. */
function knownMark(ctx: FeedsCtx, { id, mark }: SourceRow, mode: Mode): KnownMark | null {
  if (mark === null) return null
  const known = JSON.parse(mark) as KnownMark
  return known.mode === mode && known.digest === readDigest(ctx.engine.catalog, id) ? known : null
}

function meaningNow(ctx: FeedsCtx, { distid, preset, subscriber_id: subscriberId }: SourceRow) {
  const input = { preset: choosePreset(ctx.distributors, distid, preset), distid, subscriberId }
  return meaningOf(input, ctx.now())
}

/** What the account's feed is asked with; `wrap` sees each call, wherever it goes. */
export async function sessionOf(
  ctx: FeedsCtx,
  { distributor, mode, settings }: FeedAccount,
  {
    signal,
    secrets,
    wrap = (session) => session,
  }: { signal: AbortSignal; secrets: Set<string>; wrap?: (session: Session) => Session },
): Promise<Session> {
  const { distid, name } = distributor
  const login = loginsOf(ctx, { distid, mode })
  const session = wrap({
    ...openSession(distributor, { settings, signal, now: ctx.now, login, egress: ctx.egress }),
    hide: (secret) => void secrets.add(secret),
  })
  if (mode === 'live') return session
  if (!distributor.simulatorSession)
    throw new FeedFault(`there is no simulator of ${name} that has feeds`)
  return distributor.simulatorSession(session)
}

export const secretsOf = ({ distributor, settings }: FeedAccount): Set<string> =>
  new Set(
    Object.entries(distributor.settings)
      .filter(([name, setting]) => isCredential(setting) && settings[name] !== undefined)
      .map(([name]) => String(settings[name])),
  )

/** What a library says may repeat what it was sent, so that is told by its kind alone. */
export const reasonOf = (error: unknown): string =>
  error instanceof NoReply || error instanceof FeedFault || error instanceof JsonFault
    ? error.message
    : `it failed (${kindOf(error)})`
