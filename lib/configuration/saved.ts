/** Saved documents: one per subscriber, read by everything that decides what it sees and buys. */
import type { OperatorCtx } from '../core/ctx.js'
import type { Secrets } from '../core/secrets.js'
import type { Subscriber } from '../accounts/subscribers.js'
import type { Engine } from '../db/engine.js'
import { remembered, touch } from '../db/state.js'
import type { Registry } from '../distributors/registry.js'
import type { ConfigurationDocument, DistributorEntry } from './document.js'
import { credentialsOf, maskDocument, openDocument, sealDocument } from './secrets.js'

/** One subscriber's saved document, its secrets still sealed. */
export interface Saved {
  /** Changes with every save; part of a view's and an export's identity. */
  readonly version: number
  readonly document: ConfigurationDocument
  /** Names of the active distributors, in document order. */
  readonly active: readonly string[]
  /** The active ones whose credentials have passed validation (contract "Distributor eligibility"). */
  readonly eligible: readonly EligibleDistributor[]
}

export interface EligibleDistributor {
  readonly name: string
  readonly entry: DistributorEntry
}

export interface Configurations {
  of(subscriber: Subscriber): Saved
}

/** What a subscriber has before its first save (decisions 3.2). */
function emptyDocument(email: string): ConfigurationDocument {
  return { distributors: {}, targets: {}, notification_email: email, pricing: {}, product_restrictions: {} }
}

/** Documents in memory, read again when anybody saved one or recorded a credential check. */
export function openConfigurations(engine: Engine, registry: Registry, secrets: Secrets): Configurations {
  const { prepare } = engine.reader
  const document = prepare('SELECT version, document FROM configuration WHERE subscriber_id = ?')
  const checks = prepare('SELECT distid, fingerprint, valid FROM credential_check WHERE subscriber_id = ?')
  const imports = prepare('SELECT distid FROM feed_import ORDER BY distid').pluck()
  const isImported = prepare('SELECT 1 FROM feed_import WHERE distid = ?').pluck()
  // Counted, not kept: a look at the state is all that a call costs while nobody saves anything.
  let round = 0
  const current = remembered(engine, 'documents', () => ++round)
  const known = new Map<string, { round: number; basis: string; saved: Saved }>()

  function compute(subscriber: Subscriber, row: { version: number; document: string } | undefined, passed: readonly Check[]): Saved {
    const stored = row ? JSON.parse(row.document) as ConfigurationDocument : emptyDocument(subscriber.email)
    const entries = Object.entries(stored.distributors).filter(([, entry]) => entry.active)
    const isEligible = ([name, entry]: [string, DistributorEntry]) => {
      const credentials = fingerprintOf(openOne(stored, name, registry, secrets, subscriber.id), name, registry, secrets)
      const check = passed.find(({ distid }) => distid === entry.distid)
      if (credentials === null) return check?.valid === 1 || isImported.get(entry.distid) === 1
      return check?.valid === 1 && check.fingerprint === credentials
    }
    return {
      version: row?.version ?? 0,
      document: stored,
      active: entries.map(([name]) => name),
      eligible: entries.filter(isEligible).map(([name, entry]) => ({ name, entry })),
    }
  }

  return {
    of(subscriber) {
      const now = current()
      const last = known.get(subscriber.id)
      if (last?.round === now) return last.saved
      const row = document.get(subscriber.id) as { version: number; document: string } | undefined
      const passed = checks.all(subscriber.id) as Check[]
      // Somebody else's save must not cost this subscriber its views, which hang on the object.
      const basis = JSON.stringify([row?.version, passed, imports.all()])
      const saved = last?.basis === basis ? last.saved : compute(subscriber, row, passed)
      known.set(subscriber.id, { round: now, basis, saved })
      return saved
    },
  }
}

interface Check {
  distid: string
  fingerprint: string
  valid: number
}

/** Opens the secrets of one distributor's entry only. */
function openOne(stored: ConfigurationDocument, name: string, registry: Registry, secrets: Secrets, subscriberId: string): ConfigurationDocument {
  return openDocument({ ...stored, targets: {}, distributors: { [name]: stored.distributors[name]! } }, registry, secrets, subscriberId)
}

/** Null for an entry without credentials. */
function fingerprintOf(document: ConfigurationDocument, name: string, registry: Registry, secrets: Secrets): string | null {
  const credentials = credentialsOf(document, name, registry)
  return credentials === '' ? null : secrets.fingerprint(credentials)
}

/** Replaces a subscriber's document as a whole and keeps a history row; both in one transaction. */
export async function saveConfiguration(ctx: OperatorCtx, subscriber: Subscriber, document: ConfigurationDocument): Promise<{ version: number }> {
  const sealed = JSON.stringify(sealDocument(document, ctx.distributors, ctx.secrets, subscriber.id))
  return ctx.engine.atomic(ctx, async (tx) => {
    const before = await tx.db.selectFrom('configuration').select('version').where('subscriber_id', '=', subscriber.id).executeTakeFirst()
    const row = { subscriber_id: subscriber.id, version: (before?.version ?? 0) + 1, document: sealed, saved_at: tx.now() }
    await tx.db.replaceInto('configuration').values(row).execute()
    await tx.db.insertInto('configuration_history').values(row).execute()
    await touch(tx.db, 'documents')
    return { version: row.version }
  })
}

/** The saved document with its secrets masked (contract `GET /v1/config`). */
export function readConfiguration(ctx: OperatorCtx, subscriber: Subscriber): ConfigurationDocument {
  return maskDocument(ctx.configurations.of(subscriber).document, ctx.distributors)
}

/** Records that the credentials of one distributor were accepted or refused by it. */
export async function recordCredentialCheck(ctx: OperatorCtx, subscriber: Subscriber, name: string, valid: boolean): Promise<void> {
  const { document } = ctx.configurations.of(subscriber)
  const opened = openOne(document, name, ctx.distributors, ctx.secrets, subscriber.id)
  const fingerprint = fingerprintOf(opened, name, ctx.distributors, ctx.secrets) ?? ''
  await ctx.engine.atomic(ctx, async (tx) => {
    await tx.db.replaceInto('credential_check').values({
      subscriber_id: subscriber.id, distid: document.distributors[name]!.distid, fingerprint, valid: valid ? 1 : 0, checked_at: tx.now(),
    }).execute()
    await touch(tx.db, 'documents')
  })
}
