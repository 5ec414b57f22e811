/** Replaces the document as a whole (contract "Configuration": `PUT /v1/config`). */
import type { Subscriber } from '../accounts/caller.js'
import type { ConfigurationCtx } from './ctx.js'
import { ApiError, MAX_FAULTS, refusalOf } from '../core/errors.js'
import type { Fault } from '../core/errors.js'
import type { Engine } from '../db/engine.js'
import { changesUnder } from './catalog-changes.js'
import type { CatalogChanges } from './catalog-changes.js'
import { shapeFaults } from './check-document.js'
import { checkLater, fingerprintOf } from './credentials.js'
import type { ConfigurationDocument } from './document/document.js'
import { exceedsThreshold, impactOf, offersUnder } from './impact.js'
import type { Impact, Offers } from './impact.js'
import { keepSecrets } from './keep-masked-secrets.js'
import { saveDocument } from './saved-documents.js'
import type { Saved } from './document/saved.js'
import { openSaved } from './secrets.js'
import { entryNamed } from './document/document.js'

export interface PutInput {
  /** Of any shape; checked here. */
  document: unknown
  /** Refuses a save that would take too much of the live catalog away. */
  validate?: boolean
  /** The value of an `If-Match` header. */
  ifMatch?: string
}

/** Another process saved between reading and writing; more often than this it is not a coincidence. */
const ATTEMPTS = 5

/**
 * Checks a candidate and saves it. Throws 400 `schema_validation_failed` with all faults, 412
 * `precondition_failed` and 409 `validation_failed`; then nothing is saved. Changed credentials are
 * checked in the background.
 */
export function putConfiguration(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  input: PutInput,
): Promise<{ version: number }> {
  return inTurn(ctx.engine, subscriber.id, () => put(ctx, subscriber, input))
}

/**
 * Saves of one subscriber that wait for one another; several at once would each find that the
 * others were first.
 */
const turns = new WeakMap<Engine, Map<string, Promise<unknown>>>()

async function inTurn<T>(engine: Engine, subscriberId: string, save: () => Promise<T>): Promise<T> {
  let waiting = turns.get(engine)
  if (!waiting) turns.set(engine, (waiting = new Map()))
  const turn = (waiting.get(subscriberId) ?? Promise.resolve()).then(save)
  const settled = turn.catch(() => {})
  waiting.set(subscriberId, settled)
  try {
    return await turn
  } finally {
    if (waiting.get(subscriberId) === settled) waiting.delete(subscriberId)
  }
}

async function put(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  input: PutInput,
): Promise<{ version: number }> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { saved, before, document } = await admit(ctx, subscriber, input)
    if (input.validate) refuseLoss(await impactOf(ctx, subscriber, document))
    const done = await saveDocument(ctx, subscriber, { document, over: saved.version })
    if (!done) continue
    checkLater(ctx, subscriber, withNewCredentials(ctx, subscriber, before, document))
    return done
  }
  throw new ApiError('service_unavailable', {
    message: 'The document is being saved by others again and again. Try again shortly.',
    headers: { 'retry-after': '1' },
  })
}

export interface Preview {
  impact: Impact
  offers: Offers
  /** Names of the distributors that a save would ask about their credentials. */
  checking: string[]
}

/**
 * What `putConfiguration` would do, with every refusal of it; nothing is saved and nobody asked.
 */
export async function previewConfiguration(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  input: PutInput,
): Promise<Preview> {
  const { before, document } = await admit(ctx, subscriber, input)
  const checking = withNewCredentials(ctx, subscriber, before, document)
  const impact = await impactOf(ctx, subscriber, document)
  if (input.validate) refuseLoss(impact)
  return { impact, offers: await offersUnder(ctx, subscriber, document), checking }
}

/**
 * Which offers would come and go with a candidate, with every refusal of its shape; nothing is
 * saved.
 */
export async function previewChanges(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  input: Pick<PutInput, 'document'>,
): Promise<CatalogChanges> {
  const { document } = await admit(ctx, subscriber, input)
  return changesUnder(ctx, subscriber, document)
}

/**
 * The candidate, if it fits the schema and what the caller takes for saved; `before` is the saved
 * document with its secrets opened.
 */
async function admit(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  { document: candidate, ifMatch }: PutInput,
): Promise<{ saved: Saved; before: ConfigurationDocument; document: ConfigurationDocument }> {
  const saved = await ctx.configurations.of(subscriber)
  if (ifMatch !== undefined && !matches(ifMatch, saved.etag))
    throw new ApiError('precondition_failed')
  const before = openSaved(ctx, subscriber, saved)
  const { document, faults } = checkCandidate(ctx, before, candidate)
  if (faults.length > 0)
    throw refusalOf(
      'schema_validation_failed',
      faults,
      ({ message }) => `The configuration does not fit its schema: ${message}`,
    )
  return { saved, before, document }
}

function refuseLoss(impact: Impact): void {
  if (!exceedsThreshold(impact)) return
  const text = (share: number) => `${Math.round(share * 10_000) / 100} %`
  throw new ApiError('validation_failed', {
    message:
      `The document would remove ${impact.deleted} of ${impact.live} live offers ` +
      `(${text(impact.deleted_percent)}); the delete threshold allows ` +
      `${text(impact.threshold_percent)}.`,
    details: impact,
  })
}

/**
 * A candidate with its masks resolved from what is stored, and what is wrong with it, at most 100
 * faults.
 */
export function checkCandidate(
  ctx: ConfigurationCtx,
  stored: ConfigurationDocument,
  candidate: unknown,
): { document: ConfigurationDocument; faults: Fault[] } {
  const outrageous = shapeFaults(candidate)
  if (outrageous.length > 0)
    return { document: candidate as ConfigurationDocument, faults: outrageous }
  const kept = keepSecrets(candidate, stored, ctx.distributors)
  const faults = [...ctx.configurations.check(kept.document), ...kept.faults].slice(0, MAX_FAULTS)
  return { document: kept.document as ConfigurationDocument, faults }
}

/** The strong comparison of RFC 9110: a weak tag never matches. */
function matches(ifMatch: string, etag: string): boolean {
  const tags = ifMatch.split(',').map((tag) => tag.trim())
  return tags.includes('*') || tags.includes(etag)
}

/**
 * Distributors that are active with credentials that nobody was asked about: new ones, or those of
 * an entry that was off.
 */
function withNewCredentials(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  before: ConfigurationDocument,
  after: ConfigurationDocument,
): string[] {
  const sealer = ctx.secrets.of(subscriber.id)
  const print = (document: ConfigurationDocument, name: string) =>
    Object.hasOwn(document.distributors, name)
      ? fingerprintOf(entryNamed(document, name), name, ctx.distributors, sealer)
      : ''
  return Object.entries(after.distributors)
    .filter(
      ([name, entry]) =>
        entry.active &&
        print(after, name) !== '' &&
        !(before.distributors[name]?.active && print(after, name) === print(before, name)),
    )
    .map(([name]) => name)
}
