/**
 * Live checks of credentials, and what they found (contract "Distributor eligibility").
 */
import { SingleFlight } from '../core/async/single-flight.js'
import { inTime } from '../core/async/wait.js'
import type { CheckRuns, ConfigurationCtx } from './ctx.js'
import type { Subscriber } from '../accounts/caller.js'
import { SECOND } from '../core/clock.js'
import { invalid, kindOf } from '../core/errors.js'
import type { Sealer } from '../core/storage/secrets.js'
import { touch } from '../db/state.js'
import type { Mode } from '../db/tables/column-types.js'
import {
  checkOf,
  isBlank,
  isCredential,
  mustHaveCredentials,
  settingsOf,
} from '../distributors/distributor.js'
import type { CheckOutcome, Distributor } from '../distributors/distributor.js'
import { loginsOf } from '../distributors/session/logins.js'
import { openSession } from '../distributors/session/open-session.js'
import { Unreachable } from '../distributors/session/session.js'
import type { Session } from '../distributors/session/session.js'
import type { Registry } from '../distributors/registry.js'
import type { ConfigurationDocument, DistributorEntry } from './document/document.js'
import { entryDistributor, givenSettings, openSaved } from './secrets.js'
import { entryNamed } from './document/document.js'

/** A digest of an entry's credentials, to notice a change; empty for an entry that gives none. */
export function fingerprintOf(
  entry: DistributorEntry,
  name: string,
  registry: Registry,
  sealer: Sealer,
): string {
  const distributor = entryDistributor(name, entry, registry)
  if (!distributor) return ''
  const given = givenSettings(distributor, entry)
    .filter(({ setting, value }) => isCredential(setting) && !isBlank(value))
    .map(({ name: setting, value }) => [setting, value])
  return given.length === 0 ? '' : sealer.fingerprint(JSON.stringify(given))
}

export function openCheckRuns(): CheckRuns {
  return { running: new SingleFlight(), later: new SingleFlight(), closing: new AbortController() }
}

/** Ends what runs; nothing is recorded of it. */
export async function closeCheckRuns({ running, later, closing }: CheckRuns): Promise<void> {
  closing.abort()
  await later.ended()
  await running.ended()
}

export interface CredentialResult {
  distid: string
  distributor: string
  /** Null when the distributor could not be reached; an earlier result stays. */
  valid: boolean | null
}

export interface CheckOptions {
  /** False asks, but leaves what is known as it is. */
  record?: boolean
  /** With `record: false`, whom to ask: the real one or its simulator; by default as orders go. */
  mode?: Mode
}

/**
 * Asks distributors of the saved document about their credentials, side by side, and records the
 * answers.
 */
export async function checkCredentials(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  names: readonly string[],
  options: CheckOptions = {},
): Promise<CredentialResult[]> {
  const opened = openSaved(ctx, subscriber, await ctx.configurations.of(subscriber))
  const unknown = names.find((name) => !Object.hasOwn(opened.distributors, name))
  if (unknown !== undefined) throw invalid('distributor', `"${unknown}" is not configured`)
  return Promise.all(
    names.map(async (name) => {
      const entry = entryNamed(opened, name)
      const outcome = await checkOne(ctx, subscriber, { name, entry }, options)
      return {
        distid: entry.distid,
        distributor: name,
        valid: outcome === 'unreachable' ? null : outcome === 'valid',
      }
    }),
  )
}

/** Checks in the background; what becomes of it shows in the catalog and in the next validation. */
export function checkLater(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  names: readonly string[],
): void {
  void ctx.checkRuns.later.run(Symbol('check'), () =>
    checkCredentials(ctx, subscriber, names).then(
      () => {},
      (error: unknown) =>
        ctx.log.error({ err: error, subscriber: subscriber.id }, 'a credential check failed'),
    ),
  )
}

/** One distributor's entry with its secrets opened. */
interface OpenedEntry {
  name: string
  entry: DistributorEntry
}

async function checkOne(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  { name, entry }: OpenedEntry,
  { record: isRecorded = true, mode }: CheckOptions,
): Promise<CheckOutcome> {
  const fingerprint = fingerprintOf(entry, name, ctx.distributors, ctx.secrets.of(subscriber.id))
  if (!isRecorded) return outcomeOf(ctx, { name, entry, ...(mode && { mode }) }, fingerprint)
  const { running } = ctx.checkRuns
  const key = `${subscriber.id} ${name} ${fingerprint}`
  return running.run(key, () => runCheck(ctx, subscriber, { name, entry }, fingerprint))
}

async function runCheck(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  { name, entry }: OpenedEntry,
  fingerprint: string,
): Promise<CheckOutcome> {
  const outcome = await outcomeOf(ctx, { name, entry }, fingerprint)
  if (outcome !== 'unreachable')
    await record(ctx, subscriber, name, { fingerprint, valid: outcome === 'valid' })
  return outcome
}

/** Nobody can be asked where there are no credentials, or where no interface is known. */
async function outcomeOf(
  ctx: ConfigurationCtx,
  { name, entry, mode = ctx.modes.of(entry.distid) }: OpenedEntry & { mode?: Mode },
  fingerprint: string,
): Promise<CheckOutcome> {
  const distributor = entryDistributor(name, entry, ctx.distributors)
  if (!distributor) return 'unreachable'
  if (fingerprint === '') return mustHaveCredentials(distributor) ? 'invalid' : 'valid'
  if (!checkOf(distributor, mode)) return 'valid'
  return askAboutCredentials(ctx, distributor, { settings: settingsOf(distributor, entry), mode })
}

const TIMEOUT = 15 * SECOND

/**
 * Asks a distributor that can be asked; one that fails or takes too long has not answered. `wrap`
 * sees each call.
 */
export async function askAboutCredentials(
  ctx: ConfigurationCtx,
  distributor: Distributor,
  {
    settings,
    mode,
    wrap = (session) => session,
  }: {
    settings: Readonly<Record<string, unknown>>
    mode: Mode
    wrap?: (session: Session) => Session
  },
): Promise<CheckOutcome> {
  // Somebody asks for it: it is tried however often it was refused, and opens what was shut.
  const { distid } = distributor
  const gates = loginsOf(ctx, { distid, mode })
  const login = (credentials: readonly string[]) => ({ ...gates(credentials), reason: () => null })
  try {
    const outcome = await inTime(
      async (signal) =>
        checkOf(distributor, mode)!(
          wrap(
            openSession(distributor, { settings, signal, now: ctx.now, login, egress: ctx.egress }),
          ),
        ),
      {
        ms: distributor.checkTimeout ?? TIMEOUT,
        closing: ctx.checkRuns.closing.signal,
        late: () => 'unreachable' as const,
      },
    )
    return outcome === 'valid' || outcome === 'invalid' ? outcome : 'unreachable'
  } catch (error) {
    // Not the error itself: what a distributor or a library says may repeat what it was sent.
    ctx.log.warn(
      {
        distid: distributor.distid,
        cause: error instanceof Unreachable ? error.message : kindOf(error),
      },
      'credentials could not be checked',
    )
    return 'unreachable'
  }
}

/** Records a result unless the credentials have changed meanwhile, or the app is closing. */
async function record(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  name: string,
  { fingerprint, valid }: { fingerprint: string; valid: boolean },
): Promise<void> {
  if (ctx.checkRuns.closing.signal.aborted) return
  await ctx.engine.atomic(ctx, async (tx) => {
    const row = await tx.db
      .selectFrom('configuration')
      .select(['version', 'document'])
      .where('subscriber_id', '=', subscriber.id)
      .executeTakeFirst()
    const stored = row && (JSON.parse(row.document) as ConfigurationDocument)
    if (!stored || !Object.hasOwn(stored.distributors, name)) return
    const opened = openSaved(ctx, subscriber, { document: stored, version: row.version })
    const entry = entryNamed(opened, name)
    if (fingerprintOf(entry, name, ctx.distributors, ctx.secrets.of(subscriber.id)) !== fingerprint)
      return
    await tx.db
      .replaceInto('credential_check')
      .values({
        subscriber_id: subscriber.id,
        distid: entry.distid,
        fingerprint,
        valid: valid ? 1 : 0,
        checked_at: tx.now(),
      })
      .execute()
    await touch(tx.db, 'documents')
  })
}

/**
 * Records that the credentials of one distributor were accepted or refused, without asking: for
 * tests, and for an operator who knows.
 */
export async function recordCredentialCheck(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  name: string,
  valid: boolean,
): Promise<void> {
  const saved = await ctx.configurations.of(subscriber)
  const entry = entryNamed(openSaved(ctx, subscriber, saved), name)
  await record(ctx, subscriber, name, {
    fingerprint: fingerprintOf(entry, name, ctx.distributors, ctx.secrets.of(subscriber.id)),
    valid,
  })
}
