/** Saved documents: one per subscriber, read by everything that decides what it sees and buys. */
import type { ConfigurationCtx, Configurations } from './ctx.js'
import type { Saved } from './document/saved.js'
import { createHash } from 'node:crypto'
import { audit } from '../accounts/audit.js'
import type { Secrets } from '../core/storage/secrets.js'
import type { Subscriber } from '../accounts/caller.js'
import type { Engine } from '../db/engine.js'
import { query } from '../db/query.js'
import type { Reading } from '../db/query.js'
import { all, column, first } from '../db/reading.js'
import { changesOf, touch } from '../db/state.js'
import type { ConfigurationTable, CredentialCheckTable } from '../db/tables/configuration.js'
import { mustHaveCredentials } from '../distributors/distributor.js'
import type { Registry } from '../distributors/registry.js'
import { compileCheck } from './check-document.js'
import type { CheckDocument } from './check-document.js'
import { fingerprintOf } from './credentials.js'
import type { ConfigurationDocument, DistributorEntry } from './document/document.js'
import {
  entryDistributor,
  fingerprintDocument,
  maskDocument,
  openDocument,
  sealDocument,
} from './secrets.js'
import { entryNamed } from './document/document.js'

/** What a subscriber has before its first save. */
function emptyDocument(email: string): ConfigurationDocument {
  return {
    distributors: {},
    targets: {},
    notification_email: email,
    pricing: {},
    product_restrictions: {},
  }
}

const documentOf = query((db, given: { subscriber: string }) =>
  db
    .selectFrom('configuration')
    .select(['version', 'document'])
    .where('subscriber_id', '=', given.subscriber),
)
const checksOf = query((db, given: { subscriber: string }) =>
  db
    .selectFrom('credential_check')
    .select(['distid', 'fingerprint', 'valid'])
    .where('subscriber_id', '=', given.subscriber)
    .orderBy('distid'),
)
const imports = query((db) => db.selectFrom('feed_import').select('distid').orderBy('distid'))

type Stored = Pick<ConfigurationTable, 'version' | 'document'>
type Check = Pick<CredentialCheckTable, 'distid' | 'fingerprint' | 'valid'>

/** All that decides about a subscriber's document. */
interface Basis {
  row: Stored | undefined
  passed: readonly Check[]
  /** Distributors of whom somebody has imported a feed. */
  imported: readonly string[]
}

function* basisOf(subscriber: string): Reading<Basis> {
  return {
    row: yield* first(documentOf, { subscriber }),
    passed: yield* all(checksOf, { subscriber }),
    imported: yield* column(imports),
  }
}

/** Documents in memory, read again when anybody saved one or recorded a credential check. */
export function openConfigurations(
  engine: Engine,
  registry: Registry,
  secrets: Secrets,
): Configurations {
  const current = changesOf(engine, 'documents')
  const known = new Map<string, { round: number; basis: string; saved: Saved }>()
  let check: CheckDocument | undefined

  const compute = (subscriber: Subscriber, { row, passed, imported }: Basis) => {
    const stored = row
      ? (JSON.parse(row.document) as ConfigurationDocument)
      : emptyDocument(subscriber.email)
    const opener = { registry, sealer: secrets.of(subscriber.id), version: row?.version ?? 0 }
    const entries = Object.entries(stored.distributors)
    const isImported = (distid: string) => imported.includes(distid)
    const validated = new Set(
      entries
        .filter(([name]) => isValidated(opener, stored, name, { passed, isImported }))
        .map(([name]) => name),
    )
    const text = row?.document ?? subscriber.id
    return savedOf(opener, stored, { etagOf: digestOf(text).slice(0, 12), validated })
  }

  return {
    get check() {
      return (check ??= compileCheck(registry))
    },
    async of(subscriber) {
      const now = current()
      const before = known.get(subscriber.id)
      if (before?.round === now) return before.saved
      const found = await engine.look(() => basisOf(subscriber.id))
      // Another call may have read it meanwhile, and perhaps a later state of it.
      const last = known.get(subscriber.id)
      if (last && last.round > now) return last.saved
      // Somebody else's save must not cost this subscriber its views, which hang on the object.
      const basis = JSON.stringify([found.row?.version, found.passed, found.imported])
      const saved = last?.basis === basis ? last.saved : compute(subscriber, found)
      known.set(subscriber.id, { round: now, basis, saved })
      return saved
    },
  }
}

/** What opens the secrets of one version of a subscriber's document. */
interface Opener {
  registry: Registry
  sealer: ReturnType<Secrets['of']>
  version: number
}

const digestOf = (text: string) => createHash('sha256').update(text).digest('base64url')

/** The document with what is derived from it. */
function savedOf(
  { registry, sealer, version }: Opener,
  stored: ConfigurationDocument,
  { etagOf, validated }: { etagOf: string; validated: Set<string> },
): Saved {
  const active = Object.entries(stored.distributors).filter(([, entry]) => entry.active)
  let digest: string | undefined
  return {
    version,
    etag: `"${version}-${etagOf}"`,
    contentDigest: () =>
      (digest ??= digestOf(JSON.stringify(fingerprintDocument(stored, version, registry, sealer)))),
    document: stored,
    active: active.map(([name]) => name),
    validated,
    eligible: active
      .filter(([name]) => validated.has(name))
      .map(([name, entry]) => ({ name, entry })),
  }
}

/**
 * Whether the distributor has passed with these very credentials. One that needs none is as good as
 * its feed: somebody has imported one.
 */
function isValidated(
  opener: Opener,
  stored: ConfigurationDocument,
  name: string,
  known: { passed: readonly Check[]; isImported: (distid: string) => boolean },
): boolean {
  const { registry, sealer } = opener
  const entry = entryNamed(stored, name)
  const credentials = fingerprintOf(openEntry(opener, stored, name), name, registry, sealer)
  const result = known.passed.find(({ distid }) => distid === entry.distid)
  if (result?.valid === 1 && result.fingerprint === credentials) return true
  const distributor = entryDistributor(name, entry, registry)
  return (
    credentials === '' &&
    distributor !== undefined &&
    !mustHaveCredentials(distributor) &&
    known.isImported(entry.distid)
  )
}

/** One distributor's entry with its secrets opened. */
function openEntry(
  { registry, sealer, version }: Opener,
  stored: ConfigurationDocument,
  name: string,
): DistributorEntry {
  const own = { ...stored, targets: {}, distributors: { [name]: entryNamed(stored, name) } }
  return entryNamed(openDocument(own, version, registry, sealer), name)
}

/** The saved document with its secrets masked (contract `GET /v1/config`). */
export async function readConfiguration(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
): Promise<ConfigurationDocument> {
  return maskSaved(ctx, await ctx.configurations.of(subscriber))
}

/** The same of a document that was read. */
export const maskSaved = (
  { distributors }: Pick<ConfigurationCtx, 'distributors'>,
  { document }: Saved,
): ConfigurationDocument => maskDocument(document, distributors)

export interface SaveInput {
  document: ConfigurationDocument
  /** Saves only over this version; whatever is there when it is not given. */
  over?: number
}

/**
 * Replaces a subscriber's document as a whole, as it is: `putConfiguration` is the one that checks.
 * Document, history row and what other processes notice it by are one transaction. Null when
 * another version is there than the one given.
 */
export async function saveDocument(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  { document, over }: SaveInput,
): Promise<{ version: number } | null> {
  return ctx.engine.atomic(ctx, async (tx) => {
    const row = await tx.db
      .selectFrom('configuration')
      .select('version')
      .where('subscriber_id', '=', subscriber.id)
      .executeTakeFirst()
    const before = row?.version ?? 0
    if (over !== undefined && over !== before) return null
    const version = before + 1
    const sealed = JSON.stringify(
      sealDocument(document, version, ctx.distributors, ctx.secrets.of(subscriber.id)),
    )
    const next = {
      subscriber_id: subscriber.id,
      version,
      document: sealed,
      saved_at: tx.now(),
      saved_by: ctx.actor,
    }
    await tx.db.replaceInto('configuration').values(next).execute()
    await tx.db.insertInto('configuration_history').values(next).execute()
    await touch(tx.db, 'documents')
    await audit(tx, 'config.save', { subscriber: subscriber.id, version })
    return { version }
  })
}
